"""move: single nodes of one level change their parent while that lowers the entropy."""

from typing import NamedTuple

import numpy as np

from ..._kernels.jit import loop, phase
from ..._kernels.types import Flags, Floats, Ints
from .arrays import order_by
from .types import CSR, Levels


class Targets(NamedTuple):
    """Where the item at hand may go: at each level, the nodes that hold a neighbour.

    Its own node is the first of each level. Only rows i + 1 to height - 1 are used.
    """

    found: Ints  # (height, width), the nodes, and how many they are
    n_found: Ints
    stamp: Ints  # (height, width), the last visit that found a node
    held: Floats  # weight of the item's edges into a node
    price: Floats  # cost of all nodes above, if the item hung right below this one
    new_log: Floats  # logarithm of the node's volume then
    own: Ints  # (height,), the nodes above the item now,
    own_vol: Floats  # and what they would be without it
    own_cross: Floats


class Spare(NamedTuple):
    """Node ids without children, one stack for each level."""

    ids: Ints
    height: Ints  # of each stack


@phase
def move(graph: CSR, item_vol: Floats, i: int, tree: Levels, total: float) -> None:
    """Move the items, nodes of level ``i``, to a fixed point.

    An item may go below any node that holds one of its neighbours, at any level, or
    below the root; where levels are between, it gets new unary nodes. The cost is
    sum of cross * log(vol) over all nodes.

    Args:
        graph: the items and the edges between them.
        item_vol: volume of each item.
        i: level of the items.
        tree: the tree, which changes from level ``i + 1`` on.
        total: volume of the graph.
    """
    shape = (tree.size.size - 1, tree.up.shape[1])
    ints, floats = np.empty((3, *shape), np.int64), np.empty((3, *shape))
    counts, own = np.zeros((3, shape[0]), np.int64), np.empty((2, shape[0]))
    targets = Targets(
        ints[0],
        counts[0],
        ints[1],
        floats[0],
        floats[1],
        floats[2],
        counts[1],
        own[0],
        own[1],
    )
    spare = Spare(ints[2], counts[2])
    # By volume and not by number, so that names of vertices matter in ties alone.
    lists = np.empty((2, item_vol.size), np.int64)
    order = lists[order_by(item_vol, lists)]
    waits = np.ones(item_vol.size, np.bool_)
    _settle(graph, item_vol, i, tree, total, order, waits, targets, spare)


@loop
def _settle(
    graph: CSR,
    item_vol: Floats,
    i: int,
    tree: Levels,
    total: float,
    order: Ints,
    waits: Flags,
    targets: Targets,
    spare: Spare,
) -> None:
    """Visit the items that wait, until none does."""
    low, height = i + 1, tree.size.size - 1
    for j in range(low, height):
        for a in range(tree.size[j]):
            targets.stamp[j, a] = -1
            if tree.children[j, a] == 0:
                spare.ids[j, spare.height[j]] = a
                spare.height[j] += 1
    items = item_vol.size
    waiting = items
    log_total = np.log2(total)
    for visit in range(20 * items):  # rounding alone could keep it going for ever
        if waiting == 0:
            break
        x = order[visit % items]
        if not waits[x]:
            continue
        waits[x] = False
        waiting -= 1
        if graph.indptr[x] == graph.indptr[x + 1]:
            continue
        d = item_vol[x]
        everything = _find(graph, x, i, visit, tree, targets)
        _without(d, low, tree, targets)
        best, level, target = _price(d, low, everything, log_total, tree, targets)
        here = targets.price[low, targets.own[low]]
        if best >= here - 1e-11 * (abs(here) + everything):
            continue
        _leave(low, tree, targets, spare)
        _arrive(x, d, i, level, target, tree, targets, spare)
        for e in range(graph.indptr[x], graph.indptr[x + 1]):
            y = graph.indices[e]
            if not waits[y] and tree.up[i, y] != tree.up[i, x]:
                waits[y] = True
                waiting += 1


