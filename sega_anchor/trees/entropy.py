"""structural_entropy: how many bits a coding tree needs to describe a graph."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
from torch import Tensor

from ..utils.checks import check_choice
from ._as_edges import as_edges
from ._kernels import CSR, Floats, Ints
from .build import read_csr
from .coding_tree import CodingTree

if TYPE_CHECKING:
    from ._as_edges import GraphLike

EntropyForm = Literal["definition", "edges"]


def structural_entropy(
    tree: CodingTree,
    edge_index: GraphLike,
    edge_weight: Tensor | None = None,
    *,
    form: EntropyForm = "definition",
) -> float:
    r"""Return the structural entropy of a graph under a coding tree, in bits.

    With :math:`V` the volume (sum of weighted degrees) of the graph, :math:`vol_a` that
    of the vertices below tree node :math:`a`, :math:`g_a` the weight of the edges that
    leave them and :math:`a^-` the parent,

    .. math::
        H^T(G) = -\sum_{a \ne root} \frac{g_a}{V} \log_2 \frac{vol_a}{vol_{a^-}}
               = -\frac{1}{V} \sum_v d_v \log_2 d_v
                 + \frac{2}{V} \sum_{\{u,v\}} w_{uv} \log_2 vol_{lca(u,v)} .

    Args:
        tree: a tree whose leaves are the graph's vertices.
        edge_index: LongTensor ``(2, num_edges)`` or another kind of graph, read as in
            :func:`~sega_anchor.build_coding_tree`.
        edge_weight: ``(num_edges,)``; default all 1.
        form: which side of the equation to compute; ``"edges"`` sums over edges by
            their lowest common ancestor.

    Returns:
        Bits; 0 for a graph without edges. No smoothing, unlike the released code.

    Raises:
        ValueError: for an edge to a vertex that the tree lacks, and as in
            :func:`~sega_anchor.build_coding_tree`.

    Source: Li and Pan, "Structural information and dynamical complexity of networks",
    2016; Wu et al., ICML 2023, equation 1.

    Example:
        >>> import torch
        >>> from sega_anchor import build_coding_tree
        >>> two_triangles = torch.tensor([[0, 1, 2, 3, 4, 5, 2],
        ...                               [1, 2, 0, 4, 5, 3, 3]])
        >>> tree = build_coding_tree(two_triangles, height=2, method="paper")
        >>> round(structural_entropy(tree, two_triangles), 6)
        1.699514
    """
    check_choice("form", form, EntropyForm)
    n = tree.num_vertices
    indptr, col, weight = graph_of(tree, edge_index, edge_weight)
    row = np.repeat(np.arange(n), np.diff(indptr))
    if not weight.size:
        return 0.0
    degree = np.bincount(row, weight, minlength=n).astype(np.float64)
    total = float(weight.sum())
    compute = _by_definition if form == "definition" else _by_edges
    return compute(_groups(tree), row, col, weight, degree) / total


def graph_of(
    tree: CodingTree, edge_index: GraphLike, edge_weight: Tensor | None
) -> CSR:
    """Return the graph of a tree.

    Raises:
        ValueError: for what describes no graph, or one that has other vertices.
    """
    n = tree.num_vertices
    edge_index, size, edge_weight = as_edges(edge_index, None, edge_weight)
    if size is not None and size != n:
        raise ValueError(
            f"the graph has {size} vertices, but the tree has {n}: build the tree from "
            "this graph"
        )
    if edge_index.numel() and int(edge_index.max()) >= n:
        raise ValueError(
            f"edge_index names vertex {int(edge_index.max())}, but the tree has {n} "
            "vertices: build the tree from this graph"
        )
    return read_csr(edge_index, n, edge_weight)


def _groups(tree: CodingTree) -> Iterator[Ints]:
    """Yield the group of each vertex at every level, from the leaves to the root."""
    parent, first = tree.parent.numpy(), np.bincount(tree.level.numpy()).cumsum()
    node = np.arange(first[0])
    yield node
    for start in first[:-1]:
        node = parent[node]
        yield node - start


def _by_definition(
    groups: Iterator[Ints], row: Ints, col: Ints, weight: Floats, degree: Floats
) -> float:
    bits = 0.0
    for group, above in pairwise(groups):
        leaves = group[row] != group[col]
        cut = np.bincount(group[row[leaves]], weight[leaves])
        child = np.flatnonzero(cut)
        parent = np.empty(int(group.max()) + 1, np.int64)
        parent[group] = above
        outer = np.bincount(above, degree)[parent[child]]
        ratio = np.bincount(group, degree)[child] / outer
        bits -= float(cut[child] @ np.log2(ratio))
    return bits


def _by_edges(
    groups: Iterator[Ints], row: Ints, col: Ints, weight: Floats, degree: Floats
) -> float:
    volume, apart = np.zeros(len(row)), np.arange(len(row))
    for group in groups:  # no edge joins a vertex with itself
        own = group[row[apart]]
        met = own == group[col[apart]]
        volume[apart[met]] = np.bincount(group, degree)[own[met]]
        apart = apart[~met]
    positive = degree[degree > 0]
    return float(weight @ np.log2(volume) - positive @ np.log2(positive))
