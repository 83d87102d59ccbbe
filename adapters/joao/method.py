"""JOAO and JOAOv2 (You et al., ICML 2021), and SEGA on top of them."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from typing_extensions import Unpack, override

from sega_anchor import AnchorView, nt_xent
from sega_anchor.augment import Chosen, draw_choice
from sega_anchor.backbones import GIN, projection_head
from sega_anchor.distributed import all_gather_object, broadcast_object, gather
from sega_anchor.protocols import Options, unsupervised
from sega_anchor.report import Result
from sega_anchor.training import Batches, FeatureSpec, Method, OnEpoch, Published

from .config import Config, Version
from .distribution import updated


class JOAO(Method[Config]):
    r"""The original graph against an augmentation drawn from a learned distribution.

    The five augmentations are node drop, edge perturbation, subgraph, attribute mask
    and identity, in this order. Every epoch ends with a step of their probabilities
    towards what costs most, see :func:`~adapters.joao.updated`; they are kept in the
    buffer ``probabilities`` and reported.

    The anchor replaces the original graph, in training and where the augmentations are
    compared. Arguments are those of :class:`~sega_anchor.training.Method`.

    Source: repository Shen-Lab/GraphCL_Automated, unsupervised_TU (joao.py,
    joaov2.py). Differs: its evaluation leaves the networks in eval mode for the
    update that follows.

    Example:
        >>> data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> JOAO(in_channels=1).eval().embed(data)["G"].shape
        torch.Size([1, 96])
    """

    name = "JOAO"
    config_class = Config
    probabilities: Tensor
    epoch_head: Tensor

    @override
    def build(self) -> None:
        config = self.config
        self.augmentations = config.augmentations()
        count = len(self.augmentations)
        uniform = torch.full((count,), 1 / count, dtype=torch.double)
        self.register_buffer("probabilities", uniform)
        self.encoder = GIN(self.in_channels, config.hidden_channels, config.num_layers)
        # The first is the original graph's; version 1 has no other.
        self.heads = nn.ModuleList(
            projection_head(self.encoder.out_channels)
            for _ in range(1 if config.version == 1 else count)
        )
        # In the state, since a training may be resumed within an epoch.
        self.register_buffer("epoch_head", torch.tensor(self._draw_head()))
        self.optimizers = self.adam(self.encoder, self.heads)

    def project(self, data: Data) -> Tensor:
        """Return the original graphs' side of the loss, ``(num_graphs, channels)``."""
        projected: Tensor = self.heads[0](self.encode(data))
        return projected

    def original(self, data: Data) -> Tensor:
        """Return the projection of the original graph, or the anchor in its place."""
        z: Tensor = self.project(data) if self.anchor is None else self.anchor(data)
        return z

    @override
    def loss(self, data: Data) -> Tensor:
        """Return the contrastive loss of a batch, an augmentation drawn per graph."""
        z = self.original(data)
        choice = draw_choice(self.probabilities, len(z), self.generator)
        embedding = self.encode(
            Chosen(self.augmentations, choice)(data, self.generator)
        )
        if self.config.version == 1:
            z_view = self.heads[0](embedding)
        elif self.config.head == "epoch":
            z_view = self.heads[int(self.epoch_head)](embedding)
        else:
            z_view = self._project_each(embedding, choice)
        loss = nt_xent(gather(z), gather(z_view), self.config.temperature)
        return loss + self.prediction(z_view, data)

    def losses(self, data: Data) -> Tensor:
        """Return the loss of a batch under each augmentation alone, ``(5,)``."""
        own = self.config.version == 2 and self.config.head != "epoch"
        z, found = self.original(data), []
        for index, augmentation in enumerate(self.augmentations):
            if index and self.training:  # as released: BatchNorm counts every pass
                z = self.original(data)
            embedding = self.encode(augmentation(data, self.generator))
            z_view = self.heads[index if own else 0](embedding)
            found.append(nt_xent(gather(z), gather(z_view), self.config.temperature))
        return torch.stack(found)

    def _project_each(self, embedding: Tensor, choice: Tensor) -> Tensor:
        """Send each row through the head of its augmentation."""
        projected = torch.zeros_like(embedding)
        for index in torch.unique(choice).tolist():
            rows = (choice == index).nonzero().view(-1)
            projected = projected.index_copy(
                0, rows, self.heads[index](embedding[rows])
            )
        return projected

    @override
    def end_of_epoch(self, loader: Batches) -> dict[str, Any]:
        """Update the distribution; return it and the losses that moved it."""
        losses = self.estimate(loader)
        self.probabilities = updated(
            self.probabilities,
            losses,
            self.config.gamma,
            self.config.beta,
            self.config.projection or "exact",
        )
        self.epoch_head.fill_(self._draw_head())
        return {
            "probabilities": self.probabilities.tolist(),
            "augmentation_losses": losses.tolist(),
        }

    @torch.no_grad()
    def estimate(self, loader: Batches) -> Tensor:
        """Return the mean loss of each augmentation over the first fifth of batches."""
        released = self.config.estimation == "released"
        training = self.training
        self.train(released)
        total = torch.zeros_like(self.probabilities)
        sizes = []
        for data in islice(loader, len(loader) // len(total) + 1):
            batch = data.to(total.device)
            each = self.losses(batch)
            sizes.append(
                sum(all_gather_object(batch.num_graphs if "batch" in batch else 1))
            )
            total += each * sizes[-1]
        self.train(training)
        # Without any batch NaN, which the update refuses by name.
        return total / (sum(sizes[:1]) * len(sizes) if released else sum(sizes))

    def _draw_head(self) -> int:
        """Return the head of the next epoch's views (version 2, as released)."""
        if (self.config.version, self.config.head) != (2, "epoch"):
            return 0
        return broadcast_object(int(draw_choice(self.probabilities, 1, self.generator)))

    @override
    def encode(self, data: Data) -> Tensor:
        return self.encoder.encode(data)

    @classmethod
    @override
    def title(cls, config: Config) -> str:
        return cls.name if config.version == 1 else f"{cls.name}v2"

    @classmethod
    @override
    def published(cls, config: Config, anchored: bool) -> Published:
        epochs = (20,) if config.version == 1 else (20, 40)
        features = FeatureSpec(loops=1)
        return Published(epochs[-1], epochs, shuffle=False, features=features)

    @classmethod
    @override
    def released(cls, config: Config) -> Config:
        return replace(
            super().released(config),
            variant=config.variant or "released",
            projection=config.projection or "bisection",
            estimation=config.estimation or "released",
            head=config.head or "epoch",
        )


_run = unsupervised.adapter(JOAO)


def run(
    dataset: str | Sequence[Data],
    *,
    anchor: AnchorView | bool | None = None,
    version: Version | None = None,
    config: Config = Config(),
    on_epoch: OnEpoch | None = None,
    **options: Unpack[Options],
) -> Result:
    """Train JOAO or JOAOv2, with or without an anchor, without labels and evaluate it.

    Args:
        dataset: name of a data set, or labelled graphs.
        anchor: None for the published method, True for SEGA on top, or your own anchor
            view; the loss is the method's own.
        version: 1 or 2, shorthand for ``config.version``.
        config: hyper-parameters of the method.
        on_epoch: called after each epoch, as in ``graphcl.run``.
        options: fields of :class:`~sega_anchor.protocols.Settings`.

    Returns:
        Accuracies (``result.validation`` to choose by, ``result.accuracy`` to report),
        embeddings, history and configuration.

    Raises:
        ValueError: before any training, for data or settings that cannot be used.

    Example:
        >>> result = run("synthetic", version=2, seeds=1, epochs=1, evaluate_at=())
        >>> result.config["label"], len(result.history[0][0]["probabilities"])
        ('JOAOv2', 5)
    """
    if version is not None:
        config = replace(config, version=version)
    return _run(dataset, anchor=anchor, config=config, on_epoch=on_epoch, **options)
