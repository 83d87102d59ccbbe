"""RGCL's rationale estimator: how much each node matters to its graph."""

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.utils import scatter, softmax
from typing_extensions import override

from sega_anchor.backbones import GINLayer, xavier
from sega_anchor.utils import widen


class RationaleEstimator(nn.Module):
    r"""Gives the nodes of each graph probabilities that sum to 1.

    Layer: GINConv (Linear - ReLU - Linear), BatchNorm, ReLU; the last has one channel
    and no ReLU. With its output :math:`a_i`,

    .. math:: p_i = e^{a_i / 5} / \sum_{j \in G(i)} e^{a_j / 5}

    Args:
        in_channels: width of the node features, at least 1.
        hidden_channels: width between the layers. (default: :obj:`32`)
        num_layers: number of layers, at least 2. (default: :obj:`3`)

    Raises:
        ValueError: for sizes below these.

    Source: Li et al., ICML 2022; repository lsh0520/RGCL, unsupervised_TU/gin.py.

    Example:
        >>> data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> RationaleEstimator(in_channels=1).eval()(data)
        tensor([0.5000, 0.5000], grad_fn=<...>)
    """

    def __init__(
        self, in_channels: int, hidden_channels: int = 32, num_layers: int = 3
    ) -> None:
        super().__init__()
        for name, value, least in (
            ("in_channels", in_channels, 1),
            ("hidden_channels", hidden_channels, 1),
            ("num_layers", num_layers, 2),
        ):
            if value < least:
                raise ValueError(f"{name} must be at least {least}, got {value!r}")
        hidden = hidden_channels
        below = [in_channels] + [hidden] * (num_layers - 1)
        above = [hidden] * (num_layers - 1) + [1]
        self.convs = nn.ModuleList(
            GINLayer(b, hidden, a) for b, a in zip(below, above, strict=True)
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(a) for a in above)
        self.apply(xavier)

    @override
    def forward(self, data: Data) -> Tensor:
        """Return the probability of each node in its graph, ``(num_nodes,)``."""
        x = data.x
        for place, (conv, norm) in enumerate(zip(self.convs, self.norms, strict=True)):
            x = norm(conv(x, data.edge_index))
            if place < len(self.convs) - 1:
                x = x.relu()
        probability: Tensor = softmax(widen(x).view(-1) / 5, graph_of(data))
        return probability


def pooling_weight(probability: Tensor, graph: Tensor) -> Tensor:
    r"""Return what a node's vectors are multiplied by when its graph is pooled.

    .. math:: 0.9 + p_i / (10 \max_{j \in G(i)} p_j)

    in (0.9, 1]; a comment of the released code says [0.9, 1.1].

    Args:
        probability: :math:`p`, ``(num_nodes,)``.
        graph: the graph of each node, ``(num_nodes,)``.

    Returns:
        ``(num_nodes, 1)``.

    Example:
        >>> pooling_weight(torch.tensor([0.2, 0.8]), torch.tensor([0, 0])).view(-1)
        tensor([0.9250, 1.0000])
    """
    largest = scatter(probability, graph, reduce="max")[graph]
    weight: Tensor = 0.9 + probability / (10 * largest)
    return weight.view(-1, 1)


def graph_of(data: Data) -> Tensor:
    """Return the graph of each node, 0 for all of a single graph."""
    if data.batch is not None:
        batch: Tensor = data.batch
        return batch
    return torch.zeros(data.num_nodes, dtype=torch.long, device=data.edge_index.device)
