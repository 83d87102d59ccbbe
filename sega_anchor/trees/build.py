"""build_coding_tree: the tree of (near) minimal structural entropy of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from . import _kernels
from ._as_edges import as_edges
from ._kernels import CSR, Floats, Ints
from .coding_tree import CodingTree

if TYPE_CHECKING:
    from ._as_edges import GraphLike

TreeMethod = Literal["refined", "authors", "paper"]
#: Goes up whenever any method may give another tree: what is cached is then stale.
BUILDER_VERSION = 6
#: Levels; what is higher only lengthens the branches.
HIGHEST = 1000
#: Nodes of a tree, each of which takes some 24 bytes while it is built.
MOST = 1 << 30
_NO_WEIGHT = np.empty(0)
_BUILDERS = {
    "refined": _kernels.build_refined,
    "authors": _kernels.build_authors,
    "paper": _kernels.build_paper,
}


def build_coding_tree(
    edge_index: GraphLike,
    num_nodes: int | None = None,
    edge_weight: Tensor | None = None,
    *,
    height: int = 3,
    method: TreeMethod = "refined",
) -> CodingTree:
    r"""Build a coding tree of small structural entropy, height exactly ``height``.

    The graph is read as undirected and simple: self-loops are ignored, repeated
    entries count once, or add up when there are weights, and the weight of
    :math:`\{u, v\}` is the larger of its two directions, so that giving one direction
    or both is the same. Weight 0 means no edge. An isolated vertex hangs below the
    root by a chain; the tree of a graph without edges is all chains.

    Args:
        edge_index: LongTensor or NumPy array ``(2, num_edges)``; or a networkx graph,
            vertex i being the i-th of ``list(graph)`` and "weight" the weight; or a
            square scipy sparse matrix of weights.
        num_nodes: number of vertices; default ``edge_index.max() + 1``.
        edge_weight: ``(num_edges,)``, finite and not negative, of any numeric type;
            default all 1. Where one is below :math:`2^{-30}` of the volume, all are
            rounded to multiples of about :math:`2^{-52}` of it, since sums would
            round them anyhow, and what is 0 then is no edge.
        height: level of the root, from 2 to 1000. Trees higher than 32 are built with
            32 levels by ``"refined"``, and lengthened at their leaves.
        method: ``"refined"``, the default, is ours: local moves of vertices and
            subtrees, greedy merges inside each tree node, and the exact best tree of
            the height among the nodes so made, in turns until nothing is gained. The
            least entropy of all up to 8 vertices; never above the authors' tree up to
            100 vertices or 512 edges, where that is a second start, nor above the
            paper's up to 100 vertices, where they are at most
            :math:`4^{height - 1}`, and height 32. Others may be above. ``"paper"`` is
            Algorithm 1 to the letter: COMBINE by the exact gain
            :math:`\frac{2c}{V} \log_2 \frac{V}{vol_{12}}` down to a binary tree, then
            DROP by the exact loss. ``"authors"`` does what the authors' released code
            does: the score of the two-level merge, volumes plus one inside logarithms,
            height 2 first, then levels grown below or above, whichever gains more.
            Ties may fall otherwise there: of 4,928 trees that were compared with the
            released code's 12 differed, all at heights above 3.

    Returns:
        The tree; the same graph gives the same tree, however its edges are ordered.
        Compiling takes some 20 seconds the first time on a machine; see
        ``sega-anchor warmup``.

    Raises:
        ValueError: for an unknown method, a height below 2 or above 1000, or of more
            than 2 ** 30 tree nodes with this many vertices, no vertices, indices that
            are not integers or out of range, weights that are negative, not finite or
            too large to be added up, or another kind of graph.

    Source: Wu et al., ICML 2023, Algorithm 1; repository Wu-Junran/SEGA; ours.

    Example:
        >>> import torch
        >>> two_triangles = torch.tensor([[0, 1, 2, 3, 4, 5, 2],
        ...                               [1, 2, 0, 4, 5, 3, 3]])
        >>> build_coding_tree(two_triangles, height=2).nested()
        [[0, 1, 2], [3, 4, 5]]
    """
    check_build(height, method)
    edge_index, num_nodes, edge_weight = as_edges(edge_index, num_nodes, edge_weight)
    edges, n, weight = read_arrays(edge_index, num_nodes, edge_weight)
    check_room(height, n)
    ptr, sizes = np.array([0, edges.shape[1]]), np.array([n])
    parent, level, _ = _BUILDERS[method](edges[0], edges[1], weight, ptr, sizes, height)
    return CodingTree.trusted(torch.from_numpy(parent), torch.from_numpy(level))


def build_arrays(
    edges: Ints,
    edge_ptr: Ints,
    sizes: Ints,
    weight: Floats,
    *,
    height: int,
    method: TreeMethod,
) -> tuple[Ints, Ints, Ints]:
    """Build the trees of many checked graphs, concatenated; the lock is released.

    Args:
        edges: ``(2, num_edges)``, vertices numbered within each graph.
        edge_ptr: ``(num_graphs + 1,)``, where the edges of each graph begin.
        sizes: ``(num_graphs,)``, the number of vertices of each graph, at least 1.
        weight: ``(num_edges,)``, or of size 0 for unweighted graphs.
        height: level of the root.
        method: as in :func:`build_coding_tree`.

    Returns:
        parent, level: all trees, one behind the other, parents numbered within a tree.
        tree_ptr: ``(num_graphs + 1,)``, where the nodes of each tree begin.
    """
    row, col = np.ascontiguousarray(edges[0]), np.ascontiguousarray(edges[1])
    built: tuple[Ints, Ints, Ints] = _BUILDERS[method](
        row, col, weight, edge_ptr, sizes, height
    )
    return built


def check_build(height: int, method: str) -> None:
    """Raise ValueError unless a tree can be built with this height and method."""
    check_height(height)
    if method not in _BUILDERS:
        known = ", ".join(repr(name) for name in get_args(TreeMethod))
        raise ValueError(f"method must be one of {known}, got {method!r}")


def check_height(height: int) -> None:
    """Raise ValueError unless trees may have this height."""
    if isinstance(height, bool) or not isinstance(height, int) or height < 2:
        raise ValueError(f"height must be an integer of at least 2, got {height!r}")
    if height > HIGHEST:
        raise ValueError(
            f"height must be at most {HIGHEST}, got {height!r}: more levels than a "
            "binary tree of the vertices would have only lengthen its branches"
        )


def check_room(height: int, num_nodes: int) -> None:
    """Raise ValueError for more tree nodes than memory holds."""
    if height * num_nodes > MOST:
        raise ValueError(
            f"a tree of height {height} over {num_nodes} vertices may have "
            f"{height * num_nodes} nodes, more than {MOST}: choose a height of at most "
            f"{max(MOST // num_nodes, 2)}"
        )


def read_csr(
    edge_index: Tensor, num_nodes: int | None, edge_weight: Tensor | None
) -> CSR:
    """Return the graph (indptr, indices, weight) that the builders work on."""
    edges, n, weight = read_arrays(edge_index, num_nodes, edge_weight)
    graph: CSR = _kernels.symmetric_csr(edges[0], edges[1], weight, n)
    return graph


def read_arrays(
    edge_index: Tensor, num_nodes: int | None, edge_weight: Tensor | None
) -> tuple[Ints, int, Floats]:
    """Return checked arrays: edges ``(2, num_edges)``, vertices, weights or nothing.

    Raises:
        ValueError: for what describes no graph.
    """
    edges, n = _edges(edge_index, num_nodes)
    return edges, n, _NO_WEIGHT if edge_weight is None else _weights(edge_weight, edges)


def _edges(edge_index: Tensor, num_nodes: int | None) -> tuple[Ints, int]:
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise ValueError(
            f"edge_index must have shape (2, num_edges), got {tuple(edge_index.shape)}"
        )
    if edge_index.is_floating_point() or edge_index.dtype == torch.bool:
        if edge_index.numel():
            raise ValueError(
                f"edge_index must hold integers, got dtype {edge_index.dtype}"
            )
    edges = np.ascontiguousarray(edge_index.detach().cpu().numpy(), dtype=np.int64)
    # Negative numbers are the greatest of all without their sign: one pass, not two.
    needed = int(edges.view(np.uint64).max()) + 1 if edges.size else 0
    if needed > 2**63:
        raise ValueError(f"edge_index must not be negative, got {edges.min()}")
    n = needed if num_nodes is None else num_nodes
    if n < needed:
        raise ValueError(
            f"num_nodes is {n}, but edge_index names vertex {needed - 1}: "
            f"pass num_nodes={needed} or more"
        )
    if n < 1:
        raise ValueError("a graph needs at least one vertex: pass num_nodes")
    return edges, n


def _weights(edge_weight: Tensor, edges: Ints) -> Floats:
    if edge_weight.is_complex():
        raise ValueError(
            f"edge_weight must hold real numbers, got dtype {edge_weight.dtype}"
        )
    given = edge_weight.detach().to("cpu", torch.double)
    weight = np.ascontiguousarray(given.numpy()).reshape(-1)
    if weight.size != edges.shape[1]:
        raise ValueError(
            f"edge_weight must hold one number per edge ({edges.shape[1]}), "
            f"got shape {tuple(edge_weight.shape)}"
        )
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        at = int(bad.argmax())
        raise ValueError(
            f"edge_weight must be finite and not negative, edge {at} has {weight[at]}"
        )
    # The volume of the graph is at most this; beyond a double's range where possible.
    with np.errstate(over="ignore"):
        volume = 2 * weight.sum(dtype=np.longdouble)
    if volume > np.finfo(np.float64).max:
        raise ValueError(
            f"edge_weight is too large to be added up: twice its sum is {volume!s}; "
            "scale the weights, as by edge_weight / edge_weight.max()"
        )
    return weight
