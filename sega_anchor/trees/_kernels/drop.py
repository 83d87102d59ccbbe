"""drop: the cheapest inner nodes go, their children rising, until a height is met."""

from typing import NamedTuple

import numpy as np

from ..._kernels.jit import helper, loop, phase
from ..._kernels.types import Floats, Ints
from .heap import pop, push
from .types import Dendrogram, Whole


class Below(NamedTuple):
    """The children of each node as a list in both directions, and what is below."""

    child: Ints  # first child, -1 if none
    right: Ints  # next sibling
    left: Ints  # sibling before
    tall: Ints  # edges to the lowest leaf
    root: Ints


@helper
def depth_of(parent: Ints, a: int) -> int:
    """Return how many nodes are above ``a``."""
    depth = 0
    while parent[a] >= 0:  # a tree: no node comes twice
        a = parent[a]
        depth += 1
    return depth


@phase
def drop(
    out: Dendrogram, n: int, height: Whole, smoothing: float, anywhere: bool
) -> None:
    """Lower each tree of a dendrogram to ``height``; dropped nodes get parent -2.

    Dropping a below p costs inner[a] * log2((vol_p + s) / (vol_a + s)), times 2/V, with
    s = ``smoothing``.

    Args:
        out: the dendrogram; weights of dropped nodes go to their parents.
        n: number of leaves.
        height: greatest number of edges from a root to a leaf.
        smoothing: see above.
        anywhere: whether nodes that lie on no too long path may go too.
    """
    count = out.made[0]
    ints = np.zeros((5, count), np.int64)
    below = Below(ints[0], ints[1], ints[2], ints[3], ints[4])
    cost = np.zeros(count)
    keys, values = np.empty(4 * count + 16), np.empty(4 * count + 16, np.int64)
    _drop(out, n, height, smoothing, anywhere, below, cost, keys, values)


@loop
def _drop(
    out: Dendrogram,
    n: int,
    height: Whole,
    smoothing: float,
    anywhere: bool,
    below: Below,
    cost: Floats,
    keys: Floats,
    values: Ints,
) -> None:
    """Drop node after node; ``cost`` and the heap are room for the costs."""
    parent, inner = out.parent, out.inner
    tall, root = below.tall, below.root
    _hang(out, n, smoothing, below, cost)
    size = _refill(parent, n, cost, keys, values)
    # Each turn takes one price out of the heap; prices are added, or all anew, only
    # where a node is dropped, and each is dropped once.
    while size > 0:
        price, a = keys[0], values[0]
        size = pop(keys, values, size)
        if parent[a] == -2 or price != cost[a] or tall[root[a]] <= height:
            continue
        if not anywhere and depth_of(parent, a) + tall[a] <= height:
            continue
        if size + cost.size > keys.size:  # mostly costs that have grown old
            size = _refill(parent, n, cost, keys, values)
        p = parent[a]
        parent[a] = -2
        inner[p] += inner[a]
        _unhang(a, p, below)
        b = below.child[a]
        while b >= 0:  # down a list of siblings
            after = below.right[b]
            parent[b] = p
            _hang_first(b, p, below)
            if b >= n:
                cost[b] = _loss(inner, out.volume, b, p, smoothing)
                size = push(keys, values, size, cost[b], b)
            b = after
        if parent[p] >= 0:
            cost[p] = _loss(inner, out.volume, p, parent[p], smoothing)
            size = push(keys, values, size, cost[p], p)
        if tall[p] == tall[a] + 1:
            _measure(p, parent, below)


@helper
def _loss(inner: Floats, volume: Floats, a: int, p: int, smoothing: float) -> float:
    """Return what it costs to drop a below p."""
    return inner[a] * np.log2((volume[p] + smoothing) / (volume[a] + smoothing))


@phase
def _hang(
    out: Dendrogram, n: int, smoothing: float, below: Below, cost: Floats
) -> None:
    """List the children of all nodes, and price what may be dropped."""
    parent, tall, root = out.parent, below.tall, below.root
    for a in range(cost.size):
        below.child[a] = -1
    for a in range(cost.size):  # children come first: heights are ready in order
        p = parent[a]
        if p >= 0:
            _hang_first(a, p, below)
            tall[p] = max(tall[p], tall[a] + 1)
            if a >= n:
                cost[a] = _loss(out.inner, out.volume, a, p, smoothing)
    for a in range(cost.size - 1, -1, -1):
        root[a] = a if parent[a] < 0 else root[parent[a]]


@phase
def _refill(parent: Ints, n: int, cost: Floats, keys: Floats, values: Ints) -> int:
    """Fill the heap with what may be dropped; return its size."""
    size = 0
    for a in range(n, cost.size):
        if parent[a] >= 0:
            size = push(keys, values, size, cost[a], a)
    return size


@phase
def _hang_first(a: int, p: int, below: Below) -> None:
    """Make a the first child of p."""
    child, right, left = below.child, below.right, below.left
    left[a] = -1
    right[a] = child[p]
    if child[p] >= 0:
        left[child[p]] = a
    child[p] = a


@phase
def _unhang(a: int, p: int, below: Below) -> None:
    """Take a from the children of p."""
    right, left = below.right, below.left
    if left[a] >= 0:
        right[left[a]] = right[a]
    else:
        below.child[p] = right[a]
    if right[a] >= 0:
        left[right[a]] = left[a]


@phase
def _measure(p: int, parent: Ints, below: Below) -> None:
    """Measure p again, and what is above for as long as it gets lower."""
    lowered = True
    while lowered:  # up to the root at most
        tallest = 0
        b = below.child[p]
        while b >= 0:  # down a list of siblings
            tallest = max(tallest, below.tall[b] + 1)
            b = below.right[b]
        lowered = tallest < below.tall[p] and parent[p] >= 0
        below.tall[p] = tallest
        p = parent[p]
