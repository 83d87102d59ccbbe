"""Packed graphs on disk: written chunk by chunk, mapped when read."""

import json
import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..utils.files import check_writable, write_atomically
from .packed_graphs import PackedGraphs

_FORMAT = 1
_META = "meta.json"
_KEYS = {"about", "complete", "fields", "graphs", "place", "sizes", "totals"}


class PackedWriter:
    """Appends packed graphs to files of a folder, safe against a kill at any moment.

    Each field is one file of plain numbers. What belongs to the store is what
    ``meta.json`` says, which is replaced after every chunk. What a kill has left behind
    that is cut off when the folder is opened again.

    Args:
        folder: where to write; created if missing. Nothing else may be in it.
        about: JSON-able description of what is written.

    Raises:
        ValueError: if the folder cannot be written, holds the store of another
            description or, without a store, other files.

    Example:
        >>> import tempfile
        >>> from torch_geometric.data import Data
        >>> pair = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     writer = PackedWriter(folder, {"what": "pairs"})
        ...     writer.append(PackedGraphs.of([pair, pair]))
        ...     writer.finish()
        ...     len(open_packed(folder))
        2
    """

    def __init__(self, folder: str | Path, about: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self.meta: dict[str, Any] = {
            "format": _FORMAT,
            "about": about,
            "complete": False,
            "graphs": 0,
            "place": {},
            "fields": {},
            "sizes": {},
            "totals": {},
        }
        check_writable(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        if (self.folder / _META).exists():
            found = _read_meta(self.folder)
            _check_about(self.folder, found["about"], about)
            self.meta = found
        else:
            _check_free(self.folder)
            self._save()  # from here on, what lies in the folder is ours
        for name, size in self.meta["sizes"].items():
            _truncate(self.folder / name, size)

    @property
    def place(self) -> dict[str, Any]:
        """What the last :meth:`append` said of its place."""
        return dict(self.meta["place"])

    @property
    def is_complete(self) -> bool:
        """Whether :meth:`finish` was called."""
        return bool(self.meta["complete"])

    def append(
        self,
        graphs: PackedGraphs | None,
        text: dict[str, str] | None = None,
        **place: Any,
    ) -> None:
        """Add graphs, and lines to text files, and note how far that is.

        Args:
            graphs: as the first ones, in fields, types and widths; None for none.
            text: what to add to files by name.
            place: JSON-able position in the source, to resume from.

        Raises:
            ValueError: for graphs with other fields.
        """
        for name, lines in (text or {}).items():
            self._write(name, lines.encode())
        if graphs is not None:
            self._append(graphs)
        self.meta["place"] = place
        self._save()

    def finish(self) -> None:
        """Say that nothing follows."""
        self.meta["complete"] = True
        self._save()

    def _append(self, graphs: PackedGraphs) -> None:
        fields = {
            name: [_name(field.dtype), _name(graphs.dtypes[name]), *field.shape[1:]]
            for name, field in graphs.fields.items()
        }
        if self.meta["fields"] and self.meta["fields"] != fields:
            raise ValueError(
                f"the store has the fields {self.meta['fields']}, got {fields}"
            )
        self.meta["fields"] = fields
        for group, ptr in graphs.ptr.items():
            name = f"{group}.ptr.bin"
            if name not in self.meta["sizes"]:
                self._write(name, _bytes(torch.zeros(1, dtype=torch.long)))
            self._write(name, _bytes(ptr[1:] + self._total(group)))
        for name, field in graphs.fields.items():
            self._write(f"{name}.bin", _bytes(field))
        self.meta["graphs"] += len(graphs)
        for group, ptr in graphs.ptr.items():
            self.meta["totals"][group] = self._total(group) + int(ptr[-1])

    def _total(self, group: str) -> int:
        return int(self.meta["totals"].get(group, 0))

    def _write(self, name: str, content: bytes) -> None:
        # A file that the journal does not list was left by a kill: overwrite it.
        mode = "ab" if name in self.meta["sizes"] else "wb"
        with (self.folder / name).open(mode) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        self.meta["sizes"][name] = self.meta["sizes"].get(name, 0) + len(content)

    def _save(self) -> None:
        write_atomically(self.folder / _META, json.dumps(self.meta, indent=1).encode())


def open_packed(folder: str | Path) -> PackedGraphs:
    """Map a finished store; what is read of it is what batches take.

    Raises:
        ValueError: if there is no store, or it is not finished, damaged or of another
            format.
    """
    folder = Path(folder)
    if not (folder / _META).is_file():
        raise ValueError(f"there are no packed graphs in {str(folder)!r}")
    meta = _read_meta(folder)
    if not meta["complete"]:
        raise ValueError(
            f"{folder} is not finished: run the call that wrote it again to resume"
        )
    if not meta["graphs"]:
        raise ValueError(f"{folder} holds no graphs: delete it and write it again")
    for name, size in meta["sizes"].items():
        found = (folder / name).stat().st_size if (folder / name).is_file() else 0
        if found != size:
            raise ValueError(
                f"{folder / name} has {found} bytes instead of {size}: delete the "
                "folder and write it again"
            )
    fields, dtypes = {}, {}
    for name, (stored, delivered, *width) in meta["fields"].items():
        flat = _map(folder / f"{name}.bin", getattr(torch, stored))
        fields[name] = flat.view(-1, *width)
        dtypes[name] = getattr(torch, delivered)
    ptr = {g: _map(folder / f"{g}.ptr.bin", torch.long) for g in meta["totals"]}
    return PackedGraphs(fields, ptr, dtypes)


def _map(path: Path, dtype: torch.dtype) -> Tensor:
    count = path.stat().st_size // dtype.itemsize
    if not count:
        return torch.empty(0, dtype=dtype)
    return torch.from_file(str(path), shared=False, size=count, dtype=dtype)


def _read_meta(folder: Path) -> dict[str, Any]:
    path = folder / _META
    try:
        meta = dict(json.loads(path.read_text(encoding="utf-8")))
        # A name must not lead out of the folder: of its file the end may be cut off.
        known = _KEYS <= set(meta) and all(
            Path(n).name == n for n in dict(meta["sizes"])
        )
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({error}): delete the folder") from error
    if not known or meta.get("format") != _FORMAT:
        raise ValueError(
            f"{path} is of another format ({meta.get('format')!r} instead of "
            f"{_FORMAT}): delete the folder"
        )
    return meta


def _check_free(folder: Path) -> None:
    """Refuse a folder with other files, which could have the same names."""
    found = sorted(p.name for p in folder.iterdir() if not p.name.startswith("."))
    if found:
        raise ValueError(
            f"{folder} holds no packed graphs but other files, such as {found[0]!r}: "
            "give a folder that is empty or new"
        )


def _check_about(folder: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    other = [name for name in wanted if found.get(name) != wanted[name]]
    if other:
        name = other[0]
        raise ValueError(
            f"{folder} holds other graphs, with {name}={found.get(name)!r} instead of "
            f"{wanted[name]!r}: give another folder, or delete this one"
        )


def _truncate(path: Path, size: int) -> None:
    found = path.stat().st_size if path.is_file() else 0
    if found < size:
        raise ValueError(
            f"{path} has {found} bytes instead of {size}: delete the folder and write "
            "it again"
        )
    if found > size:
        os.truncate(path, size)


def _bytes(values: Tensor) -> bytes:
    return values.contiguous().numpy().tobytes()


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
