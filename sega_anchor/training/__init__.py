"""Training loops, what they train, and how they resume.

``method`` is the shape of every contrastive method, ``published`` what its authors
fixed; ``pretraining`` and ``finetuning`` are loops over ``train_epoch``; ``state`` and
``checkpoint`` are what they keep; ``parallel`` shares a model among processes.
"""

from .checkpoint import load_encoder as load_encoder
from .checkpoint import save_encoder as save_encoder
from .contrast import Contrast as Contrast
from .finetuning import Classifier as Classifier
from .finetuning import run_finetuning as run_finetuning
from .method import Batches as Batches
from .method import Method as Method
from .method import MethodConfig as MethodConfig
from .method import Trainable as Trainable
from .method import adam as adam
from .method import descend as descend
from .parallel import parallel as parallel
from .pretraining import run_pretraining as run_pretraining
from .published import FeatureSpec as FeatureSpec
from .published import Published as Published
from .published import Visibility as Visibility
from .reporter import OnEpoch as OnEpoch
from .reporter import Reporter as Reporter
from .state import TrainingState as TrainingState
from .train_epoch import train_epoch as train_epoch
