"""Entropy and invariants of many trees at once, on concatenated arrays."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Trees(NamedTuple):
    """What ``build.build_arrays`` returns: trees, one behind the other."""

    parent: Ints  # numbered within a tree, -1 at the root
    level: Ints
    tree_ptr: Ints


def defects(trees: Trees, sizes: Ints, height: int) -> dict[str, Bools]:
    """Return for each kind of defect which trees have it."""
    parent, level, tree_ptr = trees
    counts = np.diff(tree_ptr)
    if parent.shape != level.shape or counts.size != sizes.size:
        return {"not a tree": np.ones(sizes.size, np.bool_)}
    tree = np.repeat(np.arange(sizes.size), counts)
    first, root = tree_ptr[:-1][tree], (counts - 1)[tree]
    node = np.arange(parent.size) - first
    at_root = node == root
    inside = (parent > node) & (parent <= root)
    above = np.where(inside, parent, root) + first
    childless = np.bincount(above[~at_root], minlength=parent.size) == 0
    vertex = node < sizes[tree]
    found = {
        "not a tree": np.where(at_root, parent != -1, ~inside),
        "wrong level": (level == 0) != vertex,
        "wrong root": (level == height) != at_root,
        "unsorted": np.diff(level, prepend=0) * (node > 0) < 0,
        "no step of one level": ~at_root & (level[above] != level + 1),
        "wrong leaves": childless != vertex,
    }
    return {
        what: np.bincount(tree[bad], minlength=sizes.size) > 0
        for what, bad in found.items()
    }


class Joined:
    """Simple graphs, one behind the other, each edge once.

    Weights are shares of their graph's volume V, so that logarithms lose no digits.
    """

    def __init__(
        self, edges: Ints, edge_ptr: Ints, sizes: Ints, weight: Floats
    ) -> None:
        self.sizes = sizes
        counts = np.diff(edge_ptr)
        self.graph = np.repeat(np.arange(sizes.size), counts)
        vertex_ptr = np.concatenate([[0], np.cumsum(sizes)])
        self.owner = np.repeat(np.arange(sizes.size), sizes)
        self.ends = edges + vertex_ptr[self.graph]
        value = weight if weight.size else np.ones(edges.shape[1])
        total = 2 * np.bincount(self.graph, value, minlength=sizes.size)
        self.share = value / total[self.graph]
        n = int(vertex_ptr[-1])
        self.degree = np.bincount(self.ends[0], self.share, minlength=n)
        self.degree = self.degree + np.bincount(self.ends[1], self.share, minlength=n)

    def flat_entropy(self) -> Floats:
        """Return H^1 of each graph, which is the sum of - d/V log2(d/V)."""
        held = self.degree > 0
        bits = np.zeros(self.degree.size)
        bits[held] = -self.degree[held] * np.log2(self.degree[held])
        return self._sums(self.owner, bits)

    def entropy(self, trees: Trees, height: int) -> Floats:
        """Return the entropy of each tree, by the lowest common ancestors of edges."""
        first = trees.tree_ptr[:-1]
        parent = trees.parent + np.repeat(first, np.diff(trees.tree_ptr))
        vertex_ptr = np.cumsum(self.sizes) - self.sizes
        node = np.arange(self.degree.size) + (first - vertex_ptr)[self.owner]
        volume = np.ones(self.share.size)
        apart = np.ones(self.share.size, np.bool_)
        for _ in range(height):
            node = parent[node]
            meet = apart & (node[self.ends[0]] == node[self.ends[1]])
            held = np.bincount(node, self.degree, minlength=parent.size)
            volume[meet] = held[node[self.ends[0][meet]]]
            apart &= ~meet
        saved = 2 * self.share * np.log2(volume)
        saved[apart] = np.nan
        return self.flat_entropy() + self._sums(self.graph, saved)

    def _sums(self, graph: Ints, bits: Floats) -> Floats:
        total = np.bincount(graph, bits, minlength=self.sizes.size)
        return total.astype(np.float64)  # no weights at all would give integers
