"""Method: the few verbs that every contrastive method offers to the loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch_geometric.data import Data
from typing_extensions import override

from ..nn.anchor_view import AnchorView
from ..profile import phase
from ..trees.build import TreeMethod
from .parallel import parallel
from .published import Published


class Batches(Protocol):
    """What loaders offer: PyG's, PackedLoader, or a list of batches."""

    def __iter__(self) -> Iterator[Data]:
        """Yield the batches of an epoch."""

    def __len__(self) -> int:
        """Return how many there are."""


class HasTree(Protocol):
    """What every method's configuration says of its encoders and trees."""

    @property
    def hidden_channels(self) -> int:
        """Width of each layer of the encoders."""

    @property
    def num_layers(self) -> int:
        """Layers of the graph encoder."""

    @property
    def height(self) -> int:
        """Height of the coding trees."""

    @property
    def tree(self) -> TreeMethod | None:
        """How trees are built."""


Config = TypeVar("Config", bound=HasTree)


class Trainable(nn.Module, ABC):
    """A model that owns its optimisers and knows its loss; ranks may share it."""

    optimizers: list[Optimizer]
    _replica: tuple[nn.Module, ...] = ()  # no submodule: it holds this very model

    @abstractmethod
    def loss(self, data: Data) -> Tensor:
        """Return the loss of a batch that the encoders descend, views drawn anew."""

    @override
    def forward(self, data: Data) -> dict[str, Tensor]:
        """Return the loss of a batch as "loss", and what else a step measures."""
        return {"loss": self.loss(data)}

    def step(self, data: Data) -> dict[str, Tensor]:
        """Make one optimisation step on a batch; return what it measured.

        Numbers come as tensors without dimensions, so that nothing waits for a GPU:
        ``float(step["loss"])`` does.
        """
        with phase("forward and backward"):
            measured = self.replica(data)
            descend(measured["loss"], *self.optimizers)
        return {name: value.detach() for name, value in measured.items()}

    def all_optimizers(self) -> list[Optimizer]:
        """Return every optimiser, for what is kept of an interrupted training."""
        return self.optimizers

    @property
    def replica(self) -> nn.Module:
        """What to call for a forward pass: the model, or what averages over ranks."""
        return self._replica[0] if self._replica else self

    def share(self, device: str = "cpu") -> None:
        """Train together with the other ranks, if there are any, from now on."""
        self._replica = (parallel(self, device),)


class Method(Trainable, Generic[Config]):
    """A contrastive method that owns its networks, its optimisers and its randomness.

    With ``anchor=None`` it is the published baseline; with an :class:`AnchorView` the
    anchor takes the place of one view. One loop runs them all::

        for batch in loader:
            method.step(batch)
        method.end_of_epoch(loader)
        method.embed(batch)["G"]

    Args:
        in_channels: width of ``data.x``.
        config: the method's own hyper-parameters, a frozen dataclass.
        anchor: the anchor view, or None.
        generator: where augmentations draw from; default torch's own.
    """

    name: ClassVar[str]

    def __init__(
        self,
        in_channels: int,
        config: Config,
        anchor: AnchorView | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.config = config
        self.anchor = anchor
        self.generator = generator

    @abstractmethod
    def encode(self, data: Data) -> Tensor:
        """Return the graph encoder's embedding, ``(num_graphs, channels)``."""

    def embed(self, data: Data) -> dict[str, Tensor]:
        """Return each embedding of a batch, ``(num_graphs, channels)``, by name.

        ``"G"`` is the graph encoder's; with an anchor, ``"T"`` the tree encoder's and
        ``"GT"`` both side by side.
        """
        embeddings = {"G": self.encode(data)}
        if self.anchor is not None:
            embeddings["T"] = self.anchor.embed(data)
            embeddings["GT"] = torch.cat([embeddings["G"], embeddings["T"]], dim=1)
        return embeddings

    def end_of_epoch(self, loader: Batches) -> dict[str, Any]:
        """Do what the method does between epochs; return what it measured."""
        return {}

    @classmethod
    def title(cls, config: Config) -> str:
        """Return how tables call the baseline."""
        return cls.name

    def anchor_optimizers(self, lr: float) -> list[Optimizer]:
        """Return the anchor view's own Adam, or nothing without an anchor."""
        return [] if self.anchor is None else [adam(self.anchor.parameters(), lr)]

    @classmethod
    def default_anchor(cls, leaf_channels: int, config: Config) -> AnchorView:
        """Return the anchor view that ``anchor=True`` stands for.

        It is as wide as all layers of the graph encoder side by side.
        """
        return AnchorView(
            leaf_channels,
            config.hidden_channels,
            config.hidden_channels * config.num_layers,
            config.height,
            config.tree or "refined",
        )

    @classmethod
    @abstractmethod
    def published(cls, config: Config, anchored: bool) -> Published:
        """Return what the authors fixed beside the method itself."""

    @classmethod
    def released(cls, config: Config) -> Config:
        """Return the configuration with all that is left open as in released code.

        A run under ``protocol="paper"`` begins with it.
        """
        return replace(config, tree=config.tree or "authors")  # type: ignore[type-var]


def adam(parameters: Iterable[nn.Parameter], lr: float) -> Optimizer:
    """Return Adam as published, each step one kernel: unfused it took a quarter."""
    return torch.optim.Adam(parameters, lr=lr, fused=True)


def descend(loss: Tensor, *optimizers: Optimizer) -> None:
    """Make one step of gradient descent on what the optimisers hold."""
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    for optimizer in optimizers:
        optimizer.step()


def describe(config: Any) -> dict[str, Any]:
    """Return a frozen dataclass as JSON-able configuration."""
    return dict(asdict(config))
