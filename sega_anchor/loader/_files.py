"""Files of packed graphs: what ``meta.json`` says, and numbers as bytes."""

import json
import os
import zlib
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

#: Raised when folders of before can no longer be read.
FORMAT = 3
META = "meta.json"
_KEYS = {"about", "complete", "fields", "graphs", "place", "sizes", "sums", "totals"}
_BLOCK = 1 << 24  # bytes that are read at a time


def map_file(path: Path, dtype: torch.dtype) -> Tensor:
    """Return the numbers of a file, read when they are asked for."""
    count = path.stat().st_size // dtype.itemsize
    if not count:
        return torch.empty(0, dtype=dtype)
    return torch.from_file(str(path), shared=False, size=count, dtype=dtype)


def read_meta(folder: Path) -> dict[str, Any]:
    """Return what a folder says of itself; refuse what is damaged or of before."""
    path = folder / META
    try:
        meta = dict(json.loads(path.read_text(encoding="utf-8")))
        # A name must not lead out of the folder: of its file the end may be cut off.
        known = _KEYS <= set(meta) and all(
            Path(n).name == n for n in dict(meta["sizes"])
        )
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({error}): delete the folder") from error
    if not known or meta.get("format") != FORMAT:
        raise ValueError(
            f"{path} is of another format ({meta.get('format')!r} instead of "
            f"{FORMAT}): delete the folder and write it again"
        )
    return meta


def check_free(folder: Path) -> None:
    """Refuse a folder with other files, which could have the same names."""
    found = sorted(p.name for p in folder.iterdir() if not p.name.startswith("."))
    if found:
        raise ValueError(
            f"{folder} holds no packed graphs but other files, such as {found[0]!r}: "
            "give a folder that is empty or new"
        )


def check_about(folder: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Refuse a folder with other graphs."""
    other = [name for name in wanted if found.get(name) != wanted[name]]
    if other:
        name = other[0]
        raise ValueError(
            f"{folder} holds other graphs, with {name}={found.get(name)!r} instead of "
            f"{wanted[name]!r}: give another folder, or delete this one"
        )


def check_file(path: Path, size: int, checksum: int) -> None:
    """Refuse a file that does not hold what was written."""
    found = path.stat().st_size if path.is_file() else 0
    if found != size:
        raise ValueError(
            f"{path} has {found} bytes instead of {size}: delete the folder and write "
            "it again"
        )
    value = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            value = zlib.crc32(block, value)
    if value != checksum:
        raise ValueError(
            f"{path} is damaged, its checksum is another: delete the folder and write "
            "it again"
        )


def truncate(path: Path, size: int) -> None:
    """Cut off what a kill has left; refuse a file that lacks something."""
    found = path.stat().st_size if path.is_file() else 0
    if found < size:
        raise ValueError(
            f"{path} has {found} bytes instead of {size}: delete the folder and write "
            "it again"
        )
    if found > size:
        os.truncate(path, size)


def as_bytes(values: Tensor) -> bytes:
    """Return numbers of any type as they lie in memory."""
    return values.reshape(-1).view(torch.uint8).numpy().tobytes()


def dtype_name(dtype: torch.dtype) -> str:
    """Return the name of a type, without torch."""
    return str(dtype).removeprefix("torch.")
