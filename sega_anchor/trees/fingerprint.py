"""fingerprint: the number by which a tree knows the graph it was built from."""

import torch
from torch import Tensor

from .. import _kernels
from .._kernels.fingerprint import mix


def fingerprint(edge_index: Tensor, batch: Tensor, sizes: Tensor) -> Tensor:
    """Return a number for each graph that tells which of its nodes edges join.

    Each edge between two nodes is hashed without its direction; the hashes of edges to
    later and to earlier nodes are summed apart, and added unless the sums are equal.
    So the order of edges, self-loops and whether undirected edges are given once or
    both ways do not matter; missing, new and rewired edges and renumbered nodes do.
    Weights and features are not looked at.

    Args:
        edge_index: ``(2, num_edges)``, numbered in the batch.
        batch: the graph of each node, ``(num_nodes,)``, in order.
        sizes: number of nodes of each graph, ``(num_graphs,)``.

    Returns:
        ``(num_graphs,)``, int64; the same bits on every device.

    Raises:
        ValueError: on a CPU, for an edge to a node that does not exist.

    Example:
        >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> one_graph = torch.zeros(3, dtype=torch.long), torch.tensor([3])
        >>> both_ways, once = path, path[:, [3, 0]]
        >>> fingerprint(both_ways, *one_graph) == fingerprint(once, *one_graph)
        tensor([True])
    """
    hashing = _hash_on_cpu if edge_index.device.type == "cpu" else _hash_anywhere
    return hashing(edge_index.long(), batch.long(), sizes)


def _hash_on_cpu(edges: Tensor, batch: Tensor, sizes: Tensor) -> Tensor:
    """Sum the hashes of edges with a compiled kernel."""
    found = torch.empty_like(sizes)
    parts = found, edges.contiguous(), batch.contiguous(), sizes.contiguous()
    bad = _kernels.hash_graphs(*(part.numpy() for part in parts))
    if bad >= 0:
        raise ValueError(
            f"edge {bad} joins nodes {edges[:, bad].tolist()}, but there are "
            f"{len(batch)} nodes in {len(sizes)} graphs: edge_index and batch must fit "
            "them"
        )
    return found


def _hash_anywhere(edges: Tensor, batch: Tensor, sizes: Tensor) -> Tensor:
    """Sum the hashes of edges with torch operations, on any device."""
    source, target = edges.unbind()
    graph = batch[source]
    first = (sizes.cumsum(0) - sizes)[graph]
    low = torch.minimum(source, target) - first
    high = torch.maximum(source, target) - first
    pair = mix((low << 32) + high)
    none = torch.zeros_like(sizes)
    up = none.index_add(0, graph, torch.where(source < target, pair, 0))
    down = none.index_add(0, graph, torch.where(source > target, pair, 0))
    found: Tensor = mix(torch.where(up == down, up, up + down) + sizes)
    return found
