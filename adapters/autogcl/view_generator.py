"""AutoGCL's view: a learned choice for every node, keep, drop or mask it."""

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Generator, Tensor, nn
from torch_geometric.data import Batch, Data
from typing_extensions import override

from sega_anchor.augment import ViewDraft
from sega_anchor.backbones import GINLayer
from sega_anchor.distributed import mean
from sega_anchor.utils import widen


class View(NamedTuple):
    """A generated view of a batch.

    Attributes:
        data: the view, with the nodes of the batch it was made from.
        keep: 1 where a node is kept or masked, 0 where it is dropped, ``(num_nodes,)``.
    """

    data: Batch
    keep: Tensor


class ViewGenerator(nn.Module):
    r"""Draws a view of every graph from a distribution it learns, node by node.

    Layer: GINConv (Linear - ReLU - Linear), ReLU, then BatchNorm. The second layer's
    outputs are logits of the choices keep, drop and, with ``mask``, mask; one of them
    is drawn by a straight-through Gumbel-softmax. With :math:`k_i = 1` for a node that
    stays, and 0 for one that is dropped, the view has features :math:`k_i x_i` and the
    edges between nodes that stay.

    As in the released code a dropped node is not removed: without edges and with zero
    features it still goes through the encoder and its sum pooling. A masked node keeps
    its edges and gets the mean of all features of the batch, one number, in every
    column. Gradients reach the logits through ``keep`` and :math:`k_i x_i`, not through
    the choice of edges.

    Args:
        in_channels: width of ``data.x``, at least 1.
        hidden_channels: width between the layers. (default: :obj:`128`)
        mask: choose among keep, drop and mask, as the paper says; the released code
            leaves mask out when learning without labels. (default: :obj:`False`)

    Raises:
        ValueError: for a width below 1; later for graphs without features.

    Source: Yin et al., AAAI 2022; repository Somedaywilldo/AutoGCL, view_generator.py.

    Example:
        >>> data = Data(x=torch.ones(2, 3), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> view = ViewGenerator(in_channels=3)(data, torch.Generator().manual_seed(0))
        >>> view.data.x.shape, view.keep.shape
        (torch.Size([2, 3]), torch.Size([2]))
    """

    def __init__(
        self, in_channels: int, hidden_channels: int = 128, mask: bool = False
    ) -> None:
        super().__init__()
        for name, value in (
            ("in_channels", in_channels),
            ("hidden_channels", hidden_channels),
        ):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value!r}")
        choices = 3 if mask else 2
        self.mask = mask
        self.convs = nn.ModuleList(
            [
                # Started as PyTorch starts linear layers, as released.
                GINLayer(in_channels, hidden_channels),
                GINLayer(hidden_channels, hidden_channels, choices),
            ]
        )
        self.norms = nn.ModuleList(
            [nn.BatchNorm1d(hidden_channels), nn.BatchNorm1d(choices)]
        )

    def logits(self, data: Data) -> Tensor:
        """Return the logits of keep, drop (and mask), ``(num_nodes, 2 or 3)``."""
        if data.x is None:
            raise ValueError("the graphs have no features x: give each node some")
        x: Tensor = data.x
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = norm(conv(x, data.edge_index).relu())
        return x

    @override
    def forward(self, data: Data, generator: Generator | None = None) -> View:
        """Draw one view of every graph.

        Args:
            data: a batch, or a single graph; left untouched.
            generator: source of randomness, on any device (None: torch's default).

        Returns:
            The view, a batch with as many graphs and nodes, and who stays in it.
        """
        choice = gumbel_softmax(self.logits(data), generator)
        keep = choice[:, 0] + choice[:, 2] if self.mask else choice[:, 0]
        x = data.x * keep.view(-1, 1)
        if self.mask:
            x = torch.where(choice[:, 2:] > 0, mean(data.x), x)
        draft = ViewDraft.of(data)
        ends = (keep > 0)[draft.edge_index]
        draft = replace(draft, x=x, edge=draft.edge & ends[0] & ends[1])
        return View(draft.view(data), keep)


def gumbel_softmax(logits: Tensor, generator: Generator | None = None) -> Tensor:
    r"""Draw one column of each row with probability softmax(logits), straight-through.

    With standard Gumbel noise :math:`g`, the value is the one-hot form of
    :math:`\arg\max_j (l_{ij} + g_{ij})`, the gradient that of the softmax of the same
    sums, at temperature 1.

    Args:
        logits: ``(rows, columns)``.
        generator: source of randomness, on any device (None: torch's default).

    Returns:
        Zeros and exact ones, ``(rows, columns)``.

    Example:
        >>> gumbel_softmax(torch.tensor([[0.0, 50.0], [50.0, 0.0]]))
        tensor([[0., 1.],
                [1., 0.]])
    """
    logits = widen(logits)
    device = logits.device if generator is None else generator.device
    draw = torch.empty(logits.shape, dtype=logits.dtype, device=device)
    draw.exponential_(generator=generator).clamp_(min=torch.finfo(draw.dtype).tiny)
    soft = (logits - draw.log().to(logits.device)).softmax(dim=1)
    hard = torch.zeros_like(soft).scatter(1, soft.argmax(dim=1, keepdim=True), 1.0)
    # In this order the rounded sum is exact: dropped nodes are 0, the others 1.
    return hard + (soft - soft.detach())
