"""species_split: train on other species, test on man."""

from __future__ import annotations

import random
from typing import NamedTuple

import torch
from torch import Tensor

HUMAN = 9606
"""NCBI taxonomy number of Homo sapiens."""


class SpeciesSplit(NamedTuple):
    """Which proteins are for what, long tensors in shuffled order.

    Attributes:
        train: 85 % of the other species.
        valid: 15 % of the other species.
        test_easy: one half of man.
        test_hard: the other half, whose score is the published one.
    """

    train: Tensor
    valid: Tensor
    test_easy: Tensor
    test_hard: Tensor


def species_split(species: Tensor, seed: int = 42) -> SpeciesSplit:
    """Split proteins by species, as the released code does.

    The places of the other species, and those of man, are each shuffled by
    ``random.Random(seed)`` and cut into a first part of ``int(0.85 * n)``, or half, and
    a second of ``int(0.15 * n)``, or half. Rounding down can leave the last one out of
    both, as released. Which species the others are does not matter; the released code
    knows seven.

    Args:
        species: NCBI taxonomy numbers, ``(num_graphs,)``.
        seed: of both shuffles. (default: :obj:`42`, as published)

    Raises:
        ValueError: if a part would be empty: below 2 proteins of man or 7 others.

    Source: Hu et al., ICLR 2020, repository snap-stanford/pretrain-gnns,
    bio/splitters.py and bio/finetune.py.

    Example:
        >>> split = species_split(torch.tensor([9606, 10090] * 10))
        >>> [len(part) for part in split]
        [8, 1, 5, 5]
    """
    if species.dim() != 1 or species.is_floating_point():
        raise ValueError(
            "species must be taxonomy numbers, integers of shape (num_graphs,), got "
            f"{species.dtype} {tuple(species.shape)}"
        )
    human = species == HUMAN
    others, man = (~human).nonzero().view(-1), human.nonzero().view(-1)
    if len(man) < 2 or len(others) < 7:
        raise ValueError(
            f"a split needs at least 2 proteins of man (species {HUMAN}) and 7 of "
            f"other species, got {len(man)} and {len(others)}"
        )
    return SpeciesSplit(*_parts(others, 0.85, 0.15, seed), *_parts(man, 0.5, 0.5, seed))


def _parts(
    index: Tensor, first: float, second: float, seed: int
) -> tuple[Tensor, Tensor]:
    n = len(index)
    order = list(range(n))
    random.Random(seed).shuffle(order)
    shuffled = index[torch.tensor(order, device=index.device)]
    cut = int(first * n)
    return shuffled[:cut], shuffled[cut : cut + int(second * n)]