@phase
def _find(
    graph: CSR, x: int, i: int, visit: int, tree: Levels, targets: Targets
) -> float:
    """Find the nodes above item x and its neighbours; return its edges' weight."""
    up, found, n_found = tree.up, targets.found, targets.n_found
    stamp, held = targets.stamp, targets.held
    low, height = i + 1, tree.size.size - 1
    a = up[i, x]
    for j in range(low, height):
        targets.own[j] = a
        stamp[j, a] = visit
        held[j, a] = 0.0
        found[j, 0] = a
        n_found[j] = 1
        a = up[j, a]
    everything = 0.0
    count = 1
    for e in range(graph.indptr[x], graph.indptr[x + 1]):
        a = up[i, graph.indices[e]]
        w = graph.weight[e]
        everything += w
        if stamp[low, a] != visit:
            stamp[low, a] = visit
            held[low, a] = 0.0
            found[low, count] = a
            count += 1
        held[low, a] += w
    n_found[low] = count
    for j in range(low, height - 1):
        count = 1
        for q in range(n_found[j]):
            a = found[j, q]
            b = up[j, a]
            if stamp[j + 1, b] != visit:
                stamp[j + 1, b] = visit
                held[j + 1, b] = 0.0
                found[j + 1, count] = b
                count += 1
            held[j + 1, b] += held[j, a]
        n_found[j + 1] = count
    return everything


@phase
def _without(d: float, low: int, tree: Levels, targets: Targets) -> None:
    """Set what the nodes above an item of volume d would be without it."""
    own_vol, own_cross, held = targets.own_vol, targets.own_cross, targets.held
    below = 0.0
    for j in range(low, tree.size.size - 1):
        a = targets.own[j]
        own_cross[j] = tree.cross[j, a] - (held[j, a] - below)
        own_vol[j] = tree.vol[j, a] - d
        if tree.children[j, a] == 1 and (j == low or own_vol[j - 1] == 0.0):
            own_vol[j] = 0.0
            own_cross[j] = 0.0
        below = held[j, a]


@phase
def _price(
    d: float,
    low: int,
    everything: float,
    log_total: float,
    tree: Levels,
    targets: Targets,
) -> tuple[float, int, int]:
    """Price all targets, from the root down, as if the item hung nowhere now.

    Returns:
        The least cost, and the level and id of that node.
    """
    price, new_log = targets.price, targets.new_log
    top = tree.size.size - 2
    at_root = everything * log_total
    best, level, target = at_root, top + 1, 0
    for j in range(top, low - 1, -1):
        for q in range(targets.n_found[j]):
            a = targets.found[j, q]
            v, c, old = tree.vol[j, a], tree.cross[j, a], tree.log[j, a]
            if q == 0:
                v, c = targets.own_vol[j], targets.own_cross[j]
                old = np.log2(v) if v > 0.0 else 0.0
            new = np.log2(v + d)
            h = targets.held[j, a]
            cost = (c + h) * new - c * old
            if j == top:
                cost += at_root - h * log_total
            else:
                b = tree.up[j, a]
                cost += price[j + 1, b] - h * new_log[j + 1, b]
            price[j, a] = cost
            new_log[j, a] = new
            if cost <= best:
                best, level, target = cost, j, a
    return best, level, target


@phase
def _leave(low: int, tree: Levels, targets: Targets, spare: Spare) -> None:
    """Take the item out of the nodes above; those left empty become spare."""
    own_vol, children = targets.own_vol, tree.children
    emptied = True
    for j in range(low, tree.size.size - 1):
        a = targets.own[j]
        tree.vol[j, a] = own_vol[j]
        tree.cross[j, a] = targets.own_cross[j]
        tree.log[j, a] = np.log2(own_vol[j]) if own_vol[j] > 0.0 else 0.0
        if emptied:
            children[j, a] -= 1
            emptied = children[j, a] == 0
            if emptied:
                spare.ids[j, spare.height[j]] = a
                spare.height[j] += 1


@phase
def _arrive(
    x: int,
    d: float,
    i: int,
    level: int,
    target: int,
    tree: Levels,
    targets: Targets,
    spare: Spare,
) -> None:
    """Hang item x below a target, by a chain of new nodes if that is further up."""
    up, vol, cross, log = tree.up, tree.vol, tree.cross, tree.log
    children, size = tree.children, tree.size
    height = size.size - 1
    below = 0.0
    a = target
    for j in range(level, height):
        cross[j, a] += targets.held[j, a] - below
        vol[j, a] += d
        log[j, a] = np.log2(vol[j, a])
        below = targets.held[j, a]
        a = up[j, a]
    node = target
    for j in range(level - 1, i, -1):
        if spare.height[j] > 0:
            spare.height[j] -= 1
            a = spare.ids[j, spare.height[j]]
        else:
            a = size[j]
            size[j] += 1
            targets.stamp[j, a] = -1
        up[j, a] = node
        if j < height - 1:
            children[j + 1, node] += 1
        children[j, a] = 0
        cross[j, a] = 0.0
        vol[j, a] = d
        log[j, a] = np.log2(d)
        node = a
    up[i, x] = node
    children[i + 1, node] += 1
