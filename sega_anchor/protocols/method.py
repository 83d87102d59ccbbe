"""Method: the few verbs that every contrastive method offers to the loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ..view import AnchorView

Config = TypeVar("Config")


class Method(nn.Module, ABC, Generic[Config]):
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
    def step(self, data: Data) -> dict[str, float]:
        """Make one optimisation step on a batch; return what it measured."""

    @abstractmethod
    def embed(self, data: Data) -> dict[str, Tensor]:
        """Return each embedding of a batch, ``(num_graphs, channels)``, by name."""

    def end_of_epoch(self, loader: Iterable[Data]) -> dict[str, Any]:
        """Do what the method does between epochs; return what it measured."""
        return {}

    @classmethod
    @abstractmethod
    def default_anchor(cls, leaf_channels: int, config: Config) -> AnchorView:
        """Return the anchor view that ``anchor=True`` stands for."""

    @classmethod
    def published_loops(cls, with_anchor: bool) -> int:
        """Return how many self-loops a node has in the released code's graphs."""
        return 1


def describe(config: Any) -> dict[str, Any]:
    """Return a frozen dataclass as JSON-able configuration."""
    return dict(asdict(config))
