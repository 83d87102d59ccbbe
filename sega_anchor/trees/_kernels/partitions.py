"""Nested partitions as a tree in tables, and back from a squeezed dendrogram."""

import numpy as np

from ..._kernels.jit import kernel
from ..._kernels.types import Floats, Ints
from .arrays import filled, sum_of
from .types import CSR, Levels


@kernel
def new_levels(height: int, n: int) -> Levels:
    """Return empty tables for trees of at most this height."""
    ints = np.empty((2, height, n), np.int64)
    floats = np.empty((3, height, n))
    size = np.empty(height + 1, np.int64)
    return Levels(ints[0], floats[0], floats[1], floats[2], ints[1], size)


@kernel
def lower(tree: Levels, height: int) -> Levels:
    """Return the same tables for a tree of smaller height."""
    return Levels(
        tree.up, tree.vol, tree.cross, tree.log, tree.children, tree.size[: height + 1]
    )


@kernel
def fill_levels(graph: CSR, degree: Floats, labels: Ints, tree: Levels) -> float:
    """Set the tree of nested partitions; return its cost, sum of cross * log(vol)."""
    n = degree.size
    height = tree.size.size - 1
    up, vol, cross, log = tree.up, tree.vol, tree.cross, tree.log
    children, size = tree.children, tree.size
    size[0] = n
    size[height] = 1
    for j in range(1, height):
        size[j] = 0
        for v in range(n):
            size[j] = max(size[j], labels[j - 1, v] + 1)
        for a in range(size[j]):
            vol[j, a] = 0.0
            cross[j, a] = 0.0
            children[j, a] = 0
    for v in range(n):
        a = v
        for j in range(height - 1):
            b = labels[j, v]
            up[j, a] = b
            vol[j + 1, b] += degree[v]
            a = b
        up[height - 1, a] = 0
    for j in range(1, height):
        for a in range(size[j - 1]):
            children[j, up[j - 1, a]] += 1
        for a in range(size[j]):
            log[j, a] = np.log2(vol[j, a]) if vol[j, a] > 0.0 else 0.0
    log_total = np.log2(sum_of(degree))
    cost = 0.0
    for u in range(n):
        for e in range(graph.indptr[u], graph.indptr[u + 1]):
            v = graph.indices[e]
            if v < u:
                continue
            w = graph.weight[e]
            j = 1  # up to the level where u and v meet
            while j < height and labels[j - 1, u] != labels[j - 1, v]:
                j += 1
            if j < height:
                a = labels[j - 1, u]
                cross[j, a] += w
                cost += w * log[j, a]
            else:
                cost += w * log_total
    return cost


@kernel
def number_groups(labels: Ints) -> None:
    """Number the groups of each partition 0, 1, ..., whose labels are below 2n."""
    n = labels.shape[1]
    for i in range(labels.shape[0]):
        number = filled(2 * n, -1)
        groups = 0
        for v in range(n):
            a = labels[i, v]
            if number[a] < 0:
                number[a] = groups
                groups += 1
            labels[i, v] = number[a]


@kernel
def compress(tree: Levels, i: int, items: int, number: Ints) -> int:
    """Number the nodes of level i + 1 that have children 0, 1, ...; return how many.

    Only ``up`` and ``vol`` of that level are kept: nothing else is read again.
    """
    size = tree.size[i + 1]
    for a in range(size):
        number[a] = -1
    groups = 0
    for x in range(items):
        a = tree.up[i, x]
        if number[a] < 0:
            number[a] = groups
            groups += 1
        tree.up[i, x] = number[a]
    up, vol = np.empty(groups, np.int64), np.empty(groups)
    for a in range(size):
        if number[a] >= 0:
            up[number[a]] = tree.up[i + 1, a]
            vol[number[a]] = tree.vol[i + 1, a]
    for g in range(groups):
        tree.up[i + 1, g] = up[g]
        tree.vol[i + 1, g] = vol[g]
    tree.size[i + 1] = groups
    return groups


@kernel
def read_labels(parent: Ints, above: Ints, left: Ints, n: int, labels: Ints) -> None:
    """Write the tree of the kept nodes as nested partitions, from the root down.

    A branch that ends early is lengthened at its leaf. ``above`` and ``left`` are what
    :func:`~.squeeze.squeeze` returns.
    """
    height = labels.shape[0] + 1
    rank = np.empty(parent.size, np.int64)
    for j in range(1, height):
        for a in range(rank.size):
            rank[a] = -1
        groups = 0
        for v in range(n):
            a = above[parent[v]]
            depth = height - 1 - left[a]
            if depth < height - j:
                labels[j - 1, v] = groups
                groups += 1
                continue
            while depth > height - j:  # up to the root, of depth 0, at most
                a = above[parent[a]]
                depth = height - 1 - left[a]
            if rank[a] < 0:
                rank[a] = groups
                groups += 1
            labels[j - 1, v] = rank[a]
