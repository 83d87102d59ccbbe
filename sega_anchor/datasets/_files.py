"""Where files of data sets are looked for, and how they are fetched."""

from __future__ import annotations

import os
import shutil
import urllib.request
from pathlib import Path

from tqdm import tqdm

_DATA = "SEGA_ANCHOR_DATA"
ARCHIVES = "SEGA_ANCHOR_ARCHIVES"
_TIMEOUT = 30.0  # seconds
AnyPath = str | os.PathLike[str]


def data_root(root: AnyPath | None) -> Path:
    """Return the folder in which data sets are kept."""
    chosen = root or os.environ.get(_DATA) or Path("~", ".cache", "sega_anchor")
    return Path(chosen).expanduser()


def archive_folder(
    archives: AnyPath | None, variable: str = ARCHIVES, files: str = "NAME.zip"
) -> Path | None:
    """Return the folder that is given, or that an environment variable names, or none.

    Raises:
        ValueError: If it does not exist.
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


def download(url: str, target: Path) -> None:
    """Fetch a file with a progress bar."""
    with urllib.request.urlopen(url, timeout=_TIMEOUT) as reply:
        bar = tqdm.wrapattr(
            reply,
            "read",
            total=int(reply.headers.get("Content-Length") or 0) or None,
            desc=f"Downloading {target.name}",
            leave=False,
            disable=None,
        )
        with bar as source, target.open("wb") as file:
            shutil.copyfileobj(source, file)
