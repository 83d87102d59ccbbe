"""Progress: a bar where somebody watches, lines of a log where nobody does."""

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from tqdm.auto import tqdm

from ..distributed import is_main

#: Where runs say how far they are: that of the package.
LOGGER = logging.getLogger(__name__.partition(".")[0])
#: Seconds between two lines on the same thing.
EVERY = 60.0
#: Seconds that nobody minds waiting without a word.
BRIEF = 5.0


def progress_bar(iterable: Iterable[Any] | None = None, **options: Any) -> Any:
    """Return tqdm's bar: on rank 0, in a terminal or a notebook, hidden elsewhere.

    Args:
        iterable: what is counted; None for a bar that is updated by hand.
        options: those of tqdm; the bar goes away at its end unless ``leave`` is true.

    Example:
        >>> list(progress_bar(range(3), desc="Counting"))
        [0, 1, 2]
    """
    hidden = not (is_main() and _is_watched())
    return tqdm(iterable, **{"leave": False, "disable": hidden, **options})


def _is_watched() -> bool:
    """Return whether bars can be seen: in a notebook standard error is no terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return "IPKernelApp" in getattr(shell, "config", ())


def log_line(message: str) -> None:
    """Write a line of level INFO to the log of the package, on rank 0."""
    if is_main():
        LOGGER.info(message)


class Pace:
    """Tells when the next line is due: at most one a minute, and always the last.

    Example:
        >>> pace = Pace()
        >>> pace.is_due(), pace.is_due(last=True)
        (False, True)
    """

    def __init__(self) -> None:
        self._said = time.monotonic()

    def is_due(self, last: bool = False) -> bool:
        """Return whether to write a line now."""
        now = time.monotonic()
        if not last and now - self._said < EVERY:
            return False
        self._said = now
        return True


class ProgressCounter:
    """A bar that is updated by hand, and lines in the log: once a minute, and the last.

    What is over within some seconds is not worth a line.

    Args:
        title: of both.
        total: how many there are, if that is known.
        done: how many of them were done before.
        last: whether the end is worth a line.
        options: of the bar, see :func:`progress_bar`.

    Example:
        >>> with ProgressCounter("Building trees", total=300) as counter:
        ...     counter.update(300)
    """

    def __init__(
        self,
        title: str,
        total: int | None = None,
        done: int = 0,
        last: bool = True,
        **options: Any,
    ) -> None:
        self._bar = progress_bar(desc=title, total=total, initial=done, **options)
        self._title, self._total, self._done, self._last = title, total, done, last
        self._pace = Pace()
        self._begun = time.monotonic()

    def __enter__(self) -> Self:
        """Begin to count."""
        return self

    def update(self, count: int = 1) -> None:
        """Count so many more."""
        self._bar.update(count)
        self._done += count
        if self._pace.is_due():
            self._say()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the bar."""
        self._bar.close()
        took = time.monotonic() - self._begun
        if self._last and kind is None and took > BRIEF:
            self._say()

    def _say(self) -> None:
        of = "" if self._total is None else f" of {self._total}"
        log_line(f"{self._title}: {self._done}{of}")


@contextmanager
def log_shown() -> Iterator[None]:
    """Show the log on standard error, where no bar is and nobody has set up logging.

    The handler is our logger's and goes at the end of the block: what belongs to the
    program, the root logger above all, stays as it is.
    """
    if LOGGER.hasHandlers() or not is_main() or sys.stderr is None or _is_watched():
        yield
        return
    handler = logging.StreamHandler()
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S")
    )
    level = LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(level or logging.INFO)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
