"""Method: the few verbs that every contrastive method offers to the loops."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch_geometric.data import Data
from typing_extensions import override

from ..distributed import gather
from ..nn import AnchorView
from ..profile import phase
from ..trees import AddTree, TreeName, tree_transform
from ..utils import check_positive
from .parallel import parallel
from .published import Published


class Batches(Protocol):
    """What loaders offer: PyG's, PackedLoader, or a list of batches."""

    def __iter__(self) -> Iterator[Data]:
        """Yield the batches of an epoch."""

    def __len__(self) -> int:
        """Return how many there are."""


@dataclass(frozen=True)
class MethodConfig:
    """Hyper-parameters that all methods share.

    Args:
        hidden_channels: width of each layer of all encoders.
        num_layers: layers of the graph encoder.
        lr: learning rate of the graph encoder.
        anchor_lr: learning rate of the anchor view; None for that of the encoder.
        temperature: of the contrastive loss.
        height: height of the coding trees.
        tree: how trees are built, see ``build_coding_tree``, or a control: "shuffled"
            permutes the leaves of the refined trees, "random" splits the vertices at
            random; default "authors" under protocol="paper", else "refined".
        quantities: let the anchor's encoder see sizes, volumes and cuts of the trees,
            see :class:`~sega_anchor.TreeEncoder`; not in the paper.

    Raises:
        ValueError: for a value that cannot be used.
    """

    hidden_channels: int = 32
    num_layers: int = 3
    lr: float | None = 0.01
    anchor_lr: float | None = 0.01
    temperature: float = 0.2
    height: int = 5
    tree: TreeName | None = None
    quantities: bool = False

    def __post_init__(self) -> None:
        """Refuse values before any work starts."""
        check_positive(self, "hidden_channels", "num_layers", "lr", "anchor_lr")
        check_positive(self, "temperature")
        self.tree_transform()

    def tree_transform(self) -> AddTree:
        """Return what gives graphs their trees."""
        return tree_transform(self.tree or "refined", self.height)

    def rates(self) -> tuple[float, float]:
        """Return the learning rates of the graph encoder and of the anchor view."""
        lr = 0.01 if self.lr is None else self.lr
        return lr, lr if self.anchor_lr is None else self.anchor_lr


C = TypeVar("C", bound=MethodConfig)


class Trainable(nn.Module, ABC):
    """A model that owns its optimisers and knows its loss; ranks may share it."""

    optimizers: list[Optimizer]
    # A tuple, so that torch does not take it for a submodule: it holds this very model.
    _replica: tuple[nn.Module, ...] = ()

    anchor: AnchorView | None

    @abstractmethod
    def loss(self, data: Data) -> Tensor:
        """Return the loss of a batch that the encoders descend, with fresh views."""

    def prediction(self, z_view: Tensor, data: Data) -> Tensor | float:
        """Return what an anchor with ``quantities`` adds to the loss, else 0.

        Args:
            z_view: what stands against the anchor, ``(num_graphs, channels)``.
            data: the original graphs.
        """
        if self.anchor is None or not self.anchor.quantities:
            return 0.0
        statistics = self.anchor.statistics(data)
        return self.anchor.prediction(gather(z_view), gather(statistics))

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
        """Return every optimiser, also those that only ``step`` uses."""
        return self.optimizers

    @property
    def replica(self) -> nn.Module:
        """What to call for a forward pass: the model, or what averages over ranks."""
        return self._replica[0] if self._replica else self

    def share(self, device: str = "cpu") -> None:
        """Train together with the other ranks, if there are any, from now on."""
        self._replica = (parallel(self, device),)


class Method(Trainable, Generic[C]):
    """A contrastive method that owns its networks, its optimisers and its randomness.

    With ``anchor=None`` it is the published baseline; with an :class:`AnchorView` the
    anchor takes the place of one view. One loop runs them all::

        for batch in loader:
            method.step(batch)
        method.end_of_epoch(loader)
        method.embed(batch)["G"]

    Args:
        in_channels: width of ``data.x``.
        config: the method's own hyper-parameters; default as published.
        anchor: the anchor view, or None.
        generator: where augmentations draw from; default torch's own.
    """

    name: ClassVar[str]
    config_class: ClassVar[type[Any]]

    def __init__(
        self,
        in_channels: int,
        config: C | None = None,
        anchor: AnchorView | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.config: C = self.config_class() if config is None else config
        self.anchor = anchor
        self.generator = generator
        self.build()

    @abstractmethod
    def build(self) -> None:
        """Make the networks of the graph side and ``optimizers``."""

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

    def adam(self, *graph: nn.Module) -> list[Optimizer]:
        """Return Adam for modules of the graph side, and one for the anchor view."""
        lr, anchor_lr = self.config.rates()
        optimizers = [adam((p for module in graph for p in module.parameters()), lr)]
        if self.anchor is not None:
            optimizers.append(adam(self.anchor.parameters(), anchor_lr))
        return optimizers

    @classmethod
    def title(cls, config: C) -> str:
        """Return how tables call the baseline."""
        return cls.name

    @classmethod
    def default_anchor(cls, leaf_channels: int, config: C) -> AnchorView:
        """Return the anchor view that ``anchor=True`` stands for.

        It is as wide as all layers of the graph encoder side by side.
        """
        return AnchorView(
            leaf_channels,
            config.hidden_channels,
            config.hidden_channels * config.num_layers,
            config.height,
            transform=config.tree_transform(),
            quantities=config.quantities,
        )

    @classmethod
    @abstractmethod
    def published(cls, config: C, anchored: bool) -> Published:
        """Return what the authors fixed beside the method itself."""

    @classmethod
    def released(cls, config: C) -> C:
        """Return the configuration with all that is left open as in released code.

        A run under ``protocol="paper"`` begins with it.
        """
        return replace(config, tree=config.tree or "authors")


def adam(parameters: Iterable[nn.Parameter], lr: float) -> Optimizer:
    """Return Adam as published; fused, since a step is otherwise a quarter slower."""
    return torch.optim.Adam(parameters, lr=lr, fused=True)


def descend(loss: Tensor, *optimizers: Optimizer) -> None:
    """Make one step of gradient descent on what the optimisers hold."""
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
