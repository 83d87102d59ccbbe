"""tree_groups: a tree cut into any number of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from . import _kernels
from .coding_tree import CodingTree
from .entropy import graph_of

if TYPE_CHECKING:
    from ._as_edges import GraphLike


def tree_groups(
    tree: CodingTree,
    edge_index: GraphLike,
    edge_weight: Tensor | None = None,
    *,
    k: int,
) -> Tensor:
    r"""Return the vertices of a tree in exactly ``k`` groups.

    Where a level of the tree has ``k`` nodes, these are the groups. Elsewhere nodes of
    the lowest level above which fewer are left are merged, those of one parent first,
    always the two that change the two-level structural entropy

    .. math::
        H^2 = -\frac{1}{V} \sum_v d_v \log_2 \frac{d_v}{V}
              + \frac{1}{V} \sum_a (vol_a - g_a) \log_2 \frac{vol_a}{V}

    of the groups :math:`a` least; then vertices move between groups while that lowers
    it. Vertices without edges change nothing, and share a group where ``k`` allows it.

    Args:
        tree: a tree whose leaves are the graph's vertices.
        edge_index: LongTensor ``(2, num_edges)`` or another kind of graph, read as in
            :func:`~sega_anchor.build_coding_tree`.
        edge_weight: ``(num_edges,)``; default all 1.
        k: number of groups, from 1 to the number of vertices.

    Returns:
        LongTensor ``(num_vertices,)``, groups numbered from 0; the same tree and graph
        give the same groups.

    Raises:
        ValueError: for another ``k``, and as in
            :func:`~sega_anchor.structural_entropy`.

    Example:
        >>> from sega_anchor import build_coding_tree
        >>> two_triangles = torch.tensor([[0, 1, 2, 3, 4, 5, 2],
        ...                               [1, 2, 0, 4, 5, 3, 3]])
        >>> tree = build_coding_tree(two_triangles, height=2)
        >>> tree_groups(tree, two_triangles, k=2)
        tensor([0, 0, 0, 1, 1, 1])
        >>> tree_groups(tree, two_triangles, k=3)
        tensor([0, 0, 1, 1, 2, 2])
    """
    n = tree.num_vertices
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= n:
        raise ValueError(
            f"k must be an integer from 1 to the number of vertices, {n}, got {k!r}"
        )
    graph = graph_of(tree, edge_index, edge_weight)
    sizes = np.bincount(tree.level.numpy())
    level = int(np.flatnonzero(sizes >= k)[-1])
    finer = tree.partition(level)
    if sizes[level] == k:
        return finer
    coarser = tree.partition(level + 1)
    found = _kernels.regroup(graph, finer.numpy(), coarser.numpy(), k)
    return torch.from_numpy(found)
