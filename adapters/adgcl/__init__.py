"""AD-GCL, and SEGA on top: the original graph replaced by its anchor view.

from adapters import adgcl
adgcl.run("MUTAG", anchor=True).accuracy
"""

from .method import ADGCL as ADGCL
from .method import SEARCH as SEARCH
from .method import Config as Config
from .method import run as run
from .networks import WeightedGIN as WeightedGIN
from .view_learner import ViewLearner as ViewLearner
from .view_learner import gate as gate
from .view_learner import regulariser as regulariser
