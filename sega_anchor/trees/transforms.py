"""AddTree and AddCodingTree: PyG transforms that attach trees to graphs."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.datapipes import functional_transform
from torch_geometric.data.storage import GlobalStorage
from torch_geometric.transforms import BaseTransform
from typing_extensions import override

from ._as_edges import refuse_hetero
from ._flatten import one_by_one
from .build import TreeMethod, build_coding_tree, check_build
from .build_many import Folder, build_coding_trees
from .coding_tree import CodingTree
from .levels import TREE, check_batch, graph_fingerprint, parent_offsets
from .quantities import attach_quantities

# torch.load(weights_only=True) needs these containers of a saved graph; PyG registers
# only Data itself.
torch.serialization.add_safe_globals([DataEdgeAttr, DataTensorAttr, GlobalStorage])


class AddTree(BaseTransform, ABC):  # type: ignore[misc]
    """Base of the transforms that attach a tree to a graph or to each graph of a batch.

    The tree is stored as ``data.coding_tree``, a dictionary of plain tensors: "parent"
    (see :func:`~sega_anchor.trees.levels.parent_offsets`) and "level", both
    ``(num_tree_nodes,)``, and "fingerprint", ``(1,)``, of the graph that it was built
    from (see :func:`~sega_anchor.trees.fingerprint.fingerprint`). It survives batching,
    un-batching, caching, saving and other transforms, to which it is no attribute of
    nodes or edges. With ``quantities`` the tree also carries "quantities" and
    "statistics" (see :func:`~sega_anchor.trees.quantities.carried`). A subclass
    defines ``height``, ``tree`` and ``__repr__``.
    """

    height: int
    weight: str | None = None
    quantities: bool = False

    @abstractmethod
    def tree(self, data: Data) -> CodingTree:
        """Build the tree of a single graph."""

    def map(
        self,
        graphs: Sequence[Data],
        *,
        threads: int | None = None,
        cache: Folder | None = None,
    ) -> list[Data]:
        """Attach trees to a whole data set; each graph is read once.

        Args:
            graphs: graphs or a PyG data set; not modified.
            threads: as in :func:`~sega_anchor.build_coding_trees`; ignored by
                transforms that cannot use it.
            cache: likewise.

        Returns:
            The graphs with their trees, ready for a ``DataLoader``.
        """
        return [self(data) for data in one_by_one(graphs, "Building trees")]

    @override
    def forward(self, data: Data) -> Data:
        """Attach the tree, or one tree for each graph of a batch."""
        refuse_hetero(data)
        if "batch" in data and data.batch is not None:
            return self._batch(data)
        return self.attached(data, self.tree(data))

    def attached(self, data: Data, tree: CodingTree) -> Data:
        """Store a tree on its graph, and its quantities if it is to carry them."""
        data = attach(data, tree)
        return attach_quantities(data, self.weight) if self.quantities else data

    def _batch(self, data: Data) -> Data:
        edge_index = edges_of(data).cpu()
        batch = data.batch.cpu()
        check_batch(batch)
        sizes = torch.bincount(batch, minlength=data.num_graphs)
        first = sizes.cumsum(0) - sizes
        owner = batch[edge_index[0]]
        order = owner.argsort(stable=True)
        edges = torch.bincount(owner, minlength=data.num_graphs).tolist()
        graphs = []
        for i, columns in enumerate(order.split(edges)):
            local = edge_index[:, columns] - first[i]
            graph = Data(edge_index=local, num_nodes=int(sizes[i]))
            if self.weight is not None and self.weight in data:
                graph[self.weight] = data[self.weight].cpu()[columns]
            graphs.append(self(graph))
        trees, device = [graph[TREE] for graph in graphs], data.batch.device
        data[TREE] = {
            key: torch.cat([tree[key] for tree in trees]).to(device) for key in trees[0]
        }
        return data


@functional_transform("add_coding_tree")
class AddCodingTree(AddTree):
    r"""Build the coding tree of a graph and attach it.

    Use it as ``transform``, as ``pre_transform``, on single graphs or on batches.

    Args:
        height: level of the root, at least 2. (default: :obj:`3`)
        method: see :func:`~sega_anchor.build_coding_tree`.
        weight: name of an edge attribute that holds edge weights; default: unweighted.
        quantities: let trees carry their quantities, see
            :func:`~sega_anchor.trees.quantities.carried`, so that they are not
            computed at every step. (default: :obj:`False`)

    Raises:
        ValueError: for an invalid height, method or weight.

    Example:
        >>> data = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]), num_nodes=4)
        >>> AddCodingTree(height=2)(data).coding_tree["level"]
        tensor([0, 0, 0, 0, 1, 1, 2])
    """

    def __init__(
        self,
        height: int = 3,
        method: TreeMethod = "refined",
        weight: str | None = None,
        quantities: bool = False,
    ) -> None:
        check_build(height, method)
        self.height = height
        self.method = method
        self.weight = weight
        self.quantities = quantities

    @override
    def tree(self, data: Data) -> CodingTree:
        """Build the tree."""
        weight = None
        if self.weight is not None:
            weight = data[self.weight] if self.weight in data else None
            if weight is None:
                raise ValueError(f"the graph has no edge attribute {self.weight!r}")
        tree = build_coding_tree(
            edges_of(data),
            data.num_nodes,
            weight,
            height=self.height,
            method=self.method,
        )
        return self.arrange(tree, data)

    def arrange(self, tree: CodingTree, data: Data) -> CodingTree:
        """Return the tree to attach; a subclass may make another of the graph's own."""
        return tree

    @override
    def map(
        self,
        graphs: Sequence[Data],
        *,
        threads: int | None = None,
        cache: Folder | None = None,
    ) -> list[Data]:
        """Attach trees to a whole data set, built on all cores.

        The trees are those that the transform gives graph by graph; see
        :func:`~sega_anchor.build_coding_trees` for arguments and errors.

        Example:
            >>> path = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
            >>> AddCodingTree(height=2).map([path, path])[1].coding_tree["level"]
            tensor([0, 0, 0, 1, 1, 2])
        """
        if type(self).tree is not AddCodingTree.tree:  # a subclass builds other trees
            return super().map(graphs)
        seen = [copy.copy(data) for data in one_by_one(graphs)]
        trees = build_coding_trees(
            seen,
            self.height,
            method=self.method,
            weight=self.weight,
            threads=threads,
            cache=cache,
        )
        return [
            self.attached(data, self.arrange(tree, data))
            for data, tree in zip(seen, trees, strict=True)
        ]

    @override
    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(height={self.height}, method={self.method!r}, "
            f"weight={self.weight!r}{', quantities=True' if self.quantities else ''})"
        )


def attach(data: Data, tree: CodingTree) -> Data:
    """Store a tree and the fingerprint of its graph on the graph.

    See :func:`~sega_anchor.trees.levels.tree_levels`.

    Raises:
        ValueError: for a tree of another number of vertices.
    """
    if tree.num_vertices != data.num_nodes:
        raise ValueError(
            f"the tree has {tree.num_vertices} leaves, but the graph has "
            f"{data.num_nodes} nodes: build the tree from this graph"
        )
    offset = torch.from_numpy(parent_offsets(tree.parent.numpy()))
    device = data.edge_index.device if data.edge_index is not None else None
    stored = {"parent": offset.to(device), "level": tree.level.to(device)}
    if data.edge_index is not None:
        stored["fingerprint"] = graph_fingerprint(data)
    data[TREE] = stored
    return data


def edges_of(data: Data) -> Tensor:
    """Return the edges of a graph, or raise ValueError if there are none stored."""
    edge_index: Tensor | None = data.edge_index
    if edge_index is None:
        raise ValueError(f"the graph has no edge_index, got {data}")
    return edge_index
