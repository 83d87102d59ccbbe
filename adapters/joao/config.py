"""The hyper-parameters of JOAO and JOAOv2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from sega_anchor.augment import (
    AttributeMask,
    Augmentation,
    EdgePerturb,
    Identity,
    NodeDrop,
    Released,
    Subgraph,
)
from sega_anchor.trees.build import TreeMethod, check_build
from sega_anchor.utils.checks import check_positive

from .distribution import Projection

Version = Literal[1, 2]
Estimation = Literal["exact", "released"]
Head = Literal["sample", "epoch"]
Variant = Literal["paper", "released"]

#: The paper's search sets.
SEARCH = {"gamma": (0.01, 0.1, 1.0), "height": (2, 3, 4, 5)}
_WORDS = (
    ("version", Version),
    ("projection", Projection),
    ("estimation", Estimation),
    ("head", Head),
    ("variant", Variant),
)


@dataclass(frozen=True)
class Config:
    """Hyper-parameters, as published by default.

    What is left open (None) is "released" or its like under ``protocol="paper"``.

    Args:
        version: 1 is JOAO; 2 is JOAOv2, with a projection head per augmentation.
        gamma: weight of the uniform prior; for 0.1 and less one augmentation soon
            takes all.
        beta: step size of the distribution.
        strength: share of nodes or edges that an augmentation changes.
        variant: "released" augments as the released code does (directed columns, star,
            clean-up, which presumes its self-loops), "paper" as the text says
            (undirected edges, random walk); default "paper".
        projection: onto the simplex, "exact" (default) or the released "bisection".
        estimation: of the five losses, on the first fifth of the batches. "exact"
            (default): mean over the graphs seen, in eval mode; "released": divided by
            whole batches, in training mode, which moves BatchNorm's statistics.
        head: in version 2, the view of a graph goes through the head of the
            augmentation that made it ("sample", default), or, as released, all views
            of an epoch through one drawn head and those of the estimation through that
            of the original graph ("epoch").
        hidden_channels: width of each layer of both encoders.
        num_layers: layers of the graph encoder.
        lr: learning rate of the graph encoder; default 0.01, in version 2 0.001.
        anchor_lr: learning rate of the anchor view; default that of the encoder.
        temperature: of the contrastive loss.
        height: height of the coding trees.
        tree: how trees are built, see ``build_coding_tree``; default "authors" under
            protocol="paper", else "refined".

    Raises:
        ValueError: for a value that cannot be used.
    """

    version: Version = 1
    gamma: float = 0.1
    beta: float = 1.0
    strength: float = 0.2
    variant: Variant | None = None
    projection: Projection | None = None
    estimation: Estimation | None = None
    head: Head | None = None
    hidden_channels: int = 32
    num_layers: int = 3
    lr: float | None = None
    anchor_lr: float | None = None
    temperature: float = 0.2
    height: int = 5
    tree: TreeMethod | None = None

    def __post_init__(self) -> None:
        """Refuse values before any work starts."""
        for name, options in _WORDS:
            value = getattr(self, name)
            allowed = (
                get_args(options) if name == "version" else (None, *get_args(options))
            )
            if value not in allowed:
                known = " or ".join(map(repr, get_args(options)))
                raise ValueError(f"{name} must be {known}, got {value!r}")
        check_positive(self, "beta", "hidden_channels", "num_layers", "temperature")
        rates = [
            name for name in ("lr", "anchor_lr") if getattr(self, name) is not None
        ]
        check_positive(self, *rates)
        check_build(self.height, self.tree or "refined")
        if not self.gamma >= 0:
            raise ValueError(f"gamma must not be negative, got {self.gamma!r}")
        self.augmentations()

    def rates(self) -> tuple[float, float]:
        """Return the learning rates of the graph encoder and of the anchor view."""
        lr = self.lr or (0.01 if self.version == 1 else 0.001)
        return lr, self.anchor_lr or lr

    def augmentations(self) -> list[Augmentation]:
        """Return the five: node drop, edges, subgraph, attributes, identity."""
        share = self.strength
        released = self.variant == "released"
        five = [
            NodeDrop(share),
            EdgePerturb(share, mode="directed" if released else "undirected"),
            Subgraph(1 - share, mode="star" if released else "walk"),
            AttributeMask(share),
            Identity(),
        ]
        return [Released(a, NodeDrop(share)) for a in five] if released else five
