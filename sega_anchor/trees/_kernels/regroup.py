"""regroup: from a partition to one of a given number of groups."""

import numpy as np

from ..._kernels.jit import entry, kernel, loop
from ..._kernels.types import Flags, Floats, Ints
from .agglomerate import EXACT, agglomerate
from .arrays import count_up, filled, order_by, sum_of
from .csr import degrees, quotient
from .heap import pop, push
from .rules import MERGE
from .types import CSR, new_dendrogram


@entry
def regroup(graph: CSR, labels: Ints, coarser: Ints, k: int) -> Ints:
    """Return a partition into exactly ``k`` groups of small two-level entropy.

    Groups are merged greedily, first while that gains, inside the coarser groups and
    then anywhere; then those of no volume, which costs nothing; then the others. At
    last single vertices move between groups, none of which they leave empty.

    Args:
        graph: the graph.
        labels: at least ``k`` groups, numbered from 0.
        coarser: a partition that they refine.
        k: from 1 to the number of groups.
    """
    degree = degrees(graph)
    together = np.zeros(labels.size, np.int64)
    if graph.indices.size == 0:
        return _join(labels, degree, k, False)
    labels = _merge(graph, labels, degree, coarser, k, True)
    labels = _merge(graph, labels, degree, together, k, True)
    labels = _join(labels, degree, k, True)
    labels = _merge(graph, labels, degree, together, k, False)
    labels = _join(labels, degree, k, False)
    lists = np.empty((2, labels.size), np.int64)
    order = lists[order_by(degree, lists)]
    waits = np.ones(labels.size, np.bool_)
    sums = np.zeros((4, k))
    ints = np.zeros((2, k), np.int64)
    _settle(graph, degree, labels, order, waits, sums, ints)
    return labels


@kernel
def _count(labels: Ints) -> int:
    """Return how many groups there are."""
    groups = 0
    for v in range(labels.size):
        groups = max(groups, labels[v] + 1)
    return groups


@kernel
def _renumber(labels: Ints, top: Ints) -> Ints:
    """Return the partition into ``top`` of each label, numbered by first vertex."""
    number = filled(top.size, -1)
    out = np.empty(labels.size, np.int64)
    groups = 0
    for v in range(labels.size):
        a = top[labels[v]]
        if number[a] < 0:
            number[a] = groups
            groups += 1
        out[v] = number[a]
    return out


@kernel
def _merge(
    graph: CSR, labels: Ints, degree: Floats, within: Ints, k: int, gains: bool
) -> Ints:
    """Merge adjacent groups by the least change of entropy until ``k`` are left.

    Only inside the groups of ``within``; with ``gains`` until the first merge that
    lowers nothing.
    """
    m = _count(labels)
    if m <= k:
        return labels
    between = quotient(graph, labels, m)
    vol, group = np.zeros(m), np.empty(m, np.int64)
    inside = np.zeros(2 * m)
    for v in range(labels.size):
        vol[labels[v]] += degree[v]
        group[labels[v]] = within[v]
    cut = degrees(between)
    for a in range(m):
        inside[a] = vol[a] - cut[a]
    total = sum_of(degree)
    groups = _count(group)
    totals, rest = np.empty(groups), np.zeros(groups)
    for g in range(groups):
        totals[g] = total
    out, node = new_dendrogram(vol), count_up(m)
    agglomerate(between, vol, inside[:m], group, totals, MERGE, EXACT, node, rest, out)
    for a in range(m, out.made[0]):
        inside[a] = 2.0 * out.inner[a]
    # Merges come in their order; only nodes that join what no edge joins lack edges.
    worth = np.zeros(2 * m)
    for a in range(out.made[0]):
        share = out.volume[a] / total
        cost = inside[a] * np.log2(share) if share > 0.0 else 0.0
        worth[a] += cost
        above = out.parent[a]
        if above >= 0:
            inside[above] += inside[a]
            worth[above] -= cost
    stop = m
    while stop < min(2 * m - k, out.made[0]) and out.inner[stop] > 0.0:  # one a merge
        if gains and worth[stop] >= 0.0:
            break
        stop += 1
    top = count_up(stop)
    for a in range(stop - 1, -1, -1):
        if 0 <= out.parent[a] < stop:
            top[a] = top[out.parent[a]]
    return _renumber(labels, top)


