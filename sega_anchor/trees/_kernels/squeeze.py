"""squeeze: the best tree of height k among those made of a dendrogram's nodes."""

from __future__ import annotations

import numpy as np

from .jit import entry, kernel
from .types import Floats, Ints


@kernel
def _meld(left: Ints, right: Ints, key: Floats, a: int, b: int, sign: float) -> int:
    """Join two skew heaps (roots a, b, -1 if empty); smallest sign * key on top."""
    if a < 0:
        return b
    if b < 0:
        return a
    if sign * key[b] < sign * key[a]:
        a, b = b, a
    root = a
    while True:  # down the right spines, swapping children
        after = right[a]
        right[a] = left[a]
        if after < 0:
            left[a] = b
            return root
        if sign * key[b] < sign * key[after]:
            after, b = b, after
        left[a] = after
        a = after


@entry
def squeeze(
    parent: Ints, log_volume: Floats, inner: Floats, n: int, height: int
) -> tuple[Ints, Ints, float]:
    r"""Find the best tree of ``height`` made of the root, the leaves and some nodes.

    A node that is not kept leaves its edges to its lowest kept ancestor p, at a cost of
    inner * log(vol_p). With j levels left, the least cost F of all below a node, as a
    function of x = log(vol_p), is

        F_j(x) = min(keep_j, inner * x + sum over children of their F_j(x)),

    where keep_j, the cost when the node itself is kept, is a constant: what its
    children cost at its own volume with a level less. So F is concave, piecewise
    linear and flat at the end: F(x) = flat - sum_i step_i * max(0, x_i - x). Sums are
    unions of the breakpoints x_i; the minimum with a constant cuts some off at the
    right and adds one; and as volumes only grow towards the root, breakpoints on the
    left are soon behind. Each node adds one breakpoint at most, and two mergeable
    heaps, one for either end, hold them: O(height * n log n), whatever the shape.

    Args:
        parent: of a dendrogram, children before parents, the root last.
        log_volume: logarithm of each node's volume, anything where no edges are.
        inner: weight of the edges that meet in each node, 0 at the leaves.
        n: number of leaves.
        height: greatest number of edges from the root to a leaf.

    Returns:
        above: the lowest kept node at or above each inner node.
        left: how many levels are left below it.
        cost: sum of inner * log(vol) over the tree.
    """
    count = parent.size
    root = count - 1
    below = inner.copy()  # weight of the edges that meet inside each node
    for a in range(root):
        below[parent[a]] += below[a]
    # F of a node is linear before crossing[j, a] and keep_j behind it.
    crossing = np.empty((height, count))
    kept_cost = np.zeros(count)
    for a in range(count):
        kept_cost[a] = below[a] * log_volume[a]  # nothing kept below
    low_left = np.empty(count, np.int64)
    low_right = np.empty(count, np.int64)
    high_left = np.empty(count, np.int64)
    high_right = np.empty(count, np.int64)
    low = np.empty(count, np.int64)
    high = np.empty(count, np.int64)
    step = np.empty(count)
    alive = np.empty(count, np.bool_)
    steps = np.empty(count)
    moment = np.empty(count)
    flat = np.empty(count)
    new_cost = np.zeros(count)
    for j in range(1, height):
        # F_j(a)(x) = flat - sum_i step_i max(0, x_i - x)
        low[:] = -1
        high[:] = -1
        steps[:] = 0.0
        moment[:] = 0.0
        flat[:] = 0.0
        key = crossing[j]
        for a in range(n, count):
            x = log_volume[a]
            # breakpoints at or below x can matter no more
            while low[a] >= 0:
                b = low[a]
                if alive[b]:
                    if key[b] > x:
                        break
                    alive[b] = False
                    steps[a] -= step[b]
                    moment[a] -= step[b] * key[b]
                low[a] = _meld(low_left, low_right, key, low_left[b], low_right[b], 1.0)
            if low[a] < 0:
                steps[a] = 0.0
                moment[a] = 0.0
                high[a] = -1
            new_cost[a] = inner[a] * x + flat[a] - (moment[a] - x * steps[a])
            if a == root:
                break
            # truncate at kept_cost[a]
            keep = kept_cost[a]
            slope = inner[a]
            base = flat[a]  # value = slope * y + base beyond the last breakpoint
            cross = np.inf
            while True:
                while high[a] >= 0 and not alive[high[a]]:
                    b = high[a]
                    high[a] = _meld(
                        high_left, high_right, key, high_left[b], high_right[b], -1.0
                    )
                if slope > 0.0:
                    cross = (keep - base) / slope
                else:
                    cross = np.inf
                if high[a] < 0 or cross >= key[high[a]]:
                    break
                b = high[a]
                alive[b] = False
                slope += step[b]
                base -= step[b] * key[b]
                steps[a] -= step[b]
                moment[a] -= step[b] * key[b]
                high[a] = _meld(
                    high_left, high_right, key, high_left[b], high_right[b], -1.0
                )
            key[a] = max(cross, x)
            p = parent[a]
            if cross < np.inf:
                step[a] = slope
                alive[a] = True
                steps[a] += slope
                moment[a] += slope * key[a]
                low_left[a] = -1
                low_right[a] = -1
                high_left[a] = -1
                high_right[a] = -1
                low[a] = _meld(low_left, low_right, key, low[a], a, 1.0)
                high[a] = _meld(high_left, high_right, key, high[a], a, -1.0)
                flat[p] += keep
            else:
                flat[p] += base
            steps[p] += steps[a]
            moment[p] += moment[a]
            low[p] = _meld(low_left, low_right, key, low[p], low[a], 1.0)
            high[p] = _meld(high_left, high_right, key, high[p], high[a], -1.0)
        kept_cost, new_cost = new_cost, kept_cost
    # Read the choice downwards.
    left = np.zeros(count, np.int64)  # levels left below the lowest kept node
    above = np.full(count, -1, np.int64)  # lowest kept node above (or itself)
    left[root] = height - 1
    above[root] = root
    for a in range(root - 1, n - 1, -1):
        p = parent[a]
        j = left[p]
        k = above[p]
        if j > 0 and crossing[j, a] < log_volume[k]:
            above[a] = a
            left[a] = j - 1
        else:
            above[a] = k
            left[a] = j
    return above, left, kept_cost[root]
