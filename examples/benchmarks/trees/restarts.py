"""The least two-level entropy that local moves find from many starts, compiled.

The plain twin is ``best_of_restarts`` in ``tests/helpers/slow_trees.py``.
"""

# mypy: allow-untyped-decorators
import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from sega_anchor.trees.build import read_csr

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def best_of_restarts(
    edge_index: Tensor,
    n: int,
    weight: Tensor | None = None,
    restarts: int = 30,
    seed: int = 0,
) -> float:
    """Return the least entropy, in bits, of ``restarts`` descents.

    The first starts from single vertices, the others from random partitions into a
    random number of groups. In each, vertices move to the neighbouring group, or alone,
    where the entropy falls most, then whole groups do, until nothing moves.

    Args:
        edge_index: LongTensor ``(2, num_edges)``.
        n: number of vertices.
        weight: ``(num_edges,)``; default all 1.
        restarts: number of descents.
        seed: of starts and of the order of vertices.
    """
    indptr, indices, values = read_csr(edge_index, n, weight)
    graph = csr_array((values, indices, indptr), shape=(n, n))
    total = float(graph.sum())
    if total == 0:
        return 0.0
    random = np.random.default_rng(seed)
    degree = np.asarray(graph.sum(axis=1), np.float64)
    held = degree[degree > 0]
    flat = -float(held @ np.log2(held / total)) / total
    gains = []
    for restart in range(restarts):
        label = np.arange(n)
        if restart:
            label = random.integers(random.integers(1, n, endpoint=True), size=n)
        gains.append(_descend(graph, degree, label, total, random))
    return flat - 2 * max(gains) / total


def _descend(
    graph: csr_array,
    degree: Floats,
    label: Ints,
    total: float,
    random: np.random.Generator,
) -> float:
    """Return the gain of the partition reached over the flat tree, times V / 2."""
    n = label.size
    none = np.zeros(n)
    while True:
        _settle(graph, none, degree, label, total, random)
        _, label = np.unique(label, return_inverse=True)
        to = csr_array((np.ones(n), (label, np.arange(n))))
        quotient = csr_array(to @ graph @ to.T)
        volume = np.asarray(quotient.sum(axis=1), np.float64)
        inner = quotient.diagonal() / 2
        groups = np.arange(volume.size)
        if not _settle(quotient, inner, volume, groups, total, random):
            return float(inner @ np.log2(total / np.maximum(volume, 1e-300)))
        label = groups[label]


def _settle(
    graph: csr_array,
    inner: Floats,
    volume: Floats,
    label: Ints,
    total: float,
    random: np.random.Generator,
) -> bool:
    """Move items until none moves; True if any did."""
    moved = False
    rows = graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data
    while sweep(*rows, inner, volume, label, total, random.permutation(label.size)):
        moved = True
    return moved


@njit(nogil=True)
def _held(inner: float, volume: float, total: float) -> float:
    """What a group saves: the weight inside it times log2(V / vol)."""
    return inner * np.log2(total / volume) if volume > 0.0 else 0.0


@njit(nogil=True)
def sweep(
    indptr: Ints,
    indices: Ints,
    weight: Floats,
    inner: Floats,
    volume: Floats,
    label: Ints,
    total: float,
    order: Ints,
) -> int:
    """Move each item once to its best group, in place; return how many moved."""
    n = label.size
    group_volume, group_inner = np.zeros(n), np.zeros(n)
    size = np.zeros(n, np.int64)
    for u in range(n):
        size[label[u]] += 1
        group_volume[label[u]] += volume[u]
        group_inner[label[u]] += inner[u]
        for e in range(indptr[u], indptr[u + 1]):
            if indices[e] != u and label[indices[e]] == label[u]:
                group_inner[label[u]] += weight[e] / 2.0
    empty = [g for g in range(n) if size[g] == 0]
    to = np.zeros(n)
    moved = 0
    for u in order:
        old = label[u]
        near = [old]
        for e in range(indptr[u], indptr[u + 1]):
            g = label[indices[e]]
            if indices[e] != u:
                if to[g] == 0.0:
                    near.append(g)
                to[g] += weight[e]
        own = inner[u], volume[u]
        left = group_inner[old] - own[0] - to[old], group_volume[old] - own[1]
        if size[old] == 1:
            left = 0.0, 0.0
        saved = _held(group_inner[old], group_volume[old], total)
        saved -= _held(left[0], left[1], total)
        best, best_gain = old, 1e-12 * total
        for g in near:
            if g != old:
                gain = _held(
                    group_inner[g] + own[0] + to[g], group_volume[g] + own[1], total
                )
                gain -= _held(group_inner[g], group_volume[g], total) + saved
                if gain > best_gain:
                    best, best_gain = g, gain
        if size[old] > 1 and _held(own[0], own[1], total) - saved > best_gain:
            best = empty.pop()
        if best != old:
            label[u] = best
            moved += 1
            size[old] -= 1
            size[best] += 1
            group_inner[old], group_volume[old] = left
            group_inner[best] += own[0] + to[best]
            group_volume[best] += own[1]
            if size[old] == 0:
                empty.append(old)
        for g in near:
            to[g] = 0.0
    return moved
