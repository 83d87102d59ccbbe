"""RGCL, and SEGA on top: one of the two sides of its loss replaced by the anchor view.

from adapters import rgcl
rgcl.run("MUTAG", anchor=True).accuracy
"""

from .estimator import RationaleEstimator as RationaleEstimator
from .estimator import pooling_weight as pooling_weight
from .loss import rgcl_loss as rgcl_loss
from .method import RGCL as RGCL
from .method import SEARCH as SEARCH
from .method import Config as Config
from .method import run as run
from .views import RationaleView as RationaleView
from .views import sample_weighted as sample_weighted
