"""Slow twin of the tree quantities: sets of vertices, from the definitions."""

from __future__ import annotations

import math

from torch_geometric.data import Data

from .slow_trees import cut, volume, weights_of


def slow_quantities(data: Data, weight: str | None = None) -> list[list[float]]:
    """A row for each tree node of a graph or batch, in the order they are stored."""
    weights = weights_of(data.edge_index, None if weight is None else data[weight])
    parent, below = _read(data)
    children = [list(parent.values()).count(a) for a in range(len(below))]
    rows = []
    for a, group in enumerate(below):
        own, leaving, size = volume(weights, group), cut(weights, group), len(group)
        cut_share = leaving / own if own > 0 else 0.0
        if a not in parent:
            rows.append([size, own, leaving, cut_share, 1.0, 0.0, children[a]])
            continue
        root = a
        while root in parent:
            root = parent[root]
        above, whole = (volume(weights, below[b]) for b in (parent[a], root))
        share = own / above if above > 0 else 0.0
        bits = -leaving / whole * math.log2(share) if leaving > 0 else 0.0
        rows.append([size, own, leaving, cut_share, share, bits, children[a]])
    return rows


def _read(data: Data) -> tuple[dict[int, int], list[frozenset[int]]]:
    """The parent of each node but the roots, and the vertices below each node.

    Vertices are numbered through the batch, as the leaves are.
    """
    offset, level = (data.coding_tree[key].tolist() for key in ("parent", "level"))
    parent = {a: a + further for a, further in enumerate(offset) if further}
    below: list[set[int]] = [set() for _ in level]
    leaves = [a for a in range(len(level)) if level[a] == 0]
    for vertex, leaf in enumerate(leaves):
        a = leaf
        below[a].add(vertex)
        while a in parent:
            a = parent[a]
            below[a].add(vertex)
    return parent, [frozenset(group) for group in below]
