"""Graphs as compressed rows."""

import math

import numpy as np

from ..._kernels.jit import entry, kernel
from ..._kernels.types import Floats, Ints
from .arrays import filled, order_by, sum_of
from .types import CSR, Whole

# What the builders subtract must not drown in rounding, or volumes become negative.
RANGE = 0.5**30  # least weight, as a part of the volume, that is left as it is
GRID = 52  # bits; sums of multiples of 2 ** -52 of the volume are exact
FAR = 100  # volumes beyond 2 ** 100 and below 2 ** -100 are scaled to there


@entry
def symmetric_csr(row: Ints, col: Ints, weight: Floats, n: int) -> CSR:
    """Return the undirected simple graph of a directed edge list, rows in order.

    That of :func:`simple_csr`, but weights of too wide a range are rounded, see
    :func:`_within_range`.
    """
    graph = simple_csr(row, col, weight, n)
    return _within_range(graph) if weight.size > 0 else graph


@entry
def simple_csr(row: Ints, col: Ints, weight: Floats, n: int) -> CSR:
    """Return the undirected simple graph with its weights as they are.

    Self-loops and zero weights go. The weight of {u, v} is the larger of the sums of
    the u -> v and of the v -> u entries; without weights (size 0) it is 1.
    """
    weighted = weight.size > 0
    outward = _merged(_transposed(_rows(col, row, weight, n)))
    inward = _transposed(outward)
    if not _same(outward, inward):
        outward = _larger(outward, inward, weighted)
    if weighted:
        return outward
    return CSR(outward.indptr, outward.indices, np.ones(outward.indices.size))


@kernel
def _rows(row: Ints, col: Ints, weight: Floats, n: int) -> CSR:
    """Gather the entries of each row, in the order given, without loops and zeros."""
    weighted = weight.size > 0
    indptr = np.zeros(n + 2, np.int64)
    for e in range(row.size):
        if row[e] != col[e] and not (weighted and weight[e] == 0.0):
            indptr[row[e] + 2] += 1
    for u in range(n):
        indptr[u + 2] += indptr[u + 1]
    indices = np.empty(indptr[n + 1], np.int64)
    kept = np.empty(indices.size if weighted else 0)
    for e in range(row.size):
        if row[e] != col[e] and not (weighted and weight[e] == 0.0):
            at = indptr[row[e] + 1]
            indptr[row[e] + 1] += 1
            indices[at] = col[e]
            if weighted:
                kept[at] = weight[e]
    return CSR(indptr[: n + 1], indices, kept)


@kernel
def _transposed(graph: CSR) -> CSR:
    """Turn all entries round; rows come out in order."""
    n = graph.indptr.size - 1
    indptr = np.zeros(n + 2, np.int64)
    for e in range(graph.indices.size):
        indptr[graph.indices[e] + 2] += 1
    for u in range(n):
        indptr[u + 2] += indptr[u + 1]
    indices = np.empty(graph.indices.size, np.int64)
    weight = np.empty(graph.weight.size)
    for u in range(n):
        for e in range(graph.indptr[u], graph.indptr[u + 1]):
            at = indptr[graph.indices[e] + 1]
            indptr[graph.indices[e] + 1] += 1
            indices[at] = u
            if weight.size:
                weight[at] = graph.weight[e]
    return CSR(indptr[: n + 1], indices, weight)


@kernel
def _merged(graph: CSR) -> CSR:
    """Add up neighbouring entries that coincide."""
    n = graph.indptr.size - 1
    indptr = np.zeros(n + 1, np.int64)
    indices, weight = graph.indices, graph.weight
    end = 0
    for u in range(n):
        e = graph.indptr[u]
        while e < graph.indptr[u + 1]:  # e goes up
            last = e + 1
            while last < graph.indptr[u + 1] and indices[last] == indices[e]:
                last += 1
            indices[end] = indices[e]
            if weight.size:
                weight[end] = _total(weight[e:last])
            end += 1
            e = last
        indptr[u + 1] = end
    return CSR(indptr, indices[:end], weight[: end if weight.size else 0])


@kernel
def _total(weight: Floats) -> float:
    """Add up, the smallest first: the same sum in whatever order they were given."""
    n = weight.size
    if n < 3:
        return sum_of(weight)
    lists = np.empty((2, n), np.int64)
    row = order_by(weight, lists)
    total = 0.0
    for i in range(n):
        total += weight[lists[row, i]]
    return total


