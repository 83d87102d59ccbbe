"""as_edges: read an edge_index, a networkx graph or a sparse matrix as edges."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

if TYPE_CHECKING:
    import networkx
    from scipy.sparse import sparray, spmatrix

    GraphLike: TypeAlias = Tensor | networkx.Graph | sparray | spmatrix

Edges = tuple[Tensor, int | None, Tensor | None]


def as_edges(
    graph: GraphLike, num_nodes: int | None, edge_weight: Tensor | None
) -> Edges:
    """Return edge_index, number of vertices and weights of any supported graph.

    Args:
        graph: one of

            * edge_index, LongTensor or NumPy array ``(2, num_edges)``; a tensor is
              passed through untouched, with the other two arguments.
            * a networkx graph. Vertex ``i`` is the i-th of ``list(graph)``. Weights are
              the edge attribute "weight", 1 where an edge lacks it; if all lack it the
              graph is unweighted, and parallel edges then count once.
            * a square scipy sparse matrix of weights; weight 0 means no edge. A
              Boolean matrix gives an unweighted graph.
        num_nodes: number of vertices, only with an edge_index.
        edge_weight: ``(num_edges,)``, only with an edge_index.

    Raises:
        ValueError: for another kind of graph, one without vertices, a matrix that is
            not square, an edge weight that is not a number, or num_nodes or
            edge_weight given for a graph that has its own.

    Example:
        >>> import networkx
        >>> graph = networkx.Graph([("a", "b"), ("b", "c")])
        >>> edge_index, n, weight = as_edges(graph, None, None)
        >>> edge_index.tolist(), n, weight
        ([[0, 1], [1, 2]], 3, None)
    """
    if isinstance(graph, Tensor):
        return graph, num_nodes, edge_weight
    if isinstance(graph, np.ndarray):
        return _from_array(graph), num_nodes, _from_weights(edge_weight)
    read: Callable[[Any], Edges]
    if _is_networkx(graph):
        read = _from_networkx
    elif _is_sparse(graph):
        read = _from_sparse
    else:
        raise ValueError(_unsupported(graph))
    kind = type(graph).__name__
    for name, value in (("num_nodes", num_nodes), ("edge_weight", edge_weight)):
        if value is not None:
            raise ValueError(f"a {kind} has its own {name}: leave {name} out")
    edge_index, n, weight = read(graph)
    if not n:
        raise ValueError(f"a graph needs at least one vertex, got an empty {kind}")
    return edge_index, n, weight


def refuse_hetero(data: object) -> None:
    """Raise ValueError for a graph whose vertices are of several types.

    Raises:
        ValueError: for a HeteroData.
    """
    if isinstance(data, HeteroData):
        raise ValueError(
            "got a HeteroData, but a coding tree is of one type of vertices and edges: "
            "pass data.to_homogeneous()"
        )


# If no one has imported the library, the graph cannot be of its type.
def _is_networkx(graph: Any) -> bool:
    library = sys.modules.get("networkx")
    return library is not None and isinstance(graph, library.Graph)


def _is_sparse(graph: Any) -> bool:
    library = sys.modules.get("scipy.sparse")
    return library is not None and bool(library.issparse(graph))


def _from_array(edge_index: Any) -> Tensor:
    if edge_index.ndim != 2 or len(edge_index) != 2:
        raise ValueError(
            f"edge_index must have shape (2, num_edges), got {edge_index.shape}: "
            "wrap an adjacency matrix as scipy.sparse.csr_array(matrix)"
        )
    if edge_index.dtype.kind not in "iu" and edge_index.size:
        raise ValueError(f"edge_index must hold integers, got dtype {edge_index.dtype}")
    return torch.from_numpy(edge_index.astype(np.int64, order="C"))


def _from_weights(edge_weight: Any) -> Tensor | None:
    if isinstance(edge_weight, np.ndarray):
        return torch.from_numpy(edge_weight.astype(np.float64, order="C"))
    given: Tensor | None = edge_weight
    return given


def _from_networkx(graph: Any) -> Edges:
    index = {name: i for i, name in enumerate(graph)}
    ends = [[index[u], index[v]] for u, v in graph.edges()]
    edge_index = torch.tensor(ends, dtype=torch.long).reshape(-1, 2).t()
    weights = [weight for *_, weight in graph.edges(data="weight")]
    if all(weight is None for weight in weights):
        return edge_index, len(index), None
    try:
        numbers = [1.0 if weight is None else float(weight) for weight in weights]
    except (TypeError, ValueError) as error:
        message = f'the edge attribute "weight" must hold numbers: {error}'
        raise ValueError(message) from error
    return edge_index, len(index), torch.tensor(numbers, dtype=torch.double)


def _from_sparse(matrix: Any) -> Edges:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"an adjacency matrix must be square, got shape {matrix.shape}"
        )
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"weights must be real numbers, got dtype {matrix.dtype}")
    stored = matrix.tocoo()
    ends = np.stack([stored.row, stored.col]).astype(np.int64)
    if matrix.dtype.kind == "b":
        edge_index = torch.from_numpy(ends[:, stored.data])
        return edge_index, matrix.shape[0], None
    weight = torch.from_numpy(stored.data.astype(np.float64))
    return torch.from_numpy(ends), matrix.shape[0], weight


def _unsupported(graph: Any) -> str:
    refuse_hetero(graph)
    kind = type(graph).__name__
    if hasattr(graph, "edge_index"):
        return (
            f"got a {kind}: pass data.edge_index, data.num_nodes, or use AddCodingTree"
        )
    return (
        "a graph must be an edge_index (2, num_edges), a networkx graph or a scipy "
        f"sparse matrix, got {kind}"
    )
