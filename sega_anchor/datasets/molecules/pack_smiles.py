"""pack_smiles: packed graphs and trees, on disk, from a SMILES file of any size."""

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

import numpy as np
import torch
from joblib import cpu_count
from joblib.externals.loky import get_reusable_executor
from torch_geometric.data import Data

from ...loader._files import META
from ...loader.on_disk import PackedWriter, is_finished, open_packed
from ...loader.packed_graphs import Column, PackedGraphs
from ...trees import AddCodingTree, AddTree, TreeName, tree_transform
from ...trees.build import BUILDER_VERSION, build_arrays
from ...trees.cache import Trees
from ...trees.fingerprint import fingerprint
from ...trees.levels import TREE, parent_offsets
from ...utils.checks import check_at_least
from ...utils.files import check_writable, file_digest
from ...utils.locks import one_at_a_time
from ...utils.progress import ProgressCounter, log_shown
from ...utils.scatter import prefix_sum
from .smiles import MoleculeArrays, iterate_smiles, parse_smiles

#: Rows that a process reads at a time, the most that a kill can lose.
CHUNK = 10_000
_AHEAD = 3  # chunks queued for each process; bounds the memory
_HIGHEST = 255  # levels are stored as uint8
_SKIPPED = "skipped.csv"

Skipped = list[tuple[int, str]]
_Packed = tuple[int, PackedGraphs | None, Skipped]


def pack_smiles(
    path: str | Path,
    folder: str | Path,
    *,
    height: int = 5,
    method: TreeName = "refined",
    jobs: int | None = None,
) -> PackedGraphs:
    """Read molecules and build their coding trees on all cores, in bounded memory.

    A finished folder is opened as it is, and an interrupted one is continued after its
    last chunk. If several processes ask for the same folder, one of them does the work.

    Args:
        path: a file for :func:`~sega_anchor.datasets.molecules.smiles.iterate_smiles`.
        folder: folder of the graphs, about 600 bytes a molecule. Rows without a
            molecule are listed in its ``skipped.csv``.
        height: height of the trees, at most 255.
        method: a name for :func:`~sega_anchor.trees.tree_transform`.
        jobs: number of processes; default one for each core that this process may use.

    Returns:
        The graphs, in the order of the file, memory-mapped.

    Raises:
        ValueError: if the file is missing, unreadable or without molecules, or the
            folder holds other graphs.
        ImportError: if RDKit is not installed.
    """
    tree_transform(method, height)  # checks both
    if height > _HIGHEST:
        raise ValueError(f"height must be at most {_HIGHEST}, got {height!r}")
    if jobs is not None:
        check_at_least("jobs", jobs, 1)
    path, folder = Path(path), Path(folder)
    about = {
        "sha256": file_digest(path),
        "height": height,
        "method": method,
        "builder": BUILDER_VERSION,
    }
    rows = iterate_smiles(path)  # fails for a file without the column
    if not is_finished(folder, about):
        check_writable(folder)
        with one_at_a_time(folder / META), log_shown():
            writer = PackedWriter(folder, about)
            if not writer.is_complete:  # by another process meanwhile
                _write(writer, rows, height, method, jobs or cpu_count())
                _check_any(folder, writer)
                writer.finish()
                _warn_of_skipped(folder, writer)
    return open_packed(folder)


def _write(
    writer: PackedWriter,
    rows: Iterator[str],
    height: int,
    method: TreeName,
    jobs: int,
) -> None:
    """Pack the remaining rows, chunk by chunk in the order of the file."""
    done = int(writer.place.get("rows", 0))
    bad = int(writer.place.get("skipped", 0))
    rest = islice(rows, done, None)
    chunks = iter(lambda: list(islice(rest, CHUNK)), [])
    first = next(chunks, [])
    second = next(chunks, [])
    waiting = (chunk for part in ([first, second], chunks) for chunk in part if chunk)
    # For a single chunk it is not worth starting processes, which takes seconds.
    if second and jobs > 1:
        packed = _in_order(waiting, jobs, height, method)
    else:
        packed = (pack_chunk(chunk, height, method) for chunk in waiting)
    with ProgressCounter("Packing molecules", done=done, unit="") as counter:
        for count, graphs, skipped in packed:
            lines = io.StringIO()
            csv.writer(lines).writerows((done + row, words) for row, words in skipped)
            done, bad = done + count, bad + len(skipped)
            text = {_SKIPPED: lines.getvalue()}
            writer.append(graphs, text, rows=done, skipped=bad)
            counter.update(count)


