"""One loop for each setting of the paper, shared by every adapter."""

from . import semisupervised as semisupervised
from . import unsupervised as unsupervised
from .method import Batches as Batches
from .method import Method as Method
from .method import adam as adam
from .method import check_positive as check_positive
from .method import descend as descend
from .published import Published as Published
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
