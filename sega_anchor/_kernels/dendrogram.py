"""An empty dendrogram."""

from __future__ import annotations

import numpy as np
from numba import njit

from .types import Dendrogram, Floats


@njit(cache=True, nogil=True)
def new_dendrogram(vol: Floats) -> Dendrogram:
    """Return a dendrogram of leaves alone, with room for all that may be merged."""
    n = vol.size
    parent = np.full(2 * n, -1, np.int64)
    volume = np.empty(2 * n)
    volume[:n] = vol
    count = np.empty(1, np.int64)
    count[0] = n
    return Dendrogram(parent, volume, np.zeros(2 * n), count)
