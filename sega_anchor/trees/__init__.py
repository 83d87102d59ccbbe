"""Coding trees of small structural entropy; nothing here depends on training."""

from .build import TreeMethod as TreeMethod
from .build import build_coding_tree as build_coding_tree
from .build import check_build as check_build
from .build_many import build_coding_trees as build_coding_trees
from .coding_tree import CodingTree as CodingTree
from .controls import AddRandomTree as AddRandomTree
from .controls import AddShuffledTree as AddShuffledTree
from .controls import TreeName as TreeName
from .controls import tree_transform as tree_transform
from .edge_list import read_edge_list as read_edge_list
from .entropy import structural_entropy as structural_entropy
from .groups import tree_groups as tree_groups
from .levels import TreeLevels as TreeLevels
from .levels import has_tree as has_tree
from .levels import tree_levels as tree_levels
from .quantities import QUANTITIES as QUANTITIES
from .quantities import AddTreeStatistics as AddTreeStatistics
from .quantities import tree_quantities as tree_quantities
from .quantities import tree_statistics as tree_statistics
from .transforms import AddCodingTree as AddCodingTree
from .transforms import AddTree as AddTree
