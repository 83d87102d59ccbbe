"""Baselines: graphs as vectors without any training, for the same evaluation."""

import numpy as np
import torch
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor
from torch_geometric.data import Data

from ..utils.scatter import graph_of_nodes, num_graphs, pool
from .rbf import Floats

#: The columns of :func:`graph_statistics`.
STATISTICS = (
    "nodes",
    "edges",
    "density",
    "mean degree",
    "degree spread",
    "largest degree",
    "leaves",
    "transitivity",
    "components",
)


def graph_statistics(data: Data) -> Tensor:
    r"""Return nine plain numbers for each graph, all of which a glance could count.

    With n nodes, m edges, and degrees :math:`d_v`, the columns, as in ``STATISTICS``,
    are :math:`\log(1 + n)`, :math:`\log(1 + m)`, the density :math:`2m / (n (n - 1))`,
    mean, standard deviation and :math:`\log(1 + \max_v d_v)` of the degrees, the share
    of nodes of degree 1, the transitivity (three times the triangles over the pairs of
    neighbours) and :math:`\log(1 + c)` of c components. What is undefined, such
    as the density of a single node, is 0.

    Args:
        data: a graph or batch, as simple graphs: directions, loops and repeated edges
            are passed over.

    Returns:
        ``(num_graphs, 9)``, double.

    Example:
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2]])
        >>> row = graph_statistics(Data(edge_index=edges, num_nodes=4))[0]
        >>> dict(zip(STATISTICS, [round(x, 2) for x in row.tolist()]))["transitivity"]
        0.6
    """
    many, graph = num_graphs(data), graph_of_nodes(data).cpu().numpy()
    adjacency = _adjacency(data)
    degree = np.diff(adjacency.indptr).astype(float)

    def total(values: Floats) -> Floats:
        return np.bincount(graph, values, minlength=many).astype(float)

    nodes = total(np.ones(len(graph)))
    edges = total(degree) / 2
    largest = np.zeros(many)
    np.maximum.at(largest, graph, degree)
    mean = _ratio(2 * edges, nodes)
    spread = np.sqrt(_ratio(total((degree - mean[graph]) ** 2), nodes))
    pairs = total(degree * (degree - 1) / 2)
    _, component = connected_components(adjacency, directed=False)
    _, first = np.unique(component, return_index=True)
    columns = [
        np.log1p(nodes),
        np.log1p(edges),
        _ratio(2 * edges, nodes * (nodes - 1)),
        mean,
        spread,
        np.log1p(largest),
        _ratio(total(degree == 1), nodes),
        _ratio(3 * total(_triangles(adjacency, degree)), pairs),
        np.log1p(np.bincount(graph[first], minlength=many)),
    ]
    return torch.from_numpy(np.stack(columns, axis=1))


def feature_histogram(data: Data) -> Tensor:
    """Return the sum of the features of each graph.

    Of one-hot features it is their histogram: how many nodes have each label, or each
    degree, whichever ``x`` shows.

    Args:
        data: a graph or batch with ``x``, ``(num_nodes, channels)``.

    Returns:
        ``(num_graphs, channels)``, double.

    Raises:
        ValueError: for graphs without features.

    Example:
        >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        >>> feature_histogram(Data(x=x))
        tensor([[1., 2.]], dtype=torch.float64)
    """
    if data.x is None:
        raise ValueError(f"a histogram needs features x, got {data}")
    batch = graph_of_nodes(data).cpu()
    return pool(data.x.cpu().double(), batch, num_graphs(data))


def standardise(x: Tensor) -> Tensor:
    """Return columns of mean 0 and variance 1; constant columns become 0.

    Without it an RBF kernel sees little but the largest column. All rows count, which
    takes no label.

    Example:
        >>> standardise(torch.tensor([[1.0, 5.0], [3.0, 5.0]]))
        tensor([[-1., 0.],
                [ 1., 0.]])
    """
    centred = x - x.mean(dim=0)
    spread = centred.square().mean(dim=0).sqrt()
    # Rounding leaves a constant column a spread that is no spread.
    constant = spread <= 1e-12 * x.abs().amax(dim=0)
    return torch.where(constant, 0.0, centred / spread.masked_fill(constant, 1.0))


def _adjacency(data: Data) -> csr_array:
    """Return the symmetric adjacency matrix of ones, without loops."""
    source, target = np.asarray(data.edge_index.cpu())
    proper = source != target
    ends = source[proper], target[proper]
    ones = np.ones(len(ends[0]), dtype=np.int8)
    found = coo_array((ones, ends), shape=(data.num_nodes, data.num_nodes)).tocsr()
    found = (found + found.T).tocsr()
    found.data = np.ones(len(found.data))
    return found


def _triangles(adjacency: csr_array, degree: Floats) -> Floats:
    """Return the triangles by their node of smallest rank, ``(num_nodes,)``.

    Each edge leads to its end of larger degree, so no node has many: a hub of a
    thousand leaves has none.
    """
    rank = np.empty(len(degree), dtype=np.int64)
    rank[np.argsort(degree, kind="stable")] = np.arange(len(degree))
    edges = adjacency.tocoo()
    up = rank[edges.row] < rank[edges.col]
    ends = edges.row[up], edges.col[up]
    upward = csr_array((np.ones(len(ends[0])), ends), shape=adjacency.shape)
    closed = (upward @ upward).multiply(upward)
    return np.asarray(closed.sum(axis=1)).ravel()


def _ratio(above: Floats, below: Floats) -> Floats:
    """Return quotients, 0 where there is nothing to divide by."""
    found: Floats = np.divide(above, below, out=np.zeros(len(below)), where=below > 0)
    return found
