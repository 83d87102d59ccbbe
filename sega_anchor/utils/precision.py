"""Sums, means and losses are taken in float32 at least, under autocast too."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def is_half(x: Tensor) -> bool:
    """Return whether numbers are of 16 bits, too few to add many of them up."""
    return x.dtype in (torch.bfloat16, torch.float16)


def widen(x: Tensor) -> Tensor:
    """Return numbers of 16 bits as float32, with gradients, and others as they are.

    Example:
        >>> widen(torch.ones(1, dtype=torch.bfloat16)).dtype
        torch.float32
    """
    return x.float() if is_half(x) else x


def without_autocast(x: Tensor) -> AbstractContextManager[object]:
    """Let a block compute in the types of its numbers, wherever x is.

    Example:
        >>> x = torch.eye(2)
        >>> with torch.autocast("cpu", torch.bfloat16):
        ...     with without_autocast(x):
        ...         (x @ x).dtype
        torch.float32
    """
    kind = x.device.type
    if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):
        return torch.autocast(kind, enabled=False)
    return nullcontext()
