"""Compiled kernels over flat arrays: the only folder that imports numba.

From the bottom up: ``types``, ``csr`` (graphs), ``heap``; ``rules`` and ``agglomerate``
(COMBINE and its kin) with ``twins``; ``drop`` and ``squeeze`` (greedy and exact ways to
a height); ``levels`` and ``move`` (local moves); the methods ``paper``, ``authors`` and
``refined``; and ``build``, what Python calls. Alone stand ``rows`` (sums
for encoders) and ``batch`` (graphs into batches).

Every method fills one matrix ``labels`` of shape ``(height - 1, n)``: the group of each
vertex at levels 1 .. height - 1, bottom up. Nested partitions say all there is to say
about a tree whose branches are equally long.

Whoever changes a kernel runs ``make clean``: numba's cache does not notice that what a
kernel calls in another file has changed.
"""

from .batch import count_levels as count_levels
from .batch import cut_edges as cut_edges
from .batch import cut_rows as cut_rows
from .batch import keep_between as keep_between
from .batch import number_groups as number_groups
from .batch import relabel_edges as relabel_edges
from .batch import slice_levels as slice_levels
from .build import build_authors as build_authors
from .build import build_paper as build_paper
from .build import build_refined as build_refined
from .build import tree_arrays as tree_arrays
from .csr import symmetric_csr as symmetric_csr
from .rows import add_rows as add_rows
from .rows import add_weighted_rows as add_weighted_rows
from .rows import dot_rows as dot_rows
from .types import Floats as Floats
from .types import Graph as Graph
from .types import Ints as Ints
