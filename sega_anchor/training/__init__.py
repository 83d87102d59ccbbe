"""Training loops, what they train, and how they are stopped and go on."""

from .method import Batches as Batches
from .method import Method as Method
from .method import adam as adam
from .method import descend as descend
from .published import Published as Published

__all__ = [
    "Batches",
    "Method",
    "Published",
    "adam",
    "descend",
]
