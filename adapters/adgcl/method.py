"""AD-GCL (Suresh et al., NeurIPS 2021), and SEGA-AD-GCL."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch_geometric.data import Data
from typing_extensions import override

from sega_anchor import AnchorView, nt_xent
from sega_anchor.backbones import projection_head
from sega_anchor.distributed import gather
from sega_anchor.profile import phase
from sega_anchor.protocols import unsupervised
from sega_anchor.training import (
    FeatureSpec,
    Method,
    MethodConfig,
    Published,
    adam,
    descend,
)
from sega_anchor.utils import check_choice, check_positive

from .networks import Readout, WeightedGIN
from .view_learner import ViewLearner, gate, regulariser

#: The SEGA paper's search sets; reg_lambda is fixed at 5 there (AD-GCL-FIX).
SEARCH = {"height": (2, 3, 4, 5)}


@dataclass(frozen=True)
class Config(MethodConfig):
    """Hyper-parameters, as published by default.

    Those that all methods share are described in :class:`MethodConfig`.

    Args:
        reg_lambda: weight of the regulariser, which keeps edges.
        readout: "last" or "layerwise", see WeightedGIN.
        view_lr: learning rate of the view learner.

    Raises:
        ValueError: for a value that cannot be used.
    """

    reg_lambda: float = 5.0
    num_layers: int = 5  # of the view learner's encoder too
    readout: Readout = "last"
    lr: float | None = 0.001
    anchor_lr: float | None = 0.001
    view_lr: float = 0.001

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "view_lr")
        check_choice("readout", self.readout, Readout)
        if not self.reg_lambda >= 0:
            raise ValueError(
                f"reg_lambda must not be negative, got {self.reg_lambda!r}: it would "
                "reward dropping edges"
            )


class ADGCL(Method[Config]):
    r"""The original graph against one whose edges an adversary has weighted.

    A step has two halves, each with fresh gates. The view learner climbs
    :math:`L(z, z_{view}) - \lambda R`, with :math:`R` the share of edges that is lost;
    then the graph encoder (and the anchor) descend :math:`L`, the symmetric NT-Xent.
    Whichever is not trained is in eval mode.

    The anchor replaces the original graph. Arguments are those of
    :class:`~sega_anchor.training.Method`.

    Its authors' folds ignore classes, and a fifth of each training part is kept for
    validation: only ``protocol="paper"`` does so. Under "honest" it is evaluated as all
    methods are, and these numbers are not comparable with published ones.

    Source: repository susheels/adgcl, test_minmax_tu.py.

    Example:
        >>> data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> ADGCL(in_channels=1).eval().embed(data)["G"].shape
        torch.Size([1, 32])
    """

    name = "AD-GCL"
    config_class = Config

    @override
    def build(self) -> None:
        config = self.config
        hidden, layers = config.hidden_channels, config.num_layers
        self.encoder = WeightedGIN(self.in_channels, hidden, layers, config.readout)
        self.head = projection_head(self.encoder.out_channels, hidden)
        self.learner = ViewLearner(self.in_channels, hidden, layers)
        self.optimizers = self.adam(self.encoder, self.head)
        self.view_optimizer = adam(self.learner.parameters(), config.view_lr)

    def project(self, data: Data, edge_weight: Tensor | None = None) -> Tensor:
        """Return what the loss compares, ``(num_graphs, hidden_channels)``."""
        projected: Tensor = self.head(self.encoder.encode(data, edge_weight))
        return projected

    def original(self, data: Data) -> Tensor:
        """Return the projection of the original graph, or the anchor in its place."""
        z: Tensor = self.project(data) if self.anchor is None else self.anchor(data)
        return z

    @override
    def loss(self, data: Data) -> Tensor:
        """Return the contrastive loss of a batch, for the encoder and the anchor."""
        with torch.no_grad():
            weight = gate(self.learner(data), self.generator)
        z = self.original(data)
        z_view = self.project(data, weight)
        return self._nt_xent(z, z_view) + self.prediction(z_view, data)

    def _nt_xent(self, z: Tensor, z_view: Tensor) -> Tensor:
        temperature = self.config.temperature
        return nt_xent(gather(z), gather(z_view), temperature, symmetric=True)

    def view_loss(self, data: Data) -> tuple[Tensor, Tensor]:
        """Return what the view learner climbs, and the regulariser in it."""
        with torch.no_grad():
            z = self.original(data)
        weight = gate(self.learner(data), self.generator)
        z_view = self.project(data, weight)
        source = data.edge_index[0]
        graph = torch.zeros_like(source) if data.batch is None else data.batch[source]
        lost = regulariser(weight, graph, len(z))
        return self._nt_xent(z, z_view) - self.config.reg_lambda * lost, lost

    @override
    def forward(self, data: Data, climb: bool = False) -> dict[str, Tensor]:
        """Return what a half of a step measures: the learner's or the encoder's."""
        if not climb:
            return {"loss": self.loss(data)}
        view_loss, lost = self.view_loss(data)
        return {"view_loss": view_loss, "regulariser": lost}

    @override
    def step(self, data: Data) -> dict[str, Tensor]:
        training = self.training
        self.eval()
        self.learner.train()
        climbed = self._climb(data)
        self.train()
        self.learner.eval()
        measured = super().step(data)
        self.train(training)
        return measured | climbed

    def _climb(self, data: Data) -> dict[str, Tensor]:
        """Make one step of gradient ascent with the view learner alone."""
        own = set(self.learner.parameters())
        others = [p for p in self.parameters() if p.requires_grad and p not in own]
        for parameter in others:
            parameter.requires_grad_(False)
        with phase("forward and backward"):
            measured = self.replica(data, climb=True)
            descend(-measured["view_loss"], self.view_optimizer)
        for parameter in others:
            parameter.requires_grad_(True)
        return {name: value.detach() for name, value in measured.items()}

    @override
    def all_optimizers(self) -> list[Optimizer]:
        return [*self.optimizers, self.view_optimizer]

    @override
    def encode(self, data: Data) -> Tensor:
        return self.encoder.encode(data)

    @classmethod
    @override
    def default_anchor(cls, leaf_channels: int, config: Config) -> AnchorView:
        return AnchorView(
            leaf_channels,
            config.hidden_channels,
            config.hidden_channels,
            config.height,
            transform=config.tree_transform(),
            quantities=config.quantities,
        )

    @classmethod
    @override
    def published(cls, config: Config, anchored: bool) -> Published:
        return Published(
            epochs=150,
            evaluate_at=tuple(range(5, 151, 5)),
            batch_size=32,
            features=FeatureSpec(labels="none"),
            classifier="linear",
            folding="plain",
            choice="validation",
        )


run = unsupervised.adapter(
    ADGCL,
    notes="""
Both encoders see a constant instead of node labels, as published; the tree's leaves
see one-hot degrees too (``degree="none"`` takes them away, ``labels="anchor"`` or
``"both"`` gives labels).

Only ``protocol="paper"`` draws the published folds, which are not stratified, with a
fifth of each training part for validation. Under "honest" the folds are those of all
methods: do not compare these numbers with published ones.
""",
)
