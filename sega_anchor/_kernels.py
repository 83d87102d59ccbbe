"""Compiled kernels over flat arrays: the only file that imports numba.

A graph is a symmetric CSR triple ``(indptr, indices, weight)``. A growing tree is
``parent``, ``volume`` and ``inner`` over node ids: the graph's ``n`` vertices come
first, later ids in order of creation. ``inner[a]`` is the edge weight between the
children of ``a``. Every builder ends in one matrix ``labels`` of shape
``(height - 1, n)``: the group of each vertex at levels 1 .. height - 1, bottom up.
Nested partitions say all there is to say about a tree whose branches are equally long.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt
from numba import njit

# mypy sees numpy's scalars as Any here.
# mypy: disable-error-code="no-any-return"

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Csr = tuple[Ints, Ints, Floats]

PAPER = 0
AUTHORS = 1


@njit(cache=True, nogil=True)
def symmetric_csr(row: Ints, col: Ints, weight: Floats, n: int) -> Csr:
    """Return the undirected simple graph of a directed edge list as CSR.

    Self-loops and zero weights go. The weight of {u, v} is the larger of the sums of
    the u -> v and of the v -> u entries; without weights (size 0) it is 1.
    """
    indptr = np.zeros(n + 1, np.int64)
    for e in range(row.size):
        if row[e] != col[e]:
            indptr[row[e] + 1] += 1
            indptr[col[e] + 1] += 1
    indptr = np.cumsum(indptr)
    fill = indptr[:-1].copy()
    indices = np.empty(indptr[n], np.int64)
    out_weight = np.zeros(indptr[n])
    in_weight = np.zeros(indptr[n])
    for e in range(row.size):
        u, v = row[e], col[e]
        if u == v:
            continue
        w = weight[e] if weight.size else 1.0
        indices[fill[u]] = v
        out_weight[fill[u]] = w
        fill[u] += 1
        indices[fill[v]] = u
        in_weight[fill[v]] = w
        fill[v] += 1
    slot = np.empty(n, np.int64)
    seen = np.full(n, -1, np.int64)
    end = 0
    for u in range(n):
        begin, stop = indptr[u], indptr[u + 1]
        indptr[u] = end
        for e in range(begin, stop):
            v = indices[e]
            if seen[v] != u:
                seen[v] = u
                slot[v] = end
                forward, backward = out_weight[e], in_weight[e]
                indices[end] = v
                out_weight[end] = forward
                in_weight[end] = backward
                end += 1
            else:
                out_weight[slot[v]] += out_weight[e]
                in_weight[slot[v]] += in_weight[e]
        kept = indptr[u]
        for e in range(indptr[u], end):
            w = max(out_weight[e], in_weight[e])
            if w > 0.0:
                indices[kept] = indices[e]
                out_weight[kept] = w if weight.size else 1.0
                kept += 1
        end = kept
    indptr[n] = end
    return indptr, indices[:end].copy(), out_weight[:end].copy()


@njit(cache=True, nogil=True)
def degrees(indptr: Ints, weight: Floats) -> Floats:
    """Return the weighted degree of each vertex."""
    n = indptr.size - 1
    degree = np.zeros(n)
    for u in range(n):
        for e in range(indptr[u], indptr[u + 1]):
            degree[u] += weight[e]
    return degree


@njit(cache=True, nogil=True)
def _score(
    rule: int,
    vol1: float,
    cut1: float,
    vol2: float,
    cut2: float,
    between: float,
    total: float,
) -> float:
    """Return the score of a merge, lower first.

    Paper: minus the exact gain of COMBINE, (2c/V) log2(V / (vol1 + vol2)). Authors:
    the change of two-level entropy when two modules fuse, every volume plus one.
    """
    if rule == PAPER:
        return -2.0 * between * np.log2(total / (vol1 + vol2)) / total
    v1 = vol1 + 1.0
    v2 = vol2 + 1.0
    v12 = v1 + v2
    return (
        (v1 - (cut1 + 1.0)) * np.log2(v12 / v1)
        + (v2 - (cut2 + 1.0)) * np.log2(v12 / v2)
        - 2.0 * between * np.log2(total / v12)
    ) / total


@njit(cache=True, nogil=True)
def _top(above: Ints, a: int) -> int:
    """Return the current top node that holds ``a`` (union-find, path halving)."""
    while above[a] != a:
        above[a] = above[above[a]]
        a = above[a]
    return a


@njit(inline="always")
def combine(
    indptr: Ints,
    indices: Ints,
    weight: Floats,
    vol: Floats,
    cut: Floats,
    total: float,
    rule: int,
) -> tuple[Ints, Floats, Floats]:
    """Merge adjacent tops greedily until one node is left: the binary tree.

    Tops that no edge joins become children of one root at the end. Ties go to the
    pair with the smaller ids (authors) or the smaller first vertices (paper).
    Neighbour lists are linked entries, concatenated and thinned on each merge, so
    memory stays O(n + m).

    Returns:
        parent, volume, inner: arrays over the nodes made; the root is the last one.
    """
    n = vol.size
    parent = np.full(2 * n, -1, np.int64)
    volume = np.empty(2 * n)
    boundary = np.empty(2 * n)
    inner = np.zeros(2 * n)
    volume[:n] = vol
    boundary[:n] = cut
    above = np.arange(2 * n)
    tie = np.arange(2 * n)
    target = indices.copy()
    between = weight.copy()
    head = np.full(2 * n, -1, np.int64)
    tail = np.full(2 * n, -1, np.int64)
    following = np.full(indices.size, -1, np.int64)
    seen = np.full(2 * n, -1, np.int64)
    slot = np.empty(2 * n, np.int64)
    heap = [(0.0, 0, 0, 0, 0)]
    heap.pop()
    for a in range(n):
        for e in range(indptr[a], indptr[a + 1]):
            if head[a] < 0:
                head[a] = e
            else:
                following[tail[a]] = e
            tail[a] = e
            b = indices[e]
            if b > a:
                s = _score(rule, vol[a], cut[a], vol[b], cut[b], weight[e], total)
                heappush(heap, (s, a, b, a, b))
    count = n
    tops = n
    while tops > 1 and len(heap) > 0:
        _, _, _, a, b = heappop(heap)
        if parent[a] >= 0 or parent[b] >= 0:
            continue
        c = count
        count += 1
        tops -= 1
        parent[a] = c
        parent[b] = c
        above[a] = c
        above[b] = c
        volume[c] = volume[a] + volume[b]
        if rule == PAPER:
            tie[c] = min(tie[a], tie[b])
        # One list for both, dead and doubled entries unlinked.
        head[c] = head[a]
        following[tail[a]] = head[b]
        previous = -1
        e = head[c]
        inside = 0.0
        while e >= 0:
            t = _top(above, target[e])
            if t == c:
                inside += between[e]
            elif seen[t] == c:
                between[slot[t]] += between[e]
            else:
                seen[t] = c
                slot[t] = e
                target[e] = t
                if previous < 0:
                    head[c] = e
                else:
                    following[previous] = e
                previous = e
            e = following[e]
        if previous < 0:
            head[c] = -1
        else:
            following[previous] = -1
        tail[c] = previous
        inner[c] = inside / 2.0
        boundary[c] = boundary[a] + boundary[b] - inside
        e = head[c]
        while e >= 0:
            t = target[e]
            s = _score(
                rule,
                volume[t],
                boundary[t],
                volume[c],
                boundary[c],
                between[e],
                total,
            )
            heappush(heap, (s, min(tie[t], tie[c]), max(tie[t], tie[c]), t, c))
            e = following[e]
    if tops > 1:
        volume[count] = total
        for a in range(count):
            if parent[a] < 0:
                parent[a] = count
        count += 1
    return parent[:count], volume[:count], inner[:count]


@njit(cache=True, nogil=True)
def _depth(parent: Ints, a: int) -> int:
    depth = 0
    while parent[a] >= 0:
        a = parent[a]
        depth += 1
    return depth


@njit(inline="always")
def drop(
    parent: Ints,
    volume: Floats,
    inner: Floats,
    n: int,
    height: int,
    smoothing: float,
    anywhere: bool,
) -> None:
    """Drop the cheapest inner node, its children rising, until ``height`` is met.

    Dropping a below p costs ``inner[a] * log2((vol_p + s) / (vol_a + s))`` (times 2/V)
    with s = ``smoothing``. With ``anywhere`` false, nodes that lie on no too long path
    are passed over. Changes ``parent`` and ``inner`` in place; a dropped node gets
    parent -2.
    """
    count = parent.size
    root = count - 1
    child = np.full(count, -1, np.int64)
    right = np.full(count, -1, np.int64)
    left = np.full(count, -1, np.int64)
    tall = np.zeros(count, np.int64)
    cost = np.zeros(count)
    heap = [(0.0, 0)]
    heap.pop()
    for a in range(root):  # children come before parents: heights are ready in order
        p = parent[a]
        right[a] = child[p]
        if child[p] >= 0:
            left[child[p]] = a
        child[p] = a
        tall[p] = max(tall[p], tall[a] + 1)
        if a >= n:
            cost[a] = inner[a] * np.log2(
                (volume[p] + smoothing) / (volume[a] + smoothing)
            )
            heappush(heap, (cost[a], a))
    while tall[root] > height:
        price, a = heappop(heap)
        if parent[a] == -2 or price != cost[a]:
            continue
        if not anywhere and _depth(parent, a) + tall[a] <= height:
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
                heappush(heap, (cost[b], b))
            b = after
        if p != root:
            cost[p] = inner[p] * np.log2(
                (volume[parent[p]] + smoothing) / (volume[p] + smoothing)
            )
            heappush(heap, (cost[p], p))
        lowered = tall[p] == tall[a] + 1
        while lowered:
            tallest = 0
            b = child[p]
            while b >= 0:
                tallest = max(tallest, tall[b] + 1)
                b = right[b]
            lowered = tallest < tall[p] and p != root
            tall[p] = tallest
            p = parent[p]


@njit(cache=True, nogil=True)
def _renumber(labels: Ints, bound: int) -> int:
    """Number labels below ``bound`` 0, 1, ... in ascending order, in place."""
    number = np.zeros(bound + 1, np.int64)
    for v in range(labels.size):
        number[labels[v] + 1] = 1
    number = np.cumsum(number)
    for v in range(labels.size):
        labels[v] = number[labels[v]]
    return number[bound]


@njit(cache=True, nogil=True)
def paper_labels(indptr: Ints, indices: Ints, weight: Floats, height: int) -> Ints:
    """Algorithm 1 to the letter: COMBINE by the exact gain, DROP by the exact loss."""
    degree = degrees(indptr, weight)
    n = degree.size
    parent, volume, inner = combine(
        indptr, indices, weight, degree, degree, degree.sum(), PAPER
    )
    drop(parent, volume, inner, n, height, 0.0, True)
    labels = np.empty((height - 1, n), np.int64)
    for v in range(n):
        # Read downwards from the root: a branch that ends early repeats its leaf.
        depth = _depth(parent, v)
        a = v
        for d in range(height - 1, 0, -1):
            if d < depth:
                a = parent[a]
            labels[height - 1 - d, v] = a
    return labels


@njit(cache=True, nogil=True)
def regroup(
    indptr: Ints,
    indices: Ints,
    weight: Floats,
    vol: Floats,
    cut: Floats,
    labels: Ints,
    groups: int,
) -> tuple[Ints, int]:
    """Split each group of items in two levels, as the authors' height-2 build does.

    A group is a graph of its own: edges to other groups do not count, and its total is
    the sum of ``vol`` over its items. Groups of one or two fall into single items.

    Returns:
        finer: the new group of each item; numbers ascend from group to group.
        count: how many new groups there are.
    """
    n = vol.size
    finer = np.empty(n, np.int64)
    start = np.zeros(groups + 1, np.int64)
    for v in range(n):
        start[labels[v] + 1] += 1
    start = np.cumsum(start)
    fill = start[:-1].copy()
    members = np.empty(n, np.int64)
    place = np.empty(n, np.int64)
    for v in range(n):
        members[fill[labels[v]]] = v
        place[v] = fill[labels[v]] - start[labels[v]]
        fill[labels[v]] += 1
    count = 0
    for group in range(groups):
        inside = members[start[group] : start[group + 1]]
        size = inside.size
        if size < 3:
            for i in range(size):
                finer[inside[i]] = count + i
            count += size
            continue
        room = 0
        for i in range(size):
            room += indptr[inside[i] + 1] - indptr[inside[i]]
        own_indptr = np.zeros(size + 1, np.int64)
        own_indices = np.empty(room, np.int64)
        own_weight = np.empty(room)
        end = 0
        for i in range(size):
            for e in range(indptr[inside[i]], indptr[inside[i] + 1]):
                if labels[indices[e]] == group:
                    own_indices[end] = place[indices[e]]
                    own_weight[end] = weight[e]
                    end += 1
            own_indptr[i + 1] = end
        own_vol = vol[inside]
        parent, volume, inner = combine(
            own_indptr,
            own_indices[:end],
            own_weight[:end],
            own_vol,
            cut[inside],
            own_vol.sum(),
            AUTHORS,
        )
        drop(parent, volume, inner, size, 2, 1.0, False)
        root = parent.size - 1
        own_labels = np.empty(size, np.int64)
        for i in range(size):
            # An item right below the root gets a unary node, numbered last.
            own_labels[i] = parent[i] if parent[i] < root else root + i
        made = _renumber(own_labels, root + size)
        for i in range(size):
            finer[inside[i]] = count + own_labels[i]
        count += made
    return finer, count


@njit(cache=True, nogil=True)
def group_sums(
    indptr: Ints, indices: Ints, weight: Floats, labels: Ints, groups: int
) -> tuple[Floats, Floats]:
    """Return the volume of each group and the weight of the edges that leave it."""
    volume = np.zeros(groups)
    cut = np.zeros(groups)
    for u in range(labels.size):
        for e in range(indptr[u], indptr[u + 1]):
            volume[labels[u]] += weight[e]
            if labels[indices[e]] != labels[u]:
                cut[labels[u]] += weight[e]
    return volume, cut


@njit(cache=True, nogil=True)
def tree_arrays(labels: Ints) -> tuple[Ints, Ints]:
    """Turn nested partitions into ``parent`` and ``level``, nodes sorted by level."""
    inner_levels, n = labels.shape
    number = np.empty((inner_levels + 2, n), np.int64)
    number[0] = np.arange(n)
    size = n
    for i in range(inner_levels):
        groups = _renumber(labels[i], 3 * n)
        number[i + 1] = size + labels[i]
        size += groups
    number[inner_levels + 1] = size
    parent = np.full(size + 1, -1, np.int64)
    level = np.full(size + 1, inner_levels + 1, np.int64)
    for i in range(inner_levels + 1):
        for v in range(n):
            parent[number[i, v]] = number[i + 1, v]
            level[number[i, v]] = i
    return parent, level
