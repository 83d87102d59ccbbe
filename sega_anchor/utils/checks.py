"""Checks of options, which say what is wrong before any work starts; warnings."""

import difflib
import sys
import warnings
from collections.abc import Iterable
from typing import Any, get_args

import torch
from torch import Tensor

#: A warning of ours that arises below them is not about their lines.
_BETWEEN = {"sega_anchor", "adapters", "torch", "torch_geometric"}


def check_choice(
    name: str, value: object, choices: Any, optional: bool = False
) -> None:
    """Raise ValueError unless an option is one of the known choices.

    Args:
        name: name of the option.
        value: what was given for it.
        choices: a Literal type, or an iterable of strings.
        optional: whether None, a choice left open, is one as well.

    Raises:
        ValueError: naming the choices.

    Example:
        >>> check_choice("order", "random", ("up", "down", "mixed"))
        Traceback (most recent call last):
        ...
        ValueError: order must be 'up', 'down' or 'mixed', got 'random'
    """
    known = get_args(choices) or tuple(choices)
    if value not in known and not (optional and value is None):
        *others, last = map(repr, known)
        words = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"{name} must be {words}, got {value!r}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about a name that nobody knows.

    Example:
        >>> did_you_mean("epoch", ["epochs", "folds"]), did_you_mean("x", ["epochs"])
        ("did you mean 'epochs'?", 'known: epochs')
    """
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"


def check_at_least(name: str, value: float, least: float) -> None:
    """Raise ValueError if a number is too small.

    Example:
        >>> check_at_least("folds", 1, 2)
        Traceback (most recent call last):
        ...
        ValueError: folds must be at least 2, got 1
    """
    if not value >= least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}")


def check_positive(config: Any, *names: str) -> None:
    """Raise ValueError unless the named fields are positive numbers, or left open.

    Raises:
        ValueError: naming the first that is neither positive nor None.
    """
    for name in names:
        value = getattr(config, name)
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be positive, got {value!r}")


def check_indices(name: str, index: Tensor, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless a tensor is of whole numbers and has the given shape.

    Example:
        >>> check_indices("batch", torch.zeros(3), (3,))
        Traceback (most recent call last):
        ...
        ValueError: batch must be int64 or int32 of shape (3,), got torch.float32 of
        shape (3,)
    """
    if index.dtype not in (torch.int64, torch.int32) or index.shape != shape:
        raise ValueError(
            f"{name} must be int64 or int32 of shape {shape}, got {index.dtype} of "
            f"shape {tuple(index.shape)}"
        )


def check_range(name: str, index: Tensor, size: int) -> None:
    """Raise ValueError unless all indices are from 0 to ``size - 1``.

    Example:
        >>> check_range("index", torch.tensor([0, 4]), 4)
        Traceback (most recent call last):
        ...
        ValueError: index names row 4, but there are 4, from 0
    """
    if not index.numel():
        return
    low, high = (int(end) for end in index.aminmax())
    if low < 0 or high >= size:
        wrong = low if low < 0 else high
        raise ValueError(f"{name} names row {wrong}, but there are {size}, from 0")


def warn_caller(message: str) -> None:
    """Warn about the line of the user's that has led here.

    torch calls modules through a changing number of functions of its own.
    """
    level, frame = 1, sys._getframe()
    while (
        frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _BETWEEN
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
