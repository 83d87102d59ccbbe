"""Training on several processes that act as one with the whole batch.

Start any script, or the command line, with torchrun, and every ``run`` is shared::

    torchrun --nproc-per-node 4 -m sega_anchor run graphcl NCI1 --anchor --device cuda

Each rank gets a part of each batch. BatchNorm and the negatives of a loss couple the
graphs of a batch, so both are computed over all ranks, with gradients: loss, gradients
and running statistics equal those of one process. ``DistributedDataParallel`` averages
the gradients. Each rank draws its views from a generator of its own. Names are those of
``torch.distributed``; in a single process every function here is the identity.
"""

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed
from torch.autograd import Function

Value = TypeVar("Value")

#: The others wait while rank 0 prepares data or fits support vector machines.
_PATIENCE = timedelta(days=2)
_PR_SET_PDEATHSIG = 1  # of linux/prctl.h


@contextmanager
def process_group(device: str = "cpu") -> Iterator[str]:
    """Join the processes that torchrun has started; without torchrun, do nothing.

    A process group that is there already is used as it is.

    Args:
        device: "cpu" (gloo), or "cuda": then each rank of a node takes a GPU (NCCL).

    Yields:
        The device of this rank, such as "cuda:1".

    Raises:
        ConnectionError: if another process ends amid the work; start all of them again.

    Example:
        >>> with process_group() as device:
        ...     device, rank(), world_size()
        ('cpu', 0, 1)
    """
    launched = distributed.is_available() and distributed.is_torchelastic_launched()
    if launched and device == "cuda":
        device = f"cuda:{os.environ['LOCAL_RANK']}"
        torch.cuda.set_device(device)
    joined = distributed.is_available() and distributed.is_initialized()
    if launched and not joined:
        backend = "gloo" if device == "cpu" else "nccl"
        _end_with_parent()
        distributed.init_process_group(backend, timeout=_PATIENCE)
    try:
        yield device
    except RuntimeError as error:
        if isinstance(error, distributed.DistError) or "gloo/transport" in str(error):
            raise ConnectionError(
                f"rank {distributed.get_rank()} has lost another process, whose own "
                "message says why: start all of them again to go on"
            ) from error
        raise
    finally:
        if launched and not joined:
            distributed.destroy_process_group()


def _end_with_parent() -> None:
    """Let Linux end this process if torchrun is killed, which would forget it."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))


def world_size() -> int:
    """Return the number of processes that train together."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return 1
    return distributed.get_world_size()


def rank() -> int:
    """Return the number of this process among them, from 0."""
    return distributed.get_rank() if world_size() > 1 else 0


def is_main() -> bool:
    """Return whether this is rank 0, which alone evaluates and writes files."""
    return rank() == 0


@contextmanager
def main_first() -> Iterator[None]:
    """Let rank 0 go through a block first, so that the others find its files."""
    if not is_main():
        broadcast_object(None)
    yield
    if is_main():
        broadcast_object(None)


@contextmanager
def preserve_rng(device: str) -> Iterator[None]:
    """Restore torch's own generators at the end of a block."""
    with torch.random.fork_rng(devices=[] if device == "cpu" else [device]):
        yield


def seed_rank(seed: int) -> None:
    """Seed torch's own generator, which dropout uses, differently on other ranks.

    Rank 0 keeps the state that a single process would have.
    """
    if not is_main():
        torch.manual_seed((seed << 16) + rank())


def rank_generator(seed: int, device: str = "cpu") -> torch.Generator:
    """Return this rank's generator of views; that of rank 0 is a single process's."""
    own = seed if is_main() else (seed << 16) + rank() + (1 << 48)
    return torch.Generator(device).manual_seed(own)


def rank_identity() -> dict[str, int]:
    """Return what decides numbers here: each rank draws views of its own."""
    return {"ranks": world_size()} if world_size() > 1 else {}


def shard(index: Tensor) -> Tensor:
    """Return this rank's part of a batch, a run of neighbours; sizes differ by one.

    Example:
        >>> shard(torch.arange(3))
        tensor([0, 1, 2])
    """
    return index.tensor_split(world_size())[rank()]


def broadcast_object(value: Value) -> Value:
    """Return what rank 0 has; the others wait for it.

    Example:
        >>> broadcast_object(3)
        3
    """
    if world_size() == 1:
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
    if world_size() == 1:
        return [value]
    values: list[Any] = [None] * world_size()
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
    if world_size() == 1:
        return x
    gathered: Tensor = _Gather.apply(x)
    return gathered


def mean(x: Tensor) -> Tensor:
    """Return the mean of all numbers of all ranks.

    Example:
        >>> mean(torch.tensor([1.0, 3.0]))
        tensor(2.)
    """
    if world_size() == 1:
        return x.mean()
    total = gather(torch.stack([x.sum(), x.new_tensor(x.numel())]).unsqueeze(0)).sum(0)
    return total[0] / total[1]


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        own = torch.tensor([len(x)], device=x.device)
        each = [torch.empty_like(own) for _ in range(world_size())]
        distributed.all_gather(each, own, gather_group())
        sizes = torch.cat(each).tolist()
        ctx.begin, ctx.size = sum(sizes[: rank()]), len(x)
        padded = x.new_zeros(max(sizes), *x.shape[1:])
        padded[: len(x)] = x
        parts = [torch.empty_like(padded) for _ in sizes]
        distributed.all_gather(parts, padded, gather_group())
        return torch.cat([part[:n] for part, n in zip(parts, sizes, strict=True)])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        total = gradient.clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(total, group=gather_group())
        return total[ctx.begin : ctx.begin + ctx.size]


_groups: dict[Any, Any] = {}


def gather_group() -> Any:
    """Return a group for gathers alone, which DDP's own messages cannot disturb."""
    world = distributed.group.WORLD
    if world not in _groups:
        _groups.clear()
        _groups[world] = distributed.new_group(timeout=_PATIENCE)
    return _groups[world]
