"""GIN: the graph encoder of the unsupervised protocols."""

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from typing_extensions import override

from ..utils.scatter import num_graphs, pool
from ._init import xavier
from ._layers import GINLayer, check_sizes


class GIN(nn.Module):
    r"""GIN as used by GraphCL, SEGA, JOAO and AutoGCL without labels.

    Each layer is GINConv (eps fixed at 0; Linear - ReLU - Linear), ReLU, BatchNorm. The
    output of every layer is sum-pooled, and the results are concatenated. Linear layers
    are initialised Xavier-uniform with zero bias, as published.

    Args:
        in_channels: width of the node features, at least 1.
        hidden_channels: width of every layer. (default: :obj:`32`)
        num_layers: number of layers. (default: :obj:`3`)

    Raises:
        ValueError: for a size below 1.

    Source: repositories Shen-Lab/GraphCL (unsupervised_TU/gin.py), Wu-Junran/SEGA.

    Example:
        >>> edge_index = torch.tensor([[0, 1], [1, 0]])
        >>> GIN(in_channels=4)(torch.ones(2, 4), edge_index).shape
        torch.Size([1, 96])
    """

    def __init__(
        self, in_channels: int, hidden_channels: int = 32, num_layers: int = 3
    ) -> None:
        super().__init__()
        check_sizes(
            in_channels=in_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
        )
        self.out_channels = hidden_channels * num_layers
        widths = [in_channels] + [hidden_channels] * num_layers
        self.convs = nn.ModuleList(
            GINLayer(below, hidden_channels) for below in widths[:-1]
        )
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(hidden_channels) for _ in range(num_layers)
        )
        self.apply(xavier)

    @override
    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor | None = None,
        num_graphs: int | None = None,
        node_weight: Tensor | None = None,
    ) -> Tensor:
        """Return one vector per graph, ``(num_graphs, num_layers * hidden)``.

        ``node_weight``, ``(num_nodes, 1)``, weights the nodes in pooling only.
        """
        pooled = []
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = norm(conv(x, edge_index).relu_())
            weighted = x if node_weight is None else x * node_weight
            pooled.append(pool(weighted, batch, num_graphs))
        return torch.cat(pooled, dim=1)

    def encode(self, data: Data, node_weight: Tensor | None = None) -> Tensor:
        """Return one vector per graph of a batch, or of a single graph."""
        embedding: Tensor = self(
            data.x, data.edge_index, data.batch, num_graphs(data), node_weight
        )
        return embedding