@kernel
def _same(one: CSR, two: CSR) -> bool:
    """Return whether two sorted graphs are equal."""
    if one.indices.size != two.indices.size:
        return False
    for u in range(one.indptr.size):
        if one.indptr[u] != two.indptr[u]:
            return False
    for e in range(one.indices.size):
        if one.indices[e] != two.indices[e]:
            return False
    for e in range(one.weight.size):
        if one.weight[e] != two.weight[e]:
            return False
    return True


@kernel
def _larger(one: CSR, two: CSR, weighted: bool) -> CSR:
    """Return the union of two sorted graphs, with the larger weight of each entry."""
    n = one.indptr.size - 1
    indptr = np.zeros(n + 1, np.int64)
    indices = np.empty(one.indices.size + two.indices.size, np.int64)
    weight = np.ones(indices.size)
    end = 0
    for u in range(n):
        i, j = one.indptr[u], two.indptr[u]
        while i < one.indptr[u + 1] or j < two.indptr[u + 1]:  # i or j goes up
            v = one.indices[i] if i < one.indptr[u + 1] else n
            w = two.indices[j] if j < two.indptr[u + 1] else n
            indices[end] = min(v, w)
            value = 0.0
            if v <= w:
                value = one.weight[i] if weighted else 1.0
                i += 1
            if w <= v:
                value = max(value, two.weight[j] if weighted else 1.0)
                j += 1
            weight[end] = value
            end += 1
        indptr[u + 1] = end
    return CSR(indptr, indices[:end], weight[:end])


@kernel
def _within_range(graph: CSR) -> CSR:
    """Return the graph with weights whose sums and differences can be trusted.

    The volume comes between 2 ** -100 and 2 ** 100, by a power of two. If a weight is
    below 2 ** -30 of it, all are rounded to multiples of 2 ** -52 of the power of two
    above: then all volumes and cuts are exact, and only what is empty has volume 0.
    Edges that weigh less than half of that go. Other weights keep all their bits.
    """
    volume, least = 0.0, np.inf
    for e in range(graph.weight.size):
        volume += graph.weight[e]
        least = min(least, graph.weight[e])
    exponent = math.frexp(volume)[1]
    shift = min(max(exponent, -FAR), FAR) - exponent
    rounded = least < RANGE * volume
    if graph.weight.size == 0 or (shift == 0 and not rounded):
        return graph
    step = math.ldexp(1.0, exponent + shift - GRID)
    n = graph.indptr.size - 1
    indptr = np.zeros(n + 1, np.int64)
    indices, weight = graph.indices, graph.weight
    end = 0
    for u in range(n):
        for e in range(graph.indptr[u], graph.indptr[u + 1]):
            w = math.ldexp(weight[e], shift)
            if rounded:
                w = np.rint(w / step) * step
            if w > 0.0:
                indices[end] = indices[e]
                weight[end] = w
                end += 1
        indptr[u + 1] = end
    return CSR(indptr, indices[:end], weight[:end])


@kernel
def degrees(graph: CSR) -> Floats:
    """Return the weighted degree of each vertex."""
    n = graph.indptr.size - 1
    degree = np.zeros(n)
    for u in range(n):
        for e in range(graph.indptr[u], graph.indptr[u + 1]):
            degree[u] += graph.weight[e]
    return degree


@kernel
def quotient(graph: CSR, group: Ints, groups: Whole) -> CSR:
    """Return the graph between the groups of a partition."""
    n = group.size
    start = np.zeros(groups + 1, np.int64)
    for x in range(n):
        start[group[x] + 1] += 1
    fill = np.empty(groups, np.int64)
    for g in range(groups):
        fill[g] = start[g]
        start[g + 1] += start[g]
    members = np.empty(n, np.int64)
    for x in range(n):
        members[fill[group[x]]] = x
        fill[group[x]] += 1
    slot = filled(groups, -1)
    indptr = np.zeros(groups + 1, np.int64)
    indices = np.empty(graph.indices.size, np.int64)
    weight = np.empty(graph.indices.size)
    end = 0
    for g in range(groups):
        begin = end
        for i in range(start[g], start[g + 1]):
            x = members[i]
            for e in range(graph.indptr[x], graph.indptr[x + 1]):
                h = group[graph.indices[e]]
                if h == g:
                    continue
                if slot[h] < begin:
                    slot[h] = end
                    indices[end] = h
                    weight[end] = graph.weight[e]
                    end += 1
                else:
                    weight[slot[h]] += graph.weight[e]
        indptr[g + 1] = end
    return CSR(indptr, indices[:end], weight[:end])
