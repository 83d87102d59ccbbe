"""Compiled kernels of coding trees, over flat arrays.

From the bottom up: ``types``, ``arrays``, ``csr`` (graphs), ``heap``; ``rules``,
``pendants``, ``pairs``, ``next_pair``, ``merging`` and ``agglomerate`` (COMBINE and its
kin); ``drop`` and ``squeeze`` (greedy and exact ways to a height); ``partitions`` and
``move`` (local moves); the methods ``paper``, ``authors`` and ``refined``; and
``build``, what Python calls, with ``ahead``, a second process for the first compiling;
``quantities`` measures finished trees, ``regroup`` cuts them into a number of groups.

Every method fills one matrix ``labels`` of shape ``(height - 1, n)``: the group of each
vertex at levels 1 .. height - 1, bottom up. Nested partitions say all there is to say
about a tree whose branches are equally long.
"""

from ..._kernels.types import Floats as Floats
from ..._kernels.types import Ints as Ints
from .build import build_authors as build_authors
from .build import build_paper as build_paper
from .build import build_refined as build_refined
from .build import tree_arrays as tree_arrays
from .csr import simple_csr as simple_csr
from .csr import symmetric_csr as symmetric_csr
from .quantities import tree_volumes as tree_volumes
from .regroup import regroup as regroup
from .types import CSR as CSR
