"""Packed graphs on disk: written chunk by chunk, mapped when read."""

import json
import os
import zlib
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from ..utils.files import check_writable, write_atomically
from ._files import FORMAT as FORMAT
from ._files import (
    META,
    as_bytes,
    check_about,
    check_file,
    check_free,
    dtype_name,
    map_file,
    read_meta,
    truncate,
)
from ._texts import Texts, text_fields
from .packed_graphs import Column, PackedGraphs


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
            "format": FORMAT,
            "about": about,
            "complete": False,
            "graphs": 0,
            "place": {},
            "fields": {},
            "sizes": {},
            "sums": {},
            "totals": {},
        }
        check_writable(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        if (self.folder / META).exists():
            found = read_meta(self.folder)
            check_about(self.folder, found["about"], about)
            self.meta = found
        else:
            check_free(self.folder)
            self._save()  # from here on, what lies in the folder is ours
        for name, size in self.meta["sizes"].items():
            truncate(self.folder / name, size)

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
            ValueError: for graphs with other fields, or what cannot be stored.
        """
        if graphs is not None:
            check_storable(graphs)
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
        texts = text_fields(graphs.values)
        fields, ptr, columns = {**graphs.fields}, {**graphs.ptr}, {**graphs.columns}
        for name, (table, begin) in texts.items():
            columns[name] = Column(table.dtype, f"{name}.rows")
            fields[name], ptr[f"{name}.rows"] = table, begin
        found: dict[str, dict[str, Any]] = {
            name: {
                "stored": dtype_name(field.dtype),
                "dtype": dtype_name(columns[name].dtype),
                "width": list(field.shape[1:]),
                "dim": columns[name].dim,
                "text": name in texts,
            }
            for name, field in fields.items()
        }
        known = self.meta["fields"]
        if known and {n: _without_pointers(known[n]) for n in known} != found:
            raise ValueError(f"the store has the fields {known}, got {found}")
        pointers = {name: ptr[name] for name in ptr if "." not in name}
        for name, about in found.items():
            for role in ("rows", "shift"):
                wanted = getattr(columns[name], role)
                kept = about[role] = self._pointer(name, role, wanted)
                if kept not in (None, "graph"):
                    pointers[kept] = _of_each(ptr, wanted, len(graphs))
        self.meta["fields"] = found
        for name, values in pointers.items():
            if f"{name}.ptr.bin" not in self.meta["sizes"]:
                self._write(f"{name}.ptr.bin", as_bytes(values[:1]))
            self._write(f"{name}.ptr.bin", as_bytes(values[1:] + self._total(name)))
            self.meta["totals"][name] = self._total(name) + int(values[-1])
        for name, field in fields.items():
            self._write(f"{name}.bin", as_bytes(field))
        self.meta["graphs"] += len(graphs)

    def _pointer(self, name: str, role: str, wanted: str | None) -> str | None:
        """Return which pointer of the store says what one of a chunk says.

        Chunks may differ in what their fields have in common: where a field no longer
        goes with the nodes, say, its pointer is from here on one of its own.
        """
        if not self.meta["fields"]:
            return wanted
        known: str | None = self.meta["fields"][name][role]
        own = f"{name}.{role}"
        if known not in (wanted, own):
            ptr = {}
            if known is not None and known != "graph":
                ptr[known] = map_file(self.folder / f"{known}.ptr.bin", torch.long)
            so_far = _of_each(ptr, known, self.meta["graphs"])
            self._write(f"{own}.ptr.bin", as_bytes(so_far))
            self.meta["totals"][own] = int(so_far[-1])
        return known if known == wanted else own

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
        self.meta["sums"][name] = zlib.crc32(content, self.meta["sums"].get(name, 0))

    def _save(self) -> None:
        write_atomically(self.folder / META, json.dumps(self.meta, indent=1).encode())


def is_finished(folder: str | Path, about: dict[str, Any]) -> bool:
    """Return whether a folder holds the whole store of a description.

    Raises:
        ValueError: if it holds the store of another one, or a damaged one.
    """
    if not (Path(folder) / META).exists():
        return False
    meta = read_meta(Path(folder))
    check_about(Path(folder), meta["about"], about)
    return bool(meta["complete"])


def open_packed(folder: str | Path) -> PackedGraphs:
    """Map a finished store; what is read of it is what batches take.

    All of it is read once, about a gigabyte a second, to compare checksums: a flipped
    bit would be another graph.

    Raises:
        ValueError: if there is no store, or it is not finished, damaged or of another
            format.
    """
    folder = Path(folder)
    if not (folder / META).is_file():
        raise ValueError(f"there are no packed graphs in {str(folder)!r}")
    meta = read_meta(folder)
    if not meta["complete"]:
        raise ValueError(
            f"{folder} is not finished: run the call that wrote it again to resume"
        )
    if not meta["graphs"]:
        raise ValueError(f"{folder} holds no graphs: delete it and write it again")
    for name, size in meta["sizes"].items():
        check_file(folder / name, size, meta["sums"].get(name))
    try:
        return _read(folder, meta)
    except (AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise ValueError(
            f"{folder} is damaged ({error}): delete the folder and write it again"
        ) from error


def check_storable(graphs: PackedGraphs) -> None:
    """Refuse what a folder cannot hold, by name.

    Raises:
        ValueError: for graphs of a class of their own, or values other than tensors,
            numbers and strings.
    """
    if graphs.kind is not Data:
        raise ValueError(
            f"a folder holds graphs of type Data, got {graphs.kind.__name__}: keep "
            "them in memory with PackedGraphs.of, or turn them into Data in the "
            "transform"
        )
    for name, values in graphs.values.items():
        other = next((type(v).__name__ for v in values if not isinstance(v, str)), None)
        if other:
            raise ValueError(
                f"{name} is a {other}, a folder holds tensors, numbers and strings: "
                "leave it out, or keep the graphs in memory with PackedGraphs.of"
            )
    for name in (*graphs.fields, *graphs.values):
        if not name.isidentifier():
            raise ValueError(f"{name!r} cannot be a file's name: give it another")


def _read(folder: Path, meta: dict[str, Any]) -> PackedGraphs:
    ptr = {g: map_file(folder / f"{g}.ptr.bin", torch.long) for g in meta["totals"]}
    fields, columns, values = {}, {}, {}
    for name, about in meta["fields"].items():
        dtype = getattr(torch, about["dtype"])
        column = Column(dtype, about["rows"], about["dim"], about["shift"])
        flat = map_file(folder / f"{name}.bin", getattr(torch, about["stored"]))
        rows = meta["graphs"] if about["rows"] == "graph" else ptr[about["rows"]][-1]
        field = flat.view(int(rows), *about["width"])
        if about["text"]:
            values[name] = Texts(field, ptr[column.rows])
            continue
        is_known = column.shift in (None, "graph", *ptr)
        if not is_known or column.dim not in range(field.dim()):
            raise ValueError(f"of {name} it says {about}")
        fields[name], columns[name] = field, column
    graphs = PackedGraphs(fields, ptr, columns, values)
    if len(graphs) != meta["graphs"]:
        raise ValueError(f"{len(graphs)} graphs instead of {meta['graphs']}")
    return graphs


def _without_pointers(about: dict[str, Any]) -> dict[str, Any]:
    return {key: about[key] for key in about if key not in ("rows", "shift")}


def _of_each(ptr: dict[str, Tensor], name: str | None, many: int) -> Tensor:
    """Return a pointer of some graphs by the name that a column has for it."""
    if name is None:
        return torch.zeros(many + 1, dtype=torch.long)
    return torch.arange(many + 1) if name == "graph" else ptr[name]
