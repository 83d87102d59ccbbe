"""Checks of options, which say what is wrong before any work starts."""

from typing import Any, get_args


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
