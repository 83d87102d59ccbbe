"""GraphCL (You et al., NeurIPS 2020) and SEGA (Wu et al., ICML 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor
from torch_geometric.data import Data
from typing_extensions import Unpack, override

from sega_anchor import AnchorView, NTXent, nt_xent
from sega_anchor.augment import Augmentation, augmentation
from sega_anchor.backbones import GIN, projection_head
from sega_anchor.distributed import gather
from sega_anchor.protocols import Options, Settings, unsupervised
from sega_anchor.report import Result
from sega_anchor.training import Method, Published, adam
from sega_anchor.trees.build import TreeMethod, check_build
from sega_anchor.utils.checks import check_positive

#: The paper's search sets; no choice per data set is published.
SEARCH = {
    "hidden_channels": (32, 64),
    "batch_size": (32, 128),
    "lr": (0.01, 0.005, 0.001),
    "height": (2, 3, 4, 5),
}


@dataclass(frozen=True)
class Config:
    """Hyper-parameters, as published by default.

    Args:
        augmentation: dnodes, pedges, subgraph, mask_nodes, none, random2, random3 or
            random4, see sega_anchor.augment.
        strength: share of nodes or edges that an augmentation changes; default that of
            the variant.
        variant: "released" augments as the released code does (10 %, star, with its
            clean-up, which presumes its self-loops), "paper" as the paper's text says
            (20 %, random walk); default "released" under protocol="paper", else
            "paper".
        hidden_channels: width of each layer of both encoders.
        num_layers: layers of the graph encoder.
        lr: learning rate of the graph encoder.
        anchor_lr: learning rate of the anchor view.
        temperature: of the contrastive loss.
        symmetric: average the loss over both directions.
        height: height of the coding trees.
        tree: how trees are built, see ``build_coding_tree``; default "authors" under
            protocol="paper", else "refined".

    Raises:
        ValueError: for a value that cannot be used.
    """

    augmentation: str = "dnodes"
    strength: float | None = None
    variant: Literal["released", "paper"] | None = None
    hidden_channels: int = 32
    num_layers: int = 3
    lr: float = 0.01
    anchor_lr: float = 0.01
    temperature: float = 0.2
    symmetric: bool = False
    height: int = 5
    tree: TreeMethod | None = None

    def __post_init__(self) -> None:
        """Refuse values before any work starts."""
        self.view()
        NTXent(self.temperature)
        check_build(self.height, self.tree or "refined")
        check_positive(self, "hidden_channels", "num_layers", "lr", "anchor_lr")

    def view(self) -> Augmentation:
        """Return the augmentation that these values name."""
        return augmentation(self.augmentation, self.strength, self.variant or "paper")


class GraphCL(Method[Config]):
    """The original graph against one augmentation; with an anchor, its tree against it.

    Args:
        in_channels: width of ``data.x``.
        config: hyper-parameters.
        anchor: the anchor view that replaces the original graph, or None.
        generator: where augmentations draw from.

    Source: repositories Shen-Lab/GraphCL and Wu-Junran/SEGA, unsupervised_TU.

    Example:
        >>> data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> GraphCL(in_channels=1).eval().embed(data)["G"].shape
        torch.Size([1, 96])
    """

    name = "GraphCL"

    def __init__(
        self,
        in_channels: int,
        config: Config = Config(),
        anchor: AnchorView | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_channels, config, anchor, generator)
        self.encoder = GIN(in_channels, config.hidden_channels, config.num_layers)
        self.head = projection_head(self.encoder.out_channels)
        self.augment = config.view()
        graph = [*self.encoder.parameters(), *self.head.parameters()]
        self.optimizers = [
            adam(graph, config.lr),
            *self.anchor_optimizers(config.anchor_lr),
        ]

    def project(self, data: Data) -> Tensor:
        """Return what the loss compares, ``(num_graphs, channels)``."""
        projected: Tensor = self.head(self.encode(data))
        return projected

    @override
    def loss(self, data: Data) -> Tensor:
        """Return the contrastive loss of a batch."""
        z = self.project(data) if self.anchor is None else self.anchor(data)
        z_view = self.project(self.augment(data, self.generator))
        config = self.config
        return nt_xent(gather(z), gather(z_view), config.temperature, config.symmetric)

    @override
    def encode(self, data: Data) -> Tensor:
        return self.encoder.encode(data)

    @classmethod
    @override
    def published(cls, config: Config, anchored: bool) -> Published:
        return Published(shuffle=False, loops=2 if anchored else 1)

    @classmethod
    @override
    def released(cls, config: Config) -> Config:
        return replace(super().released(config), variant=config.variant or "released")


def run(
    dataset: str | Sequence[Data],
    *,
    anchor: AnchorView | bool | None = None,
    config: Config = Config(),
    **options: Unpack[Options],
) -> Result:
    """Train GraphCL, or SEGA with an anchor, without labels and evaluate it.

    Args:
        dataset: name of a data set, or labelled graphs.
        anchor: None for GraphCL, True for SEGA, or your own anchor
            view; the loss is the method's own.
        config: hyper-parameters of the method.
        options: fields of :class:`~sega_anchor.protocols.Settings`.

    Returns:
        Accuracies (``result.accuracy``), embeddings, history and configuration.

    Raises:
        ValueError: before any training, for data or settings that cannot be used.

    Example:
        >>> result = run("synthetic", anchor=True, seeds=1, epochs=1, evaluate_at=(1,))
        >>> result.accuracy.candidates
        3
    """
    return unsupervised.run(GraphCL, dataset, anchor, config, Settings(**options))
