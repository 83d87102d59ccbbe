"""JOAO and JOAOv2 (You et al., ICML 2021), and SEGA with either."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from typing_extensions import Unpack, override

from sega_anchor import AnchorView, NTXent, nt_xent
from sega_anchor.augment import (
    AttributeMask,
    Augmentation,
    EdgePerturb,
    Identity,
    NodeDrop,
    Released,
    Subgraph,
)
from sega_anchor.backbones import GIN, projection_head
from sega_anchor.minimise import Method as TreeMethod
from sega_anchor.minimise import check_build
from sega_anchor.protocols import (
    Method,
    Options,
    Published,
    Settings,
    check_positive,
    descend,
    unsupervised,
)
from sega_anchor.report import Result

from .distribution import Projection, draw, sample, updated

Version = Literal[1, 2]
_WORDS: dict[str, tuple[object, ...]] = {
    "version": (1, 2),
    "projection": (None, "exact", "bisection"),
    "estimation": (None, "exact", "released"),
    "head": (None, "sample", "epoch"),
    "variant": (None, "paper", "released"),
}

#: The paper's search sets; no choice per data set is published.
SEARCH = {"gamma": (0.01, 0.1, 1.0), "height": (2, 3, 4, 5)}


@dataclass(frozen=True)
class Config:
    """Hyper-parameters, as published by default.

    What is None is "released" (projection: "bisection", head: "epoch") under
    protocol="paper", else the other choice.

    Args:
        version: 1 for JOAO, 2 for JOAOv2, which has a projection head for each
            augmentation.
        gamma: weight of the uniform prior on the augmentations.
        beta: step size of their distribution.
        strength: share of nodes or edges that an augmentation changes; Subgraph keeps
            the rest.
        projection: "exact" or "bisection", see :func:`~adapters.joao.updated`.
        estimation: how the loss of each augmentation is measured, on the first fifth
            of the batches and one more: "exact" as the mean over their graphs in eval
            mode, "released" in training mode, which moves the running statistics of
            BatchNorm, and divided as if all these batches were as large as the first.
        head: which head a view takes in version 2: "sample" that of its own
            augmentation; "epoch" (released) one drawn for the whole epoch, and the
            original's, the first, where losses are measured.
        variant: "paper" augments as GraphCL's text says (undirected edges, random
            walk), "released" as the code does (directed columns, star, clean-up).
        hidden_channels: width of each layer of both encoders.
        num_layers: layers of the graph encoder.
        lr: learning rate of the graph encoder; default 0.01, in version 2 0.001.
        anchor_lr: learning rate of the anchor view; default that of the encoder.
        temperature: of the contrastive loss.
        height: height of the coding trees.
        tree: how trees are built, "authors" or "paper".

    Raises:
        ValueError: for a value that cannot be used.
    """

    version: Version = 1
    gamma: float = 0.1
    beta: float = 1.0
    strength: float = 0.2
    projection: Projection | None = None
    estimation: Literal["exact", "released"] | None = None
    head: Literal["sample", "epoch"] | None = None
    variant: Literal["paper", "released"] | None = None
    hidden_channels: int = 32
    num_layers: int = 3
    lr: float | None = None
    anchor_lr: float | None = None
    temperature: float = 0.2
    height: int = 5
    tree: TreeMethod = "authors"

    def __post_init__(self) -> None:
        """Refuse values before any work starts."""
        for name, options in _WORDS.items():
            if (value := getattr(self, name)) not in options:
                known = " or ".join(map(repr, options))
                raise ValueError(f"{name} must be {known}, got {value!r}")
        self.views()
        NTXent(self.temperature)
        check_build(self.height, self.tree)
        if not self.gamma >= 0:
            raise ValueError(f"gamma must not be negative, got {self.gamma!r}")
        rates = [
            name for name in ("lr", "anchor_lr") if getattr(self, name) is not None
        ]
        check_positive(self, "beta", "hidden_channels", "num_layers", *rates)

    def views(self) -> list[Augmentation]:
        """Return the five augmentations, in the order of their probabilities."""
        released = self.variant == "released"
        augmentations = [
            NodeDrop(self.strength),
            EdgePerturb(self.strength, "directed" if released else "undirected"),
            Subgraph(1 - self.strength, "star" if released else "walk"),
            AttributeMask(self.strength),
            Identity(),
        ]
        if not released:
            return augmentations
        fallback = augmentations[0]
        return [Released(augment, fallback) for augment in augmentations]

    def rates(self) -> tuple[float, float]:
        """Return the learning rates of the graph encoder and of the anchor view."""
        lr = self.lr or (0.01 if self.version == 1 else 0.001)
        return lr, self.anchor_lr or lr


class JOAO(Method[Config]):
    """The original graph against an augmentation drawn from a learnt distribution.

    Each graph's augmentation is drawn from ``probabilities``, in the order NodeDrop,
    EdgePerturb, Subgraph, AttributeMask, Identity. They start uniform and are updated
    after each epoch, in favour of what costs most; the history keeps them. With an
    anchor, its tree stands for the original graph in training and in the update.

    Args:
        in_channels: width of ``data.x``.
        config: hyper-parameters.
        anchor: the anchor view that replaces the original graph, or None.
        generator: where augmentations, their choice and the head draw from.

    Source: repository Shen-Lab/GraphCL_Automated, unsupervised_TU. It has no anchor:
    SEGA's authors did not release theirs. Differs there in that an epoch which ends
    with an evaluation is estimated in eval mode.

    Example:
        >>> data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> method = JOAO(in_channels=1)
        >>> method.end_of_epoch([data])["probabilities"]  # one graph has no negatives
        [0.2, 0.2, 0.2, 0.2, 0.2]
    """

    name = "JOAO"
    probabilities: Tensor
    view_head: Tensor

    def __init__(
        self,
        in_channels: int,
        config: Config = Config(),
        anchor: AnchorView | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_channels, config, anchor, generator)
        self.encoder = GIN(in_channels, config.hidden_channels, config.num_layers)
        self.augmentations = config.views()
        count = len(self.augmentations)
        self.heads = nn.ModuleList(
            projection_head(self.encoder.out_channels)
            for _ in range(count if config.version == 2 else 1)
        )
        uniform = torch.full((count,), 1 / count, dtype=torch.double)
        self.register_buffer("probabilities", uniform)
        self.register_buffer("view_head", torch.tensor(0))
        self._choose_head()
        lr, anchor_lr = config.rates()
        graph = [*self.encoder.parameters(), *self.heads.parameters()]
        self.optimizers = [torch.optim.Adam(graph, lr=lr)]
        if anchor is not None:
            tree = torch.optim.Adam(anchor.parameters(), lr=anchor_lr)
            self.optimizers.append(tree)

    def project(self, data: Data, head: int | Tensor = 0) -> Tensor:
        """Return what the loss compares, ``(num_graphs, channels)``.

        Args:
            data: a batch, or a single graph.
            head: index of the projection head, or of each graph's ``(num_graphs,)``.
        """
        z = self.encode(data)
        if isinstance(head, int):
            projected: Tensor = self.heads[head](z)
            return projected
        every = torch.stack([project(z) for project in self.heads])
        return every[head, torch.arange(len(z), device=z.device)]

    def original(self, data: Data) -> Tensor:
        """Return the projection of the original graphs, or the anchor's instead."""
        z: Tensor = self.project(data) if self.anchor is None else self.anchor(data)
        return z

    def loss(self, data: Data) -> Tensor:
        """Return the contrastive loss of a batch."""
        z = self.original(data)
        view, choice = draw(
            self.augmentations, self.probabilities, data, self.generator
        )
        head = choice if self._head_follows else int(self.view_head)
        return nt_xent(z, self.project(view, head), self.config.temperature)

    def augmentation_losses(self, data: Data) -> Tensor:
        """Return the loss of a batch under each augmentation alone, ``(5,)``."""
        losses = []
        for i, augment in enumerate(self.augmentations):
            if i == 0 or self.training:  # released: each pass moves the statistics
                z = self.original(data)
            view = augment(data, self.generator)
            z_view = self.project(view, i if self._head_follows else 0)
            losses.append(nt_xent(z, z_view, self.config.temperature))
        return torch.stack(losses)

    @override
    def step(self, data: Data) -> dict[str, float]:
        loss = self.loss(data)
        descend(loss, *self.optimizers)
        return {"loss": loss.item()}

    @override
    @torch.no_grad()
    def end_of_epoch(self, loader: Collection[Data]) -> dict[str, Any]:
        """Update the distribution; return it, and the losses that it follows.

        Raises:
            ValueError: if a loss is not finite, or the loader is empty.
        """
        config = self.config
        losses = self._estimate(loader)
        self.probabilities.copy_(
            updated(
                self.probabilities,
                losses,
                config.gamma,
                config.beta,
                config.projection or "exact",
            )
        )
        self._choose_head()
        return {
            "probabilities": self.probabilities.tolist(),
            "augmentation_losses": losses.tolist(),
        }

    def _estimate(self, loader: Collection[Data]) -> Tensor:
        """Return the loss of each augmentation on the first batches of the loader."""
        count = len(loader) // 5 + 1
        training, released = self.training, self.config.estimation == "released"
        total = torch.zeros_like(self.probabilities)
        sizes = []
        self.train(released)
        for data in islice(loader, count):
            data = data.to(self.probabilities.device)
            sizes.append(data.num_graphs if "batch" in data else 1)
            total += self.augmentation_losses(data) * sizes[-1]
        self.train(training)
        return total / (count * sizes[0] if released else sum(sizes))

    @property
    def _head_follows(self) -> bool:
        """Whether each view takes the head of its own augmentation."""
        return self.config.version == 2 and self.config.head != "epoch"

    def _choose_head(self) -> None:
        if self.config.version == 2 and not self._head_follows:
            self.view_head.copy_(sample(self.probabilities, 1, self.generator)[0])

    @override
    def encode(self, data: Data) -> Tensor:
        return self.encoder.encode(data)

    @classmethod
    @override
    def title(cls, config: Config) -> str:
        return "JOAO" if config.version == 1 else "JOAOv2"

    @classmethod
    @override
    def default_anchor(cls, leaf_channels: int, config: Config) -> AnchorView:
        return AnchorView(
            leaf_channels,
            config.hidden_channels,
            config.hidden_channels * config.num_layers,
            config.height,
            config.tree,
        )

    @classmethod
    @override
    def published(cls, config: Config, anchored: bool) -> Published:
        epochs, evaluate_at = (20, (20,)) if config.version == 1 else (40, (20, 40))
        return Published(epochs, evaluate_at, shuffle=False, loops=1)

    @classmethod
    @override
    def released(cls, config: Config) -> Config:
        return replace(
            config,
            projection=config.projection or "bisection",
            estimation=config.estimation or "released",
            head=config.head or "epoch",
            variant=config.variant or "released",
        )


def run(
    dataset: str | Sequence[Data],
    *,
    anchor: AnchorView | bool | None = None,
    version: Version | None = None,
    config: Config = Config(),
    **options: Unpack[Options],
) -> Result:
    """Train JOAO or JOAOv2, with an anchor or not, without labels and evaluate it.

    Args:
        dataset: name of a data set, or labelled graphs.
        anchor: None for the baseline, True for SEGA on top, or your own anchor view.
        version: 1 or 2, in place of ``config.version``.
        config: hyper-parameters of the method.
        options: fields of :class:`~sega_anchor.protocols.Settings`.

    Returns:
        Accuracies (``result.accuracy``), embeddings, history with the distribution
        after each epoch, and configuration.

    Raises:
        ValueError: before any training, for data or settings that cannot be used.

    Example:
        >>> once = {"seeds": 1, "epochs": 1, "evaluate_at": (1,)}
        >>> result = run("synthetic", anchor=True, version=2, **once)
        >>> len(result.history[0][0]["probabilities"])
        5
    """
    if version is not None:
        config = replace(config, version=version)
    return unsupervised.run(JOAO, dataset, anchor, config, Settings(**options))
