"""regroup: from a partition to one of a given number of groups."""

import numpy as np

from ..._kernels.jit import entry, helper, kernel, loop
from ..._kernels.types import Flags, Floats, Ints
from .agglomerate import EXACT, agglomerate
from .arrays import count_up, filled, order_by, sum_of
from .csr import degrees, quotient
from .heap import pop, push
from .rules import MERGE
from .types import CSR, Dendrogram, new_dendrogram


@entry
def regroup(graph: CSR, labels: Ints, coarser: Ints, k: int) -> Ints:
    """Return a partition into exactly ``k`` groups of small two-level entropy.

    Groups are merged greedily: while that gains inside the coarser groups, then
    anywhere. At last single vertices move between groups, none of which they empty.

    Args:
        graph: the graph.
        labels: at least ``k`` groups, numbered from 0.
        coarser: a partition that they refine.
        k: from 1 to the number of groups.
    """
    degree = degrees(graph)
    labels = _merge(graph, labels, degree, coarser, k, True)
    labels = _merge(graph, labels, degree, np.zeros_like(labels), k, False)
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
    """Merge groups by the least change of entropy until ``k`` are left.

    With ``gains`` only adjacent ones inside the groups of ``within``, until the first
    merge that lowers nothing. Of groups that no edge leaves, the smallest two change
    least. What has no volume may join any group.
    """
    m = _count(labels)
    if m <= k:
        return labels
    out, worth = _merges(graph, labels, degree, within, m)
    last = m  # only what joins groups without an edge between them lacks an edge
    while last < out.made[0] and out.inner[last] > 0.0:  # goes up
        last += 1
    top = count_up(3 * m)
    keys, values, size = np.empty(m), np.empty(m, np.int64), 0
    after, joined = m, 2 * m
    home, guest = -1, -1
    for a in range(m - 1, -1, -1):
        home = a if out.volume[a] > 0.0 else home
        if not gains and not 0 <= out.parent[a] < last:
            size = push(keys, values, size, out.volume[a], a)
    for _ in range(m - k):
        merge = worth[after] if after < last else np.inf
        join = np.inf
        if size > 1:
            second = min(keys[1], keys[2]) if size > 2 else keys[1]
            join = _join(keys[0], second)
        elif size == 1 and keys[0] == 0.0:
            join = 0.0
        if gains and merge >= 0.0:
            break
        if merge > join and size == 1:
            guest = values[0]
            size = 0
            continue
        if merge <= join:
            c = after
            after += 1
            volume, whole = out.volume[c], not 0 <= out.parent[c] < last
        else:
            c = joined
            joined += 1
            volume, whole = 0.0, True
            for _ in range(2):
                volume += keys[0]
                top[values[0]] = c
                size = pop(keys, values, size)
        if whole and not gains:
            size = push(keys, values, size, volume, c)
    for a in range(after):
        if 0 <= out.parent[a] < after:
            top[a] = out.parent[a]
    for a in range(top.size - 1, -1, -1):
        top[a] = top[top[a]]
    for a in range(top.size):
        if top[a] == guest:
            top[a] = top[home]
    return _renumber(labels, top)


@kernel
def _merges(
    graph: CSR, labels: Ints, degree: Floats, within: Ints, m: int
) -> tuple[Dendrogram, Floats]:
    """Return all merges of adjacent groups, in their order, and how each changes H."""
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
    worth = np.zeros(2 * m)
    for a in range(out.made[0]):
        share = out.volume[a] / total
        cost = inside[a] * np.log2(share) if share > 0.0 else 0.0
        worth[a] += cost
        above = out.parent[a]
        if above >= 0:
            inside[above] += inside[a]
            worth[above] -= cost
    return out, worth


@helper
def _join(vol1: float, vol2: float) -> float:
    """Return the change of entropy when two groups that no edge leaves become one."""
    if vol1 == 0.0 or vol2 == 0.0:
        return 0.0
    vol = vol1 + vol2
    return vol1 * np.log2(vol / vol1) + vol2 * np.log2(vol / vol2)


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
