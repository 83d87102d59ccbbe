"""ego_networks: the surroundings of given nodes, cut out of one large graph."""

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, InMemoryDataset

from ...utils.checks import check_at_least
from ...utils.progress import progress_bar
from ...utils.scatter import prefix_sum
from ._ego_cut import EdgeTable, EgoBatch, extract, merge_directions

_CENTERS = 256  # number of networks cut at once


class EgoNetworks(InMemoryDataset):  # type: ignore[misc]
    """Ego-networks as a PyG data set in memory.

    Each has ``x`` of ones ``(num_nodes, 1)``, ``edge_index`` with the two directions of
    each edge in adjacent columns, ``edge_attr``, and ``center_node_idx`` ``(1,)``, the
    centre, numbered within its network, also in a batch.

    Args:
        data: all networks, concatenated, with nodes numbered within each network.
        slices: by attribute, where the rows of each network begin, and the end.

    Source: repository snap-stanford/pretrain-gnns, bio/loader.py.
    """

    def __init__(self, data: Data, slices: dict[str, Tensor]) -> None:
        super().__init__()
        self._data, self.slices = data, slices


def ego_networks(
    edge_index: Tensor,
    edge_attr: Tensor,
    centers: Tensor,
    hops: int = 2,
    max_nodes: int | None = None,
    *,
    num_nodes: int | None = None,
    seed: int = 0,
) -> EgoNetworks:
    """Return, for each centre, the nodes within some hops and all edges between them.

    Networks grow hop by hop. If a hop would exceed ``max_nodes``, a random part of its
    nodes is taken; the draw depends only on the centre, the node and the seed, not on
    other centres. The released ego-networks are random samples too, for which Hu et al.
    published no code.

    Args:
        edge_index: an undirected graph, ``(2, num_edges)``. Edges may be given once, in
            both directions, or repeatedly; loops are ignored.
        edge_attr: ``(num_edges, channels)``; repeated edges get the largest values.
        centers: nodes, ``(num_centers,)``.
        hops: number of hops, at least 1.
        max_nodes: largest size of a network, at least 2; default no limit.
        num_nodes: number of nodes of the graph; default ``edge_index.max() + 1``.
        seed: a non-negative integer.

    Returns:
        A network for each centre, its nodes in increasing order of their numbers in the
        graph, which are in ``n_id`` ``(num_nodes,)``.

    Raises:
        ValueError: for shapes or numbers that do not fit the graph.

    Source: Hu et al., ICLR 2020, for the format; the rule is ours.

    Example:
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> networks = ego_networks(path, torch.ones(3, 9), torch.tensor([3]), hops=1)
        >>> networks[0].n_id, networks[0].center_node_idx, networks[0].edge_index
        (tensor([2, 3]), tensor([1]), tensor([[0, 1], [1, 0]]))
    """
    _check_graph(edge_index, edge_attr)
    n = num_nodes
    if n is None:
        n = int(edge_index.max()) + 1 if edge_index.numel() else 0
    _check_range("edge_index", edge_index, n)
    if centers.dim() != 1 or not centers.numel():
        raise ValueError(
            f"centers must be some nodes, (num_centers,), got {tuple(centers.shape)}"
        )
    _check_range("centers", centers, n)
    check_at_least("hops", hops, 1)
    if max_nodes is not None:
        check_at_least("max_nodes", max_nodes, 2)
    check_at_least("seed", seed, 0)
    table = merge_directions(edge_index.cpu().numpy(), edge_attr.cpu().numpy(), n)
    parts = np.array_split(centers.cpu().numpy(), -(-len(centers) // _CENTERS))
    bar = progress_bar(parts, desc="Cutting ego-networks", delay=1.0)
    return _join(table, [extract(table, c, hops, max_nodes or n, seed) for c in bar])


def _join(table: EdgeTable, parts: list[EgoBatch]) -> EgoNetworks:
    node, nodes, center, ends, edge, edges = (
        torch.from_numpy(np.concatenate(part, axis=-1))
        for part in zip(*parts, strict=True)
    )
    networks = torch.arange(len(center) + 1)
    node_ptr, edge_ptr = prefix_sum(nodes), 2 * prefix_sum(edges)
    data = Data(
        x=torch.ones(len(node), 1),
        edge_index=torch.stack([ends, ends.flip(0)], dim=2).flatten(1),
        edge_attr=torch.from_numpy(table.attr)[edge].repeat_interleave(2, dim=0),
        center_node_idx=center,
        n_id=node,
    )
    slices = {"x": node_ptr, "edge_index": edge_ptr, "edge_attr": edge_ptr}
    return EgoNetworks(data, slices | {"center_node_idx": networks, "n_id": node_ptr})


def _check_graph(edge_index: Tensor, edge_attr: Tensor) -> None:
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise ValueError(
            f"edge_index must have shape (2, num_edges), got {tuple(edge_index.shape)}"
        )
    if edge_attr.dim() != 2 or len(edge_attr) != edge_index.size(1):
        raise ValueError(
            f"edge_attr must have a row for each of the {edge_index.size(1)} edges, "
            f"(num_edges, channels), got {tuple(edge_attr.shape)}"
        )


def _check_range(name: str, nodes: Tensor, n: int) -> None:
    if nodes.dtype != torch.long:
        raise ValueError(f"{name} must hold long integers, got {nodes.dtype}")
    if nodes.numel() and not 0 <= int(nodes.min()) <= int(nodes.max()) < n:
        raise ValueError(
            f"{name} must be nodes from 0 to {n - 1}, got {int(nodes.min())} to "
            f"{int(nodes.max())}; give num_nodes if some nodes have no edges"
        )
