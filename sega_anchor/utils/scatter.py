"""Sums over neighbours and over groups of rows, the building blocks of message passing.

On a CPU, compiled kernels add without storing a message per edge. In a batch of dense
graphs messages are a hundred times larger than nodes, and writing them took most of a
training step. Numbers of 16 bits are added in float32, and the sum is rounded once.
"""

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import scatter

from . import sum_ops
from .checks import check_indices, check_range
from .precision import is_half, widen


def prefix_sum(count: Tensor) -> Tensor:
    """Return the sum of all entries before each one, and the total.

    Example:
        >>> prefix_sum(torch.tensor([2, 3]))
        tensor([0, 2, 5])
    """
    return torch.nn.functional.pad(count.cumsum(0), (1, 0))


def sum_rows(x: Tensor, index: Tensor, num_rows: int) -> Tensor:
    r"""Return the sum of the rows of each group, ``(num_rows, channels)``.

    .. math:: y_g = \sum_{i : index_i = g} x_i

    Rows are added in order, so results are the same bits for any number of threads.

    Args:
        x: ``(n, channels)``.
        index: the group of each row, from 0, ``(n,)``.
        num_rows: number of groups.

    Raises:
        ValueError: if the number of indices is not that of rows; on a CPU also for an
            index that is not a group.

    Example:
        >>> x = torch.tensor([[1.0], [2.0], [4.0]])
        >>> sum_rows(x, torch.tensor([0, 1, 0]), 2).view(-1)
        tensor([5., 2.])
    """
    if index.shape != x.shape[:1]:
        raise ValueError(
            f"index must name the group of each of {len(x)} rows, got shape "
            f"{tuple(index.shape)}"
        )
    check_indices("index", index, index.shape)
    if is_half(x):
        return sum_rows(widen(x), index, num_rows).to(x.dtype)
    if not _compiled(x):
        _check_range("index", index, num_rows)
        summed: Tensor = scatter(x, index, 0, num_rows, "sum")
        return summed
    return sum_ops.add_rows(x, index, None, num_rows)


def pool(
    x: Tensor, graph: Tensor | None, num_graphs: int | None = None, mean: bool = False
) -> Tensor:
    """Return the sum, or the mean, of the nodes of each graph.

    Args:
        x: ``(num_nodes, channels)``.
        graph: the graph of each node, ``(num_nodes,)``; None if there is one graph.
        num_graphs: number of graphs; default ``graph.max() + 1``.
        mean: divide by the number of nodes; a graph without nodes gets 0.

    Returns:
        ``(num_graphs, channels)``.

    Example:
        >>> pool(torch.tensor([[1.0], [3.0]]), torch.tensor([0, 0]), 1, mean=True)
        tensor([[2.]])
    """
    if graph is None:
        return x.mean(0, keepdim=True) if mean else x.sum(0, keepdim=True)
    if num_graphs is None:
        num_graphs = int(graph.max()) + 1 if graph.numel() else 0
    if not mean:
        return sum_rows(x, graph, num_graphs)
    total = sum_rows(widen(x), graph, num_graphs)
    count = graph.bincount(minlength=num_graphs).clamp(min=1)
    return (total / count.to(total.dtype).unsqueeze(1)).to(x.dtype)


def num_graphs(data: Data) -> int:
    """Return the number of graphs of a batch, 1 for a single graph."""
    return int(data.num_graphs) if "batch" in data else 1


def graph_of_nodes(data: Data) -> Tensor:
    """Return the number of each node's graph, ``(num_nodes,)``."""
    if "batch" in data:
        batch: Tensor = data.batch
        return batch
    return torch.zeros(data.num_nodes, dtype=torch.long)


def take_rows(x: Tensor, index: Tensor) -> Tensor:
    """Return rows of x; the gradient is the :func:`sum_rows` of gradients.

    Raises:
        ValueError: on a CPU, for an index that is not a row.

    Example:
        >>> take_rows(torch.tensor([[1.0], [2.0]]), torch.tensor([1, 1])).view(-1)
        tensor([2., 2.])
    """
    check_indices("index", index, (index.numel(),))
    _check_range("index", index, x.size(0))
    if is_half(x):
        return take_rows(widen(x), index).to(x.dtype)
    if not _compiled(x):
        return x.index_select(0, index)
    return sum_ops.take_rows(x, index)


def sum_neighbours(
    x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None
) -> Tensor:
    r"""Return the sum over the sources of each node's edges, ``(n, channels)``.

    .. math:: y_i = \sum_{(j, i) \in E} w_{ji} x_j

    Args:
        x: one row per node, ``(n, channels)``.
        edge_index: sources and targets, ``(2, num_edges)``.
        edge_weight: ``(num_edges,)``; default 1.

    Raises:
        ValueError: if the number of weights is not that of edges; on a CPU also for an
            edge to a node that does not exist.

    Example:
        >>> edge_index = torch.tensor([[0, 1], [2, 2]])
        >>> sum_neighbours(torch.tensor([[1.0], [2.0], [4.0]]), edge_index).view(-1)
        tensor([0., 0., 3.])
    """
    check_indices("edge_index", edge_index, (2, *edge_index.shape[-1:]))
    source, target = edge_index.unbind()
    if edge_weight is not None and edge_weight.shape != source.shape:
        raise ValueError(
            f"edge_weight must have shape {tuple(source.shape)}, one for each edge, "
            f"got {tuple(edge_weight.shape)}"
        )
    if is_half(x):
        wide = None if edge_weight is None else widen(edge_weight)
        kind = x.dtype if edge_weight is None else torch.result_type(x, edge_weight)
        return sum_neighbours(widen(x), edge_index, wide).to(kind)
    if _compiled(x) and edge_weight is None:
        return sum_ops.add_rows(x, target, source, x.size(0))
    if _compiled(x) and edge_weight is not None and edge_weight.dtype == x.dtype:
        return sum_ops.add_weighted_rows(x, target, source, edge_weight)
    _check_range("edge_index", edge_index, x.size(0))
    message = x.index_select(0, source)
    if edge_weight is not None:
        message = message * edge_weight.unsqueeze(1)
    summed: Tensor = scatter(message, target, 0, x.size(0), "sum")
    return summed


def _check_range(name: str, index: Tensor, size: int) -> None:
    """Refuse indices of no row, on a CPU: for a GPU one would have to wait."""
    if index.device.type == "cpu" and not torch.compiler.is_compiling():
        check_range(name, index, size)


def _compiled(x: Tensor) -> bool:
    """Return whether the compiled kernels can add rows of this matrix.

    A compiler that meets torch.func inside takes their Functions apart.
    """
    matrix = x.dtype in (torch.float32, torch.float64) and x.dim() == 2
    return matrix and x.device.type == "cpu" and not sum_ops.is_compiled_transform()
