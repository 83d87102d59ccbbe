"""move: single nodes of one level change their parent while that lowers the entropy."""

from __future__ import annotations

import numpy as np

from .jit import kernel
from .types import CSR, Floats, Levels


@kernel
def move(graph: CSR, item_vol: Floats, i: int, tree: Levels, total: float) -> None:
    """Move the items, nodes of level ``i``, to a fixed point.

    An item may go below any node that holds one of its neighbours, at any level, or
    below the root; where levels are between, it gets new unary nodes. The cost is
    sum of cross * log(vol) over all nodes.
    """
    indptr, indices, weight = graph.indptr, graph.indices, graph.weight
    up, vol, cross, log = tree.up, tree.vol, tree.cross, tree.log
    children, size = tree.children, tree.size
    items = item_vol.size
    height = size.size - 1
    low, top = i + 1, height - 1  # levels of the nodes that items move between
    width = up.shape[1]
    log_total = np.log2(total)
    # For the item at hand: the nodes that hold a neighbour at each level, the weight
    # into each, and the cost of hanging right below it.
    found = np.empty((height, width), np.int64)
    n_found = np.zeros(height, np.int64)
    stamp = np.full((height, width), -1, np.int64)
    held = np.empty((height, width))
    price = np.empty((height, width))
    new_log = np.empty((height, width))
    own = np.empty(height, np.int64)
    own_vol, own_cross = np.empty(height), np.empty(height)
    spare = np.empty((height, width), np.int64)
    n_spare = np.zeros(height, np.int64)
    for j in range(low, height):
        for a in range(size[j]):
            if children[j, a] == 0:
                spare[j, n_spare[j]] = a
                n_spare[j] += 1
    # By volume and not by number, so that names of vertices matter in ties alone.
    order = np.argsort(item_vol, kind="mergesort")
    waits = np.ones(items, np.bool_)
    waiting = items
    for visit in range(20 * items):  # rounding alone could keep it going for ever
        if waiting == 0:
            break
        x = order[visit % items]
        if not waits[x]:
            continue
        waits[x] = False
        waiting -= 1
        if indptr[x] == indptr[x + 1]:
            continue
        d = item_vol[x]
        # Find: the item's own chain first, then what is above its neighbours.
        a = up[i, x]
        for j in range(low, height):
            own[j] = a
            stamp[j, a] = visit
            held[j, a] = 0.0
            found[j, 0] = a
            n_found[j] = 1
            a = up[j, a]
        everything = 0.0
        count = 1
        for e in range(indptr[x], indptr[x + 1]):
            a = up[i, indices[e]]
            w = weight[e]
            everything += w
            if stamp[low, a] != visit:
                stamp[low, a] = visit
                held[low, a] = 0.0
                found[low, count] = a
                count += 1
            held[low, a] += w
        n_found[low] = count
        for j in range(low, top):
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
        # Price, from the root down, as if the item hung nowhere now.
        below = 0.0
        for j in range(low, height):
            a = own[j]
            own_cross[j] = cross[j, a] - (held[j, a] - below)
            own_vol[j] = vol[j, a] - d
            if children[j, a] == 1 and (j == low or own_vol[j - 1] == 0.0):
                own_vol[j] = 0.0
                own_cross[j] = 0.0
            below = held[j, a]
        at_root = everything * log_total
        best, level, target = at_root, height, 0
        for j in range(top, i, -1):
            for q in range(n_found[j]):
                a = found[j, q]
                v, c, old = vol[j, a], cross[j, a], log[j, a]
                if q == 0:
                    v, c = own_vol[j], own_cross[j]
                    old = np.log2(v) if v > 0.0 else 0.0
                new = np.log2(v + d)
                h = held[j, a]
                cost = (c + h) * new - c * old
                if j == top:
                    cost += at_root - h * log_total
                else:
                    b = up[j, a]
                    cost += price[j + 1, b] - h * new_log[j + 1, b]
                price[j, a] = cost
                new_log[j, a] = new
                if cost <= best:
                    best, level, target = cost, j, a
        here = price[low, own[low]]
        if best >= here - 1e-11 * (abs(here) + everything):
            continue
        # Leave; nodes left empty become spare.
        emptied = True
        for j in range(low, height):
            a = own[j]
            vol[j, a] = own_vol[j]
            cross[j, a] = own_cross[j]
            log[j, a] = np.log2(own_vol[j]) if own_vol[j] > 0.0 else 0.0
            if emptied:
                children[j, a] -= 1
                emptied = children[j, a] == 0
                if emptied:
                    spare[j, n_spare[j]] = a
                    n_spare[j] += 1
        # Arrive.
        below = 0.0
        a = target
        for j in range(level, height):
            cross[j, a] += held[j, a] - below
            vol[j, a] += d
            log[j, a] = np.log2(vol[j, a])
            below = held[j, a]
            a = up[j, a]
        node = target
        for j in range(level - 1, i, -1):
            if n_spare[j] > 0:
                n_spare[j] -= 1
                a = spare[j, n_spare[j]]
            else:
                a = size[j]
                size[j] += 1
            up[j, a] = node
            if j < top:
                children[j + 1, node] += 1
            children[j, a] = 0
            cross[j, a] = 0.0
            vol[j, a] = d
            log[j, a] = np.log2(d)
            node = a
        up[i, x] = node
        children[low, node] += 1
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            if not waits[y] and up[i, y] != node:
                waits[y] = True
                waiting += 1
