"""What a coding tree knows of its graph: sizes, volumes and cuts of all its nodes."""

import numpy as np

from ..._kernels.jit import entry
from ..._kernels.types import Floats, Ints
from .types import CSR


@entry
def tree_volumes(graph: CSR, level: Ints, offset: Ints) -> Floats:
    """Return size, volume, cut and number of children of each node of a batch of trees.

    Args:
        graph: of all graphs, one behind the other.
        level: of each node; in each tree children come before their parents.
        offset: how many places behind a node its parent stands, 0 at roots.

    Returns:
        ``(4, num_tree_nodes)``; ``(0, 0)`` if leaves are not the vertices, or parents
        not in the tree, or edges join two trees.
    """
    nodes = len(level)
    wrong = np.zeros((0, 0))
    leaf = np.empty(len(graph.indptr) - 1, np.int64)
    found = 0
    for a in range(nodes):
        if offset[a] < 0 or a + offset[a] >= nodes:
            return wrong
        if level[a] == 0:
            if found == len(leaf):
                return wrong
            leaf[found] = a
            found += 1
    if found < len(leaf):
        return wrong
    out = np.zeros((4, nodes))
    size, volume, cut, children = out[0], out[1], out[2], out[3]
    for u in range(len(leaf)):
        size[leaf[u]] = 1.0
        for e in range(graph.indptr[u], graph.indptr[u + 1]):
            weight = graph.weight[e]
            volume[leaf[u]] += weight
            a, b = leaf[u], leaf[graph.indices[e]]
            while a != b:  # both go up, to a root at last
                cut[a] += weight
                if offset[a] == 0 or offset[b] == 0:
                    return wrong
                a += offset[a]
                b += offset[b]
    for a in range(nodes):
        if offset[a]:
            size[a + offset[a]] += size[a]
            volume[a + offset[a]] += volume[a]
            children[a + offset[a]] += 1.0
    return out
