"""The hyper-parameters of JOAO and JOAOv2."""

from dataclasses import dataclass
from typing import Literal

from typing_extensions import override

from sega_anchor.augment import (
    AttributeMask,
    Augmentation,
    EdgePerturb,
    Identity,
    NodeDrop,
    Released,
    Subgraph,
)
from sega_anchor.training import MethodConfig
from sega_anchor.utils import check_choice, check_positive

from .distribution import Projection

Version = Literal[1, 2]
Estimation = Literal["exact", "released"]
Head = Literal["sample", "epoch"]
Variant = Literal["paper", "released"]

#: The paper's search sets.
SEARCH = {"gamma": (0.01, 0.1, 1.0), "height": (2, 3, 4, 5)}


@dataclass(frozen=True)
class Config(MethodConfig):
    """Hyper-parameters, as published by default.

    Those that all methods share are described in :class:`MethodConfig`.

    What is left open (None) is "released" or its like under ``protocol="paper"``.

    Args:
        version: 1 is JOAO; 2 is JOAOv2, with a projection head per augmentation.
        gamma: weight of the uniform prior; for 0.1 and less one augmentation soon
            takes all.
        beta: step size of the distribution.
        strength: share of nodes or edges that an augmentation changes.
        variant: "released" augments as the released code does (directed columns, star,
            clean-up, which presumes its self-loops), "paper" as the text says
            (undirected edges, random walk); default "paper". Both only drop edges.
        projection: onto the simplex, "exact" (default) or the released "bisection".
        estimation: of the five losses, on the first fifth of the batches. "exact"
            (default): mean over the graphs seen, in eval mode; "released": divided by
            whole batches, in training mode, which moves BatchNorm's statistics.
        head: in version 2, the view of a graph goes through the head of the
            augmentation that made it ("sample", default), or, as released, all views
            of an epoch through one drawn head and those of the estimation through that
            of the original graph ("epoch").
        lr: learning rate of the graph encoder; default 0.01, in version 2 0.001.

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
    lr: float | None = None
    anchor_lr: float | None = None

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("version", self.version, Version)
        check_choice("variant", self.variant, Variant, optional=True)
        check_choice("projection", self.projection, Projection, optional=True)
        check_choice("estimation", self.estimation, Estimation, optional=True)
        check_choice("head", self.head, Head, optional=True)
        check_positive(self, "beta")
        if not self.gamma >= 0:
            raise ValueError(f"gamma must not be negative, got {self.gamma!r}")
        self.augmentations()

    @override
    def rates(self) -> tuple[float, float]:
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
