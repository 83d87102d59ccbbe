"""Profile: where the time of a run went."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import torch

_active: list[Profile] = []


class Profile:
    """Measures what a run spends its time on.

    Put it around anything::

        with Profile() as profile:
            graphcl.run("MUTAG", anchor=True)
        print(profile)

    Every second counts for the innermost phase that was under way: an augmentation
    within a training step is no part of the step. On a GPU each phase waits for the
    work that it has begun, which makes the run a little slower.

    Attributes:
        seconds: by name of the phase; "other" is what no phase covers.

    Example:
        >>> with Profile() as profile:
        ...     with phase("loading"):
        ...         pass
        >>> sorted(profile.seconds)
        ['loading', 'other']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._under_way = ["other"]
        self._since = 0.0

    def __enter__(self) -> Self:
        """Begin to measure."""
        self._since = time.perf_counter()
        _active.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop measuring, whatever happened."""
        self._count()
        _active.remove(self)

    def begin(self, name: str) -> None:
        """Enter a phase."""
        self._count()
        self._under_way.append(name)

    def end(self) -> None:
        """Leave the innermost phase."""
        self._count()
        self._under_way.pop()

    def _count(self) -> None:
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
        now = time.perf_counter()
        name = self._under_way[-1]
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now

    def __str__(self) -> str:
        """Return a table, the longest phase first."""
        total = sum(self.seconds.values())
        rows = sorted(self.seconds.items(), key=lambda item: -item[1])
        lines = [
            f"{name:<22}{value:9.2f} s{100 * value / (total or 1.0):7.1f} %"
            for name, value in [*rows, ("total", total)]
        ]
        return "\n".join(lines)


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Count the time of a block for a phase, if anybody is measuring."""
    measuring = list(_active)
    for profile in measuring:
        profile.begin(name)
    try:
        yield
    finally:
        for profile in measuring:
            profile.end()
