"""Slow twins of trees and entropies: plain Python from the definitions, no arrays."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from sega_anchor import CodingTree

Weights = dict[tuple[int, int], float]
Tree = Any  # a vertex, or a list of trees


def of_weights(weights: Weights) -> tuple[Tensor, Tensor]:
    """Edges and weights as the builders take them."""
    edge_index = torch.tensor(list(weights), dtype=torch.long).reshape(-1, 2).t()
    return edge_index, torch.tensor(list(weights.values()), dtype=torch.double)


def weights_of(edge_index: Tensor, weight: Tensor | None = None) -> Weights:
    """Each edge once, by its smaller vertex; loops go, the larger direction counts."""
    values = [1.0] * edge_index.size(1) if weight is None else weight.tolist()
    directed: Weights = {}
    for u, v, w in zip(*edge_index.tolist(), values, strict=True):
        directed[u, v] = 1.0 if weight is None else directed.get((u, v), 0.0) + w
    found: Weights = {}
    for (u, v), w in directed.items():
        if u != v and w > 0:
            pair = min(u, v), max(u, v)
            found[pair] = max(found.get(pair, 0.0), w)
    return found


def dense(n: int, weights: Weights) -> list[list[float]]:
    """The matrix of weights."""
    matrix = [[0.0] * n for _ in range(n)]
    for (u, v), w in weights.items():
        matrix[u][v] = matrix[v][u] = w
    return matrix


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


def flat_entropy(n: int, weights: Weights) -> float:
    """H^1: the entropy of the tree whose leaves all hang below the root."""
    total = 2 * sum(weights.values())
    degree = [sum(w for pair, w in weights.items() if v in pair) for v in range(n)]
    return -sum(d / total * math.log2(d / total) for d in degree if d > 0)


def optimum(n: int, weights: Weights, height: int) -> float:
    """The least entropy of all trees of at most this height, for n up to 9 or so.

    A set of vertices S is a bit mask. ``cost[S]`` is the least sum of w log2 vol(lca)
    over the edges inside S among all trees over S of j levels; with one level more,

        cost'[S] = w(S) log2 vol(S)
                   + min over partitions of S of sum_B (cost[B] - w(B) log2 vol(S)).
    """
    if not weights:
        return 0.0
    inside = [0.0] * (1 << n)
    bits = [0.0] * (1 << n)  # log2 of the volume
    degree = [sum(w for pair, w in weights.items() if v in pair) for v in range(n)]
    for group in range(1 << n):
        volume = sum(degree[v] for v in range(n) if group >> v & 1)
        bits[group] = math.log2(volume) if volume > 0 else 0.0
        for (u, v), w in weights.items():
            if group >> u & 1 and group >> v & 1:
                inside[group] += w
    whole = (1 << n) - 1
    cost = [w * b for w, b in zip(inside, bits, strict=True)]
    for level in range(2, height + 1):
        groups = range(1 << n) if level < height else [whole]
        new = {
            group: inside[group] * bits[group]
            + _best_partition(group, cost, inside, bits[group])
            for group in groups
        }
        cost = [new.get(group, 0.0) for group in range(1 << n)]
    own = sum(d * math.log2(d) for d in degree if d > 0)
    return (2 * cost[whole] - own) / (2 * sum(weights.values()))


def _best_partition(
    group: int, cost: list[float], inside: list[float], above: float
) -> float:
    """The least sum of cost[B] - w(B) * above over all partitions of a set."""
    best = {0: 0.0}
    for rest in sorted(_subsets(group)):
        if rest:
            lowest = rest & -rest
            best[rest] = min(
                cost[lowest | more]
                - inside[lowest | more] * above
                + best[rest ^ lowest ^ more]
                for more in _subsets(rest ^ lowest)
            )
    return best[group]


def _subsets(group: int) -> Iterator[int]:
    part = group
    while part:
        yield part
        part = (part - 1) & group
    yield 0


def best_of_restarts(
    edge_index: Tensor,
    n: int,
    weight: Tensor | None = None,
    restarts: int = 30,
    seed: int = 0,
) -> float:
    """The least two-level entropy that local moves find from random partitions.

    Vertices move to the neighbouring group, or alone, where the entropy falls most,
    until none moves; then whole groups do; and again, until nothing changes.
    """
    weights = weights_of(edge_index, weight)
    if not weights:
        return 0.0
    draw = random.Random(seed)
    ends = []
    for restart in range(restarts):
        groups = draw.randint(1, n) if restart else n
        label = [draw.randrange(groups) if restart else v for v in range(n)]
        ends.append(_descend(n, weights, label, draw))
    return min(ends)


def _descend(n: int, weights: Weights, label: list[int], draw: random.Random) -> float:
    found = two_level_entropy(n, weights, label)
    while True:
        for units in ([[v] for v in range(n)], None):
            moved = True
            while moved:
                now = units or [
                    [v for v in range(n) if label[v] == group]
                    for group in sorted(set(label))
                ]
                draw.shuffle(now)
                moved = any([_move(n, weights, label, unit) for unit in now])
        end = two_level_entropy(n, weights, label)
        if end > found - 1e-12:
            return end
        found = end


def _move(n: int, weights: Weights, label: list[int], unit: list[int]) -> bool:
    """Give a set of vertices the label with the least entropy; True if that is new."""
    near = {label[u] for pair in weights if set(pair) & set(unit) for u in pair}
    alone = min(set(range(n + 1)) - set(label))
    options = []
    for group in [label[unit[0]], *sorted(near), alone]:
        tried = [group if v in unit else label[v] for v in range(n)]
        options.append((two_level_entropy(n, weights, tried), group))
    best = min(options)
    if best[0] > options[0][0] - 1e-12:
        return False
    for v in unit:
        label[v] = best[1]
    return True


def two_level_entropy(n: int, weights: Weights, label: list[int]) -> float:
    """H^2 of a partition, by the sum over edges of their lowest common ancestor."""
    degree = [sum(w for pair, w in weights.items() if v in pair) for v in range(n)]
    total = sum(degree)
    volume = dict.fromkeys(label, 0.0)
    for v in range(n):
        volume[label[v]] += degree[v]
    bits = -sum(d * math.log2(d) for d in degree if d > 0)
    for (u, v), w in weights.items():
        bits += 2 * w * math.log2(volume[label[u]] if label[u] == label[v] else total)
    return bits / total


def invariants(tree: CodingTree, n: int, height: int) -> list[str]:
    """What is wrong with a tree of ``n`` vertices and this height; [] if nothing is."""
    parent, level = tree.parent.tolist(), tree.level.tolist()
    root = len(parent) - 1
    wrong = []
    if [v for v in range(root + 1) if level[v] == 0] != list(range(n)):
        wrong.append(f"level 0 is not the vertices 0 .. {n - 1}")
    if level != sorted(level):
        wrong.append("nodes are not sorted by level")
    if level[root] != height or level.count(height) != 1:
        wrong.append(f"the last node is not the only one at level {height}")
    if [v for v in range(root + 1) if parent[v] == -1] != [root]:
        wrong.append("the last node is not the only one without a parent")
    for v in range(root):
        if not v < parent[v] <= root or level[parent[v]] != level[v] + 1:
            wrong.append(f"the parent of {v} is not one level above and behind it")
    childless = set(range(root + 1)) - set(parent)
    if childless != set(range(n)):
        wrong.append(f"without children are {sorted(childless)}, not the vertices")
    return wrong
