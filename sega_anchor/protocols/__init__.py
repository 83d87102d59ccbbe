"""The paper's settings, one folder each: thin layers over ``training``.

``settings``, ``features`` and ``prepare`` are what they share.
"""

from ..training import Batches as Batches
from ..training import FeatureSpec as FeatureSpec
from ..training import Method as Method
from ..training import MethodConfig as MethodConfig
from ..training import Published as Published
from ..training import adam as adam
from ..training import descend as descend
from . import semisupervised as semisupervised
from . import transfer as transfer
from . import unsupervised as unsupervised
from .settings import Options as Options
from .settings import Settings as Settings
