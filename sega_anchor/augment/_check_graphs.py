"""Checks of what is augmented: nodes in the order of graphs, edges within them."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from .. import _kernels
from ..utils.checks import check_indices
from ..utils.scatter import prefix_sum


def graphs_of(data: Data) -> tuple[Tensor, Tensor, Tensor]:
    """Return ``edge_index``, ``batch`` and ``ptr`` of a batch or a single graph.

    Raises:
        ValueError: without ``edge_index``, or for indices that do not fit the nodes.
    """
    edges = data.edge_index
    if edges is None:
        raise ValueError("edge_index is None; without edges, give shape (2, 0)")
    check_indices("edge_index", edges, (2, *edges.shape[-1:]))
    batch = data.batch
    if batch is None:
        batch = edges.new_zeros(data.num_nodes)
    check_indices("batch", batch, (batch.numel(),))
    edges, batch = edges.long(), batch.long()
    ptr = _ptr(batch, data.get("ptr"))
    bad = _first_stray(edges, batch)
    if bad >= 0:
        raise ValueError(
            f"edge {bad} joins nodes {edges[:, bad].tolist()}, which are no two of "
            f"{len(batch)} nodes in the same graph: edge_index must fit batch"
        )
    return edges, batch, ptr


def _ptr(batch: Tensor, ptr: Tensor | None) -> Tensor:
    """Return where each graph begins, and the end; what is given must be that."""
    if ptr is not None:
        check_indices("ptr", ptr, (ptr.numel(),))
        if _is_numbering(batch, ptr.long()):
            return ptr.long()
    if len(batch) and (batch[0] < 0 or bool((batch.diff() < 0).any())):
        raise ValueError(
            "batch must number the graphs from 0 and in order: sort the nodes by graph"
        )
    if ptr is not None:
        raise ValueError(
            "ptr is not where the graphs of batch begin: delete data.ptr after nodes "
            "were added or dropped"
        )
    last = int(batch[-1]) if len(batch) else 0
    if last > len(batch):  # a slip, for which gigabytes would be taken
        raise ValueError(
            f"batch names graph {last}, but there are {len(batch)} nodes: number the "
            "graphs from 0, or give ptr if so many are empty"
        )
    return prefix_sum(batch.bincount(minlength=1))


def _is_numbering(batch: Tensor, ptr: Tensor) -> bool:
    """Return whether batch is g from ``ptr[g]`` to ``ptr[g + 1] - 1``, for all g."""
    if _is_compiled(batch):
        return bool(_kernels.is_numbering(*_arrays(batch, ptr)))
    size = ptr.diff()
    if not len(ptr) or ptr[0] != 0 or ptr[-1] != len(batch) or bool((size < 0).any()):
        return False
    graph = torch.arange(len(size), device=ptr.device)
    return torch.equal(graph.repeat_interleave(size), batch)


def _first_stray(edges: Tensor, batch: Tensor) -> int:
    """Return the first edge that does not join two nodes of one graph, or -1."""
    if _is_compiled(edges):
        return int(_kernels.first_stray(*_arrays(edges, batch)))
    within = ((edges >= 0) & (edges < len(batch))).all(0)
    if within.all():
        source, target = batch[edges]
        within = source == target
    stray = (~within).nonzero()
    return int(stray[0]) if len(stray) else -1


def _is_compiled(index: Tensor) -> bool:
    return index.device.type == "cpu"


def _arrays(*indices: Tensor) -> Iterator[Any]:
    return (index.contiguous().numpy() for index in indices)
