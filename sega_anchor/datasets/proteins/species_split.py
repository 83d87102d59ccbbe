"""species_split: train on other species, test on humans."""

import random
from typing import NamedTuple

import torch
from torch import Tensor

HUMAN = 9606
"""NCBI taxonomy number of Homo sapiens."""


class SpeciesSplit(NamedTuple):
    """Indices of proteins, long tensors in shuffled order.

    Args:
        train: 85 % of the proteins of other species.
        valid: 15 % of the proteins of other species.
        test_easy: one half of the human proteins.
        test_hard: the other half, on which the published score is measured.
    """

    train: Tensor
    valid: Tensor
    test_easy: Tensor
    test_hard: Tensor


def species_split(species: Tensor, seed: int = 42) -> SpeciesSplit:
    """Split proteins by species, as the released code does.

    The indices of other species, and those of humans, are each shuffled by
    ``random.Random(seed)`` and cut into parts of ``int(0.85 * n)`` and
    ``int(0.15 * n)``, or two of ``int(0.5 * n)``. Rounding down can leave the last
    index out of both, as released. Any other species are allowed; the released code
    knows seven.

    Args:
        species: NCBI taxonomy numbers, ``(num_graphs,)``.
        seed: seed of both shuffles. (default: :obj:`42`, as published)

    Raises:
        ValueError: if a part would be empty: below 2 human proteins or 7 others.

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
    others, humans = (~human).nonzero().view(-1), human.nonzero().view(-1)
    if len(humans) < 2 or len(others) < 7:
        raise ValueError(
            f"a split needs at least 2 human proteins (species {HUMAN}) and 7 of "
            f"other species, got {len(humans)} and {len(others)}"
        )
    return SpeciesSplit(
        *_parts(others, 0.85, 0.15, seed), *_parts(humans, 0.5, 0.5, seed)
    )


def _parts(
    index: Tensor, first: float, second: float, seed: int
) -> tuple[Tensor, Tensor]:
    n = len(index)
    order = list(range(n))
    random.Random(seed).shuffle(order)
    shuffled = index[torch.tensor(order, device=index.device)]
    cut = int(first * n)
    return shuffled[:cut], shuffled[cut : cut + int(second * n)]
