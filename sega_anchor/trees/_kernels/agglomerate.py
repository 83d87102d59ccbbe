"""agglomerate: merge neighbours greedily, inside each group, into binary trees."""

import numpy as np

from ..._kernels.jit import kernel, loop, phase
from ..._kernels.types import Floats, Ints
from .arrays import filled
from .merging import (
    fuse,
    hand_over,
    is_long,
    link,
    mark_neighbours,
    renew,
    set_items,
    wake,
)
from .next_pair import draw, refill, wake_hubs
from .pairs import Items, Pairs, Partners, find
from .pendants import pendants
from .rules import AUTHORS, MERGE
from .types import CSR, Dendrogram, Whole

HUB = np.int64(16)  # neighbours
EXACT = np.int64(1 << 60)  # as ``hub``: always look at all neighbours again


@kernel
def agglomerate(
    graph: CSR,
    vol: Floats,
    inside: Floats,
    group: Ints,
    totals: Floats,
    rule: Whole,
    hub: Whole,
    node: Ints,
    rest: Floats,
    out: Dendrogram,
) -> None:
    """Merge adjacent items of each group greedily to binary trees.

    Each pair is owned by the two lists of its ends; each item knows its best partner
    and a heap holds the items by their best score. A merge looks at all neighbours
    again, unless one of the two has more than ``hub`` of them; then scores that have
    grown old are brought up to date when they are drawn, and accepted if they have
    become only a little worse.

    Args:
        graph: the items and the edges between them.
        vol: volume of each item.
        inside: twice the weight within each item.
        group: the group of each item; edges between groups do not count, and groups
            with a negative ``rest`` stay as they are.
        totals: the volume that stands for the whole in each group.
        rule: COMBINE, AUTHORS or MERGE.
        hub: see above; EXACT for none.
        node: the id of each item in ``out``; afterwards, that of each group.
        rest: for groups that stay as they are, minus the weight inside, else 0.
        out: the dendrogram that grows. Items of a group that no edge joins become
            children of one node.
    """
    n = vol.size
    ints = np.zeros((9, n), np.int64)
    length, version, node_of = ints[0], ints[1], ints[2]
    m = 0
    for u in range(n):
        g = group[u]
        node_of[u] = node[u]
        if rest[g] == 0.0:
            for e in range(graph.indptr[u], graph.indptr[u + 1]):
                if group[graph.indices[e]] == g:
                    length[u] += 1
            m += length[u]
    m //= 2
    if m > 0:
        _merge_all(graph, vol, inside, group, totals, rule, hub, m, ints, out)
    _join_rest(group, totals, version, node_of, node, rest, out)


@phase
def _join_rest(
    group: Ints,
    totals: Floats,
    version: Ints,
    node_of: Ints,
    node: Ints,
    rest: Floats,
    out: Dendrogram,
) -> None:
    """Put the remaining items of each group, if several, below one new node."""
    groups = totals.size
    first = filled(groups, -1)  # a lone item's node, or -2 - the new node
    for u in range(group.size):
        if version[u] < 0:
            continue
        g = group[u]
        if first[g] == -1:
            first[g] = node_of[u]
        elif first[g] >= 0:
            c = out.made[0]
            out.made[0] += 1
            out.parent[first[g]] = c
            out.parent[node_of[u]] = c
            out.inner[c] = -rest[g]
            out.volume[c] = totals[g]
            first[g] = -2 - c
        else:
            out.parent[node_of[u]] = -2 - first[g]
    for g in range(groups):
        node[g] = first[g] if first[g] >= 0 else -2 - first[g]


@phase
def _merge_all(
    graph: CSR,
    vol: Floats,
    inside: Floats,
    group: Ints,
    totals: Floats,
    rule: Whole,
    hub: Whole,
    m: int,
    ints: Ints,
    out: Dendrogram,
) -> None:
    """Allocate and merge; ``ints`` holds what :func:`agglomerate` has set up."""
    n = vol.size
    length = ints[0]
    wakes, asleep, bond = pendants(graph, vol, inside, group, length)
    floats = np.empty((4, n))
    names = np.empty(2 * n if rule == AUTHORS else n, np.int64)
    items = Items(
        group, floats[0], floats[1], floats[2], ints[5], names, ints[2], ints[1]
    )
    pairs = Pairs(
        ints[6],
        ints[7],
        length,
        np.empty(2 * m, np.int64),
        np.empty(2 * m, np.int64),
        np.empty(m),
        np.zeros(m, np.bool_),
    )
    heap = np.empty(4 * n + 16), np.empty(4 * n + 16, np.int64)
    ties = Partners(floats[3], ints[3], ints[4], heap[0], heap[1])
    log_totals = np.log2(totals) if rule == MERGE else totals
    set_items(vol, inside, rule, items, pairs, ties)
    p = link(graph, asleep, rule, totals, log_totals, items, pairs, ties, ints[8])
    _merge(
        rule,
        hub,
        totals,
        log_totals,
        p,
        wakes,
        bond,
        items,
        pairs,
        ties,
        ints[8],
        out,
    )


@loop
def _merge(
    rule: Whole,
    hub: Whole,
    totals: Floats,
    log_totals: Floats,
    last: int,
    wakes: Ints,
    bond: Floats,
    items: Items,
    pairs: Pairs,
    ties: Partners,
    mark: Ints,
    out: Dendrogram,
) -> None:
    """Merge while any of the ``last`` pairs is left.

    ``mark`` is -1 for all items but the neighbours of the one at hand: for those it is
    the entry that leads to them. The rest is as in :func:`agglomerate`, or in
    :func:`~.pendants.pendants` and :mod:`~.pairs`.
    """
    length, n = pairs.length, items.version.size
    live = last
    first_node, asked = out.made[0], np.int64(-1)
    size = ties.keys.size  # so that it is filled at once
    # Each turn takes a ticket out of the heap. Between two merges, of which there are
    # fewer than items, an item is looked at again at most once, which adds one.
    while live > 0:
        if size + 2 * n > ties.keys.size:  # mostly tickets that have grown old
            size = refill(items, ties)
        if size == 0:
            if asked == out.made[0]:
                break  # asked since the last merge: no score left is a number
            asked = out.made[0]
            size = wake_hubs(items, pairs, ties)
        a, b, size = draw(size, rule, hub, totals, log_totals, items, pairs, ties)
        if b < 0:
            continue
        total, log_total = totals[items.group[a]], log_totals[items.group[a]]
        if length[a] < length[b]:
            a, b = b, a
        full = length[a] <= hub or length[b] * 8 > length[a]
        if not full:
            full = is_long(a, b, pairs)
        if full:
            mark_neighbours(a, pairs, mark)
            i = mark[b]
            mark[b] = -1
        else:
            i = find(pairs.head, pairs.following, pairs.owner, pairs.dead, b, a)
        w, number = pairs.weight[i >> 1], n + out.made[0] - first_node
        fuse(a, b, w, rule, number, items, ties, out)
        size, gone = hand_over(
            a, b, full, size, rule, total, log_total, items, pairs, ties, mark
        )
        live -= gone
        woken = max(wakes[a], wakes[b])  # at most one of the two is pendant
        wakes[a] = -1
        if woken >= 0:
            size = wake(
                a,
                woken,
                last,
                bond[woken],
                full,
                size,
                rule,
                total,
                log_total,
                items,
                pairs,
                ties,
            )
            last += 1
            live += 1
        if full:
            size = renew(a, size, rule, total, log_total, items, pairs, ties, mark)
