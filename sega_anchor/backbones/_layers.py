"""What the encoders share: checks, sums over neighbours."""

from __future__ import annotations

from torch import Tensor
from torch_geometric.utils import scatter


def sum_with_neighbours(x: Tensor, edge_index: Tensor) -> Tensor:
    """Return x of each node plus x of the sources of its edges, ``(num_nodes, ...)``.

    Example:
        >>> import torch
        >>> edge_index = torch.tensor([[0, 1], [2, 2]])
        >>> sum_with_neighbours(torch.tensor([[1.0], [2.0], [4.0]]), edge_index)
        tensor([[1.], [2.], [7.]])
    """
    source, target = edge_index
    near = scatter(x.index_select(0, source), target, 0, x.size(0), "sum")
    summed: Tensor = x + near
    return summed


def check_sizes(**sizes: int) -> None:
    """Raise ValueError for a size below 1, by its name."""
    for name, value in sizes.items():
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value!r}")


def check_dropout(dropout: float) -> None:
    """Raise ValueError for a share that would leave nothing."""
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout must be at least 0 and below 1, got {dropout!r}")


def check_features(
    name: str, features: Tensor | None, width: int, rows: int | None = None
) -> None:
    """Raise ValueError unless features are ``(rows, width)``, any rows by default."""
    shape = None if features is None else tuple(features.shape)
    if shape is None or shape[1:] != (width,) or rows not in (None, shape[0]):
        wanted = f"({'num_nodes' if rows is None else rows}, {width})"
        raise ValueError(f"{name} must have shape {wanted}, got {shape}")
