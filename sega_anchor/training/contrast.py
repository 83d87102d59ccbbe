"""Contrast: two views of each graph through one encoder, or its tree against one."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from typing_extensions import override

from ..augment import Augmentation
from ..distributed import gather
from ..nn.anchor_view import AnchorView
from ..nn.nt_xent import nt_xent
from .method import Trainable, adam


class Contrast(Trainable):
    """Pre-training without labels of an encoder that is fine-tuned afterwards.

    GraphCL contrasts two augmentations of each graph. With an anchor view, one
    augmentation meets the tree of the graph as it is: SEGA. Only the encoder is handed
    on; the projection heads, Linear - ReLU - Linear, stay behind.

    Args:
        encoder: an encoder of :mod:`sega_anchor.backbones`, or any module with its
            ``encode`` and ``out_channels``.
        augment: draws a view of a batch.
        anchor: the anchor view, as wide as the encoder; None for GraphCL.
        temperature: of the loss, whose denominator leaves the positive pair out.
        lr: learning rate of Adam, one for the encoder and one for the anchor.
        generator: where augmentations draw from; default torch's own.
        leaves: features of the trees' leaves, from a batch; default ``data.tree_x`` or
            ``data.x``.

    Raises:
        ValueError: if the anchor is not as wide as the encoder.

    Source: You et al., NeurIPS 2020, repository Shen-Lab/GraphCL (semisupervised_TU,
    transferLearning_MoleculeNet_PPI); Wu et al., ICML 2023. What SEGA does here has no
    released code: it is reconstructed from the paper.
    """

    def __init__(
        self,
        encoder: nn.Module,
        augment: Augmentation,
        anchor: AnchorView | None = None,
        *,
        temperature: float = 0.1,
        lr: float = 0.001,
        generator: torch.Generator | None = None,
        leaves: Callable[[Data], Tensor] | None = None,
    ) -> None:
        super().__init__()
        width = int(encoder.out_channels)  # type: ignore[arg-type]
        if anchor is not None and anchor.out_channels != width:
            raise ValueError(
                f"the anchor view has out_channels={anchor.out_channels}, but the "
                f"encoder gives {width} channels: pass out_channels={width}"
            )
        self.encoder = encoder
        self.head = nn.Sequential(
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)
        )
        self.anchor = anchor
        self.augment = augment
        self.temperature = temperature
        self.generator = generator
        self.leaves = leaves
        graph = [*self.encoder.parameters(), *self.head.parameters()]
        self.optimizers = [adam(graph, lr)]
        if anchor is not None:
            self.optimizers.append(adam(anchor.parameters(), lr))

    @override
    def loss(self, data: Data) -> Tensor:
        if self.anchor is None:
            z = self._view(data)
        else:
            z = self.anchor(data, None if self.leaves is None else self.leaves(data))
        z_view = self._view(data)
        loss = nt_xent(gather(z), gather(z_view), self.temperature)
        return loss + self.prediction(z_view, data)

    def _view(self, data: Data) -> Tensor:
        """Return the projection of one augmentation of each graph."""
        view = self.augment(data, self.generator)
        projected: Tensor = self.head(self.encoder.encode(view))  # type: ignore[operator]
        return projected
