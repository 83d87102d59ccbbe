"""CodingTree: the hierarchy of nested communities that encodes a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from . import _export

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, eq=False, repr=False)
class CodingTree:
    r"""A rooted tree whose leaves are the vertices of a graph.

    Every tree node stands for the set of vertices below it. All vertices are at level
    0 and the root, the last node, is at level ``height``; nodes are sorted by level.
    Short branches are extended by unary nodes, which leaves the structural
    entropy unchanged.

    Args:
        parent: LongTensor ``(num_tree_nodes,)``; the parent of each node, -1 at the
            root. Nodes ``0 .. num_vertices - 1`` are the graph's vertices.
        level: LongTensor ``(num_tree_nodes,)`` with
            ``level[parent[i]] == level[i] + 1``.

    Raises:
        ValueError: if the two tensors do not describe such a tree.

    Source: Wu et al., "SEGA: Structural Entropy Guided Anchor View for Graph
    Contrastive Learning", ICML 2023, section 3.

    Example:
        >>> tree = CodingTree(torch.tensor([3, 3, 4, 5, 5, -1]),
        ...                   torch.tensor([0, 0, 0, 1, 1, 2]))
        >>> tree
        CodingTree(num_vertices=3, height=2, nodes=[3, 2, 1])
        >>> tree.nested()
        [[0, 1], [2]]
    """

    parent: Tensor
    level: Tensor

    def __post_init__(self) -> None:
        """Check that the arrays describe a tree with all vertices at level 0."""
        parent, level = self.parent, self.level
        if parent.dim() != 1 or parent.shape != level.shape or parent.numel() < 2:
            raise ValueError(
                "parent and level must be vectors of one length, at least 2, got "
                f"shapes {tuple(parent.shape)} and {tuple(level.shape)}"
            )
        above, height = parent.numpy(), level.numpy()  # fast on small arrays
        root = len(above) - 1
        ordered = (above[:-1] > np.arange(root)).all() and above.max() <= root
        if above[-1] != -1 or not ordered:
            raise ValueError(
                "each parent must come after its children and the last node must be "
                f"the root with parent -1, got {parent.tolist()}"
            )
        if height[0] != 0 or (height[above[:-1]] != height[:-1] + 1).any():
            raise ValueError(
                "a parent must be one level above its children and vertices at level "
                f"0, got levels {level.tolist()}"
            )
        childless = np.bincount(above[:-1], minlength=len(above)) == 0
        if (np.diff(height) < 0).any() or (childless & (height > 0)).any():
            raise ValueError(
                "nodes must be sorted by level, and each above level 0 needs a child, "
                f"got parents {parent.tolist()} and levels {level.tolist()}"
            )

    @classmethod
    def from_partitions(cls, partitions: Any) -> CodingTree:
        """Return the tree of nested partitions, such as another library's communities.

        Args:
            partitions: ``(height - 1, num_vertices)``, the group of each vertex at
                levels 1 to height - 1, whatever groups are called.

        Raises:
            ValueError: for partitions that are not nested.

        Example:
            >>> CodingTree.from_partitions([[4, 4, 0, 7], [1, 1, 2, 2]]).nested()
            [[[0, 1]], [[2], [3]]]
        """
        return cls._of(_export.of_partitions(partitions))

    @classmethod
    def from_linkage(cls, matrix: Any, height: int | None = None) -> CodingTree:
        """Return the tree of a linkage matrix of SciPy whose distances are levels.

        Args:
            matrix: ``(num_vertices - 1, 4)``, as from :meth:`to_linkage`.
            height: level of the root; default the largest distance.

        Raises:
            ValueError: for another matrix, other distances, or a lower height.

        Example:
            >>> tree = CodingTree.from_partitions([[0, 0, 1]])
            >>> CodingTree.from_linkage(tree.to_linkage()).nested()
            [[0, 1], [2]]
        """
        return cls._of(_export.of_linkage(matrix, height))

    @classmethod
    def _of(cls, arrays: tuple[Any, Any]) -> CodingTree:
        parent, level = arrays
        return cls.trusted(torch.from_numpy(parent), torch.from_numpy(level))

    @classmethod
    def trusted(cls, parent: Tensor, level: Tensor) -> CodingTree:
        """Return a tree of tensors that are known to be valid, without checks."""
        tree = object.__new__(cls)
        object.__setattr__(tree, "parent", parent)
        object.__setattr__(tree, "level", level)
        return tree

    @property
    def num_vertices(self) -> int:
        """Number of vertices of the graph, which are the nodes at level 0."""
        return int((self.level == 0).sum())

    @property
    def height(self) -> int:
        """Level of the root."""
        return int(self.level[-1])

    def ancestors(self) -> Tensor:
        """Return the node above each vertex at every level, ``(height + 1, n)``.

        Example:
            >>> from sega_anchor import build_coding_tree
            >>> build_coding_tree(torch.tensor([[0], [1]]), height=2).ancestors()
            tensor([[0, 1],
                    [2, 3],
                    [4, 4]])
        """
        rows = [torch.arange(self.num_vertices)]
        for _ in range(self.height):
            rows.append(self.parent[rows[-1]])
        return torch.stack(rows)

    def partition(self, level: int) -> Tensor:
        """Return the group of each vertex at a level, LongTensor ``(num_vertices,)``.

        Groups are numbered from 0 in the order of the tree's nodes at the level. At
        level 0 each vertex is alone, at the level of the root all are together.

        Args:
            level: from 0 to ``height``.

        Raises:
            ValueError: for another level.

        Example:
            >>> tree = CodingTree(torch.tensor([3, 3, 4, 5, 5, -1]),
            ...                   torch.tensor([0, 0, 0, 1, 1, 2]))
            >>> tree.partition(1)
            tensor([0, 0, 1])
        """
        if level not in range(self.height + 1):
            raise ValueError(f"level must be from 0 to {self.height}, got {level!r}")
        node = torch.arange(self.num_vertices)
        for _ in range(level):
            node = self.parent[node]
        return node - int((self.level < level).sum())

    def nested(self, names: Sequence[Any] | None = None) -> list[Any]:
        """Return the tree as nested lists of vertices, children by first vertex.

        Args:
            names: name of each vertex, such as ``list(G)`` of a networkx graph;
                default its number.

        Raises:
            ValueError: if there are not as many names as vertices.

        Example:
            >>> tree = CodingTree(torch.tensor([3, 3, 4, 5, 5, -1]),
            ...                   torch.tensor([0, 0, 0, 1, 1, 2]))
            >>> tree.nested(), tree.nested("abc")
            ([[0, 1], [2]], [['a', 'b'], ['c']])
        """
        names, parent = self._names(names), self.parent.tolist()
        content = [*names, *([] for _ in parent[len(names) :])]
        for nodes in self.ancestors()[:-1].tolist():
            for node in dict.fromkeys(nodes):  # once, in the order of first vertices
                content[parent[node]].append(content[node])
        nested: list[Any] = content[-1]
        return nested

    def to_newick(self, names: Sequence[Any] | None = None) -> str:
        """Return the tree in Newick format, which programs of phylogenetics read.

        Branches are as long as the levels they span; nodes with a single child go.

        Args:
            names: of the vertices, as in :meth:`nested`.

        Raises:
            ValueError: if there are not as many names as vertices.

        Example:
            >>> CodingTree.from_partitions([[0, 0, 1]]).to_newick(["Al", "Bo", "C D"])
            "((Al:1,Bo:1):1,'C D':2);"
        """
        names = self._names(names)
        return _export.newick(self.parent.numpy(), self.level.numpy(), names)

    def to_linkage(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return SciPy's linkage matrix, ``(num_vertices - 1, 4)``.

        The distance of two vertices is the level at which they meet, so that
        ``fcluster(matrix, level, "distance")`` is :meth:`partition`, and distances
        ascend. Several children of one node merge two by two at one distance.

        Example:
            >>> CodingTree.from_partitions([[0, 0, 1]]).to_linkage()
            array([[0., 1., 1., 2.],
                   [2., 3., 2., 3.]])
        """
        return _export.linkage(self.parent.numpy(), self.level.numpy())

    def annotate(self, graph: networkx.Graph, name: str = "community") -> None:
        """Write the groups of all levels to the nodes of a networkx graph.

        Node attribute ``community_1`` is the number of the group at level 1, and so on
        below the root: plain integers, which all formats of networkx can hold.
        :meth:`from_partitions` of them is the tree again.

        Args:
            graph: the graph that the tree was built from, vertices in its order.
            name: what attributes are called.

        Raises:
            ValueError: if the graph has another number of vertices.

        Example:
            >>> import networkx
            >>> graph = networkx.path_graph(["a", "b", "c"])
            >>> CodingTree.from_partitions([[0, 0, 1]]).annotate(graph)
            >>> graph.nodes["c"]
            {'community_1': 1}
        """
        if len(graph) != self.num_vertices:
            raise ValueError(
                f"the tree has {self.num_vertices} vertices, but the graph has "
                f"{len(graph)}: pass the graph that the tree was built from"
            )
        for level in range(1, self.height):
            for vertex, group in zip(
                graph, self.partition(level).tolist(), strict=True
            ):
                graph.nodes[vertex][f"{name}_{level}"] = group

    def to_networkx(self) -> networkx.DiGraph:
        """Return a ``networkx.DiGraph`` with edges from parent to child.

        Each node carries its ``level``.

        Example:
            >>> tree = CodingTree(torch.tensor([2, 2, -1]), torch.tensor([0, 0, 1]))
            >>> tree.to_networkx().edges
            OutEdgeView([(2, 0), (2, 1)])
        """
        import networkx

        graph = networkx.DiGraph()
        for node, level in enumerate(self.level.tolist()):
            graph.add_node(node, level=level)
        for node, above in enumerate(self.parent[:-1].tolist()):
            graph.add_edge(above, node)
        return graph

    def _names(self, names: Sequence[Any] | None) -> Sequence[Any]:
        """Return a name for each vertex, its number by default."""
        n = self.num_vertices
        if names is not None and len(names) != n:
            raise ValueError(f"the tree has {n} vertices, got {len(names)} names")
        return range(n) if names is None else names

    @override
    def __repr__(self) -> str:
        return (
            f"CodingTree(num_vertices={self.num_vertices}, height={self.height}, "
            f"nodes={torch.bincount(self.level).tolist()})"
        )