def _in_order(
    chunks: Iterator[list[str]], jobs: int, height: int, method: TreeName
) -> Iterator[_Packed]:
    """Pack chunks on processes, in order, with a bounded queue."""
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
    """End a worker with its parent, after whose death it would hang on a full pipe."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def pack_chunk(rows: list[str], height: int, method: TreeName) -> _Packed:
    """Pack molecules with their trees.

    Returns:
        The number of rows; the graphs, or None; the rows without a molecule.
    """
    parsed = [parse_smiles(smiles) for smiles in rows]
    found = [arrays for arrays in parsed if arrays is not None]
    skipped = [
        (i, smiles)
        for i, (smiles, arrays) in enumerate(zip(rows, parsed, strict=True))
        if arrays is None
    ]
    return len(rows), _pack(found, height, method) if found else None, skipped


def _pack(found: list[MoleculeArrays], height: int, method: TreeName) -> PackedGraphs:
    sizes = torch.tensor([len(arrays.x) for arrays in found])
    edge_ptr = prefix_sum(torch.tensor([len(arrays.edge_attr) for arrays in found]))
    edge_index = np.concatenate([arrays.edge_index for arrays in found], axis=1)
    graphs = edge_index.astype(np.int64), edge_ptr.numpy(), sizes.numpy(), np.empty(0)
    transform = tree_transform(method, height)
    if type(transform) is AddCodingTree:
        trees = Trees(*build_arrays(*graphs, height=height, method=transform.method))
    else:  # a control, for an experiment or two: it may take its time
        trees = _one_by_one(found, transform)
    parent, level, tree_ptr = trees
    batch = torch.arange(len(found)).repeat_interleave(sizes)
    first = (sizes.cumsum(0) - sizes).repeat_interleave(edge_ptr.diff())
    graph = fingerprint(torch.from_numpy(edge_index) + first, batch, sizes)
    fields = {
        "x": np.concatenate([arrays.x for arrays in found]),
        "edge_index": np.ascontiguousarray(edge_index.T),
        "edge_attr": np.concatenate([arrays.edge_attr for arrays in found]),
        f"{TREE}__level": level.astype(np.uint8),
        f"{TREE}__parent": parent_offsets(parent, tree_ptr).astype(np.int32),
        f"{TREE}__fingerprint": graph.numpy(),
    }
    return PackedGraphs(
        {name: torch.from_numpy(values) for name, values in fields.items()},
        {
            "node": prefix_sum(sizes),
            "edge": edge_ptr,
            "tree": torch.from_numpy(tree_ptr),
        },
        {name: Column.usual(name, torch.long) for name in fields},
    )


def _one_by_one(found: list[MoleculeArrays], transform: AddTree) -> Trees:
    """Return the trees of any transform."""
    trees = []
    for arrays in found:
        edge_index = torch.from_numpy(arrays.edge_index).long()
        data = Data(edge_index=edge_index, num_nodes=len(arrays.x))
        trees.append(transform.tree(data))
    return Trees(
        torch.cat([tree.parent for tree in trees]).numpy(),
        torch.cat([tree.level for tree in trees]).numpy(),
        np.cumsum([0, *(len(tree.level) for tree in trees)]),
    )


def _check_any(folder: Path, writer: PackedWriter) -> None:
    rows = int(writer.place.get("rows", 0))
    if not writer.meta["graphs"]:
        raise ValueError(
            f"none of the {rows} rows is a molecule that RDKit can read: see "
            f"{folder / _SKIPPED}"
        )


def _warn_of_skipped(folder: Path, writer: PackedWriter) -> None:
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
