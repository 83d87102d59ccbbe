"""One augmentation out of several, graph by graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator
from typing_extensions import override

from sega_anchor.augment._draft import Augmentation, Draft


@dataclass(frozen=True)
class RandomChoice(Augmentation):
    """Choose an augmentation independently for each graph of the batch.

    The random2, random3 and random4 of GraphCL's code choose uniformly, JOAO by a
    distribution that it learns. All augmentations are drawn for all graphs.

    Args:
        augmentations: what to choose from, at least one.
        weights: chances in proportion to these (None: uniform).

    Raises:
        ValueError: if there is nothing to choose from, or a weight is missing,
            negative, or the only chance.

    >>> from sega_anchor.augment import Identity, NodeDrop
    >>> RandomChoice([NodeDrop(ratio=0.1), Identity()])
    RandomChoice(augmentations=[NodeDrop(ratio=0.1), Identity()], weights=None)
    """

    augmentations: Sequence[Augmentation]
    weights: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if not self.augmentations:
            raise ValueError("augmentations is empty; give at least one, as Identity()")
        if self.weights is None:
            return
        good = len(self.weights) == len(self.augmentations) and sum(self.weights) > 0
        if not good or min(self.weights) < 0:
            raise ValueError(
                f"weights is {self.weights!r}; give one number >= 0 for each of the "
                f"{len(self.augmentations)} augmentations, not all 0"
            )

    @override
    def edit(self, draft: Draft, generator: Generator | None) -> Draft:
        weights = self.weights or [1.0] * len(self.augmentations)
        device = draft.batch.device if generator is None else generator.device
        choice = torch.multinomial(
            torch.tensor(weights, dtype=torch.double, device=device),
            num_samples=len(draft.sizes),
            replacement=True,
            generator=generator,
        ).to(draft.batch.device)
        edited = self.augmentations[0].edit(draft, generator)
        for i, option in enumerate(self.augmentations[1:], start=1):
            edited = edited.splice(option.edit(draft, generator), choice == i)
        return edited
