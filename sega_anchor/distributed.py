"""Training on several processes that act as one with the whole batch.

Start any script, or the command line, with torchrun, and every ``run`` is shared::

    torchrun --nproc-per-node 4 -m sega_anchor run graphcl NCI1 --anchor --device cuda

Each rank gets its part of each batch. What couples the graphs of a batch, BatchNorm and
the negatives of a loss, is computed over all ranks, with gradients, so loss, gradients
and running statistics are those of one process; ``DistributedDataParallel`` averages
the gradients. Random numbers of views are drawn for each rank from its own generator.
Without torchrun everything here does nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed
from torch.autograd import Function

Value = TypeVar("Value")

#: The others wait while rank 0 prepares data or fits support vector machines.
_PATIENCE = timedelta(days=2)


@dataclass(frozen=True)
class Place:
    """Where this process stands among those of a training.

    Args:
        rank: its number, from 0.
        ranks: how many there are.
        device: where it computes.
    """

    rank: int = 0
    ranks: int = 1
    device: str = "cpu"

    @property
    def is_main(self) -> bool:
        """Whether this is the process that writes files."""
        return self.rank == 0

    @contextmanager
    def main_first(self) -> Iterator[None]:
        """Let rank 0 go through a block first, so that the others find its files."""
        if not self.is_main:
            broadcast_object(None)
        yield
        if self.is_main:
            broadcast_object(None)

    def seed_rank(self, seed: int) -> None:
        """Let torch's own generator, which dropout draws from, differ from rank 0's."""
        if not self.is_main:
            torch.manual_seed((seed << 16) + self.rank)

    def identity(self) -> dict[str, int]:
        """Return what of this decides numbers: views are drawn rank by rank."""
        return {"ranks": self.ranks} if self.ranks > 1 else {}

    def generator(self, seed: int) -> torch.Generator:
        """Return a generator on the device; that of rank 0 is a single process's."""
        own = seed if self.rank == 0 else (seed << 16) + self.rank + (1 << 48)
        return torch.Generator(self.device).manual_seed(own)


@contextmanager
def session(device: str = "cpu") -> Iterator[Place]:
    """Join the processes that torchrun has started; alone without it.

    A process group that is there already is used as it is.

    Args:
        device: "cpu" (gloo), or "cuda": then each rank of a node takes a GPU (NCCL).

    Example:
        >>> with session() as place:
        ...     place.ranks
        1
    """
    launched = distributed.is_available() and distributed.is_torchelastic_launched()
    if launched and device == "cuda":
        device = f"cuda:{os.environ['LOCAL_RANK']}"
        torch.cuda.set_device(device)
    joined = distributed.is_available() and distributed.is_initialized()
    if launched and not joined:
        backend = "gloo" if device == "cpu" else "nccl"
        distributed.init_process_group(backend, timeout=_PATIENCE)
    try:
        yield Place(rank(), count(), device)
    finally:
        if launched and not joined:
            distributed.destroy_process_group()


@contextmanager
def preserve_rng(device: str) -> Iterator[None]:
    """Leave torch's own generators as they were."""
    with torch.random.fork_rng(devices=[] if device == "cpu" else [device]):
        yield


def count() -> int:
    """Return the number of processes that train together."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return 1
    return distributed.get_world_size()


def rank() -> int:
    """Return the number of this process among them, from 0."""
    return distributed.get_rank() if count() > 1 else 0


def shard(index: Tensor) -> Tensor:
    """Return what this rank takes of a batch: neighbours, as many as others within one.

    Example:
        >>> shard(torch.arange(3))
        tensor([0, 1, 2])
    """
    return index.tensor_split(count())[rank()]


def broadcast_object(value: Value) -> Value:
    """Return what rank 0 has; the others wait for it.

    Example:
        >>> broadcast_object(3)
        3
    """
    if count() == 1:
        return value
    values = [value]
    distributed.broadcast_object_list(values, src=0)
    return values[0]


def all_gather_object(value: Value) -> list[Value]:
    """Return what each rank has, in their order.

    Example:
        >>> all_gather_object(3)
        [3]
    """
    if count() == 1:
        return [value]
    values: list[Any] = [None] * count()
    distributed.all_gather_object(values, value)
    return values


def gather(x: Tensor) -> Tensor:
    """Return the rows of all ranks one behind the other, with gradients.

    The gradient of a row is the sum of what all ranks say of it. If every rank then
    computes the same loss, gradients averaged over ranks are those of that loss.

    Args:
        x: ``(n, ...)``; ranks may have different n.

    Returns:
        ``(sum of n, ...)``, x itself without other ranks.

    Example:
        >>> gather(torch.ones(2, 3)).shape
        torch.Size([2, 3])
    """
    if count() == 1:
        return x
    gathered: Tensor = _Gather.apply(x)  # type: ignore[no-untyped-call]
    return gathered


def mean(x: Tensor) -> Tensor:
    """Return the mean of all numbers of all ranks.

    Example:
        >>> mean(torch.tensor([1.0, 3.0]))
        tensor(2.)
    """
    if count() == 1:
        return x.mean()
    total = gather(torch.stack([x.sum(), x.new_tensor(x.numel())]).unsqueeze(0)).sum(0)
    return total[0] / total[1]


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        own = torch.tensor([len(x)], device=x.device)
        each = [torch.empty_like(own) for _ in range(count())]
        distributed.all_gather(each, own, _lane())
        sizes = torch.cat(each).tolist()
        ctx.begin, ctx.size = sum(sizes[: rank()]), len(x)
        padded = x.new_zeros(max(sizes), *x.shape[1:])
        padded[: len(x)] = x
        parts = [torch.empty_like(padded) for _ in sizes]
        distributed.all_gather(parts, padded, _lane())
        return torch.cat([part[:n] for part, n in zip(parts, sizes, strict=True)])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        total = gradient.clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(total, group=_lane())
        return total[ctx.begin : ctx.begin + ctx.size]


_lanes: dict[Any, Any] = {}


def _lane() -> Any:
    """Return a group for gathers alone: DDP's own messages must not come between."""
    world = distributed.group.WORLD
    if world not in _lanes:
        _lanes.clear()
        _lanes[world] = distributed.new_group(timeout=_PATIENCE)
    return _lanes[world]
