"""Coding trees stored on a graph or batch, and sliced by level for message passing."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from .. import _kernels
from ._kernels import Ints
from .build import check_height
from .fingerprint import fingerprint

#: The attribute that holds a tree: a dictionary, as PyG takes any tensor that happens
#: to have a row for each edge for an attribute of edges, and would rearrange it.
TREE = "coding_tree"
REBUILD = (
    "The graph has changed since its tree was built. Apply the transform "
    "(AnchorView.transform, AddCodingTree) after the change, or delete "
    f"data.{TREE}"
)
NO_TREE = f"the parents of {TREE} do not describe trees. {REBUILD}"


@dataclass(frozen=True)
class TreeLevels:
    """Indices for message passing from the leaves of a batch of trees to the roots.

    Args:
        parents: one LongTensor ``(num_nodes_at_level,)`` for each level below the
            root: the position of each node's parent among the nodes one level up.
        graphs: one LongTensor for each level, root included: the graph of each node.
        num_graphs: number of trees.
        order: ``(num_tree_nodes,)``, the nodes level by level: where they stand in what
            the trees carry.
    """

    parents: list[Tensor]
    graphs: list[Tensor]
    num_graphs: int
    order: Tensor

    @property
    def height(self) -> int:
        """Level of the roots."""
        return len(self.parents)


def has_tree(data: Data) -> bool:
    """Return whether the graph or batch carries coding trees."""
    tree = data[TREE] if TREE in data else None
    return isinstance(tree, Mapping) and {"parent", "level"} <= tree.keys()


def has_fingerprint(data: Data) -> bool:
    """Return whether graphs with trees can be compared with those of the trees."""
    return "fingerprint" in data[TREE] and data.edge_index is not None


def check_batch(batch: Tensor) -> None:
    """Raise ValueError unless the nodes of each graph stand together, in order.

    Raises:
        ValueError: for a graph of a node before that of the node ahead of it.
    """
    falls = batch[1:] < batch[:-1]
    if bool(falls.any()):
        at = int(falls.nonzero()[0])
        raise ValueError(
            f"batch must ascend, but node {at} is of graph {int(batch[at])} and node "
            f"{at + 1} of graph {int(batch[at + 1])}: sort the nodes by graph, as "
            "Batch.from_data_list and PyG's DataLoader do"
        )


def graph_fingerprint(data: Data) -> Tensor:
    """Return the :func:`~sega_anchor.trees.fingerprint.fingerprint` of each graph.

    Args:
        data: a graph or batch with ``edge_index``.
    """
    return _fingerprint(data, _graph_sizes(data))


def parent_offsets(parent: Ints, tree_ptr: Ints | None = None) -> Ints:
    """Return the position of each node's parent minus its own, 0 at the roots.

    Unlike parents numbered within a tree, offsets can be concatenated into a batch and
    sliced out of it unchanged.

    Args:
        parent: ``(num_tree_nodes,)``, numbered within each tree, -1 at the roots.
        tree_ptr: ``(num_trees + 1,)``, where the nodes of each tree begin; default: a
            single tree.

    Example:
        >>> parent_offsets(np.array([2, 2, -1, 2, 2, -1]), np.array([0, 3, 6]))
        array([2, 1, 0, 2, 1, 0])
    """
    position = np.arange(len(parent))
    if tree_ptr is not None:
        position -= np.repeat(tree_ptr[:-1], np.diff(tree_ptr))
    return np.where(parent < 0, 0, parent - position)


def tree_levels(data: Data, height: int) -> TreeLevels:
    """Slice the trees that a graph or batch carries by level.

    A tree is stored as a dictionary ``data.coding_tree``: "level" is the level of each
    tree node, "parent" what :func:`parent_offsets` gives, and "fingerprint", if it is
    there, the :func:`graph_fingerprint` of the graph that the tree was built from.

    Args:
        data: a graph or batch from ``AddCodingTree``.
        height: expected level of the roots.

    Returns:
        The levels, vertices in the order of ``data.x``.

    Raises:
        ValueError: if a tree does not fit its graph (nodes or edges were dropped,
            added or renumbered after it was built) or has another height.

    Example:
        >>> import torch
        >>> from sega_anchor import AddCodingTree
        >>> path = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]), num_nodes=4)
        >>> levels = tree_levels(AddCodingTree(height=2)(path), height=2)
        >>> levels.parents
        [tensor([0, 0, 1, 1]), tensor([0, 0])]
    """
    check_height(height)
    level, offset = data[TREE]["level"], data[TREE]["parent"]
    if level.shape != offset.shape or not level.numel():
        raise ValueError(
            f"level and parent of {TREE} differ in shape: {tuple(level.shape)} and "
            f"{tuple(offset.shape)}. {REBUILD}"
        )
    slicing = _slice_on_cpu if level.device.type == "cpu" else _slice_anywhere
    levels = slicing(level.long(), offset.long(), height)
    sizes = _graph_sizes(data)
    _check_sizes(levels, sizes)
    if has_fingerprint(data):
        _check_edges(data, sizes)
    return levels


def _slice_on_cpu(level: Tensor, offset: Tensor, height: int) -> TreeLevels:
    """Slice trees with a compiled kernel."""
    levels, offsets = level.contiguous().numpy(), offset.contiguous().numpy()
    count = np.zeros(height + 1, np.int64)
    fits = _kernels.count_levels(levels, count)
    if not fits or not count[height]:
        raise ValueError(_wrong_height(level, height))
    start = np.concatenate([[0], np.cumsum(count)])
    rows = order, _, parent, graph = np.empty((4, len(levels)), np.int64)
    if not _kernels.slice_levels(levels, offsets, start, *rows):
        raise ValueError(NO_TREE)
    size = count.tolist()
    return TreeLevels(
        list(torch.split(torch.from_numpy(parent[: start[-2]]), size[:-1])),
        list(torch.split(torch.from_numpy(graph), size)),
        size[-1],
        torch.from_numpy(order),
    )


def _slice_anywhere(level: Tensor, offset: Tensor, height: int) -> TreeLevels:
    """Slice trees with torch operations, on any device."""
    nodes = [(level == i).nonzero().view(-1) for i in range(height + 1)]
    if sum(at.numel() for at in nodes) < level.numel() or not nodes[-1].numel():
        raise ValueError(_wrong_height(level, height))
    position = torch.empty_like(level)
    for at in nodes:
        position[at] = torch.arange(at.numel(), device=at.device)
    is_root = level == height
    tree = is_root.cumsum(0) - is_root.long()
    parent = torch.arange(level.numel(), device=level.device) + offset
    up = parent.clamp(0, level.numel() - 1)
    child = (parent == up) & (level[up] == level + 1) & (tree[up] == tree)
    if not bool((is_root | child).all() & is_root[-1]):
        raise ValueError(NO_TREE)
    graphs = [tree[at] for at in nodes]
    parents = [position[up[at]] for at in nodes[:-1]]
    return TreeLevels(parents, graphs, graphs[-1].numel(), torch.cat(nodes))


def _wrong_height(level: Tensor, height: int) -> str:
    return (
        f"the trees have height {int(level.max())}, but height {height} was asked for: "
        f"build them with AddCodingTree(height={height})"
    )


def check_graphs(data: Data) -> None:
    """Raise ValueError unless the trees of a batch were built from its graphs.

    As far as that can be told: trees without a fingerprint may be of other edges.
    """
    if has_fingerprint(data):
        _check_edges(data, _graph_sizes(data))


def _check_sizes(levels: TreeLevels, sizes: Tensor) -> None:
    """Raise ValueError unless each tree has the leaves that its graph has nodes."""
    vertices = torch.bincount(levels.graphs[0], minlength=levels.num_graphs)
    if vertices.shape != sizes.shape or not torch.equal(vertices, sizes):
        wrong = (
            int((vertices != sizes).nonzero()[0])
            if vertices.shape == sizes.shape
            else min(vertices.numel(), sizes.numel()) - 1
        )
        raise ValueError(
            f"the coding tree of graph {wrong} has {int(vertices[wrong])} leaves, but "
            f"the graph has {int(sizes[wrong])} nodes. {REBUILD}"
        )


def _check_edges(data: Data, sizes: Tensor) -> None:
    """Raise ValueError unless each graph has the edges that its tree was built from."""
    built, found = data[TREE]["fingerprint"], _fingerprint(data, sizes)
    if built.shape != found.shape:
        raise ValueError(
            f"fingerprint of {TREE} has shape {tuple(built.shape)}, not one number for "
            f"each of {found.numel()} graphs. {REBUILD}"
        )
    if not torch.equal(built, found):
        wrong = int((built != found).nonzero()[0])
        raise ValueError(
            f"the coding tree of graph {wrong} was built from other edges or another "
            f"numbering of the nodes. {REBUILD}"
        )


def _fingerprint(data: Data, sizes: Tensor) -> Tensor:
    batch = data.batch if "batch" in data else None
    if batch is None:
        batch = sizes.new_zeros(data.num_nodes)
    return fingerprint(data.edge_index, batch, sizes)


def _graph_sizes(data: Data) -> Tensor:
    """Return the number of nodes of each graph."""
    batch = data.batch if "batch" in data else None
    if batch is None:
        at = data[TREE]["level"] if data.edge_index is None else data.edge_index
        return torch.tensor([data.num_nodes], device=at.device)
    check_batch(batch)
    ptr = data.ptr if "ptr" in data else None
    if ptr is not None and ptr[-1] == batch.numel():
        sizes: Tensor = ptr.diff()
        return sizes
    return torch.bincount(batch)
