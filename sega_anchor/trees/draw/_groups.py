"""Groups: the groups of a coding tree as flat arrays, for drawing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..coding_tree import CodingTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of vertices that the nodes of a coding tree stand for.

    Args:
        rows: ``(height + 1, n)``, the node above each vertex at every level.
        above: ``(num_tree_nodes,)``, the parent of each node, -1 at the root.
        size: ``(num_tree_nodes,)``, the number of vertices in each group.
        depth: ``(num_tree_nodes,)``, number of splits between the root and the group;
            unary nodes split nothing.
        divided: ``(num_tree_nodes,)``, whether the group holds a smaller group of two
            vertices or more.

    Example:
        >>> import torch
        >>> two = CodingTree(torch.tensor([3, 3, 4, 5, 5, -1]),
        ...                  torch.tensor([0, 0, 0, 1, 1, 2]))
        >>> groups = Groups.of(two)
        >>> groups.size.tolist(), groups.depth.tolist()
        ([1, 1, 1, 2, 1, 3], [2, 2, 1, 1, 1, 0])
    """

    rows: Ints
    above: Ints
    size: Ints
    depth: Ints
    divided: NDArray[np.bool_]

    @classmethod
    def of(cls, tree: CodingTree) -> Groups:
        """Return the groups of a tree."""
        rows, above = tree.ancestors().numpy(), tree.parent.numpy()
        size = np.bincount(rows.ravel())
        depth = np.zeros_like(above)
        for node in range(len(above) - 2, -1, -1):
            parent = above[node]
            depth[node] = depth[parent] + (size[node] < size[parent])
        divided = np.zeros(len(above), np.bool_)
        for node, parent in enumerate(above[:-1]):
            smaller = divided[node] or 1 < size[node] < size[parent]
            divided[parent] |= smaller
        return cls(rows, above, size, depth, divided)

    def common(self, edges: Ints) -> Ints:
        """Return the smallest group that holds both ends of each edge."""
        ends = self.rows[:, edges]
        level = (ends[:, 0] == ends[:, 1]).argmax(axis=0)
        found: Ints = ends[level, 0, np.arange(edges.shape[1])]
        return found

    def members(self, node: int) -> Ints:
        """Return the vertices of a group."""
        return np.flatnonzero((self.rows == node).any(axis=0))

    def columns(self, across: Floats) -> Floats:
        """Return the horizontal position of each node, such that no branches cross.

        Siblings are ordered by the mean of ``across``, ``(n,)``, over their vertices,
        single vertices last; vertices are 1 apart, and groups a bit more.
        """
        order, rows = self._order(across), self.rows
        left, right = rows[:, order[:-1]], rows[:, order[1:]]
        parted = (left != right) & (self.size[left] + self.size[right] > 2)
        gap = 1 + 0.6 * np.minimum(parted.sum(axis=0), 2)
        place = np.zeros(len(order))
        place[order[1:]] = np.cumsum(gap)
        first = np.full(len(self.above), np.inf)
        last = -first
        for row in rows:
            np.minimum.at(first, row, place)
            np.maximum.at(last, row, place)
        middle: Floats = (first + last) / 2
        return middle

    def _order(self, across: Floats) -> Ints:
        keys = []
        for row in self.rows:
            mean = np.bincount(row, across[: len(row)], len(self.above)) / self.size
            single = self.size[row] == 1
            keys += [row, np.where(single, np.arange(len(row)), mean[row]), single]
        return np.lexsort(keys)
