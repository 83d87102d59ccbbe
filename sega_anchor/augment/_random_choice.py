"""One augmentation out of several, graph by graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor
from typing_extensions import override

from sega_anchor.augment._draft import Augmentation, ViewDraft


@dataclass(frozen=True)
class Chosen(Augmentation):
    """Apply to each graph of the batch the augmentation that was chosen for it.

    Augmentations chosen for no graph are not drawn.

    Args:
        augmentations: what was chosen from, at least one.
        choice: which of them for each graph (graphs,), counted from 0.

    >>> from torch_geometric.data import Data
    >>> from sega_anchor.augment import Identity, NodeDrop
    >>> data = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=10)
    >>> Chosen([Identity(), NodeDrop(ratio=0.2)], torch.tensor([1]))(data).num_nodes
    8
    """

    augmentations: Sequence[Augmentation]
    choice: Tensor

    @override
    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        if self.choice.shape != draft.sizes.shape:
            raise ValueError(
                f"choice has shape {tuple(self.choice.shape)}, but the batch has "
                f"{len(draft.sizes)} graphs: give one index for each"
            )
        choice = self.choice.to(draft.batch.device)
        first, *others = torch.unique(choice).tolist()
        edited: ViewDraft = self.augmentations[first].edit(draft, generator)
        for i in others:
            option = self.augmentations[i].edit(draft, generator)
            edited = edited.splice(option, choice == i)
        return edited


@dataclass(frozen=True)
class RandomChoice(Augmentation):
    """Choose an augmentation independently for each graph of the batch.

    The random2, random3 and random4 of GraphCL's code choose uniformly, JOAO by a
    distribution that it learns.

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
    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        weights = torch.tensor(
            self.weights or [1.0] * len(self.augmentations), dtype=torch.double
        )
        choice = draw_choice(weights, len(draft.sizes), generator)
        return Chosen(self.augmentations, choice).edit(draft, generator)


def draw_choice(
    weights: Tensor, count: int, generator: Generator | None = None
) -> Tensor:
    """Draw indices (count,) independently, with chances in proportion to weights.

    >>> draw_choice(torch.tensor([0.0, 1.0]), count=3)
    tensor([1, 1, 1])
    """
    device = weights.device if generator is None else generator.device
    choice = torch.multinomial(
        weights.to(device), count, replacement=True, generator=generator
    )
    return choice.to(weights.device)
