"""EpochSampler: the order of each epoch, decided by a seed and the epoch's number."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.utils.data import Sampler
from typing_extensions import override

from .packed_graphs import PackedGraphs
from .packed_loader import PackedLoader


class EpochSampler(Sampler[int]):
    """Shuffle numbers in an order that seed and epoch decide, nothing else.

    Args:
        numbers: which graphs to take, or how many there are.
        seed: not negative.

    Example:
        >>> sampler = EpochSampler(9, seed=0)
        >>> sampler.set_epoch(1)
        >>> list(sampler) == list(sampler)
        True
    """

    def __init__(self, numbers: Tensor | int, seed: int) -> None:
        if isinstance(numbers, int):
            numbers = torch.arange(numbers)
        self.numbers = torch.as_tensor(numbers)
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch the next iteration is, as torch's ``DistributedSampler``."""
        self.epoch = epoch

    def __len__(self) -> int:
        """Return how many graphs an epoch has."""
        return len(self.numbers)

    @override
    def __iter__(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed((self.seed << 32) + self.epoch)
        order = torch.randperm(len(self.numbers), generator=generator)
        return iter(self.numbers[order].tolist())


def training_loader(
    graphs: PackedGraphs,
    numbers: Tensor | int,
    batch_size: int,
    seed: int,
    device: str,
) -> tuple[PackedLoader, EpochSampler]:
    """Return a loader whose orders depend on seed and epoch alone, and its sampler."""
    sampler = EpochSampler(numbers, seed)
    loader = PackedLoader(
        graphs,
        batch_size,
        generator=torch.Generator(),  # torch's own is left to the networks
        sampler=sampler,
        min_batch_size=2,
        device=device,
    )
    return loader, sampler
