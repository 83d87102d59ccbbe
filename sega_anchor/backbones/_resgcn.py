"""ResGCN: the graph encoder of the semi-supervised protocol."""

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from typing_extensions import override

from ..nn.batch_norm import BatchNorm
from ..utils.scatter import num_graphs, pool
from ._layers import check_dropout, check_features, check_sizes, sum_with_neighbours


class ResGCN(nn.Module):
    r"""GCN as used by GraphCL and SEGA with few labels; despite its name, no residuals.

    BatchNorm; a feature layer :math:`\mathrm{ReLU}(XW)` without propagation;
    ``num_convs`` times BatchNorm and

    .. math::
        X \leftarrow \mathrm{ReLU}(\hat D^{-1/2} \hat A \hat D^{-1/2} X W + b)

    with exactly one loop at every node, whatever loops the data has, and
    :math:`\hat D` counted at the sources; sum over nodes; BatchNorm - Linear - ReLU -
    BatchNorm. Heads belong to the protocols: a linear layer for classes,
    :func:`~sega_anchor.backbones.projection_head` or similar for contrast.

    Args:
        in_channels: width of the node features, at least 1.
        hidden_channels: width of every layer and of the result. (default: :obj:`128`)
        num_convs: number of propagating layers. (default: :obj:`3`)
        dropout: share of the result dropped in training. (default: :obj:`0.0`)

    Raises:
        ValueError: for a size below 1, a dropout outside [0, 1), or features of
            another width.

    Source: repository Shen-Lab/GraphCL (semisupervised_TU/pre-training/res_gcn.py).
    Initialisation as there: Xavier-uniform matrices with zero bias, PyTorch's default
    for Linear, BatchNorm bias 0.0001. Parameters have the same names, except in heads;
    the feature layer's bias, never used there, is left out.

    Example:
        >>> edge_index = torch.tensor([[0, 1], [1, 0]])
        >>> ResGCN(in_channels=4).eval()(torch.ones(2, 4), edge_index).shape
        torch.Size([1, 128])
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int = 128,
        num_convs: int = 3,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        check_sizes(
            in_channels=in_channels,
            hidden_channels=hidden_channels,
            num_convs=num_convs,
        )
        check_dropout(dropout)
        self.in_channels = in_channels
        self.out_channels = width = hidden_channels
        self.bn_feat = BatchNorm(in_channels)
        self.conv_feat = _Feature(in_channels, width)
        self.bns_conv = nn.ModuleList(BatchNorm(width) for _ in range(num_convs))
        self.convs = nn.ModuleList(_GCN(width, width) for _ in range(num_convs))
        # Lists of one element, to match the names of the released weights.
        self.bns_fc = nn.ModuleList([BatchNorm(width)])
        self.lins = nn.ModuleList([nn.Linear(width, width)])
        self.bn_hidden = BatchNorm(width)
        self.dropout = nn.Dropout(dropout)
        for module in self.modules():
            if isinstance(module, BatchNorm):
                nn.init.constant_(module.bias, 0.0001)

    @override
    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor | None = None,
        num_graphs: int | None = None,
    ) -> Tensor:
        """Return one vector per graph, ``(num_graphs, hidden_channels)``."""
        check_features("x", x, self.in_channels)
        edges, scale = _normalise(edge_index, x)
        x = self.conv_feat(self.bn_feat(x)).relu()
        for norm, conv in zip(self.bns_conv, self.convs, strict=True):
            x = conv(norm(x), edges, scale).relu()
        x = pool(x, batch, num_graphs)
        x = self.lins[0](self.bns_fc[0](x)).relu()
        embedding: Tensor = self.dropout(self.bn_hidden(x))
        return embedding

    def encode(self, data: Data) -> Tensor:
        """Return one vector per graph of a batch, or of a single graph."""
        embedding: Tensor = self(data.x, data.edge_index, data.batch, num_graphs(data))
        return embedding


class _Feature(nn.Module):
    """A matrix product; the weight is (in, out), as released."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        nn.init.xavier_uniform_(self.weight)

    @override
    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight


class _GCN(nn.Module):
    """The graph convolution; the weight is (in, out), as released."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        self.bias = nn.Parameter(torch.zeros(out_channels))
        nn.init.xavier_uniform_(self.weight)

    @override
    def forward(self, x: Tensor, edges: Tensor, scale: Tensor) -> Tensor:
        # Scaling nodes before and after the sum avoids a weight per edge.
        return sum_with_neighbours(x @ self.weight * scale, edges) * scale + self.bias


def _normalise(edge_index: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the edges without loops, and each node's (1 + degree) ** -0.5."""
    edges = edge_index[:, edge_index[0] != edge_index[1]]
    degree = 1 + edges[0].bincount(minlength=x.size(0))
    return edges, degree.to(x.dtype).rsqrt().unsqueeze(1)
