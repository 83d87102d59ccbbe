"""Anchor views for graph contrastive learning, from coding trees.

A graph contrastive learner compares two views of each graph. This package supplies
one of them::

    graph --transform--> coding tree --encoder--> anchor --loss hook--> scalar

See :class:`AnchorView` for the three parts joined.
"""

from importlib.metadata import PackageNotFoundError, version

from .encoder import TreeEncoder as TreeEncoder
from .entropy import structural_entropy as structural_entropy
from .forest import build_coding_trees as build_coding_trees
from .loss import NTXent as NTXent
from .loss import nt_xent as nt_xent
from .minimise import build_coding_tree as build_coding_tree
from .profile import Profile as Profile
from .transforms import AddCodingTree as AddCodingTree
from .transforms import AddRandomTree as AddRandomTree
from .tree import CodingTree as CodingTree
from .view import AnchorView as AnchorView

try:
    __version__ = version("sega-anchor")
except PackageNotFoundError:  # a bare checkout on the path
    __version__ = "0+unknown"

__all__ = [
    "AddCodingTree",
    "AddRandomTree",
    "AnchorView",
    "CodingTree",
    "NTXent",
    "Profile",
    "TreeEncoder",
    "build_coding_tree",
    "build_coding_trees",
    "nt_xent",
    "structural_entropy",
]
