"""Which nodes the edges of each graph join, summed up in a number, on a CPU."""

from typing import Any

import numpy as np

from .jit import entry, helper
from .types import Ints


def mix(z: Any) -> Any:
    """Return 64 bits that look random but depend on z alone (SplitMix64, finaliser).

    For numbers in kernels and for int64 tensors alike: products wrap around.
    """
    z = (z ^ ((z >> 30) & 0x3FFFFFFFF)) * -0x40A7B892E31B1A47
    z = (z ^ ((z >> 27) & 0x1FFFFFFFFF)) * -0x6B2FB644ECCEEE15
    return z ^ ((z >> 31) & 0x1FFFFFFFF)


_mix = helper(mix)


@entry
def hash_graphs(out: Ints, edges: Ints, graph: Ints, size: Ints) -> int:
    """Set the fingerprints, see :func:`~sega_anchor.trees.fingerprint.fingerprint`.

    Args:
        out: one for each graph.
        edges: ``(2, num_edges)``, numbered in the batch.
        graph: of each node.
        size: number of nodes of each graph.

    Returns:
        The first edge that joins no two nodes, or in no graph, where it stops, or -1.
    """
    sums = np.zeros((len(out), 2), np.int64)  # over edges to earlier, to later nodes
    first, nodes = np.cumsum(size) - size, len(graph)
    for e in range(edges.shape[1]):
        u, v = edges[0, e], edges[1, e]
        if not (0 <= u < nodes and 0 <= v < nodes):
            return e
        g = graph[u]
        if not 0 <= g < len(out):
            return e
        if u != v:
            low, high = min(u, v) - first[g], max(u, v) - first[g]
            sums[g, int(u < v)] += _mix((low << 32) + high)
    for g in range(len(out)):
        down, up = sums[g]
        out[g] = _mix((up if up == down else up + down) + size[g])
    return -1
