"""The authors' order: height 2 first, then levels below or above, the better first."""

from typing import NamedTuple

import numpy as np

from ..._kernels.jit import kernel, loop, phase
from ..._kernels.types import Floats, Ints
from .agglomerate import EXACT, agglomerate
from .arrays import copy_to, count_up, filled, sum_of
from .csr import quotient
from .drop import drop
from .rules import AUTHORS
from .types import CSR, Whole, new_dendrogram


class Sums(NamedTuple):
    """What the groups of a partition hold."""

    volume: Floats
    cut: Floats  # weight of the edges that leave


@phase
def authors(graph: CSR, degree: Floats, labels: Ints) -> None:
    """Fill ``labels``, the nested partitions of levels 1 to height - 1.

    Source: repository Wu-Junran/SEGA; the arithmetic is that of the released code.
    Ties may fall otherwise: no tree of height 2 or 3 is known that differs, but a few
    higher ones do.
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
        if count[0] == n and down_gain <= 0.0:
            _lengthen(labels, levels)
            break
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


@loop
def _lengthen(labels: Ints, levels: int) -> None:
    """Move the rows that are known to the top, and repeat the lowest below.

    All below it are alone and nothing gains above: each further step would do this.
    """
    rest = labels.shape[0] - levels
    for v in range(labels.shape[1]):
        for i in range(levels - 1, -1, -1):
            labels[i + rest, v] = labels[i, v]
        for i in range(rest):
            labels[i, v] = labels[rest, v]


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
    totals, rest, inside = np.zeros(groups), np.zeros(groups), np.empty(n)
    made = np.zeros(groups, np.int64)
    _sum_up(vol, cut, group, totals, rest, inside, made)
    out = new_dendrogram(vol)
    node = count_up(max(n, groups))
    agglomerate(graph, vol, inside, group, totals, AUTHORS, EXACT, node, rest, out)
    drop(out, n, np.int64(2), 1.0, n < 0)
    number, owner = filled(out.made[0], -1), filled(out.made[0], -1)
    return _renumber(out.parent, group, number, owner, made, finer)


@loop
def _sum_up(
    vol: Floats,
    cut: Floats,
    group: Ints,
    totals: Floats,
    rest: Floats,
    inside: Floats,
    members: Ints,
) -> None:
    """Add up the groups; those of one or two stay as they are."""
    for x in range(vol.size):
        members[group[x]] += 1
        totals[group[x]] += vol[x]
        inside[x] = vol[x] - cut[x]
    for g in range(rest.size):
        if members[g] < 3:
            rest[g] = -1.0


@loop
def _renumber(
    parent: Ints, group: Ints, number: Ints, owner: Ints, made: Ints, finer: Ints
) -> int:
    """Number the nodes right below the top of each group, its lone items last.

    Args:
        parent: of the dendrogram.
        group: the group of each item.
        number: -1 for each node; gets its number within its group.
        owner: -1 for each node; gets the group of those right below a top.
        made: one number for each group, used for counting.
        finer: gets the new group of each item.

    Returns:
        How many there are.
    """
    for g in range(made.size):
        made[g] = 0
    for x in range(group.size):
        a = parent[x]
        if a >= 0 and parent[a] >= 0:
            owner[a] = group[x]
    for a in range(owner.size):
        if owner[a] >= 0:
            number[a] = made[owner[a]]
            made[owner[a]] += 1
    for x in range(group.size):
        a = parent[x]
        if a >= 0 and parent[a] >= 0:
            finer[x] = number[a]
        else:  # alone: a unary node
            finer[x] = made[group[x]]
            made[group[x]] += 1
    start = 0
    for g in range(made.size):
        made[g], start = start, start + made[g]
    for x in range(group.size):
        finer[x] += made[group[x]]
    return start


@kernel
def _sums(graph: CSR, group: Ints, groups: Whole) -> Sums:
    """Return the volume of each group and the weight of the edges that leave it."""
    volume, cut = np.zeros(groups), np.zeros(groups)
    for u in range(group.size):
        for e in range(graph.indptr[u], graph.indptr[u + 1]):
            volume[group[u]] += graph.weight[e]
            if group[graph.indices[e]] != group[u]:
                cut[group[u]] += graph.weight[e]
    return Sums(volume, cut)


@phase
def leaf_up(
    graph: CSR, degree: Floats, group: Ints, groups: Whole, finer: Ints
) -> tuple[int, float]:
    """Regroup the vertices inside each bottom group; the gain is per vertex."""
    n = degree.size
    own, members = np.zeros(n), np.zeros(groups, np.int64)
    _own_degrees(graph, group, own, members)
    count = regroup(graph, own, own, group, groups, finer)
    old, new = _sums(graph, group, groups), _sums(graph, finer, count)
    above = np.zeros(count)
    bits = _gain_up(degree, group, members, finer, old, new, above)
    return count, bits / sum_of(degree) / n


@loop
def _own_degrees(graph: CSR, group: Ints, own: Floats, members: Ints) -> None:
    """Add up each vertex's edges to its own group, and the members of each."""
    for u in range(group.size):
        members[group[u]] += 1
        for e in range(graph.indptr[u], graph.indptr[u + 1]):
            if group[graph.indices[e]] == group[u]:
                own[u] += graph.weight[e]


@loop
def _gain_up(
    degree: Floats,
    group: Ints,
    members: Ints,
    finer: Ints,
    old: Sums,
    new: Sums,
    above: Floats,
) -> float:
    """Return the gain of leaf_up, times the volume of the graph; ``above`` is zeros.

    Groups of one or two fall apart for a gain of exactly 0, without rounding: ties
    between growing up and down are decided by it.
    """
    bits = 0.0
    for v in range(group.size):
        if members[group[v]] > 2:
            up = old.volume[group[v]]
            bits += degree[v] * np.log2((up + 1.0) / (new.volume[finer[v]] + 1.0))
            above[finer[v]] = up
    for g in range(above.size):
        if above[g] > 0.0:
            bits += new.cut[g] * np.log2((new.volume[g] + 1.0) / (above[g] + 1.0))
    return bits


@phase
def root_down(
    graph: CSR, degree: Floats, group: Ints, groups: Whole, coarser: Ints
) -> tuple[int, float]:
    """Group the root's children; the gain is per child, minus infinity below three."""
    if groups < 3:
        copy_to(coarser, group)
        return int(groups), -np.inf
    old = _sums(graph, group, groups)
    merged, zeros = np.empty(groups, np.int64), np.zeros(groups, np.int64)
    small = quotient(graph, group, groups)
    count = regroup(small, old.volume, old.cut, zeros, np.int64(1), merged)
    for v in range(group.size):
        coarser[v] = merged[group[v]]
    new = _sums(graph, coarser, count)
    total = sum_of(degree)
    return count, _gain_down(total, merged, old, new) / total / groups


@loop
def _gain_down(total: float, merged: Ints, old: Sums, new: Sums) -> float:
    """Return the gain of root_down, times the volume of the graph.

    V, not V + 1, in the old value: a small constant bias of the released code.
    """
    bits = 0.0
    for g in range(old.cut.size):
        bits += old.cut[g] * np.log2(total / (new.volume[merged[g]] + 1.0))
    for g in range(new.cut.size):
        bits += new.cut[g] * np.log2((new.volume[g] + 1.0) / (total + 1.0))
    return bits
