"""One loop for each setting of the paper, shared by every adapter."""

from ..training.method import Batches as Batches
from ..training.method import Method as Method
from ..training.method import adam as adam
from ..training.method import descend as descend
from ..training.published import Published as Published
from ..utils.checks import check_positive as check_positive
from . import semisupervised as semisupervised
from . import unsupervised as unsupervised
from .settings import Options as Options
from .settings import Settings as Settings

__all__ = [
    "Batches",
    "Method",
    "Options",
    "Published",
    "Settings",
    "adam",
    "check_positive",
    "descend",
    "semisupervised",
    "unsupervised",
]
