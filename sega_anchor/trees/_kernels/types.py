"""What the kernels pass around: flat arrays under names."""

from typing import NamedTuple

import numpy as np

from ..._kernels.jit import kernel
from ..._kernels.types import Floats, Ints

Whole = int | np.int64


class CSR(NamedTuple):
    """A symmetric graph without loops, in compressed rows, columns in order."""

    indptr: Ints
    indices: Ints
    weight: Floats


class Dendrogram(NamedTuple):
    """A growing tree over node ids: the leaves first, then in order of creation.

    ``parent`` is -1 at the top, ``inner[a]`` the weight of the edges that meet in
    ``a``: between its children. Children come before parents.
    """

    parent: Ints
    volume: Floats
    inner: Floats
    made: Ints  # (1,), how many nodes there are


class Levels(NamedTuple):
    """A tree whose branches are equally long; row j is level j, some ids unused.

    ``up[j, a]`` is the parent of ``a``, ``cross[j, a]`` the weight of the edges that
    meet in ``a``, ``log[j, a]`` the logarithm of its volume.
    """

    up: Ints
    vol: Floats
    cross: Floats
    log: Floats
    children: Ints
    size: Ints  # (height + 1,): the ids in use at each level lie below


@kernel
def new_dendrogram(vol: Floats) -> Dendrogram:
    """Return a dendrogram of leaves alone, with room for all that may be merged."""
    n = vol.size
    parent, made = np.empty(2 * n, np.int64), np.empty(1, np.int64)
    volume, inner = np.empty(2 * n), np.zeros(2 * n)
    for a in range(n):
        volume[a] = vol[a]
    for a in range(2 * n):
        parent[a] = -1
    made[0] = n
    return Dendrogram(parent, volume, inner, made)
