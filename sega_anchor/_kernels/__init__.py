"""Compiled kernels of batches: what ``trees/_kernels`` is not.

``batch`` cuts graphs and views, ``levels`` slices trees, ``fingerprint`` tells graphs
apart, ``scatter`` sums rows. ``jit`` says how all kernels are compiled, those of trees
too, with ``compiling`` (announced when it takes long) and ``source_cache`` (compiled
again after any edit).
"""

from .batch import cut_edges as cut_edges
from .batch import cut_rows as cut_rows
from .batch import find_bad_edge as find_bad_edge
from .batch import first_stray as first_stray
from .batch import is_numbering as is_numbering
from .batch import keep_between as keep_between
from .batch import number_groups as number_groups
from .batch import relabel_edges as relabel_edges
from .fingerprint import hash_graphs as hash_graphs
from .levels import count_levels as count_levels
from .levels import slice_levels as slice_levels
from .scatter import add_rows as add_rows
from .scatter import add_weighted_rows as add_weighted_rows
from .scatter import dot_rows as dot_rows
