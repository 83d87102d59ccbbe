"""Trees of many graphs in one compiled call, which releases the lock."""

from collections.abc import Callable

import numpy as np

from ..._kernels.jit import entry, kernel, phase
from ..._kernels.types import Floats, Ints
from . import ahead
from .arrays import count_up, put_alone
from .authors import authors
from .csr import degrees, symmetric_csr
from .paper import paper
from .refined import refined
from .types import CSR

Built = tuple[Ints, Ints, Ints]
Builder = Callable[[CSR, Floats, Ints], None]


@kernel
def write_tree(labels: Ints, parents: Ints, levels: Ints, end: int) -> int:
    """Write nested partitions behind ``end`` as a tree; return the new end.

    Nodes are sorted by level, within a level by label.
    """
    parent, level = parents[end:], levels[end:]
    rows, n = labels.shape
    bound = 0
    for i in range(rows):
        for v in range(n):
            bound = max(bound, labels[i, v] + 1)
    number = np.empty(bound, np.int64)
    below = count_up(n)
    level[:n] = 0
    size = n
    for i in range(rows):
        for a in range(bound):
            number[a] = -1
        for v in range(n):
            number[labels[i, v]] = 0
        for a in range(bound):
            if number[a] == 0:
                number[a] = size
                level[size] = i + 1
                size += 1
        for v in range(n):
            a = number[labels[i, v]]
            parent[below[v]] = a
            below[v] = a
    for v in range(n):
        parent[below[v]] = size
    parent[size] = -1
    level[size] = rows + 1
    return end + size + 1


@entry
def tree_arrays(labels: Ints) -> tuple[Ints, Ints]:
    """Return ``parent`` and ``level`` of the tree of nested partitions."""
    room = (labels.shape[0] + 1) * labels.shape[1] + 1
    parent, level = np.empty(room, np.int64), np.empty(room, np.int64)
    end = write_tree(labels, parent, level, 0)
    return parent[:end], level[:end]


@kernel
def room_for(sizes: Ints, height: int) -> Built:
    """Return room for the trees of graphs of these sizes."""
    room = 0
    for i in range(sizes.size):
        room += height * sizes[i] + 1
    tree_ptr = np.zeros(sizes.size + 1, np.int64)
    return np.empty(room, np.int64), np.empty(room, np.int64), tree_ptr


@phase
def read_graph(
    row: Ints,
    col: Ints,
    weight: Floats,
    edge_ptr: Ints,
    sizes: Ints,
    i: int,
    height: int,
) -> tuple[CSR, Ints]:
    """Return graph ``i`` of a concatenation and partitions in which all are alone."""
    n = sizes[i]
    first, last = edge_ptr[i], edge_ptr[i + 1]
    own = weight[first:last] if weight.size else weight
    labels = np.empty((height - 1, n), np.int64)
    put_alone(labels)
    return symmetric_csr(row[first:last], col[first:last], own, n), labels


@phase
def _build(
    method: Builder,
    row: Ints,
    col: Ints,
    weight: Floats,
    edge_ptr: Ints,
    sizes: Ints,
    height: int,
) -> Built:
    """Build trees by any method, which numba knows where this is inlined."""
    parent, level, tree_ptr = room_for(sizes, height)
    for i in range(sizes.size):
        graph, labels = read_graph(row, col, weight, edge_ptr, sizes, i, height)
        if graph.indices.size > 0:
            method(graph, degrees(graph), labels)
        tree_ptr[i + 1] = write_tree(labels, parent, level, tree_ptr[i])
    return parent[: tree_ptr[-1]], level[: tree_ptr[-1]], tree_ptr


# One function a method, so that each is compiled when it is first used.


@entry
def build_refined(
    row: Ints, col: Ints, weight: Floats, edge_ptr: Ints, sizes: Ints, height: int
) -> Built:
    """Build trees by our own method; see ``build.build_arrays``."""
    return _build(refined, row, col, weight, edge_ptr, sizes, height)


@entry
def build_authors(
    row: Ints, col: Ints, weight: Floats, edge_ptr: Ints, sizes: Ints, height: int
) -> Built:
    """Build trees in the authors' order; see ``build.build_arrays``."""
    return _build(authors, row, col, weight, edge_ptr, sizes, height)


@entry
def build_paper(
    row: Ints, col: Ints, weight: Floats, edge_ptr: Ints, sizes: Ints, height: int
) -> Built:
    """Build trees by Algorithm 1; see ``build.build_arrays``."""
    return _build(paper, row, col, weight, edge_ptr, sizes, height)


ahead.install("build_refined")
