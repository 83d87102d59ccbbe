"""Work that several processes are asked for, done by one of them."""

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
    lock = _lock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        LOGGER.warning("another process works on %s: waiting for it", path)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def if_free(path: Path | None) -> Iterator[bool]:
    """Say whether nobody else works on a file; if so, keep others away meanwhile.

    Args:
        path: the file; None for work that is nobody else's.

    Example:
        >>> with if_free(None) as free:
        ...     free
        True
    """
    if path is None:
        yield True
        return
    lock = _lock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def _lock(path: Path) -> FileLock:
    folder = path.parent / ".locks"
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / f"{path.name}.lock")
