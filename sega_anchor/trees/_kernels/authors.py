"""The authors' order: height 2 first, then levels below or above, the better first."""

from __future__ import annotations

import numpy as np

from .agglomerate import EXACT, agglomerate
from .arrays import copy_to, count_up, filled, sum_of
from .csr import quotient
from .drop import drop
from .jit import kernel, phase
from .rules import AUTHORS
from .types import CSR, Floats, Ints, Whole, new_dendrogram


@kernel
def authors(graph: CSR, degree: Floats, labels: Ints) -> None:
    """Fill ``labels``, the nested partitions of levels 1 to height - 1.

    Source: repository Wu-Junran/SEGA; the arithmetic, tie-breaks included, is that of
    the released code.
    """
    n = degree.size
    wanted = labels.shape[0]
    count = np.ones(wanted, np.int64)
    count[0] = regroup(
        graph, degree, degree, np.zeros(n, np.int64), count[0], labels[0]
    )
    up_gain = down_gain = 0.0
    up_count = down_count = -1  # of the next step in either direction, -1 if unknown
    finer = np.empty(n, np.int64)
    coarser = np.empty(n, np.int64)
    for levels in range(1, wanted):
        if up_count < 0:
            up_count, up_gain = leaf_up(graph, degree, labels[0], count[0], finer)
        if down_count < 0:
            down_count, down_gain = root_down(
                graph, degree, labels[levels - 1], count[levels - 1], coarser
            )
        if down_gain > up_gain:
            copy_to(labels[levels], coarser)
            count[levels] = down_count
            down_count = -1
        else:
            for i in range(levels, 0, -1):
                copy_to(labels[i], labels[i - 1])
                count[i] = count[i - 1]
            copy_to(labels[0], finer)
            count[0] = up_count
            up_count = -1


@kernel
def regroup(
    graph: CSR, vol: Floats, cut: Floats, group: Ints, groups: Whole, finer: Ints
) -> int:
    """Split each group of items in two levels, as the authors' height-2 build does.

    A group is a graph of its own: edges to other groups do not count, and its total is
    the sum of ``vol`` over its items. Groups of one or two fall into single items.
    Fills ``finer``, the new group of each item, and returns how many there are; their
    numbers ascend from group to group.
    """
    n = vol.size
    members = np.zeros(groups, np.int64)
    totals = np.zeros(groups)
    for x in range(n):
        members[group[x]] += 1
        totals[group[x]] += vol[x]
    rest = np.zeros(groups)
    rest[members < 3] = -1.0
    out = new_dendrogram(vol)
    node = count_up(max(n, groups))
    agglomerate(graph, vol, vol - cut, group, totals, AUTHORS, EXACT, node, rest, out)
    drop(out, n, np.int64(2), 1.0, n < 0)
    total = out.made[0]
    number = filled(total, -1)
    made = np.zeros(groups, np.int64)
    owner = filled(total, -1)  # the group that a node right below its top is in
    for x in range(n):
        a = out.parent[x]
        if a >= 0 and out.parent[a] >= 0:
            owner[a] = group[x]
    for a in range(total):
        if owner[a] >= 0:
            number[a] = made[owner[a]]
            made[owner[a]] += 1
    for x in range(n):
        a = out.parent[x]
        if a >= 0 and out.parent[a] >= 0:
            finer[x] = number[a]
        else:  # alone: a unary node, numbered last
            finer[x] = made[group[x]]
            made[group[x]] += 1
    start = 0
    for g in range(groups):
        made[g], start = start, start + made[g]
    for x in range(n):
        finer[x] += made[group[x]]
    return start


@kernel
def _sums(graph: CSR, group: Ints, groups: Whole) -> tuple[Floats, Floats]:
    """Return the volume of each group and the weight of the edges that leave it."""
    volume = np.zeros(groups)
    cut = np.zeros(groups)
    for u in range(group.size):
        for e in range(graph.indptr[u], graph.indptr[u + 1]):
            volume[group[u]] += graph.weight[e]
            if group[graph.indices[e]] != group[u]:
                cut[group[u]] += graph.weight[e]
    return volume, cut


@phase
def leaf_up(
    graph: CSR, degree: Floats, group: Ints, groups: Whole, finer: Ints
) -> tuple[int, float]:
    """Regroup the vertices inside each bottom group; the gain is per vertex."""
    n = degree.size
    own = np.zeros(n)
    members = np.zeros(groups, np.int64)
    for u in range(n):
        members[group[u]] += 1
        for e in range(graph.indptr[u], graph.indptr[u + 1]):
            if group[graph.indices[e]] == group[u]:
                own[u] += graph.weight[e]
    count = regroup(graph, own, own, group, groups, finer)
    volume, _ = _sums(graph, group, groups)
    new_volume, new_cut = _sums(graph, finer, count)
    # Groups of one or two fall apart for a gain of exactly 0, without rounding: ties
    # between growing up and down are decided by it.
    bits = 0.0
    above = np.zeros(count)
    for v in range(n):
        if members[group[v]] > 2:
            up = volume[group[v]]
            bits += degree[v] * np.log2((up + 1.0) / (new_volume[finer[v]] + 1.0))
            above[finer[v]] = up
    for g in range(count):
        if above[g] > 0.0:
            bits += new_cut[g] * np.log2((new_volume[g] + 1.0) / (above[g] + 1.0))
    return count, bits / sum_of(degree) / n


@phase
def root_down(
    graph: CSR, degree: Floats, group: Ints, groups: Whole, coarser: Ints
) -> tuple[int, float]:
    """Group the root's children; the gain is per child, minus infinity below three."""
    if groups < 3:
        copy_to(coarser, group)
        return int(groups), -np.inf
    volume, cut = _sums(graph, group, groups)
    merged = np.empty(groups, np.int64)
    count = regroup(
        quotient(graph, group, groups),
        volume,
        cut,
        np.zeros(groups, np.int64),
        np.int64(1),
        merged,
    )
    for v in range(group.size):
        coarser[v] = merged[group[v]]
    new_volume, new_cut = _sums(graph, coarser, count)
    total = sum_of(degree)
    # V, not V + 1, in the old value: a small constant bias of the released code.
    bits = 0.0
    for g in range(groups):
        bits += cut[g] * np.log2(total / (new_volume[merged[g]] + 1.0))
    for g in range(count):
        bits += new_cut[g] * np.log2((new_volume[g] + 1.0) / (total + 1.0))
    return count, bits / total / groups
