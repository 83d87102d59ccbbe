"""pack_dataset: a data set that does not fit into memory, packed on disk."""

import hashlib
import zlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from torch.utils.data import DataLoader
from torch_geometric.data import Dataset, OnDiskDataset

from ..utils.files import check_writable
from ..utils.locks import one_at_a_time
from ..utils.progress import ProgressCounter, log_shown
from ._files import META
from .digest import digest
from .on_disk import PackedWriter, check_storable, is_finished, open_packed
from .packed_graphs import PackedGraphs

_LOOKED_AT = 64  # graphs, to tell one data set from another


def pack_dataset(
    dataset: Dataset | OnDiskDataset,
    folder: str | Path,
    *,
    workers: int = 0,
    chunk: int = 1024,
) -> PackedGraphs:
    """Pack any PyG data set into a folder, once; batches are then cut from the disk.

    Worker processes read the graphs and apply the data set's ``transform``, trees
    included; memory holds a few chunks. An interrupted call resumes, a finished
    one only opens the folder. That it holds these graphs is told by up to 64 of them,
    the first, the last and some evenly spread, as they are and through the transform;
    a set that differs in others only is taken for the same::

        dataset = MyGraphs(root, transform=anchor.transform)  # an OnDiskDataset
        graphs = pack_dataset(dataset, "packed/mine", workers=8)
        for batch in PackedLoader(graphs, 256, shuffle=True): ...

    Args:
        dataset: the graphs, all with the same attributes; the transform must give the
            same each time.
        folder: where they are packed; created if missing, nothing else may be in it.
        workers: processes that read; 0 for none but this one.
        chunk: graphs at once.

    Returns:
        The graphs, mapped from disk.

    Raises:
        ValueError: for an empty data set, graphs that do not pack or cannot be stored,
            or a folder that holds something else.

    Example:
        >>> import tempfile
        >>> from sega_anchor.datasets import load
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     len(pack_dataset(load("synthetic"), folder))
        300
    """
    if len(dataset) == 0:
        raise ValueError("there are no graphs to pack")
    about = {
        "dataset": type(dataset).__name__,
        "graphs": len(dataset),
        "slice": zlib.crc32(np.array(dataset.indices()).tobytes()),
        "transform": repr(dataset.transform),
        "content": _content(dataset),
    }
    if not is_finished(folder, about):
        check_storable(_read(dataset, [0]))  # before the folder is made
        check_writable(folder)
        with one_at_a_time(Path(folder) / META), log_shown():
            _pack(dataset, PackedWriter(folder, about), workers, chunk)
    return open_packed(folder)


def _pack(
    dataset: Dataset | OnDiskDataset, writer: PackedWriter, workers: int, chunk: int
) -> None:
    """Pack the graphs that are left, unless another process has done so meanwhile."""
    done = int(writer.place.get("done", 0))
    with ProgressCounter("Packing graphs", len(dataset), done) as counter:
        # PyG's loader takes a slice of an OnDiskDataset for the whole.
        numbers: Any = range(done, len(dataset))
        read = partial(_read, dataset)
        for packed in DataLoader(numbers, chunk, num_workers=workers, collate_fn=read):
            done += len(packed)
            writer.append(packed, done=done)
            counter.update(len(packed))
    writer.finish()


def _content(dataset: Dataset | OnDiskDataset) -> str:
    """Return a digest of some graphs, before and behind the transform."""
    some = np.linspace(0, len(dataset) - 1, min(len(dataset), _LOOKED_AT))
    found = hashlib.sha256()
    for i in some.astype(int).tolist():
        for data in (dataset.get(dataset.indices()[i]), dataset[i]):
            try:
                found.update(digest(PackedGraphs.of([data])).encode())
            except ValueError as error:  # a transform may mend that; packing will tell
                found.update(str(error).encode())
    return found.hexdigest()[:16]


def _read(dataset: Dataset | OnDiskDataset, numbers: Sequence[int]) -> PackedGraphs:
    return PackedGraphs.of([dataset[number] for number in numbers])