@kernel
def _join(labels: Ints, degree: Floats, k: int, free: bool) -> Ints:
    """Join the two groups of least volume until ``k`` are left.

    Of groups that no edge leaves these cost least. With ``free`` only as long as one
    of the two has no volume, which costs nothing.
    """
    m = _count(labels)
    if m <= k:
        return labels
    room = 2 * m - k
    vol, top = np.zeros(room), count_up(room)
    for v in range(labels.size):
        vol[labels[v]] += degree[v]
    keys, values = np.empty(m), np.empty(m, np.int64)
    size = 0
    for a in range(m):
        size = push(keys, values, size, vol[a], a)
    for c in range(m, room):
        if free and keys[0] > 0.0:
            break
        a = values[0]
        size = pop(keys, values, size)
        b = values[0]
        size = pop(keys, values, size)
        top[a] = c
        top[b] = c
        vol[c] = vol[a] + vol[b]
        size = push(keys, values, size, vol[c], c)
    for a in range(room - 1, -1, -1):
        top[a] = top[top[a]]
    return _renumber(labels, top)


@loop
def _settle(
    graph: CSR,
    degree: Floats,
    labels: Ints,
    order: Ints,
    waits: Flags,
    sums: Floats,
    ints: Ints,
) -> None:
    """Move vertices that wait into neighbouring groups until none gains by it.

    The cost is the sum of inside * log(volume / total) over groups, where inside is
    twice the weight of the edges in a group. ``sums`` and ``ints`` are zeros.
    """
    vol, inside, held, log = sums[0], sums[1], sums[2], sums[3]
    members, found = ints[0], ints[1]
    n = labels.size
    total = 0.0
    for v in range(n):
        vol[labels[v]] += degree[v]
        members[labels[v]] += 1
        total += degree[v]
        for e in range(graph.indptr[v], graph.indptr[v + 1]):
            if labels[graph.indices[e]] == labels[v]:
                inside[labels[v]] += graph.weight[e]
    for a in range(vol.size):
        log[a] = np.log2(vol[a] / total) if vol[a] > 0.0 else 0.0
    waiting = n
    for visit in range(20 * n):  # rounding alone could keep it going for ever
        if waiting == 0:
            break
        v = order[visit % n]
        if not waits[v]:
            continue
        waits[v] = False
        waiting -= 1
        a, d = labels[v], degree[v]
        if members[a] == 1 or d == 0.0:
            continue
        count = 0
        held[a] = 0.0
        for e in range(graph.indptr[v], graph.indptr[v + 1]):
            b = labels[graph.indices[e]]
            if held[b] == 0.0 and b != a:
                found[count] = b
                count += 1
            held[b] += graph.weight[e]
        left = vol[a] - d
        without = np.log2(left / total) if left > 0.0 else 0.0
        leave = (inside[a] - 2.0 * held[a]) * without - inside[a] * log[a]
        best, target = -1e-11 * d, -1
        for q in range(count):
            b = found[q]
            now = inside[b] + 2.0 * held[b]
            change = leave + now * np.log2((vol[b] + d) / total) - inside[b] * log[b]
            if change < best:
                best, target = change, b
        if target >= 0:
            inside[a] -= 2.0 * held[a]
            inside[target] += 2.0 * held[target]
            vol[a], log[a] = left, without
            vol[target] += d
            log[target] = np.log2(vol[target] / total)
            members[a] -= 1
            members[target] += 1
            labels[v] = target
            for e in range(graph.indptr[v], graph.indptr[v + 1]):
                u = graph.indices[e]
                if not waits[u] and labels[u] != target:
                    waits[u] = True
                    waiting += 1
        held[a] = 0.0
        for q in range(count):
            held[found[q]] = 0.0
