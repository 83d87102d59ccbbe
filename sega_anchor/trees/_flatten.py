"""flatten: the graphs of a data set as a few long arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor
from torch_geometric.data import Batch, Data

from ..utils.progress import progress_bar
from ._as_edges import refuse_hetero
from ._kernels import Floats, Ints
from .build import read_arrays


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
        >>> import torch
        >>> path = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
        >>> flatten([path, path]).edge_ptr
        array([0, 2, 4])
    """
    edges, sizes, own = [], [], []
    for i, data in enumerate(one_by_one(graphs)):
        try:
            columns, n, numbers = _read(data, weight)
        except ValueError as error:
            raise ValueError(f"graph {i}: {error}") from None
        edges.append(columns)
        sizes.append(n)
        own.append(numbers)
    return Graphs(
        np.concatenate([np.empty((2, 0), np.int64), *edges], axis=1),
        np.cumsum([0, *(part.shape[1] for part in edges)]),
        np.array(sizes, np.int64),
        np.concatenate([np.empty(0), *own]),
    )


def one_by_one(graphs: Sequence[Data], title: str = "Reading graphs") -> Iterable[Data]:
    """Return the graphs with a progress bar that appears after one second.

    Raises:
        ValueError: for a single graph in place of a sequence.
    """
    if isinstance(graphs, Data):
        raise ValueError(
            "graphs must be a sequence of graphs, got a single Data: pass [data], or "
            "batch.to_data_list() for a batch"
        )
    refuse_hetero(graphs)
    bar: Iterable[Data] = progress_bar(graphs, desc=title, delay=1.0)
    return bar


def _read(data: Any, weight: str | None) -> tuple[Ints, int, Floats]:
    """Return edges, number of vertices and weights of one graph."""
    refuse_hetero(data)
    if not isinstance(data, Data) or isinstance(data, Batch):
        raise ValueError(
            f"it must be a Data that holds one graph, got {type(data).__name__}"
        )
    if not isinstance(data.edge_index, Tensor):
        raise ValueError(f"it has no edge_index, got {data}")
    own = None
    if weight is not None:
        own = data[weight] if weight in data else None
        if not isinstance(own, Tensor):
            raise ValueError(
                f"it has no edge attribute {weight!r}: set it on every graph, or pass "
                "weight=None"
            )
    return read_arrays(data.edge_index, data.num_nodes, own)
