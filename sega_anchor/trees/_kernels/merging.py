"""The phases of one merge of :func:`~.agglomerate.agglomerate`."""

import numpy as np

from ..._kernels.jit import loop, phase
from ..._kernels.types import Flags, Floats, Ints
from .pairs import (
    Items,
    Pairs,
    Partners,
    append,
    better,
    enqueue,
    find,
    prefer,
    unlink,
    worth,
)
from .rules import AUTHORS, MERGE
from .types import CSR, Dendrogram, Whole


@loop
def set_items(
    vol: Floats, inside: Floats, rule: Whole, items: Items, pairs: Pairs, ties: Partners
) -> None:
    """Begin with single items that have no neighbours yet."""
    for u in range(vol.size):
        items.vol[u] = vol[u]
        items.inside[u] = inside[u]
        items.name[u] = u
        items.holder[u] = u
        if rule == MERGE:
            items.log[u] = np.log2(vol[u])
        ties.best[u] = np.inf
        ties.partner[u] = -1
        pairs.head[u] = -1


@loop
def link(
    graph: CSR,
    asleep: Flags,
    rule: Whole,
    totals: Floats,
    log_totals: Floats,
    items: Items,
    pairs: Pairs,
    ties: Partners,
    mark: Ints,
) -> int:
    """List the pairs of items that are awake, with their scores; return how many."""
    group, vol, inside, log = items.group, items.vol, items.inside, items.log
    name, version = items.name, items.version
    best, partner, seen = ties.best, ties.partner, ties.seen
    head, tail, length = pairs.head, pairs.tail, pairs.length
    owner, following = pairs.owner, pairs.following
    n = group.size
    for u in range(n):
        mark[u] = 0
    p = 0
    for u in range(n):
        if length[u] == 0:
            continue
        g = group[u]
        for e in range(graph.indptr[u], graph.indptr[u + 1]):
            v = graph.indices[e]
            if v > u and group[v] == g and not asleep[u] and not asleep[v]:
                w = graph.weight[e]
                pairs.weight[p] = w
                append(owner, following, head, tail, mark, 2 * p, u)
                append(owner, following, head, tail, mark, 2 * p + 1, v)
                s = worth(rule, vol, inside, log, u, v, w, totals[g], log_totals[g])
                if better(best, partner, name, u, v, s):
                    prefer(best, partner, seen, version, u, v, s)
                if better(best, partner, name, v, u, s):
                    prefer(best, partner, seen, version, v, u, s)
                p += 1
    for u in range(n):  # mark has counted the entries that are awake
        length[u] = mark[u]
        mark[u] = -1
    return p


@phase
def is_long(a: int, b: int, pairs: Pairs) -> bool:
    """Return whether looking up each neighbour of b costs more than scanning a's."""
    work = 0
    i = pairs.head[b]
    while i >= 0:  # down the list of b
        if not pairs.dead[i >> 1]:
            work += min(pairs.length[pairs.owner[i ^ 1]], pairs.length[a])
        i = pairs.following[i]
    return work > 4 * pairs.length[a]


@phase
def mark_neighbours(a: int, pairs: Pairs, mark: Ints) -> None:
    """Mark each neighbour of a with the entry that leads to it."""
    head, owner, following, dead = pairs.head, pairs.owner, pairs.following, pairs.dead
    previous = -1
    i = head[a]
    while i >= 0:  # down the list of a
        if dead[i >> 1]:
            i = unlink(head, following, a, previous, i)
            continue
        mark[owner[i ^ 1]] = i
        previous = i
        i = following[i]
    pairs.tail[a] = previous


@phase
def fuse(
    a: int,
    b: int,
    w: float,
    rule: Whole,
    number: int,
    items: Items,
    ties: Partners,
    out: Dendrogram,
) -> None:
    """Make b part of a, below a new node of the dendrogram."""
    c = out.made[0]
    out.made[0] += 1
    out.parent[items.node[a]] = c
    out.parent[items.node[b]] = c
    items.node[a] = c
    out.inner[c] = w
    items.vol[a] += items.vol[b]
    items.inside[a] += items.inside[b] + 2.0 * w
    out.volume[c] = items.vol[a]
    # Ties: a module of the authors gets a new name, one of COMBINE keeps the smaller.
    if rule == MERGE:
        items.log[a] = np.log2(items.vol[a])
    elif rule == AUTHORS:
        items.name[a] = number
    else:
        items.name[a] = min(items.name[a], items.name[b])
    items.holder[items.name[a]] = a
    items.version[a] += 1
    items.version[b] = -1
    ties.best[a] = np.inf
    ties.partner[a] = -1


