"""RandomChoice and Chosen: one of several augmentations for each graph."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor
from typing_extensions import override

from ..utils.checks import check_indices, check_range
from ._view_draft import Augmentation, ViewDraft


@dataclass(frozen=True)
class Chosen(Augmentation):
    """Apply a given augmentation to each graph of the batch.

    Args:
        augmentations: at least one; those not chosen for any graph are not drawn.
        choice: index of the augmentation of each graph, ``(num_graphs,)``.

    Raises:
        ValueError: when called, for a choice of another shape, or of an augmentation
            that is not there.

    Example:
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
        check_indices("choice", self.choice, self.choice.shape)
        check_range("choice", self.choice, len(self.augmentations))
        choice = self.choice.to(draft.batch.device)
        first, *others = torch.unique(choice).tolist()
        edited: ViewDraft = self.augmentations[first].edit(draft, generator)
        for i in others:
            option = self.augmentations[i].edit(draft, generator)
            edited = edited.splice(option, choice == i)
        return edited


@dataclass(frozen=True)
class RandomChoice(Augmentation):
    """Draw an augmentation independently for each graph of the batch.

    The random2, random3 and random4 of GraphCL's code draw uniformly, JOAO from a
    distribution that it learns.

    Args:
        augmentations: at least one.
        weights: probabilities, up to a constant factor; default uniform.

    Raises:
        ValueError: without augmentations, or for weights that are negative, all 0, or
            not one for each augmentation.

    Example:
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
    """Draw indices, ``(count,)``, with probabilities proportional to the weights.

    Example:
        >>> draw_choice(torch.tensor([0.0, 1.0]), count=3)
        tensor([1, 1, 1])
    """
    device = weights.device if generator is None else generator.device
    choice = torch.multinomial(
        weights.to(device), count, replacement=True, generator=generator
    )
    return choice.to(weights.device)
