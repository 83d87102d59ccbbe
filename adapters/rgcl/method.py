"""RGCL (Li et al., ICML 2022), and SEGA-RGCL."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args

import torch
from torch import Tensor
from torch_geometric.data import Data
from typing_extensions import Unpack, override

from sega_anchor import AnchorView
from sega_anchor.augment import Augmentation, Identity, Released
from sega_anchor.backbones import GIN, projection_head
from sega_anchor.distributed import gather
from sega_anchor.protocols import Options, Settings, unsupervised
from sega_anchor.report import Result
from sega_anchor.training import Batches, Method, Published, adam
from sega_anchor.trees.build import TreeMethod, check_build
from sega_anchor.utils.checks import check_positive

from .estimator import RationaleEstimator, graph_of, pooling_weight
from .loss import Form, check_loss, rgcl_loss
from .views import Complement, RationaleView, Side, check_rho

Variant = Literal["paper", "released"]
Refresh = Literal["epoch", "step"]

#: The SEGA paper's search sets; the sets RGCL's authors tuned over are not published.
SEARCH = {"height": (2, 3, 4, 5)}


@dataclass(frozen=True)
class Config:
    """Hyper-parameters, as published by default.

    Args:
        rho: share of the nodes that a view keeps.
        complement_weight: weight of the complement in the loss (the paper's lambda).
        form: of the loss, "unsupervised" or "transfer", see rgcl_loss.
        complement: size of the complement view: "same" as the rationale's, as released,
            or the "rest", as the paper's text suggests.
        variant: "released" rounds counts as its floating point does, keeps scores in
            half precision and cleans views up, which presumes its self-loops; "paper"
            does not; default "released" under protocol="paper", else "paper".
        refresh: whether the scores that views are drawn by are those of the estimator
            at the last end of an "epoch", as released, or at the last "step".
        hidden_channels: width of each layer of all encoders.
        num_layers: layers of the graph encoder.
        lr: learning rate of the graph encoder and the estimator.
        anchor_lr: learning rate of the anchor view.
        temperature: of the contrastive loss.
        height: height of the coding trees.
        tree: how trees are built, see ``build_coding_tree``; default "authors" under
            protocol="paper", else "refined".

    Raises:
        ValueError: for a value that cannot be used.
    """

    rho: float = 0.9
    complement_weight: float = 0.1
    form: Form = "unsupervised"
    complement: Complement = "same"
    variant: Variant | None = None
    refresh: Refresh = "epoch"
    hidden_channels: int = 32
    num_layers: int = 3
    lr: float = 0.01
    anchor_lr: float = 0.01
    temperature: float = 0.2
    height: int = 5
    tree: TreeMethod | None = None

    def __post_init__(self) -> None:
        """Refuse values before any work starts."""
        check_positive(self, "hidden_channels", "num_layers", "lr", "anchor_lr")
        check_loss(self.temperature, self.complement_weight, self.form)
        check_rho(self.rho)
        check_build(self.height, self.tree or "refined")
        for name, options in (
            ("complement", Complement),
            ("variant", Variant),
            ("refresh", Refresh),
        ):
            value = getattr(self, name)
            if value not in get_args(options) and (name, value) != ("variant", None):
                known = " or ".join(map(repr, get_args(options)))
                raise ValueError(f"{name} must be {known}, got {value!r}")


class RGCL(Method[Config]):
    r"""The original graph, its nodes weighted, against its rationale and complements.

    An estimator gives every node a probability. It draws the two views, and weights
    nodes in the pooling of the original graph and of both views; only the weights
    train it.

    Args:
        in_channels: width of ``data.x``.
        config: hyper-parameters.
        anchor: the anchor view that replaces the weighted original graph, or None.
        generator: where views are drawn from.

    Source: repository lsh0520/RGCL, unsupervised_TU. Differs: it scores all graphs
    before each epoch and keeps the scores; here a frozen copy of the estimator, made
    at the same moment, scores each batch when it comes, with the same result.

    Example:
        >>> data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> RGCL(in_channels=1).eval().embed(data)["G"].shape
        torch.Size([1, 96])
    """

    name = "RGCL"

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
        self.estimator = RationaleEstimator(in_channels, config.hidden_channels)
        graph = [self.encoder, self.head, self.estimator]
        parameters = [p for module in graph for p in module.parameters()]
        self.optimizers = [
            adam(parameters, config.lr),
            *self.anchor_optimizers(config.anchor_lr),
        ]
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
        """Return the contrastive loss of a batch, both views drawn anew."""
        score = self.score(data)
        rationale = self.view(score, "rationale")(data, self.generator)
        complement = self.view(score, "complement")(data, self.generator)
        z = self.project(data) if self.anchor is None else self.anchor(data)
        return rgcl_loss(
            gather(z),
            gather(self.project(rationale)),
            gather(self.project(complement)),
            self.config.temperature,
            self.config.complement_weight,
            self.config.form,
        )

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
    def published(cls, config: Config, anchored: bool) -> Published:
        return Published(epochs=40, evaluate_at=tuple(range(5, 41, 5)), loops=1)

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
    """Train RGCL, or SEGA-RGCL with an anchor, without labels and evaluate it.

    Args:
        dataset: name of a data set, or labelled graphs.
        anchor: None for RGCL, True for SEGA-RGCL, or your own anchor
            view; the loss is the method's own.
        config: hyper-parameters of the method.
        options: fields of :class:`~sega_anchor.protocols.Settings`.

    Returns:
        Accuracies (``result.accuracy``), embeddings, history and configuration.

    Raises:
        ValueError: before any training, for data or settings that cannot be used.

    Example:
        >>> result = run("synthetic", anchor=True, seeds=1, epochs=1, evaluate_at=())
        >>> sorted(result.embeddings)
        ['G', 'GT', 'T']
    """
    return unsupervised.run(RGCL, dataset, anchor, config, Settings(**options))
