"""Anchor views for graph contrastive learning, from coding trees.

A graph contrastive learner compares two views of each graph. This package supplies
one of them::

    graph --transform--> coding tree --encoder--> anchor --loss hook--> scalar

See :class:`AnchorView` for the three parts joined.
"""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from .nn.anchor_view import AnchorView as AnchorView
from .nn.nt_xent import NTXent as NTXent
from .nn.nt_xent import nt_xent as nt_xent
from .nn.tree_encoder import TreeEncoder as TreeEncoder
from .profile import Profile as Profile
from .trees.build import build_coding_tree as build_coding_tree
from .trees.build_many import build_coding_trees as build_coding_trees
from .trees.coding_tree import CodingTree as CodingTree
from .trees.controls import AddRandomTree as AddRandomTree
from .trees.controls import AddShuffledTree as AddShuffledTree
from .trees.entropy import structural_entropy as structural_entropy
from .trees.groups import tree_groups as tree_groups
from .trees.quantities import AddTreeStatistics as AddTreeStatistics
from .trees.quantities import tree_quantities as tree_quantities
from .trees.quantities import tree_statistics as tree_statistics
from .trees.transforms import AddCodingTree as AddCodingTree
from .versions import show_versions as show_versions

if TYPE_CHECKING:
    from .clustering import CodingTreeClustering as CodingTreeClustering

try:
    __version__ = version("sega-anchor")
except PackageNotFoundError:  # a bare checkout on the path
    __version__ = "0+unknown"

__all__ = [
    "AddCodingTree",
    "AddRandomTree",
    "AddShuffledTree",
    "AddTreeStatistics",
    "AnchorView",
    "CodingTree",
    "CodingTreeClustering",
    "NTXent",
    "Profile",
    "TreeEncoder",
    "build_coding_tree",
    "build_coding_trees",
    "nt_xent",
    "show_versions",
    "structural_entropy",
    "tree_groups",
    "tree_quantities",
    "tree_statistics",
]


def __getattr__(name: str) -> Any:
    """Return the estimator, whose scikit-learn takes long to import, when asked for."""
    if name == "CodingTreeClustering":
        from .clustering import CodingTreeClustering

        return CodingTreeClustering
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
