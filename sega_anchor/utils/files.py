"""Files: written whole or not at all, and known by their content."""

import hashlib
import os
import platform
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Of a file that is being written: the machine, the process and a random part.
_TEMPORARY = re.compile(r"\..*\.(?P<host>[0-9a-f]{8})-(?P<pid>\d+)-[0-9a-f]{8}\.tmp")
_OLD = 24 * 3600.0  # seconds; no file takes that long to write


def write_atomically(path: Path, content: bytes, sync: bool = True) -> None:
    """Write a file so that a kill leaves the old content or the new, never half.

    Args:
        path: the file; its folder is made if it does not exist.
        content: all of it.
        sync: whether the file must survive a power cut too.

    Raises:
        OSError: naming the file, if it cannot be written.
    """
    temporary = path.with_name(_temporary_name(path.name))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:  # a full disk does not say which file it was
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def temporary_folder(parent: Path, name: str) -> Iterator[Path]:
    """Make a folder that goes at the end of the block, after a kill with the next run.

    Args:
        parent: where; made if it does not exist.
        name: part of its name.
    """
    parent.mkdir(parents=True, exist_ok=True)
    folder = parent / _temporary_name(name)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_writable(
    folder: str | Path, name: str = "the folder", remedy: str = "give another one"
) -> None:
    """Try whether a folder takes files, before any work whose result it is to keep.

    What kills have left of files half written there goes.

    Args:
        folder: where to write; of one that does not exist the nearest above is tried.
        name: what it is, for the message.
        remedy: what to do if it cannot be written.

    Raises:
        ValueError: naming the folder, if no file can be written in it.

    Example:
        >>> check_writable("/dev/null/here")
        Traceback (most recent call last):
        ...
        ValueError: the folder '/dev/null/here' cannot be written (Not a directory):
        give another one
    """
    path = Path(folder)
    try:
        while not path.exists():
            path = path.parent
        with tempfile.TemporaryFile(dir=path) as file:
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ValueError(
            f"{name} {str(folder)!r} cannot be written ({error.strerror}): {remedy}"
        ) from error
    _remove_abandoned(path)


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        ValueError: if there is no such file.
    """
    if not Path(path).is_file():
        raise ValueError(f"there is no file {str(path)!r}")
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_sealed(path: Path, content: bytes) -> None:
    """Write a file, and first its SHA-256 beside it, for :func:`is_intact`.

    Raises:
        OSError: naming the file, if one of them cannot be written.
    """
    digest = hashlib.sha256(content).hexdigest()
    write_atomically(_seal_path(path), digest.encode())
    write_atomically(path, content)


def is_intact(path: Path) -> bool:
    """Return whether a file holds what was written, if it was sealed."""
    known = _seal_path(path)
    return not known.is_file() or known.read_bytes() == file_digest(path).encode()


def _seal_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _temporary_name(name: str) -> str:
    # Cut, since a file system limits the length of a name.
    return f".{name[:100]}.{_host()}-{os.getpid()}-{secrets.token_hex(4)}.tmp"


def _host() -> str:
    """Return what tells apart machines, and containers that count their processes."""
    place = platform.node()
    with suppress(OSError):  # Linux only
        place += os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(place.encode()).hexdigest()[:8]


def _remove_abandoned(folder: Path) -> None:
    """Delete half-written files and folders whose process is gone."""
    for path in folder.glob(".*.tmp"):
        found = _TEMPORARY.fullmatch(path.name)
        if not found:
            continue
        with suppress(OSError):  # another process may do the same
            here = found["host"] == _host() and os.name == "posix"
            old = time.time() - path.stat().st_mtime > _OLD
            if old or (here and not _is_alive(int(found["pid"]))):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True
