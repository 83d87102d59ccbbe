"""Folders of data sets, downloads and their progress bars."""

from __future__ import annotations

import http.client
import os
import urllib.request
from pathlib import Path
from typing import Any

from ..utils.progress import progress_bar

_DATA = "SEGA_ANCHOR_DATA"
ARCHIVES = "SEGA_ANCHOR_ARCHIVES"
#: What to do if the root cannot be written.
DATA_REMEDY = f"give another one with --root DIR or {_DATA}"
_TIMEOUT = 30.0  # seconds
_PART = 1 << 16  # bytes at once
AnyPath = str | os.PathLike[str]


def data_root(root: AnyPath | None) -> Path:
    """Return the folder of data sets: given, by the environment, or the default."""
    chosen = root or os.environ.get(_DATA) or Path("~", ".cache", "sega_anchor")
    return Path(chosen).expanduser()


def archive_folder(
    archives: AnyPath | None, variable: str = ARCHIVES, files: str = "NAME.zip"
) -> Path | None:
    """Return the given folder, else the one an environment variable names, else None.

    Raises:
        ValueError: if the folder does not exist.
    """
    chosen = archives or os.environ.get(variable)
    if not chosen:
        return None
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        origin = "archives" if archives else f"the environment variable {variable}"
        raise ValueError(
            f"{origin} names the folder {str(chosen)!r}, which does not exist; give "
            f"the folder that holds the files {files}"
        )
    return folder


def download(name: str, url: str, target: Path, variable: str = ARCHIVES) -> None:
    """Download a file of a data set, with a progress bar.

    Args:
        name: name of the data set.
        url: address of the file.
        target: where to write it.
        variable: environment variable of the folder that is read before downloads.

    Raises:
        ValueError: if the download fails; the message says how to do without.
    """
    try:
        _fetch(url, target)
    except (OSError, http.client.HTTPException) as error:
        raise ValueError(
            f"cannot download {name!r} from {url} ({error}); without a network put "
            f"{target.name} in a folder and give it with --archives DIR or {variable}"
        ) from error


def byte_bar(title: str, total: int | None, delay: float = 0.0) -> Any:
    """Return a progress bar that counts bytes."""
    return progress_bar(desc=title, total=total, unit="B", unit_scale=True, delay=delay)


def _fetch(url: str, target: Path) -> None:
    with urllib.request.urlopen(url, timeout=_TIMEOUT) as reply:
        total = int(reply.headers.get("Content-Length") or 0) or None
        bar = byte_bar(f"Downloading {target.name}", total)
        with bar, target.open("wb") as file:
            while part := reply.read(_PART):
                file.write(part)
                bar.update(len(part))
