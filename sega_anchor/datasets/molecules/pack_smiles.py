"""pack_smiles: a SMILES file of any size as packed graphs with their trees, on disk."""

from __future__ import annotations

import csv
import io
import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filelock import FileLock
from joblib import cpu_count
from joblib.externals.loky import get_reusable_executor
from tqdm import tqdm

from ...loader.on_disk import PackedWriter, open_packed
from ...loader.packed_graphs import PackedGraphs
from ...trees.build import BUILDER_VERSION, TreeMethod, build_arrays, check_build
from ...utils.files import file_digest
from .smiles import MoleculeArrays, iterate_smiles, parse_smiles

#: Rows that one process reads at a time; a kill loses no more.
CHUNK = 10_000
_AHEAD = 3  # chunks for each process that may be in work: bounds the memory
_HIGHEST = 255  # what the type of tree_level holds
_SKIPPED = "skipped.csv"
_LONG = ("x", "edge_index", "edge_attr", "tree_level", "tree_parent")

Skipped = list[tuple[int, str]]
_Packed = tuple[int, PackedGraphs | None, Skipped]


def pack_smiles(
    path: str | Path,
    folder: str | Path,
    *,
    height: int = 5,
    method: TreeMethod = "refined",
    jobs: int | None = None,
) -> PackedGraphs:
    """Read molecules and build their coding trees with all cores, memory bounded.

    What is finished is found again, what was interrupted goes on after the last chunk,
    and several processes may ask for the same folder: one of them works.

    Args:
        path: a file for :func:`~sega_anchor.datasets.molecules.smiles.iterate_smiles`.
        folder: where the graphs are kept, about 600 bytes a molecule. Rows that are no
            molecules are listed in its ``skipped.csv``.
        height: of the trees, at most 255.
        method: how they are built, see :func:`~sega_anchor.build_coding_tree`.
        jobs: processes; default one for each core that this process may use.

    Returns:
        The graphs, in the order of the file, mapped from disk.

    Raises:
        ValueError: if the file is missing, cannot be read or has no molecules, or if
            the folder holds other graphs.
        ImportError: if RDKit is not installed.
    """
    check_build(height, method)
    if height > _HIGHEST:
        raise ValueError(f"height must be at most {_HIGHEST}, got {height!r}")
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs!r}")
    path, folder = Path(path), Path(folder)
    about = {
        "sha256": file_digest(path),
        "height": height,
        "method": method,
        "builder": BUILDER_VERSION,
    }
    rows = iterate_smiles(path)  # refuses a file without the column
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        writer = PackedWriter(folder, about)
        if not writer.is_complete:
            _write(writer, rows, height, method, jobs or cpu_count())
            _refuse_none(folder, writer)
            writer.finish()
            _report(folder, writer)
    return open_packed(folder)


def _write(
    writer: PackedWriter,
    rows: Iterator[str],
    height: int,
    method: TreeMethod,
    jobs: int,
) -> None:
    """Pack what is not written yet, chunk by chunk in the order of the file."""
    done = int(writer.place.get("rows", 0))
    bad = int(writer.place.get("skipped", 0))
    rest = islice(rows, done, None)
    chunks = iter(lambda: list(islice(rest, CHUNK)), [])
    first = next(chunks, [])
    second = next(chunks, [])
    waiting = (chunk for part in ([first, second], chunks) for chunk in part if chunk)
    # A process takes seconds to start: not for one chunk.
    if second and jobs > 1:
        packed = _in_order(waiting, jobs, height, method)
    else:
        packed = (pack_chunk(chunk, height, method) for chunk in waiting)
    with tqdm(desc="Reading molecules", initial=done, disable=None, unit="") as bar:
        for count, graphs, skipped in packed:
            lines = io.StringIO()
            csv.writer(lines).writerows((done + row, words) for row, words in skipped)
            done, bad = done + count, bad + len(skipped)
            text = {_SKIPPED: lines.getvalue()}
            writer.append(graphs, text, rows=done, skipped=bad)
            bar.update(count)


def _in_order(
    chunks: Iterator[list[str]], jobs: int, height: int, method: TreeMethod
) -> Iterator[_Packed]:
    """Pack chunks, in order, without running ahead of a slow disk."""
    pool = get_reusable_executor(
        max_workers=jobs, initializer=_end_with, initargs=(os.getpid(),)
    )
    waiting: deque[Future[_Packed]] = deque()
    try:
        for chunk in chunks:
            waiting.append(pool.submit(pack_chunk, chunk, height, method))
            if len(waiting) >= _AHEAD * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _end_with(parent: int) -> None:
    """Let a worker end with its parent; killed, that would leave it on a full pipe."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def pack_chunk(rows: list[str], height: int, method: TreeMethod) -> _Packed:
    """Pack some molecules with their trees.

    Returns:
        The number of rows; the graphs, or None; which rows are no molecules.
    """
    parsed = [parse_smiles(smiles) for smiles in rows]
    found = [arrays for arrays in parsed if arrays is not None]
    skipped = [
        (i, smiles)
        for i, (smiles, arrays) in enumerate(zip(rows, parsed, strict=True))
        if arrays is None
    ]
    return len(rows), _pack(found, height, method) if found else None, skipped


def _pack(found: list[MoleculeArrays], height: int, method: TreeMethod) -> PackedGraphs:
    sizes = np.array([len(arrays.x) for arrays in found])
    edge_ptr = _prefix_sum(np.array([len(arrays.edge_attr) for arrays in found]))
    edge_index = np.concatenate([arrays.edge_index for arrays in found], axis=1)
    parent, level, tree_ptr = build_arrays(
        edge_index.astype(np.int64),
        edge_ptr,
        sizes,
        np.empty(0),
        height=height,
        method=method,
    )
    own = np.arange(len(parent)) - np.repeat(tree_ptr[:-1], np.diff(tree_ptr))
    behind = np.where(parent < 0, 0, parent - own)
    fields = {
        "x": np.concatenate([arrays.x for arrays in found]),
        "edge_index": np.ascontiguousarray(edge_index.T),
        "edge_attr": np.concatenate([arrays.edge_attr for arrays in found]),
        "tree_level": level.astype(np.uint8),
        "tree_parent": behind.astype(np.int32),
    }
    ptr = {"node": _prefix_sum(sizes), "edge": edge_ptr, "tree": tree_ptr}
    return PackedGraphs(
        {name: torch.from_numpy(values) for name, values in fields.items()},
        {group: torch.from_numpy(values) for group, values in ptr.items()},
        dict.fromkeys(_LONG, torch.long),
    )


def _refuse_none(folder: Path, writer: PackedWriter) -> None:
    rows = int(writer.place.get("rows", 0))
    if not writer.meta["graphs"]:
        raise ValueError(
            f"none of the {rows} rows is a molecule that RDKit can read: see "
            f"{folder / _SKIPPED}"
        )


def _report(folder: Path, writer: PackedWriter) -> None:
    """Say how many rows were no molecules."""
    rows, bad = (int(writer.place.get(name, 0)) for name in ("rows", "skipped"))
    if bad:
        with (folder / _SKIPPED).open(newline="") as file:
            first = [
                f"row {row}: {smiles!r}" for row, smiles in islice(csv.reader(file), 3)
            ]
        warnings.warn(
            f"{bad} of {rows} rows are left out, as RDKit or the features do not know "
            f"them; they are listed in {folder / _SKIPPED}: {', '.join(first)}",
            stacklevel=3,
        )


def _prefix_sum(sizes: Any) -> Any:
    return np.concatenate([[0], np.cumsum(sizes)])
