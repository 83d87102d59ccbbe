"""one_at_a_time: work that several processes are asked for, done by one of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from .progress import LOGGER


@contextmanager
def one_at_a_time(path: Path | None) -> Iterator[None]:
    """Let one process after the other into a block of work on a file.

    Who has to wait says so. The locks lie in a hidden folder beside the file; of a
    process that is killed the system takes them away.

    Args:
        path: the file; None for work that is nobody else's.

    Example:
        >>> with one_at_a_time(None):
        ...     pass
    """
    if path is None:
        yield
        return
    folder = path.parent / ".locks"
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / f"{path.name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        LOGGER.warning("another process works on %s: waiting for it", path)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
