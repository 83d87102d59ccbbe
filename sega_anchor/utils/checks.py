"""Checks of options, which say what is wrong before any work starts."""

from __future__ import annotations

from typing import Any


def check_positive(config: Any, *names: str) -> None:
    """Raise ValueError unless the named fields are positive numbers.

    Raises:
        ValueError: naming the first that is not.
    """
    for name in names:
        if not getattr(config, name) > 0:
            raise ValueError(f"{name} must be positive, got {getattr(config, name)!r}")
