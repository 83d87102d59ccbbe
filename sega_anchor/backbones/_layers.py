"""GINLayer, and the sums and checks that the encoders share."""

from torch import Tensor, nn
from typing_extensions import override

from ..utils.checks import check_at_least
from ..utils.scatter import sum_neighbours


def sum_with_neighbours(x: Tensor, edge_index: Tensor) -> Tensor:
    """Return x of each node plus x of the sources of its edges, ``(num_nodes, ...)``.

    Example:
        >>> import torch
        >>> edge_index = torch.tensor([[0, 1], [2, 2]])
        >>> sum_with_neighbours(torch.tensor([[1.0], [2.0], [4.0]]), edge_index)
        tensor([[1.], [2.], [7.]])
    """
    return x + sum_neighbours(x, edge_index)


class GINLayer(nn.Module):
    r"""GIN's convolution: :math:`\mathrm{MLP}(x_i + \sum_{(j, i) \in E} x_j)`.

    The MLP is Linear - ReLU - Linear. Parameter names and results are those of PyG's
    GINConv with eps fixed at 0.

    Args:
        in_channels: width of x.
        hidden_channels: width between the two linear layers.
        out_channels: width of the result; default ``hidden_channels``.

    Example:
        >>> import torch
        >>> edge_index = torch.tensor([[0, 1], [1, 0]])
        >>> GINLayer(4, 8)(torch.ones(2, 4), edge_index).shape
        torch.Size([2, 8])
    """

    def __init__(
        self, in_channels: int, hidden_channels: int, out_channels: int | None = None
    ) -> None:
        super().__init__()
        self.nn = nn.Sequential(
            nn.Linear(in_channels, hidden_channels),
            nn.ReLU(inplace=True),
            nn.Linear(hidden_channels, out_channels or hidden_channels),
        )

    @override
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return the convolved rows ``(num_nodes, out_channels)``."""
        out: Tensor = self.nn(sum_with_neighbours(x, edge_index))
        return out


def check_sizes(**sizes: int) -> None:
    """Raise ValueError for a size below 1."""
    for name, value in sizes.items():
        check_at_least(name, value, 1)


def check_dropout(dropout: float) -> None:
    """Raise ValueError for a share outside [0, 1)."""
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout must be at least 0 and below 1, got {dropout!r}")


def check_features(
    name: str, features: Tensor | None, width: int, rows: int | None = None
) -> None:
    """Raise ValueError unless features are ``(rows, width)``; default any rows."""
    shape = None if features is None else tuple(features.shape)
    if shape is None or shape[1:] != (width,) or rows not in (None, shape[0]):
        wanted = f"({'num_nodes' if rows is None else rows}, {width})"
        raise ValueError(f"{name} must have shape {wanted}, got {shape}")
