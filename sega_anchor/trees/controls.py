"""AddShuffledTree and AddRandomTree: trees that an anchor should do better than."""

import zlib
from typing import Literal

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.data.datapipes import functional_transform
from typing_extensions import override

from ..utils.checks import check_at_least, check_choice
from . import _kernels
from ._kernels import Ints
from .build import TreeMethod, check_build, check_room
from .coding_tree import CodingTree
from .transforms import AddCodingTree, AddTree, edges_of

#: What configurations call a tree: how it is built, or which control it is.
TreeName = Literal[TreeMethod, "shuffled", "random"]


@functional_transform("add_shuffled_tree")
class AddShuffledTree(AddCodingTree):
    r"""Attach a graph's own coding tree with its leaves permuted at random.

    The shape of the tree is the graph's own, the vertices below each tree node are
    not: what an anchor of these trees achieves owes nothing to where the vertices
    stand. The permutation depends on the seed and the graph only, not on the order of
    the graphs.

    Args:
        height: level of the root, at least 2. (default: :obj:`3`)
        method: see :func:`~sega_anchor.build_coding_tree`.
        weight: name of an edge attribute that holds edge weights; default: unweighted.
        seed: a non-negative integer. (default: :obj:`0`)

    Raises:
        ValueError: for an invalid height, method or weight, or a negative seed.

    Example:
        >>> edge_index = torch.tensor([[0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3]])
        >>> two_triangles = Data(edge_index=edge_index, num_nodes=6)
        >>> AddCodingTree(height=2).tree(two_triangles).nested()
        [[0, 1, 2], [3, 4, 5]]
        >>> AddShuffledTree(height=2).tree(two_triangles).nested()
        [[0, 3, 5], [1, 2, 4]]
    """

    def __init__(
        self,
        height: int = 3,
        method: TreeMethod = "refined",
        weight: str | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(height, method, weight)
        self.seed = _checked(seed)

    @override
    def arrange(self, tree: CodingTree, data: Data) -> CodingTree:
        """Permute the leaves."""
        parent = tree.parent.clone()
        order = torch.from_numpy(_permutation(data, self.seed))
        parent[: len(order)] = tree.parent[order]
        return CodingTree.trusted(parent, tree.level)

    @override
    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, seed={self.seed})"


@functional_transform("add_random_tree")
class AddRandomTree(AddTree):
    r"""Attach a randomly balanced tree: the paper's RBBT ablation.

    The vertices are shuffled and split into ``branching`` parts whose sizes differ by
    at most one, each part again, down to level 1. The paper names a "randomly balanced
    binary tree with height two" and publishes no code: two groups of random vertices
    is our reading. The tree depends on the seed and the graph only, not on the order of
    the graphs.

    Args:
        height: level of the root, at least 2. (default: :obj:`2`)
        seed: a non-negative integer. (default: :obj:`0`)
        branching: parts at each split, at least 2. (default: :obj:`2`)

    Raises:
        ValueError: for a height or branching below 2, a height above 1000 or a
            negative seed.

    Example:
        >>> data = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]), num_nodes=4)
        >>> AddRandomTree(height=2, seed=0)(data).coding_tree["level"]
        tensor([0, 0, 0, 0, 1, 1, 2])
    """

    def __init__(self, height: int = 2, seed: int = 0, branching: int = 2) -> None:
        check_build(height, "authors")
        check_at_least("branching", branching, 2)
        self.height = height
        self.branching = branching
        self.seed = _checked(seed)

    @override
    def tree(self, data: Data) -> CodingTree:
        """Build the tree."""
        n = data.num_nodes
        if not n:
            raise ValueError("a graph needs at least one vertex, got none")
        check_room(self.height, n)
        rank = _permutation(data, self.seed)
        labels = [
            rank * min(self.branching ** (self.height - level), n) // n
            for level in range(1, self.height)
        ]
        parent, level = _kernels.tree_arrays(np.stack(labels).astype(np.int64))
        return CodingTree(torch.from_numpy(parent), torch.from_numpy(level))

    @override
    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(height={self.height}, seed={self.seed}, "
            f"branching={self.branching})"
        )


def tree_transform(name: TreeName, height: int) -> AddTree:
    """Return the transform that attaches the trees of a name.

    Args:
        name: how coding trees are built, see :func:`~sega_anchor.build_coding_tree`;
            or a control: "shuffled", the refined trees with their leaves permuted, or
            "random", balanced binary trees of random vertices.
        height: level of the root, at least 2.

    Raises:
        ValueError: for another name or an invalid height.

    Example:
        >>> tree_transform("authors", height=4), tree_transform("random", height=4)
        (AddCodingTree(height=4, method='authors', weight=None),
         AddRandomTree(height=4, seed=0, branching=2))
    """
    check_choice("tree", name, TreeName)
    if name == "shuffled":
        return AddShuffledTree(height)
    if name == "random":
        return AddRandomTree(height)
    return AddCodingTree(height, name)


def _checked(seed: int) -> int:
    if seed < 0:
        raise ValueError(f"seed must not be negative, got {seed!r}")
    return seed


def _permutation(data: Data, seed: int) -> Ints:
    """Return a permutation of the vertices, drawn from the seed and the graph."""
    n = data.num_nodes
    content = edges_of(data).cpu().contiguous().numpy().tobytes()
    random = np.random.default_rng([seed, n, zlib.crc32(content)])
    return random.permutation(n)
