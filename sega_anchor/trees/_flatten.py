"""flatten: the graphs of a data set as a few long arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Batch, Data
from tqdm import tqdm

from ._kernels import Floats, Ints


class Graphs(NamedTuple):
    """Many graphs, concatenated, as :func:`.build.build_arrays` takes them."""

    edges: Ints  # (2, num_edges), vertices numbered within each graph
    edge_ptr: Ints  # (num_graphs + 1,), where the edges of each graph begin
    sizes: Ints  # (num_graphs,), number of vertices
    weight: Floats  # (num_edges,), or of size 0 for unweighted graphs

    def part(self, begin: int, end: int) -> Graphs:
        """Return graphs ``begin`` to ``end - 1``."""
        ptr = self.edge_ptr[begin : end + 1]
        columns = slice(ptr[0], ptr[-1])
        return Graphs(
            np.ascontiguousarray(self.edges[:, columns]),
            ptr - ptr[0],
            self.sizes[begin:end],
            self.weight[columns] if self.weight.size else self.weight,
        )


def flatten(graphs: Sequence[Data], weight: str | None = None) -> Graphs:
    """Read graphs one by one into long arrays, and check them.

    Args:
        graphs: graphs or a PyG data set.
        weight: name of an edge attribute that holds edge weights.

    Raises:
        ValueError: naming the first graph that has no tree.

    Example:
        >>> path = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
        >>> flatten([path, path]).edge_ptr
        array([0, 2, 4])
    """
    edges, sizes, own = [], [], []
    for i, data in enumerate(one_by_one(graphs)):
        edges.append(_edges(i, data))
        sizes.append(int(data.num_nodes))
        if weight is not None:
            own.append(_weight(i, data, weight))
    whole = Graphs(
        np.concatenate([np.empty((2, 0), np.int64), *edges], axis=1),
        np.cumsum([0, *(part.shape[1] for part in edges)]),
        np.array(sizes, np.int64),
        np.concatenate([np.empty(0), *own]),
    )
    _check(whole, weight)
    return whole


def one_by_one(graphs: Sequence[Data], title: str = "Reading graphs") -> Iterable[Data]:
    """Return the graphs with a progress bar that appears after one second.

    Raises:
        ValueError: for a single ``Data`` in place of a sequence.
    """
    if isinstance(graphs, Data):
        raise ValueError(
            "graphs must be a sequence of graphs, got a single Data: pass [data], or "
            "batch.to_data_list() for a batch"
        )
    bar: Iterable[Data] = tqdm(graphs, desc=title, delay=1.0, disable=None, leave=False)
    return bar


def _edges(i: int, data: Any) -> Ints:
    if not isinstance(data, Data) or isinstance(data, Batch):
        raise ValueError(
            f"graph {i} must be a Data that holds one graph, got {type(data).__name__}"
        )
    edge_index = data.edge_index
    if not isinstance(edge_index, Tensor):
        raise ValueError(f"graph {i} has no edge_index, got {data}")
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise ValueError(
            f"graph {i}: edge_index must have shape (2, num_edges), got "
            f"{tuple(edge_index.shape)}"
        )
    integers = not (edge_index.is_floating_point() or edge_index.dtype == torch.bool)
    if edge_index.numel() and not integers:
        raise ValueError(
            f"graph {i}: edge_index must hold integers, got dtype {edge_index.dtype}"
        )
    return np.asarray(edge_index.detach().cpu().numpy(), np.int64)


def _weight(i: int, data: Data, name: str) -> Floats:
    own = data[name] if name in data else None
    if not isinstance(own, Tensor):
        raise ValueError(
            f"graph {i} has no edge attribute {name!r}: set it on every graph, or pass "
            "weight=None"
        )
    if own.numel() != data.num_edges:
        raise ValueError(
            f"graph {i}: {name!r} must hold one number per edge ({data.num_edges}), "
            f"got shape {tuple(own.shape)}"
        )
    return np.asarray(own.detach().cpu().numpy(), np.float64).reshape(-1)


def _check(whole: Graphs, weight: str | None) -> None:
    """Raise ValueError for the first graph that has no tree."""
    edges, edge_ptr, sizes, own = whole
    if (sizes < 1).any():
        i = int((sizes < 1).argmax())
        raise ValueError(
            f"graph {i} has no vertices: leave it out, or set data.num_nodes"
        )
    outside = (edges < 0) | (edges >= np.repeat(sizes, np.diff(edge_ptr)))
    bad = outside[0] | outside[1]
    if bad.any():
        i, ends = _graph_of_first(bad, edge_ptr), edges[:, bad.argmax()]
        if ends.min() < 0:
            raise ValueError(
                f"graph {i}: edge_index must not be negative, got {ends.min()}"
            )
        raise ValueError(
            f"graph {i} has {sizes[i]} vertices, but edge_index names vertex "
            f"{ends.max()}: set data.num_nodes to {ends.max() + 1} or more"
        )
    bad = ~(np.isfinite(own) & (own >= 0))
    if bad.any():
        i, at = _graph_of_first(bad, edge_ptr), int(bad.argmax())
        raise ValueError(
            f"graph {i}: {weight!r} must be finite and not negative, edge "
            f"{at - edge_ptr[i]} has {own[at]}"
        )


def _graph_of_first(bad: NDArray[np.bool_], edge_ptr: Ints) -> int:
    return int(np.searchsorted(edge_ptr, bad.argmax(), side="right")) - 1
