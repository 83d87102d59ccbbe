"""Slow twins of the fast paths: plain Python from the definitions, no arrays."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
Weights = dict[tuple[int, int], float]
Tree = Any  # a vertex, or a list of trees


def reference(key: str) -> Any:
    """A part of the computed reference values; skips the test where they are absent."""
    path = SHARED / "oracles.json"
    if not path.exists():
        pytest.skip(f"no reference values at {path}")
    return json.loads(path.read_text())[key]


def archives() -> Path:
    """The folder of real data sets; skips the test where it is absent."""
    path = SHARED / "data" / "tu"
    if not path.exists():
        pytest.skip(f"no real data sets at {path}")
    return path


def vertices(tree: Tree) -> frozenset[int]:
    if isinstance(tree, int):
        return frozenset([tree])
    return frozenset().union(*(vertices(child) for child in tree))


def volume(weights: Weights, group: frozenset[int]) -> float:
    return sum(w * ((u in group) + (v in group)) for (u, v), w in weights.items())


def cut(weights: Weights, group: frozenset[int]) -> float:
    return sum(w for (u, v), w in weights.items() if (u in group) != (v in group))


def entropy(tree: Tree, weights: Weights) -> float:
    """The paper's equation 1, node by node."""
    total = 2 * sum(weights.values())
    bits, todo = 0.0, [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, int):
            continue
        above = volume(weights, vertices(node))
        for child in node:
            group = vertices(child)
            g = cut(weights, group)
            if g > 0:
                bits -= g / total * math.log2(volume(weights, group) / above)
            todo.append(child)
    return bits


def height(tree: Tree) -> int:
    return 0 if isinstance(tree, int) else 1 + max(height(child) for child in tree)


def algorithm1(n: int, weights: Weights, k: int) -> Tree:
    """The paper's Algorithm 1: every pair and every DROP scored by whole entropies."""
    root: list[Tree] = list(range(n))
    while len(root) > 2:
        options = []
        for i, j in itertools.combinations(range(len(root)), 2):
            rest = [root[m] for m in range(len(root)) if m not in (i, j)]
            options.append([*rest, [root[i], root[j]]])
        root = min(options, key=lambda tree: entropy(tree, weights))
    while height(root) > k:
        root = min(_drops(root), key=lambda tree: entropy(tree, weights))
    return root


def _drops(node: Tree) -> list[Tree]:
    """Every tree in which one inner node below this one is dropped."""
    options = []
    for i, child in enumerate(node):
        if isinstance(child, int):
            continue
        others = node[:i] + node[i + 1 :]
        options.append(others + child)
        options += [[*others, smaller] for smaller in _drops(child)]
    return options


