"""build_coding_tree: the tree of (near) minimal structural entropy of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from . import _kernels
from ._kernels import Floats, Ints
from .tree import CodingTree

Method = Literal["authors", "paper"]
_NO_WEIGHT = np.empty(0)


def build_coding_tree(
    edge_index: Tensor,
    num_nodes: int | None = None,
    edge_weight: Tensor | None = None,
    *,
    height: int = 3,
    method: Method = "authors",
) -> CodingTree:
    r"""Build a coding tree of small structural entropy, height exactly ``height``.

    The graph is read as undirected and simple: self-loops are ignored, repeated
    entries count once, or add up when there are weights, and the weight of
    :math:`\{u, v\}` is the larger of its two directions, so that giving one direction
    or both is the same. Weight 0 means no edge. An isolated vertex hangs below the
    root by a chain; the tree of a graph without edges is all chains.

    Args:
        edge_index: LongTensor ``(2, num_edges)``.
        num_nodes: number of vertices; default ``edge_index.max() + 1``.
        edge_weight: ``(num_edges,)``, finite and not negative; default all 1.
        height: level of the root, at least 2.
        method: ``"paper"`` is Algorithm 1 to the letter: COMBINE by the exact gain
            :math:`\frac{2c}{V} \log_2 \frac{V}{vol_{12}}` down to a binary tree, then
            DROP by the exact loss. ``"authors"`` does what the authors' released code
            does: the score of the two-level merge, volumes plus one inside logarithms,
            height 2 first, then levels grown below or above, whichever gains more.

    Returns:
        The tree; the same input gives the same tree. Compiling takes some seconds the
        first time on a machine.

    Raises:
        ValueError: for an unknown method, a height below 2, no vertices, indices that
            are not integers or out of range, weights that are negative or not finite.

    Source: Wu et al., ICML 2023, Algorithm 1; repository Wu-Junran/SEGA.

    Example:
        >>> import torch
        >>> two_triangles = torch.tensor([[0, 1, 2, 3, 4, 5, 2],
        ...                               [1, 2, 0, 4, 5, 3, 3]])
        >>> build_coding_tree(two_triangles, height=2, method="paper").nested()
        [[0, 1, 2], [3, 4, 5]]
    """
    check_build(height, method)
    csr = undirected(edge_index, num_nodes, edge_weight)
    labels = _BUILDERS[method](csr, height)
    parent, level = _kernels.tree_arrays(labels)
    return CodingTree(torch.from_numpy(parent), torch.from_numpy(level))


def check_build(height: int, method: str) -> None:
    """Raise ValueError unless a tree can be built with this height and method."""
    if isinstance(height, bool) or not isinstance(height, int) or height < 2:
        raise ValueError(f"height must be an integer of at least 2, got {height!r}")
    if method not in _BUILDERS:
        known = ", ".join(repr(name) for name in get_args(Method))
        raise ValueError(f"method must be one of {known}, got {method!r}")


def undirected(
    edge_index: Tensor, num_nodes: int | None, edge_weight: Tensor | None
) -> _kernels.Csr:
    """Return the CSR triple (indptr, indices, weight) that the builders work on."""
    edges, n = _edges(edge_index, num_nodes)
    weight = _NO_WEIGHT if edge_weight is None else _weights(edge_weight, edges)
    csr: _kernels.Csr = _kernels.symmetric_csr(edges[0], edges[1], weight, n)
    return csr


def _paper(csr: _kernels.Csr, height: int) -> Ints:
    """Algorithm 1 to the letter; see :func:`build_coding_tree`."""
    labels: Ints = _kernels.paper_labels(*csr, height)
    return labels


def _authors(csr: _kernels.Csr, height: int) -> Ints:
    """Height 2 first, then one level more, below or above, until the height is met."""
    n = csr[0].size - 1
    whole = np.zeros(n, np.int64)
    degree = _kernels.degrees(csr[0], csr[2])
    if not degree.any():  # no edges: every branch is a chain
        return np.tile(np.arange(n), (height - 1, 1))
    levels = [_Grouping(csr, *_kernels.regroup(*csr, degree, degree, whole, 1))]
    up = down = None
    while len(levels) < height - 1:
        up = up or _leaf_up(csr, degree, levels[0])
        down = down or _root_down(csr, levels[-1])
        if down.gain > up.gain:
            levels.append(down)
            down = None
        else:
            levels.insert(0, up)
            up = None
    return np.stack([grouping.labels for grouping in levels])


class _Grouping:
    """A partition of the vertices, a candidate level of the tree."""

    def __init__(
        self, csr: _kernels.Csr, labels: Ints, count: int, gain: float = 0.0
    ) -> None:
        self.labels = labels
        self.count = count
        self.volume, self.cut = _kernels.group_sums(*csr, labels, count)
        self.gain = gain


def _leaf_up(csr: _kernels.Csr, degree: Floats, bottom: _Grouping) -> _Grouping:
    """Regroup the vertices inside each bottom group; the gain is per vertex."""
    row = np.repeat(np.arange(degree.size), np.diff(csr[0]))
    inside = bottom.labels[row] == bottom.labels[csr[1]]
    own = np.bincount(row[inside], csr[2][inside], minlength=degree.size).astype(
        np.float64
    )
    labels, count = _kernels.regroup(*csr, own, own, bottom.labels, bottom.count)
    finer = _Grouping(csr, labels, count)
    # Groups of one or two fall apart for a gain of exactly 0, without rounding: ties
    # between growing up and down are decided by it.
    split = (np.bincount(bottom.labels) > 2)[bottom.labels]
    above = bottom.volume[bottom.labels]
    up_volume, is_split = np.ones(count), np.zeros(count, np.bool_)
    up_volume[labels], is_split[labels] = above, split
    own_volume = finer.volume[labels]
    bits = degree[split] @ np.log2((above + 1) / (own_volume + 1))[split]
    bits += (
        finer.cut[is_split] @ np.log2((finer.volume + 1) / (up_volume + 1))[is_split]
    )
    finer.gain = float(bits) / degree.sum() / degree.size
    return finer


def _root_down(csr: _kernels.Csr, top: _Grouping) -> _Grouping:
    """Group the root's children; the gain is per child, minus infinity below three."""
    if top.count < 3:
        return _Grouping(csr, top.labels, top.count, gain=-np.inf)
    row = np.repeat(np.arange(top.labels.size), np.diff(csr[0]))
    quotient = _kernels.symmetric_csr(
        top.labels[row], top.labels[csr[1]], csr[2], top.count
    )
    whole = np.zeros(top.count, np.int64)
    merged, count = _kernels.regroup(*quotient, top.volume, top.cut, whole, 1)
    coarser = _Grouping(csr, merged[top.labels], count)
    total = top.volume.sum()
    # V, not V + 1, in the old value: a small constant bias of the released code.
    bits = top.cut @ np.log2(total / (coarser.volume[merged] + 1))
    bits += coarser.cut @ np.log2((coarser.volume + 1) / (total + 1))
    coarser.gain = float(bits) / total / top.count
    return coarser


_BUILDERS: dict[str, Callable[[_kernels.Csr, int], Ints]] = {
    "paper": _paper,
    "authors": _authors,
}


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
    least = int(edges.min()) if edges.size else 0
    needed = int(edges.max()) + 1 if edges.size else 0
    if least < 0:
        raise ValueError(f"edge_index must not be negative, got {least}")
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
    weight = np.ascontiguousarray(
        edge_weight.detach().cpu().numpy(), dtype=np.float64
    ).reshape(-1)
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
    return weight
