"""exact: the least tree of a tiny graph, by dynamic programming over vertex sets."""

import numpy as np

from ..._kernels.jit import kernel
from ..._kernels.types import Floats, Ints
from .arrays import filled
from .types import CSR

TINY = 8  # vertices: 4 ** 8 steps a level take about as long as a search


@kernel
def exact(graph: CSR, degree: Floats, labels: Ints) -> None:
    """Fill ``labels`` with partitions of the least entropy.

    With w(S) the weight inside a set S and j levels below it, the least cost is

        cost_j(S) = w(S) log vol(S)
                    + min over partitions of S of sum_B cost_{j-1}(B) - w(B) log vol(S),

    and cost_1(S) = w(S) log vol(S).
    """
    n = degree.size
    rows = labels.shape[0]
    full = (1 << n) - 1
    log, inside = _sets(graph, degree)
    cost = np.empty((rows + 1, full + 1))
    least, block = np.empty(full + 1), np.empty(full + 1, np.int64)
    for whole in range(full + 1):
        cost[0, whole] = inside[whole] * log[whole]
    for j in range(1, rows):
        for whole in range(1, full + 1):
            _split(whole, cost[j - 1], inside, log[whole], least, block)
            cost[j, whole] = inside[whole] * log[whole] + least[whole]
    group = filled(n, full)
    for j in range(rows - 1, -1, -1):
        finer = np.zeros(n, np.int64)
        for v in range(n):
            if finer[v] == 0:
                whole = group[v]
                _split(whole, cost[j], inside, log[whole], least, block)
                while whole:  # a block holds the first vertex: whole gets smaller
                    for u in range(n):
                        if block[whole] >> u & 1:
                            finer[u] = block[whole]
                    whole ^= block[whole]
        group = finer
        for v in range(n):
            labels[j, v] = 0  # the first vertex of the group, v at the latest
            while not group[v] >> labels[j, v] & 1:
                labels[j, v] += 1


@kernel
def _sets(graph: CSR, degree: Floats) -> tuple[Floats, Floats]:
    """Return log volume (0 where there is none) and inner weight of all vertex sets."""
    n = degree.size
    log, inside = np.zeros(1 << n), np.zeros(1 << n)
    for whole in range(1, 1 << n):
        vol = 0.0
        for u in range(n):
            if not whole >> u & 1:
                continue
            vol += degree[u]
            for e in range(graph.indptr[u], graph.indptr[u + 1]):
                v = graph.indices[e]
                if v > u and whole >> v & 1:
                    inside[whole] += graph.weight[e]
        log[whole] = np.log2(vol) if vol > 0.0 else 0.0
    return log, inside


@kernel
def _split(
    whole: int, cost: Floats, inside: Floats, log: float, least: Floats, block: Ints
) -> None:
    """Fill the cheapest partition of each part of ``whole``.

    ``block[part]`` is the block of the first vertex, ``least[part]`` the cost of all.
    """
    least[0] = 0.0
    part = 0
    while part != whole:  # subsets ascend
        part = (part - whole) & whole  # the next subset
        first = part & -part
        free = part ^ first
        best = np.inf
        block[part] = part
        rest = free
        while True:  # all that may be outside the first vertex's block, descending
            inner = part ^ rest
            value = cost[inner] - inside[inner] * log + least[rest]
            if value < best:
                best = value
                block[part] = inner
            if rest == 0:
                break
            rest = (rest - 1) & free
        least[part] = best
