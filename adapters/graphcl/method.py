"""GraphCL (You et al., NeurIPS 2020) and SEGA (Wu et al., ICML 2023)."""

from dataclasses import dataclass, replace
from typing import Literal

from torch import Tensor
from torch_geometric.data import Data
from typing_extensions import override

from sega_anchor import nt_xent
from sega_anchor.augment import Augmentation, augmentation
from sega_anchor.backbones import GIN, projection_head
from sega_anchor.distributed import gather
from sega_anchor.protocols import unsupervised
from sega_anchor.training import FeatureSpec, Method, MethodConfig, Published

#: The paper's search sets; no choice per data set is published.
SEARCH = {
    "hidden_channels": (32, 64),
    "batch_size": (32, 128),
    "lr": (0.01, 0.005, 0.001),
    "height": (2, 3, 4, 5),
}


@dataclass(frozen=True)
class Config(MethodConfig):
    """Hyper-parameters, as published by default.

    Those that all methods share are described in :class:`MethodConfig`.

    Args:
        augmentation: dnodes, pedges, pedges_add, subgraph, mask_nodes, none, random2,
            random3 or random4, see sega_anchor.augment.
        strength: share of nodes or edges that an augmentation changes; default that of
            the variant.
        variant: "released" augments as the released code does (10 %, star, with its
            clean-up, which presumes its self-loops), "paper" as the paper's text says
            (20 %, undirected edges, random walk); default "released" under
            protocol="paper", else "paper".
        symmetric: average the loss over both directions.

    Raises:
        ValueError: for a value that cannot be used.
    """

    augmentation: str = "dnodes"
    strength: float | None = None
    variant: Literal["released", "paper"] | None = None
    symmetric: bool = False

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        self.view()

    def view(self) -> Augmentation:
        """Return the augmentation that these values name."""
        return augmentation(self.augmentation, self.strength, self.variant or "paper")


class GraphCL(Method[Config]):
    """The original graph against one augmentation; with an anchor, its tree against it.

    The anchor replaces the original graph. Arguments are those of
    :class:`~sega_anchor.training.Method`.

    Source: repositories Shen-Lab/GraphCL and Wu-Junran/SEGA, unsupervised_TU.

    Example:
        >>> import torch
        >>> data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> GraphCL(in_channels=1).eval().embed(data)["G"].shape
        torch.Size([1, 96])
    """

    name = "GraphCL"
    config_class = Config

    @override
    def build(self) -> None:
        config = self.config
        self.encoder = GIN(self.in_channels, config.hidden_channels, config.num_layers)
        self.head = projection_head(self.encoder.out_channels)
        self.augment = config.view()
        self.optimizers = self.adam(self.encoder, self.head)

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
        loss = nt_xent(gather(z), gather(z_view), config.temperature, config.symmetric)
        return loss + self.prediction(z_view, data)

    @override
    def encode(self, data: Data) -> Tensor:
        return self.encoder.encode(data)

    @classmethod
    @override
    def published(cls, config: Config, anchored: bool) -> Published:
        features = FeatureSpec(loops=2 if anchored else 1)
        return Published(shuffle=False, features=features)

    @classmethod
    @override
    def released(cls, config: Config) -> Config:
        return replace(super().released(config), variant=config.variant or "released")


run = unsupervised.adapter(GraphCL)
