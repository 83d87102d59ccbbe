"""AD-GCL's view: every direction of an edge weighted by a learned random gate."""

import torch
from torch import Generator, Tensor, nn
from torch_geometric.data import Data
from torch_geometric.utils import scatter
from typing_extensions import override

from sega_anchor.backbones import xavier
from sega_anchor.distributed import gather
from sega_anchor.utils import take_rows, widen

from .networks import WeightedGIN


class ViewLearner(nn.Module):
    """Scores the edges of a graph: high where an edge should stay.

    A graph encoder of its own gives node vectors; those of the two ends of an edge, in
    its direction, go through Linear - ReLU - Linear.

    Args:
        in_channels: width of the node features.
        hidden_channels: width of every layer.
        num_layers: layers of its encoder.
        edge_channels: hidden width of the edge's part. (default: :obj:`64`)

    Source: repository susheels/adgcl, unsupervised/view_learner.py.

    Example:
        >>> data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> learner = ViewLearner(in_channels=1)
        >>> gate(learner(data), torch.Generator().manual_seed(0)).shape
        torch.Size([2])
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int = 32,
        num_layers: int = 5,
        edge_channels: int = 64,
    ) -> None:
        super().__init__()
        self.encoder = WeightedGIN(in_channels, hidden_channels, num_layers)
        self.ends = nn.Linear(2 * hidden_channels, edge_channels)
        self.score = nn.Linear(edge_channels, 1)
        self.apply(xavier)

    @override
    def forward(self, data: Data) -> Tensor:
        """Return the logit of each direction of each edge, ``(num_edges,)``."""
        nodes = self.encoder(data.x, data.edge_index)[-1]
        # The first layer on [h_source, h_target] is a sum; its parts are made at nodes.
        of_source, of_target = self.ends.weight.chunk(2, dim=1)
        source, target = data.edge_index
        hidden = take_rows(nodes @ of_source.t() + self.ends.bias, source)
        hidden = hidden + take_rows(nodes @ of_target.t(), target)
        logits: Tensor = self.score(hidden.relu())
        return logits.squeeze(1)


def gate(
    logits: Tensor,
    generator: Generator | None = None,
    bias: float = 1e-4,
    temperature: float = 1.0,
    uniform: Tensor | None = None,
) -> Tensor:
    r"""Return a random weight in (0, 1) for each logit, differentiable.

    .. math::
        w = \sigma\big((\log \epsilon - \log(1 - \epsilon) + l) / \tau\big), \quad
        \epsilon = 1 - b - (1 - 2 b) u, \quad u \sim U[0, 1)

    Args:
        logits: :math:`l`, ``(num_edges,)``.
        generator: source of randomness, on any device.
        bias: :math:`b`, keeps :math:`\epsilon` inside (0, 1).
        temperature: :math:`\tau`, positive.
        uniform: the draw :math:`u`, if it is made elsewhere, ``(num_edges,)``.

    Raises:
        ValueError: for a bias outside [1e-6, 0.5) or a temperature not above 0.

    Source: Suresh et al., NeurIPS 2021; the released code uses these defaults.

    Example:
        >>> gate(torch.zeros(1), uniform=torch.tensor([0.5]))
        tensor([0.5000])
    """
    if not 1e-6 <= bias < 0.5:  # a smaller one drowns in the rounding of float32
        raise ValueError(f"bias must lie in [1e-6, 0.5), got {bias!r}: take 1e-4")
    if not temperature > 0:
        raise ValueError(f"temperature must be positive, got {temperature!r}")
    if uniform is None:
        device = logits.device if generator is None else generator.device
        uniform = torch.rand(logits.shape, generator=generator, device=device)
    eps = 1 - bias - (1 - 2 * bias) * uniform.to(logits.device)
    return torch.sigmoid((eps.log() - torch.log1p(-eps) + logits) / temperature)


def regulariser(weight: Tensor, edge_graph: Tensor, num_graphs: int) -> Tensor:
    r"""Return how much of its edges a graph loses on average.

    The mean over the graphs that have edges of the mean over their edges of
    :math:`1 - w`; 0 if no graph has any.

    Args:
        weight: :math:`w`, ``(num_edges,)``.
        edge_graph: the graph of each edge, ``(num_edges,)``.
        num_graphs: number of graphs in the batch.

    Example:
        >>> regulariser(torch.tensor([0.5, 0.0, 1.0]), torch.tensor([0, 1, 1]), 3)
        tensor(0.5000)
    """
    dropped = scatter(1 - widen(weight), edge_graph, dim_size=num_graphs, reduce="mean")
    having = edge_graph.bincount(minlength=num_graphs) > 0
    # The graphs of all ranks: the regulariser is a mean over the whole batch.
    total = gather(torch.stack([dropped, having.to(dropped.dtype)], dim=1)).sum(0)
    return total[0] / total[1].clamp(min=1)