@phase
def hand_over(
    a: int,
    b: int,
    full: bool,
    size: int,
    rule: Whole,
    total: float,
    log_total: float,
    items: Items,
    pairs: Pairs,
    ties: Partners,
    mark: Ints,
) -> tuple[int, int]:
    """Give the neighbours of b to a; return the heap's size and how many pairs went."""
    vol, inside, log, name = items.vol, items.inside, items.log, items.name
    best, partner, seen = ties.best, ties.partner, ties.seen
    head, tail, length = pairs.head, pairs.tail, pairs.length
    owner, following = pairs.owner, pairs.following
    between, dead = pairs.weight, pairs.dead
    gone = 0
    i = head[b]
    while i >= 0:  # down the list of b, whose entries may change lists behind
        after = following[i]
        q = i >> 1
        t = owner[i ^ 1]
        if dead[q]:
            i = after
            continue
        if t == a:
            dead[q] = True
            length[a] -= 1
            gone += 1
            i = after
            continue
        # The pair of a and t, if there is one: by its mark, or in the shorter list.
        if full:
            j = mark[t]
        elif length[t] <= length[a]:
            j = find(head, following, owner, dead, t, a)
        else:
            j = find(head, following, owner, dead, a, t)
        if j >= 0:
            between[j >> 1] += between[q]
            dead[q] = True
            length[t] -= 1
            gone += 1
        else:
            append(owner, following, head, tail, length, i, a)
            j = i
        if not full:
            s = worth(rule, vol, inside, log, a, t, between[j >> 1], total, log_total)
            if s < best[t]:
                prefer(best, partner, seen, items.version, t, a, s)
                size = enqueue(ties.keys, ties.values, size, best, partner, name, t)
        i = after
    return size, gone


@phase
def wake(
    a: int,
    woken: int,
    p: int,
    w: float,
    full: bool,
    size: int,
    rule: Whole,
    total: float,
    log_total: float,
    items: Items,
    pairs: Pairs,
    ties: Partners,
) -> int:
    """Make pair p of a and a pendant item that has slept; return the heap's size."""
    head, tail, length = pairs.head, pairs.tail, pairs.length
    pairs.weight[p] = w
    append(pairs.owner, pairs.following, head, tail, length, 2 * p, a)
    append(pairs.owner, pairs.following, head, tail, length, 2 * p + 1, woken)
    if full:  # a is about to look at all its neighbours
        return size
    best, partner = ties.best, ties.partner
    s = worth(rule, items.vol, items.inside, items.log, a, woken, w, total, log_total)
    prefer(best, partner, ties.seen, items.version, woken, a, s)
    return enqueue(ties.keys, ties.values, size, best, partner, items.name, woken)


@phase
def renew(
    a: int,
    size: int,
    rule: Whole,
    total: float,
    log_total: float,
    items: Items,
    pairs: Pairs,
    ties: Partners,
    mark: Ints,
) -> int:
    """Score a with all its neighbours, both ways; return the heap's size."""
    vol, inside, log, name = items.vol, items.inside, items.log, items.name
    version = items.version
    best, partner, seen = ties.best, ties.partner, ties.seen
    head, owner, following = pairs.head, pairs.owner, pairs.following
    between, dead = pairs.weight, pairs.dead
    i = head[a]
    previous = -1
    while i >= 0:  # down the list of a
        if dead[i >> 1]:
            i = unlink(head, following, a, previous, i)
            continue
        t = owner[i ^ 1]
        mark[t] = -1
        s = worth(rule, vol, inside, log, a, t, between[i >> 1], total, log_total)
        if better(best, partner, name, a, t, s):
            prefer(best, partner, seen, version, a, t, s)
        if better(best, partner, name, t, a, s):
            prefer(best, partner, seen, version, t, a, s)
            size = enqueue(ties.keys, ties.values, size, best, partner, name, t)
        previous = i
        i = following[i]
    pairs.tail[a] = previous
    if partner[a] >= 0:
        size = enqueue(ties.keys, ties.values, size, best, partner, name, a)
    return size
