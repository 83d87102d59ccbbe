"""The graph encoder of AD-GCL: GIN whose messages are weighted by edges."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from typing_extensions import override

from sega_anchor.backbones import xavier
from sega_anchor.utils import (
    check_at_least,
    check_choice,
    num_graphs,
    pool,
    sum_neighbours,
)

Readout = Literal["last", "layerwise"]


class WeightedGIN(nn.Module):
    r"""GIN with edge weights, BatchNorm before the ReLU.

    .. math:: h_i' = \mathrm{BN}\big(\mathrm{MLP}(h_i + \sum_j w_{ji} h_j)\big)

    with a ReLU behind all layers but the last; MLP is Linear - ReLU - Linear.

    Args:
        in_channels: width of the node features.
        hidden_channels: width of every layer. (default: :obj:`32`)
        num_layers: number of layers. (default: :obj:`5`)
        readout: ``"last"`` sums the nodes of the last layer (published),
            ``"layerwise"`` concatenates the sums of all layers.

    Raises:
        ValueError: for a size below 1 or an unknown read-out.

    Source: repository susheels/adgcl, unsupervised/encoder/tu_encoder.py.

    Example:
        >>> data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> WeightedGIN(in_channels=1).encode(data, torch.tensor([0.5, 1.0])).shape
        torch.Size([1, 32])
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int = 32,
        num_layers: int = 5,
        readout: Readout = "last",
    ) -> None:
        super().__init__()
        for name, value in (
            ("in_channels", in_channels),
            ("hidden_channels", hidden_channels),
            ("num_layers", num_layers),
        ):
            check_at_least(name, value, 1)
        check_choice("readout", readout, Readout)
        self.readout = readout
        self.out_channels = hidden_channels * (1 if readout == "last" else num_layers)
        widths = [in_channels] + [hidden_channels] * num_layers
        self.layers = nn.ModuleList(
            nn.Sequential(
                nn.Linear(below, hidden_channels),
                nn.ReLU(),
                nn.Linear(hidden_channels, hidden_channels),
                nn.BatchNorm1d(hidden_channels),
            )
            for below in widths[:-1]
        )
        self.apply(xavier)

    @override
    def forward(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> list[Tensor]:
        """Return the nodes of every layer, ``(num_nodes, hidden_channels)`` each.

        ``edge_weight``, ``(num_edges,)``, one for each direction of an edge.
        """
        nodes = []
        for place, layer in enumerate(self.layers):
            x = layer(x + sum_neighbours(x, edge_index, edge_weight))
            if place < len(self.layers) - 1:
                x = x.relu()
            nodes.append(x)
        return nodes

    def encode(self, data: Data, edge_weight: Tensor | None = None) -> Tensor:
        """Return one vector per graph, ``(num_graphs, out_channels)``."""
        nodes = self(data.x, data.edge_index, edge_weight)
        if self.readout == "last":
            nodes = nodes[-1:]
        graphs = num_graphs(data)
        return torch.cat([pool(x, data.batch, graphs) for x in nodes], dim=1)
