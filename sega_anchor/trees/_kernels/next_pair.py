"""Which pair :func:`~.agglomerate.agglomerate` merges next."""

import numpy as np

from ..._kernels.jit import phase
from ..._kernels.types import Floats
from .heap import pop
from .pairs import (
    Items,
    Pairs,
    Partners,
    better,
    enqueue,
    prefer,
    ticket,
    unlink,
    worth,
)
from .types import Whole


@phase
def refill(items: Items, ties: Partners) -> int:
    """Fill the heap again with the present scores; return its size."""
    size = 0
    for a in range(items.version.size):
        if items.version[a] >= 0 and ties.partner[a] >= 0:
            size = enqueue(
                ties.keys, ties.values, size, ties.best, ties.partner, items.name, a
            )
    return size


@phase
def wake_hubs(items: Items, pairs: Pairs, ties: Partners) -> int:
    """Put every item that still has a pair back into the heap; return its size.

    For when only pairs of hubs are left, which no heap entry stands for.
    """
    size = 0
    for a in range(items.version.size):
        i = pairs.head[a] if items.version[a] >= 0 else -1
        while i >= 0 and pairs.dead[i >> 1]:  # down the list of a
            i = pairs.following[i]
        if i >= 0:
            ties.best[a] = -np.inf
            ties.partner[a] = pairs.owner[i ^ 1]
            ties.seen[a] = -2  # no version: out of date
            size = enqueue(
                ties.keys, ties.values, size, ties.best, ties.partner, items.name, a
            )
    return size


@phase
def look_again(
    a: int,
    rule: Whole,
    total: float,
    log_total: float,
    items: Items,
    pairs: Pairs,
    ties: Partners,
) -> float:
    """Find the best partner of a among its neighbours; return the weight between."""
    vol, inside, log, name = items.vol, items.inside, items.log, items.name
    best, partner, seen = ties.best, ties.partner, ties.seen
    head, owner, following = pairs.head, pairs.owner, pairs.following
    between, dead = pairs.weight, pairs.dead
    best[a] = np.inf
    partner[a] = -1
    found = 0.0
    previous = -1
    i = head[a]
    while i >= 0:  # down the list of a
        if dead[i >> 1]:
            i = unlink(head, following, a, previous, i)
            continue
        t = owner[i ^ 1]
        w = between[i >> 1]
        s = worth(rule, vol, inside, log, a, t, w, total, log_total)
        if better(best, partner, name, a, t, s):
            prefer(best, partner, seen, items.version, a, t, s)
            found = w
        previous = i
        i = following[i]
    pairs.tail[a] = previous
    return found


@phase
def draw(
    size: int,
    rule: Whole,
    hub: Whole,
    totals: Floats,
    log_totals: Floats,
    items: Items,
    pairs: Pairs,
    ties: Partners,
) -> tuple[int, int, int]:
    """Take from the heap; update a score that is out of date.

    Returns:
        The pair to be merged, the second item -1 if nothing can be merged yet; and the
        heap's size.
    """
    best, partner, name = ties.best, ties.partner, items.name
    keys, values, version = ties.keys, ties.values, items.version
    s, drawn = keys[0], values[0]
    size = pop(keys, values, size)
    a = items.holder[((drawn & 0xFFFFFFFF) >> 1) if drawn & 1 else (drawn >> 32)]
    b = partner[a]
    if version[a] < 0 or s != best[a] or b < 0:
        return a, -1, size
    if ties.seen[a] == version[b]:
        if drawn != ticket(name, a, b):
            b = -1  # an old ticket of the same score
        return a, b, size
    g = items.group[a]
    w = look_again(a, rule, totals[g], log_totals[g], items, pairs, ties)
    b = partner[a]
    if b < 0:
        return a, b, size
    worse = best[a] > s + 0.1 * (abs(best[a]) + 2.0 * w)
    if pairs.length[b] <= hub or worse:
        size = enqueue(keys, values, size, best, partner, name, a)
        b = -1
    return a, b, size
