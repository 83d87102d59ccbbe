"""Files: written whole or not at all, and known by their content."""

import hashlib
import os
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a kill leaves the old content or the new, never half.

    Raises:
        OSError: if the folder cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        ValueError: if there is no such file.
    """
    if not Path(path).is_file():
        raise ValueError(f"there is no file {str(path)!r}")
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def seal(path: Path) -> None:
    """Write the SHA-256 of a file beside it, for :func:`is_intact`."""
    write_atomically(_seal_path(path), file_digest(path).encode())


def is_intact(path: Path) -> bool:
    """Return whether a file holds what it held when it was sealed, if it was."""
    known = _seal_path(path)
    return not known.is_file() or known.read_bytes() == file_digest(path).encode()


def _seal_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")
