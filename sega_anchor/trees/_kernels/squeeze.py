"""squeeze: the best tree of height k among those made of a dendrogram's nodes."""

from typing import NamedTuple

import numpy as np

from ..._kernels.jit import entry, loop, phase
from ..._kernels.types import Flags, Floats, Ints


class Breakpoints(NamedTuple):
    """F of each node without its linear part, flat - sum_i step_i * max(0, x_i - x).

    Breakpoint i is named by the node that has added it. Two skew heaps of each node
    hold its breakpoints, the lowest and the highest on top; one that is cut off at one
    end is only marked as dead for the other.
    """

    flat: Floats
    steps: Floats  # sum of step_i
    moment: Floats  # sum of step_i * x_i
    step: Floats
    alive: Flags
    low: Ints  # root of each node's heap, -1 if empty
    low_left: Ints  # children of each breakpoint in it
    low_right: Ints
    high: Ints
    high_left: Ints
    high_right: Ints


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
    # F of a node is linear before crossing[j, a] and keep_j behind it.
    crossing = np.empty((height, count))
    floats, kept = np.empty((4, count)), np.empty((2, count))
    ints = np.empty((6, count), np.int64)
    points = Breakpoints(
        floats[0],
        floats[1],
        floats[2],
        floats[3],
        np.empty(count, np.bool_),
        ints[0],
        ints[1],
        ints[2],
        ints[3],
        ints[4],
        ints[5],
    )
    cost = _costs(parent, log_volume, inner, n, crossing, kept, points)
    chosen = np.empty((2, count), np.int64)
    above, left = chosen[0], chosen[1]
    _read_choice(parent, log_volume, n, crossing, above, left)
    return above, left, cost


@loop
def _costs(
    parent: Ints,
    log_volume: Floats,
    inner: Floats,
    n: int,
    crossing: Floats,
    kept: Floats,
    points: Breakpoints,
) -> float:
    """Fill ``crossing``, level by level; return the cost of the best tree.

    ``kept`` has two rows: what each node costs if it is kept, with the levels of the
    last round left below it and with those of this round.
    """
    root, flat = parent.size - 1, points.flat
    last, now = 0, 1
    _keep_none(parent, log_volume, inner, kept)
    for j in range(1, crossing.shape[0]):
        _clear(points)
        key = crossing[j]
        for a in range(n, root + 1):
            x = log_volume[a]
            _forget(a, x, key, points)
            at_x = inner[a] * x + flat[a] - (points.moment[a] - x * points.steps[a])
            kept[now, a] = at_x
            if a == root:
                break
            cross, slope, base = _truncate(a, kept[last, a], inner[a], key, points)
            key[a] = max(cross, x)
            p = parent[a]
            if cross < np.inf:
                _add(a, slope, key, points)
                flat[p] += kept[last, a]
            else:
                flat[p] += base
            _give(a, p, key, points)
        last, now = now, last
    return kept[last, root]


@phase
def _keep_none(parent: Ints, log_volume: Floats, inner: Floats, kept: Floats) -> None:
    """Set what each node costs if it is kept and nothing below."""
    count = parent.size
    below = kept[1]  # weight of the edges that meet inside each node
    for a in range(count):
        below[a] = inner[a]
    for a in range(count - 1):
        below[parent[a]] += below[a]
    for a in range(count):
        kept[0, a] = below[a] * log_volume[a]


@phase
def _clear(points: Breakpoints) -> None:
    for a in range(points.flat.size):
        points.low[a] = -1
        points.high[a] = -1
        points.steps[a] = 0.0
        points.moment[a] = 0.0
        points.flat[a] = 0.0


@phase
def _forget(a: int, x: float, key: Floats, points: Breakpoints) -> None:
    """Drop the breakpoints of a at or below x: they can matter no more."""
    low, steps, moment = points.low, points.steps, points.moment
    left, right = points.low_left, points.low_right
    while low[a] >= 0:  # each turn takes one out of the heap
        b = low[a]
        if points.alive[b]:
            if key[b] > x:
                break
            points.alive[b] = False
            steps[a] -= points.step[b]
            moment[a] -= points.step[b] * key[b]
        low[a] = _meld(left, right, key, left[b], right[b], 1.0)
    if low[a] < 0:
        steps[a] = 0.0
        moment[a] = 0.0
        points.high[a] = -1


@phase
def _truncate(
    a: int, keep: float, slope: float, key: Floats, points: Breakpoints
) -> tuple[float, float, float]:
    """Drop the breakpoints of a where F is above ``keep``.

    Returns:
        Where F meets ``keep``, infinity if nowhere; and F there, as slope * x + base.
    """
    high, alive, step = points.high, points.alive, points.step
    left, right = points.high_left, points.high_right
    base = points.flat[a]
    cross = np.inf
    while True:  # each turn takes one out of the heap
        while high[a] >= 0 and not alive[high[a]]:  # so does each of these
            b = high[a]
            high[a] = _meld(left, right, key, left[b], right[b], -1.0)
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
        points.steps[a] -= step[b]
        points.moment[a] -= step[b] * key[b]
        high[a] = _meld(left, right, key, left[b], right[b], -1.0)
    return cross, slope, base


@phase
def _add(a: int, slope: float, key: Floats, points: Breakpoints) -> None:
    """Add the breakpoint that a makes."""
    points.step[a] = slope
    points.alive[a] = True
    points.steps[a] += slope
    points.moment[a] += slope * key[a]
    points.low_left[a] = -1
    points.low_right[a] = -1
    points.high_left[a] = -1
    points.high_right[a] = -1
    _join(a, a, a, key, points)


@phase
def _give(a: int, p: int, key: Floats, points: Breakpoints) -> None:
    """Give all breakpoints of a to its parent p."""
    points.steps[p] += points.steps[a]
    points.moment[p] += points.moment[a]
    _join(p, points.low[a], points.high[a], key, points)


@phase
def _join(a: int, low: int, high: int, key: Floats, points: Breakpoints) -> None:
    """Join heaps with those of a."""
    points.low[a] = _meld(
        points.low_left, points.low_right, key, points.low[a], low, 1.0
    )
    points.high[a] = _meld(
        points.high_left, points.high_right, key, points.high[a], high, -1.0
    )


@loop
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


@phase
def _read_choice(
    parent: Ints, log_volume: Floats, n: int, crossing: Floats, above: Ints, left: Ints
) -> None:
    """Read downwards from the root which nodes are kept."""
    root = parent.size - 1
    for a in range(n):
        above[a] = -1
        left[a] = 0
    left[root] = crossing.shape[0] - 1  # levels left below the lowest kept node
    above[root] = root
    for a in range(root - 1, n - 1, -1):
        j, k = left[parent[a]], above[parent[a]]
        if j > 0 and crossing[j, a] < log_volume[k]:
            above[a] = a
            left[a] = j - 1
        else:
            above[a] = k
            left[a] = j