class Authors:
    """The released code's order of work (protocol notes 1.2), written from its facts.

    ``partitions`` holds the levels 1 .. k - 1, bottom up, as lists of vertex groups.
    """

    def __init__(self, n: int, weights: Weights, k: int) -> None:
        self.weights = weights
        self.total = 2 * sum(weights.values())
        self.n = n
        single = [frozenset([v]) for v in range(n)]
        self.partitions = [self.two_level(single, self.total, inside=None)]
        while len(self.partitions) < k - 1:
            up, finer = self.leaf_up()
            down, coarser = self.root_down()
            if coarser is not None and down > up:
                self.partitions.append(coarser)
            else:
                self.partitions.insert(0, finer)

    def vol(self, group: frozenset[int]) -> float:
        return volume(self.weights, group)

    def between(self, a: frozenset[int], b: frozenset[int]) -> float:
        return sum(
            w
            for (u, v), w in self.weights.items()
            if (u in a and v in b) or (u in b and v in a)
        )

    def two_level(
        self,
        items: list[frozenset[int]],
        total: float,
        inside: frozenset[int] | None,
    ) -> list[frozenset[int]]:
        """Group items; ``inside`` counts only edges within that set of vertices."""
        weights = {
            (u, v): w
            for (u, v), w in self.weights.items()
            if inside is None or (u in inside and v in inside)
        }
        nodes = {i: (item, [], 0.0) for i, item in enumerate(items)}
        tops = list(nodes)
        while len(tops) > 1:
            scored = []
            for i, j in itertools.combinations(tops, 2):
                c = self.between_in(weights, nodes[i][0], nodes[j][0])
                if c > 0:
                    s = self.score(weights, nodes[i][0], nodes[j][0], c, total)
                    scored.append((s, i, j, c))
            if not scored:
                break
            _, i, j, c = min(scored)
            new = len(nodes)
            nodes[new] = (nodes[i][0] | nodes[j][0], [i, j], c)
            tops = [t for t in tops if t not in (i, j)] + [new]
        if len(tops) > 1:
            new = len(nodes)
            everything = frozenset().union(*items)
            nodes[new] = (everything, list(tops), 0.0)
            tops = [new]
        return self.compress(weights, nodes, tops[0], len(items))

    @staticmethod
    def between_in(weights: Weights, a: frozenset[int], b: frozenset[int]) -> float:
        return sum(
            w
            for (u, v), w in weights.items()
            if (u in a and v in b) or (u in b and v in a)
        )

    @staticmethod
    def score(
        weights: Weights, a: frozenset[int], b: frozenset[int], c: float, total: float
    ) -> float:
        v1, v2 = volume(weights, a) + 1, volume(weights, b) + 1
        g1, g2 = cut(weights, a) + 1, cut(weights, b) + 1
        v12 = v1 + v2
        merged = (v1 - g1) * math.log2(v12 / v1) + (v2 - g2) * math.log2(v12 / v2)
        return (merged - 2 * c * math.log2(total / v12)) / total

    @staticmethod
    def compress(
        weights: Weights, nodes: dict[int, Any], root: int, items: int
    ) -> list[frozenset[int]]:
        """Drop cheapest nodes on too long paths; return the groups at depth one."""
        content = {i: node[0] for i, node in nodes.items()}
        children = {i: list(node[1]) for i, node in nodes.items()}
        inner = {i: node[2] for i, node in nodes.items()}
        parent = {c: p for p, below in children.items() for c in below}

        def tall(i: int) -> int:
            return 1 + max(map(tall, children[i])) if children[i] else 0

        def depth(i: int) -> int:
            return 1 + depth(parent[i]) if i in parent else 0

        while tall(root) > 2:
            cost = {
                i: inner[i]
                * math.log2(
                    (volume(weights, content[parent[i]]) + 1)
                    / (volume(weights, content[i]) + 1)
                )
                for i in parent
                if children[i] and depth(i) + tall(i) > 2
            }
            drop = min(cost, key=lambda i: (cost[i], i))
            above = parent.pop(drop)
            children[above].remove(drop)
            children[above] += children[drop]
            for child in children.pop(drop):
                parent[child] = above
            children[drop] = []
            inner[above] += inner[drop]
        return [content[i] for i in sorted(children[root])]

    def bits(self, group: frozenset[int], above: float, bias: float = 1.0) -> float:
        g = cut(self.weights, group)
        return -g / self.total * math.log2((self.vol(group) + 1) / (above + bias))

    def leaf_up(self) -> tuple[float, list[frozenset[int]]]:
        finer, gain = [], 0.0
        for group in self.partitions[0]:
            items = [frozenset([v]) for v in sorted(group)]
            if len(items) < 3:
                finer += items
                continue
            total = self.vol(group) - cut(self.weights, group)
            parts = self.two_level(items, total, inside=group)
            finer += parts
            gain += sum(self.bits(item, self.vol(group)) for item in items)
            gain -= sum(self.bits(part, self.vol(group)) for part in parts)
            gain -= sum(
                self.bits(item, self.vol(part))
                for part in parts
                for item in items
                if item <= part
            )
        return gain / self.n, finer

    def root_down(self) -> tuple[float, list[frozenset[int]] | None]:
        top = self.partitions[-1]
        if len(top) < 3:
            return 0.0, None
        merged = self.two_level(top, self.total, inside=None)
        gain = sum(self.bits(item, self.total, bias=0.0) for item in top)
        gain -= sum(self.bits(group, self.total) for group in merged)
        gain -= sum(
            self.bits(item, self.vol(group))
            for group in merged
            for item in top
            if item <= group
        )
        return gain / len(top), merged
