"""flatten: the graphs of a data set as a few long arrays, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Batch, Data, InMemoryDataset
from tqdm import tqdm
from typing_extensions import TypeIs

from ._kernels import Floats, Ints


class Graphs(NamedTuple):
    """Many graphs, one behind the other, as :func:`build.build_arrays` takes them."""

    edges: Ints  # (2, num_edges), vertices numbered within each graph
    edge_ptr: Ints  # (num_graphs + 1,), where the edges of each graph begin
    sizes: Ints  # (num_graphs,), the number of vertices
    weight: Floats  # (num_edges,), or empty for unweighted graphs

    def part(self, begin: int, end: int) -> Graphs:
        """Return the graphs from one number up to, not including, another."""
        ptr = self.edge_ptr[begin : end + 1]
        columns = slice(ptr[0], ptr[-1])
        return Graphs(
            np.ascontiguousarray(self.edges[:, columns]),
            ptr - ptr[0],
            self.sizes[begin:end],
            self.weight[columns] if self.weight.size else self.weight,
        )


def flatten(graphs: Sequence[Data], weight: str | None = None) -> Graphs:
    """Read graphs as indexing shows them; a plain in-memory data set at once.

    Args:
        graphs: graphs or a PyG data set.
        weight: name of an edge attribute that holds edge weights.

    Raises:
        ValueError: for the first graph of which no tree can be built.

    Example:
        >>> path = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
        >>> flatten([path, path]).edge_ptr
        array([0, 2, 4])
    """
    whole = _from_storage(graphs, weight) or _from_list(graphs, weight)
    _check(whole, weight)
    return whole


def one_by_one(graphs: Sequence[Data], title: str = "Reading graphs") -> Iterable[Data]:
    """Return the graphs with a progress bar, which shows where it takes a second."""
    if isinstance(graphs, Data):
        raise ValueError(
            "graphs must be a sequence of graphs, got a single Data: pass [data], or "
            "batch.to_data_list() for a batch"
        )
    bar: Iterable[Data] = tqdm(graphs, desc=title, delay=1.0, disable=None, leave=False)
    return bar


def _from_storage(graphs: Sequence[Data], weight: str | None) -> Graphs | None:
    """Read a data set without making its graphs; None unless it is a plain one."""
    if not _is_plain(graphs):
        return None
    stored, slices = graphs._data._store, graphs.slices
    sizes = _sizes(stored, slices)
    edges = stored.get("edge_index")
    own = None if weight is None else stored.get(weight)
    if sizes is None or not isinstance(edges, Tensor) or not _integers(edges):
        return None  # read one by one, whatever is wrong gets the number of its graph
    if weight is not None and not (
        isinstance(own, Tensor)
        and own.numel() == edges.size(1)
        and torch.equal(slices[weight], slices["edge_index"])
    ):
        return None
    ptr = np.asarray(slices["edge_index"], np.int64)
    chosen = np.asarray(graphs.indices(), np.int64)
    return _select(_numbers(edges), ptr, sizes, _floats(own), chosen)


def _is_plain(graphs: Sequence[Data]) -> TypeIs[InMemoryDataset]:
    """Whether the graphs of a data set are the slices of its storage, no more."""
    return (
        isinstance(graphs, InMemoryDataset)
        and graphs.transform is None
        and graphs.slices is not None
        and isinstance(graphs._data, Data)
        and type(graphs).get is InMemoryDataset.get
        and type(graphs).__getitem__ is InMemoryDataset.__getitem__
    )


def _sizes(stored: Any, slices: dict[str, Tensor]) -> Ints | None:
    """Return the number of vertices of each stored graph, if the storage tells."""
    counts = getattr(stored, "_num_nodes", None)
    for key in ("x", "pos"):
        if counts is None and key in slices and isinstance(stored.get(key), Tensor):
            counts = np.diff(slices[key])
    sizes = np.asarray(counts)
    return sizes.astype(np.int64) if sizes.dtype.kind == "i" else None


def _select(
    edges: Ints, ptr: Ints, sizes: Ints, weight: Floats, chosen: Ints
) -> Graphs:
    """Return the chosen graphs of a whole storage."""
    counts = np.diff(ptr)[chosen]
    edge_ptr = np.concatenate([[0], np.cumsum(counts)])
    columns = np.arange(edge_ptr[-1]) + np.repeat(ptr[chosen] - edge_ptr[:-1], counts)
    own = weight[columns] if weight.size else weight
    return Graphs(edges[:, columns], edge_ptr, sizes[chosen], own)


def _from_list(graphs: Sequence[Data], weight: str | None) -> Graphs:
    """Read graphs one by one."""
    edges, sizes, own = [], [], []
    for i, data in enumerate(one_by_one(graphs)):
        edge_index = _edge_index(i, data)
        edges.append(_numbers(edge_index))
        sizes.append(int(data.num_nodes))
        if weight is not None:
            own.append(_weight(i, data, weight))
    return Graphs(
        np.concatenate([np.empty((2, 0), np.int64), *edges], axis=1),
        np.cumsum([0, *(part.shape[1] for part in edges)]),
        np.array(sizes, np.int64),
        np.concatenate([np.empty(0), *own]),
    )


def _edge_index(i: int, data: Any) -> Tensor:
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
    if edge_index.numel() and not _integers(edge_index):
        raise ValueError(
            f"graph {i}: edge_index must hold integers, got dtype {edge_index.dtype}"
        )
    return edge_index


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
    return _floats(own)


def _integers(tensor: Tensor) -> bool:
    return not (tensor.is_floating_point() or tensor.dtype == torch.bool)


def _numbers(tensor: Tensor) -> Ints:
    return np.asarray(tensor.detach().cpu().numpy(), np.int64)


def _floats(tensor: Tensor | None) -> Floats:
    if tensor is None:
        return np.empty(0)
    return np.asarray(tensor.detach().cpu().numpy(), np.float64).reshape(-1)


def _check(whole: Graphs, weight: str | None) -> None:
    """Raise ValueError for the first graph of which no tree can be built."""
    edges, edge_ptr, sizes, own = whole
    if (sizes < 1).any():
        i = int((sizes < 1).argmax())
        raise ValueError(
            f"graph {i} has no vertices: leave it out, or set data.num_nodes"
        )
    outside = (edges < 0) | (edges >= np.repeat(sizes, np.diff(edge_ptr)))
    bad = outside[0] | outside[1]
    if bad.any():
        i, ends = _first(bad, edge_ptr), edges[:, bad.argmax()]
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
        i, at = _first(bad, edge_ptr), int(bad.argmax())
        raise ValueError(
            f"graph {i}: {weight!r} must be finite and not negative, edge "
            f"{at - edge_ptr[i]} has {own[at]}"
        )


def _first(bad: NDArray[np.bool_], edge_ptr: Ints) -> int:
    """Return the graph of the first bad edge."""
    return int(np.searchsorted(edge_ptr, bad.argmax(), side="right")) - 1
