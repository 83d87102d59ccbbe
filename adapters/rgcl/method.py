"""RGCL (Li et al., ICML 2022), and SEGA-RGCL."""

import copy
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import torch
from torch import Tensor
from torch_geometric.data import Data
from typing_extensions import override

from sega_anchor.augment import Augmentation, Identity, Released
from sega_anchor.backbones import GIN, projection_head
from sega_anchor.distributed import gather
from sega_anchor.protocols import unsupervised
from sega_anchor.training import Batches, FeatureSpec, Method, MethodConfig, Published
from sega_anchor.utils import check_choice

from .estimator import RationaleEstimator, graph_of, pooling_weight
from .loss import Form, check_loss, rgcl_loss
from .views import Complement, RationaleView, Side, check_rho

Variant = Literal["paper", "released"]
Refresh = Literal["epoch", "step"]
Replaced = Literal["original", "rationale"]

#: The SEGA paper's search sets; the sets RGCL's authors tuned over are not published.
SEARCH = {"height": (2, 3, 4, 5)}


@dataclass(frozen=True)
class Config(MethodConfig):
    """Hyper-parameters, as published by default.

    Those that all methods share are described in :class:`MethodConfig`.

    Args:
        rho: share of the nodes that a view keeps.
        complement_weight: weight of the complement in the loss (the paper's lambda).
        form: "unsupervised" contrasts the weighted original graph with its rationale,
            "transfer" two rationale views drawn independently, each with the loss of
            its own released code, see rgcl_loss.
        replaces: where an anchor stands: for the weighted "original", the side that the
            loss contrasts from, or for the "rationale", its positive, which is the
            other reading of the SEGA paper. With form="transfer" both sides are
            rationale views, and this names the first or the second.
        complement: size of the complement view: "same" as the rationale's, as released,
            or the "rest", as the paper's text suggests.
        variant: "released" rounds counts as its floating point does, keeps scores in
            half precision and cleans views up, which presumes its self-loops; "paper"
            does not; default "released" under protocol="paper", else "paper".
        refresh: whether the scores that views are drawn by are those of the estimator
            at the last end of an "epoch", as released, or at the last "step".

    Raises:
        ValueError: for a value that cannot be used.
    """

    rho: float = 0.9
    complement_weight: float = 0.1
    form: Form = "unsupervised"
    replaces: Replaced = "original"
    complement: Complement = "same"
    variant: Variant | None = None
    refresh: Refresh = "epoch"

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        check_loss(self.temperature, self.complement_weight, self.form)
        check_rho(self.rho)
        check_choice("replaces", self.replaces, Replaced)
        check_choice("complement", self.complement, Complement)
        check_choice("refresh", self.refresh, Refresh)
        check_choice("variant", self.variant, Variant, optional=True)


class RGCL(Method[Config]):
    r"""The original graph, its nodes weighted, against its rationale and complements.

    An estimator gives every node a probability. It draws the two views, and weights
    nodes in the pooling of the original graph and of both views; only the weights
    train it. With ``form="transfer"`` a second rationale view, drawn independently,
    takes the place of the original graph.

    The anchor replaces the weighted original graph or, with ``replaces="rationale"``,
    its rationale view. Arguments are those of :class:`~sega_anchor.training.Method`.

    Source: repository lsh0520/RGCL, unsupervised_TU and, for the form "transfer",
    transferLearning/chem. Differs: it scores all graphs
    before each epoch and keeps the scores; here a frozen copy of the estimator, made
    at the same moment, scores each batch when it comes, with the same result.

    Example:
        >>> data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> RGCL(in_channels=1).eval().embed(data)["G"].shape
        torch.Size([1, 96])
    """

    name = "RGCL"
    config_class = Config

    @override
    def build(self) -> None:
        config = self.config
        self.encoder = GIN(self.in_channels, config.hidden_channels, config.num_layers)
        self.head = projection_head(self.encoder.out_channels)
        self.estimator = RationaleEstimator(self.in_channels, config.hidden_channels)
        self.optimizers = self.adam(self.encoder, self.head, self.estimator)
        self.scorer = copy.deepcopy(self.estimator).requires_grad_(False).eval()

    @override
    def train(self, mode: bool = True) -> Self:
        super().train(mode)
        self.scorer.eval()
        return self

    def project(self, data: Data) -> Tensor:
        """Return what the loss compares, nodes weighted, ``(num_graphs, channels)``."""
        weight = pooling_weight(self.estimator(data), graph_of(data))
        projected: Tensor = self.head(self.encoder.encode(data, weight))
        return projected

    @override
    def loss(self, data: Data) -> Tensor:
        """Return the contrastive loss of a batch, with fresh views."""
        config, score = self.config, self.score(data)

        def draw(side: Side) -> Data:
            return self.view(score, side)(data, self.generator)

        # The loss contrasts from z, with z_view for its positive: one may be the tree.
        z_tree = None if self.anchor is None else self.anchor(data)
        is_first = config.replaces == "original"
        z, z_view = (z_tree, None) if is_first else (None, z_tree)
        if z is None:
            is_drawn = config.form == "transfer"
            z = self.project(draw("rationale") if is_drawn else data)
        if z_view is None:
            z_view = self.project(draw("rationale"))
        loss = rgcl_loss(
            gather(z),
            gather(z_view),
            gather(self.project(draw("complement"))),
            config.temperature,
            config.complement_weight,
            config.form,
        )
        return loss + self.prediction(z_view if is_first else z, data)

    def score(self, data: Data) -> Tensor:
        """Return the scores that views are drawn by, ``(num_nodes,)``."""
        if self.config.refresh == "step":
            self.refresh()
        with torch.no_grad():
            score: Tensor = self.scorer(data)
        return score

    def view(self, score: Tensor, side: Side) -> Augmentation:
        """Return the augmentation that draws one of the two views by these scores."""
        config = self.config
        if config.variant != "released":
            return RationaleView(score, config.rho, side, config.complement)
        half = score.half().to(score.dtype)
        drawn = RationaleView(half, config.rho, side, config.complement, "released")
        return Released(drawn, fallback=Identity())

    def refresh(self) -> None:
        """Draw views by the estimator as it is now."""
        self.scorer.load_state_dict(self.estimator.state_dict())

    @override
    def end_of_epoch(self, loader: Batches) -> dict[str, Any]:
        """Renew the scores that the next epoch's views are drawn by."""
        self.refresh()
        return {}

    @override
    def encode(self, data: Data) -> Tensor:
        return self.encoder.encode(data)

    @classmethod
    @override
    def title(cls, config: Config) -> str:
        title = cls.name
        if config.form != "unsupervised":
            title += f", form: {config.form}"
        if config.replaces != "original":
            title += f", replaces: {config.replaces}"
        return title

    @classmethod
    @override
    def published(cls, config: Config, anchored: bool) -> Published:
        epochs = tuple(range(5, 41, 5))
        return Published(40, epochs, features=FeatureSpec(loops=1))

    @classmethod
    @override
    def released(cls, config: Config) -> Config:
        return replace(super().released(config), variant=config.variant or "released")


run = unsupervised.adapter(RGCL)
