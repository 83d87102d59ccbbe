"""Progress: a bar where somebody watches, lines of a log where nobody does."""

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm.auto import tqdm

from ..distributed import is_main

#: Where runs say how far they are: that of the package.
LOGGER = logging.getLogger(__name__.partition(".")[0])
#: Seconds between two lines on the same thing.
EVERY = 60.0


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
