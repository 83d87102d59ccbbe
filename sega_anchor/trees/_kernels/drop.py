"""drop: the cheapest inner nodes go, their children rising, until a height is met."""

from __future__ import annotations

import numpy as np

from .heap import pop, push
from .jit import kernel
from .types import Dendrogram, Ints, Whole


@kernel
def depth_of(parent: Ints, a: int) -> int:
    """Return how many nodes are above ``a``."""
    depth = 0
    while parent[a] >= 0:
        a = parent[a]
        depth += 1
    return depth


@kernel
def drop(
    out: Dendrogram, n: int, height: Whole, smoothing: float, anywhere: bool
) -> None:
    """Lower each tree of a dendrogram to ``height``; dropped nodes get parent -2.

    Dropping a below p costs inner[a] * log2((vol_p + s) / (vol_a + s)), times 2/V, with
    s = ``smoothing``. With ``anywhere`` false, nodes that lie on no too long path are
    passed over.
    """
    count = out.made[0]
    parent, volume, inner = out.parent, out.volume, out.inner
    ints = np.zeros((5, count), np.int64)
    child, right, left, tall, root = ints[0], ints[1], ints[2], ints[3], ints[4]
    child[:] = -1
    right[:] = -1
    left[:] = -1
    cost = np.zeros(count)
    keys = np.empty(4 * count + 16)
    values = np.empty(4 * count + 16, np.int64)
    size = 0
    for a in range(count):  # children come before parents: heights are ready in order
        p = parent[a]
        if p < 0:
            continue
        right[a] = child[p]
        if child[p] >= 0:
            left[child[p]] = a
        child[p] = a
        tall[p] = max(tall[p], tall[a] + 1)
        if a >= n:
            cost[a] = inner[a] * np.log2(
                (volume[p] + smoothing) / (volume[a] + smoothing)
            )
            size = push(keys, values, size, cost[a], a)
    for a in range(count - 1, -1, -1):
        root[a] = a if parent[a] < 0 else root[parent[a]]
    while size > 0:
        price = keys[0]
        a = values[0]
        size = pop(keys, values, size)
        if parent[a] == -2 or price != cost[a] or tall[root[a]] <= height:
            continue
        if not anywhere and depth_of(parent, a) + tall[a] <= height:
            continue
        p = parent[a]
        parent[a] = -2
        inner[p] += inner[a]
        if left[a] >= 0:
            right[left[a]] = right[a]
        else:
            child[p] = right[a]
        if right[a] >= 0:
            left[right[a]] = left[a]
        b = child[a]
        while b >= 0:
            after = right[b]
            parent[b] = p
            left[b] = -1
            right[b] = child[p]
            if child[p] >= 0:
                left[child[p]] = b
            child[p] = b
            if b >= n:
                cost[b] = inner[b] * np.log2(
                    (volume[p] + smoothing) / (volume[b] + smoothing)
                )
                if size == keys.size:
                    keys = np.concatenate((keys, np.empty(size)))
                    values = np.concatenate((values, np.empty(size, np.int64)))
                size = push(keys, values, size, cost[b], b)
            b = after
        if parent[p] >= 0:
            q = parent[p]
            cost[p] = inner[p] * np.log2(
                (volume[q] + smoothing) / (volume[p] + smoothing)
            )
            if size == keys.size:
                keys = np.concatenate((keys, np.empty(size)))
                values = np.concatenate((values, np.empty(size, np.int64)))
            size = push(keys, values, size, cost[p], p)
        lowered = tall[p] == tall[a] + 1
        while lowered:
            tallest = 0
            b = child[p]
            while b >= 0:
                tallest = max(tallest, tall[b] + 1)
                b = right[b]
            lowered = tallest < tall[p] and parent[p] >= 0
            tall[p] = tallest
            p = parent[p]
