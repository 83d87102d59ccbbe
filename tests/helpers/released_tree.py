"""The released code's algorithm in plain Python: a stand-in for its speed.

Written from its facts (protocol notes 1.2). As there, the graph is a dense matrix read
into dictionaries, candidates lie in a heap, and the height-2 build serves everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import log2
from typing import Any

Adjacency = list[dict[int, float]]
Groups = list[list[int]]
Nested = Any  # a vertex, or a list of trees


def coding_tree(matrix: Sequence[Sequence[float]], height: int) -> Nested:
    """The tree as nested lists of vertices, children by first vertex."""
    adjacency = _parse(matrix)
    if not any(adjacency):
        groups = [[v] for v in range(len(adjacency))]
        return _nested([groups] * (height - 1))
    degree = [sum(near.values()) for near in adjacency]
    total = sum(degree)
    levels = [_two_levels(adjacency, degree, degree, total)]
    up: tuple[float, list[Groups]] | None = None
    down: tuple[float, Groups] | None = None
    while len(levels) < height - 1:
        up = up or _leaf_up(adjacency, degree, levels[0])
        down = down or _root_down(adjacency, degree, levels)
        if down[0] > up[0]:
            levels.append(down[1])
            down = None
        else:
            levels[0:1] = up[1]
            up = None
    return _nested(levels)


def _parse(matrix: Sequence[Sequence[float]]) -> Adjacency:
    return [
        {v: w for v, w in enumerate(row) if w and v != u}
        for u, row in enumerate(matrix)
    ]


class _Node:
    """A node of the growing tree."""

    __slots__ = ("below", "cut", "inner", "parent", "tall", "volume")

    def __init__(
        self, volume: float, cut: float, inner: float, below: set[int], tall: int
    ) -> None:
        self.volume = volume
        self.cut = cut
        self.inner = inner
        self.below = below
        self.tall = tall
        self.parent = -1


def _two_levels(
    adjacency: Adjacency, volume: list[float], cut: list[float], total: float
) -> Groups:
    """Group items: combine down to one node, then compress to height two."""
    nodes = {v: _Node(volume[v], cut[v], 0.0, set(), 0) for v in range(len(volume))}
    root = _combine(nodes, adjacency, total)
    _compress(nodes, root)
    chosen = [sorted(nodes[a].below) or [a] for a in sorted(nodes[root].below)]
    # Items right below the root get a unary node of their own, made last.
    return sorted(chosen, key=lambda group: nodes[group[0]].parent == root)


def _score(a: _Node, b: _Node, between: float, total: float) -> float:
    """Change of two-level entropy when two modules fuse, volumes plus one."""
    v1, v2 = a.volume + 1.0, b.volume + 1.0
    v12 = v1 + v2
    return (
        (v1 - (a.cut + 1.0)) * log2(v12 / v1)
        + (v2 - (b.cut + 1.0)) * log2(v12 / v2)
        - 2.0 * between * log2(total / v12)
    ) / total


def _combine(nodes: dict[int, _Node], adjacency: Adjacency, total: float) -> int:
    near = {v: dict(row) for v, row in enumerate(adjacency)}
    heap = [
        (_score(nodes[a], nodes[b], w, total), a, b)
        for a, row in near.items()
        for b, w in row.items()
        if a < b
    ]
    heapify(heap)
    while heap:
        _, a, b = heappop(heap)
        if a not in near or b not in near:
            continue
        c = len(nodes)
        first, second = near.pop(a), near.pop(b)
        between = first.pop(b)
        del second[a]
        for other, w in second.items():
            first[other] = first.get(other, 0.0) + w
        one, two = nodes[a], nodes[b]
        new = _Node(
            one.volume + two.volume,
            one.cut + two.cut - 2.0 * between,
            between,
            {a, b},
            max(one.tall, two.tall) + 1,
        )
        nodes[c], near[c] = new, first
        one.parent = two.parent = c
        for other, w in first.items():
            row = near[other]
            row.pop(a, None)
            row.pop(b, None)
            row[c] = w
            heappush(heap, (_score(nodes[other], new, w, total), other, c))
    if len(near) == 1:
        return next(iter(near))
    root = len(nodes)
    tall = max(nodes[a].tall for a in near) + 1
    nodes[root] = _Node(total, 0.0, 0.0, set(near), tall)
    for a in near:
        nodes[a].parent = root
    return root


def _cost(a: _Node, p: _Node) -> float:
    return a.inner * log2((p.volume + 1.0) / (a.volume + 1.0))


def _compress(nodes: dict[int, _Node], root: int) -> None:
    """Drop the cheapest node on a too long path until the height is two."""
    cost = {
        i: _cost(a, nodes[a.parent]) for i, a in nodes.items() if a.below and i != root
    }
    heap = [(price, i) for i, price in cost.items()]
    heapify(heap)
    while nodes[root].tall > 2:
        price, i = heappop(heap)
        if cost.get(i) != price:
            continue
        a = nodes[i]
        p = nodes[a.parent]
        if a.parent == root and a.tall == 1:  # no path through it is too long
            continue
        del cost[i]
        p.below.remove(i)
        p.below |= a.below
        p.inner += a.inner
        for j in a.below:
            nodes[j].parent = a.parent
        for j in (a.parent, *a.below):
            if j in cost:
                cost[j] = _cost(nodes[j], nodes[nodes[j].parent])
                heappush(heap, (cost[j], j))
        _lower(nodes, a.parent, a.tall)


def _lower(nodes: dict[int, _Node], i: int, dropped: int) -> None:
    """Bring heights up to date from the parent of a dropped node on upwards."""
    while i >= 0 and nodes[i].tall == dropped + 1:
        dropped = nodes[i].tall
        nodes[i].tall = max(nodes[j].tall for j in nodes[i].below) + 1
        if nodes[i].tall == dropped:
            return
        i = nodes[i].parent


def _sums(
    adjacency: Adjacency, degree: list[float], groups: Groups
) -> tuple[list[float], list[float], list[int]]:
    """Volume and cut of each group, and the group of each vertex."""
    label = [0] * len(degree)
    for i, group in enumerate(groups):
        for v in group:
            label[v] = i
    volume, cut = [0.0] * len(groups), [0.0] * len(groups)
    for u, row in enumerate(adjacency):
        volume[label[u]] += degree[u]
        for v, w in row.items():
            if label[v] != label[u]:
                cut[label[u]] += w
    return volume, cut, label


def _leaf_up(
    adjacency: Adjacency, degree: list[float], bottom: Groups
) -> tuple[float, list[Groups]]:
    """Regroup the vertices of each bottom group; the gain is per vertex."""
    volume, _, label = _sums(adjacency, degree, bottom)
    finer: Groups = []
    coarser: Groups = []
    split: list[int] = []  # the bottom group of finer ones whose gain counts
    for i, group in enumerate(bottom):
        parts = [[v] for v in group]
        if len(group) > 2:
            place = {v: j for j, v in enumerate(group)}
            inside = [
                {place[u]: w for u, w in adjacency[v].items() if label[u] == i}
                for v in group
            ]
            own = [sum(row.values()) for row in inside]
            parts = [
                [group[j] for j in part]
                for part in _two_levels(inside, own, own, sum(own))
            ]
        coarser.append(list(range(len(finer), len(finer) + len(parts))))
        split += [i if len(group) > 2 else -1] * len(parts)
        finer += parts
    own_volume, own_cut, _ = _sums(adjacency, degree, finer)
    bits = 0.0
    for part, i, vol, cut in zip(finer, split, own_volume, own_cut, strict=True):
        if i >= 0:
            ratio = log2((volume[i] + 1) / (vol + 1))
            bits += (sum(degree[v] for v in part) - cut) * ratio
    return bits / sum(degree) / len(degree), [finer, coarser]


def _root_down(
    adjacency: Adjacency, degree: list[float], levels: list[Groups]
) -> tuple[float, Groups]:
    """Group the root's children; the gain is per child, minus infinity below three."""
    top = levels[0]
    for groups in levels[1:]:
        top = [[v for i in group for v in top[i]] for group in groups]
    if len(top) < 3:
        return float("-inf"), []
    volume, cut, label = _sums(adjacency, degree, top)
    quotient: Adjacency = [{} for _ in top]
    for u, row in enumerate(adjacency):
        to = quotient[label[u]]
        for v, w in row.items():
            if label[v] != label[u]:
                to[label[v]] = to.get(label[v], 0.0) + w
    total = sum(degree)
    merged = _two_levels(quotient, volume, cut, total)
    bits = 0.0
    for group in merged:
        above = sum(volume[i] for i in group)
        leaving = sum(
            w for i in group for j, w in quotient[i].items() if j not in group
        )
        for i in group:
            bits += cut[i] * log2(total / (above + 1))
        bits += leaving * log2((above + 1) / (total + 1))
    return bits / total / len(top), merged


def _nested(levels: list[Groups]) -> Nested:
    content: list[Nested] = list(range(sum(map(len, levels[0]))))
    first = list(content)
    for groups in [*levels, [list(range(len(levels[-1])))]]:
        ordered = [sorted(group, key=lambda i: first[i]) for group in groups]
        content = [[content[i] for i in group] for group in ordered]
        first = [first[group[0]] for group in ordered]
    return content[0]
