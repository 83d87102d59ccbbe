"""The order of an epoch, and its batches."""

from __future__ import annotations

import torch
from torch import Tensor


def shuffled(count: int, seed: int, epoch: int) -> Tensor:
    """Return a permutation that seed and epoch decide, nothing else.

    Example:
        >>> bool((shuffled(9, 0, 1) == shuffled(9, 0, 1)).all())
        True
    """
    generator = torch.Generator().manual_seed((seed << 32) + epoch)
    return torch.randperm(count, generator=generator)


def batches(order: Tensor, size: int, least: int = 2) -> list[Tensor]:
    """Cut an order into batches; a last batch below ``least`` joins the one before.

    BatchNorm over graphs, and a loss with negatives, need two for each process.

    Example:
        >>> batches(torch.arange(5), 2)
        [tensor([0, 1]), tensor([2, 3, 4])]
    """
    parts = list(torch.split(order, size))
    if len(parts) > 1 and len(parts[-1]) < least:
        parts[-2:] = [torch.cat(parts[-2:])]
    return parts
