"""process_raw: turn raw TU text files into the cache file of PyG's TUDataset."""

import io
import warnings
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import coalesce, one_hot, remove_self_loops

from ...utils.files import write_sealed
from ...utils.scatter import prefix_sum
from .._files import byte_bar

_CHUNK = 1 << 21
_MOST_ONES = 1 << 32  # entries of one-hot labels: 16 GB

_T = TypeVar("_T", bound=np.generic)


def process_raw(raw: Path, name: str, target: Path) -> None:
    """Read the raw files of a set and write the cache of ``TUDataset`` atomically.

    Args:
        raw: folder of the files ``NAME_*.txt``.
        name: name of the data set.
        target: file to write, ``ROOT/NAME/processed/data.pt``.

    Raises:
        ValueError: if a file is not a table of numbers or the files disagree.
        OSError: if the file cannot be written.
    """
    data, slices, sizes = read_raw(raw, name)
    content = io.BytesIO()  # torch's own writer hides what a full disk says
    torch.save((data.to_dict(), slices, sizes, Data), content)
    write_sealed(target, content.getvalue())


def read_raw(raw: Path, name: str) -> tuple[Data, dict[str, Tensor], dict[str, int]]:
    """Read the raw files of a set into one ``Data`` and the slices of its graphs.

    The result is that of PyG's ``read_tu_data``, with a progress bar and a tenth of its
    memory (it keeps Python numbers, more than 5 GB for COLLAB). It differs in three
    ways: files are checked, graphs without edges at the end of a set keep all nodes,
    and ``y`` holds class labels even if a set has ``graph_attributes``.

    Args:
        raw: folder of the files ``NAME_*.txt``.
        name: name of the data set.

    Returns:
        The data, with nodes numbered within each graph in ``edge_index`` ``(2,
        num_edges)``; its slices; and the widths of labels and attributes.

    Raises:
        ValueError: if a file is not a table of numbers or the files disagree.
    """
    node_graph = torch.from_numpy(_labels(raw, name, "graph_indicator")) - 1
    y = np.unique(_labels(raw, name, "graph_labels"), return_inverse=True)[1]
    edge_index = torch.from_numpy(_table(raw, name, "A", np.dtype(np.int64))).t() - 1
    _check(name, edge_index, node_graph, len(y))
    x, node_sizes = _features(raw, name, "node", len(node_graph))
    edge_attr, edge_sizes = _features(raw, name, "edge", edge_index.size(1))
    edge_index, edge_attr = remove_self_loops(edge_index, edge_attr)
    edge_index, edge_attr = coalesce(edge_index, edge_attr, len(node_graph))
    data = Data(x, edge_index, edge_attr, y=torch.from_numpy(y))
    return data, _slice(data, node_graph, len(y)), {**node_sizes, **edge_sizes}


def _check(name: str, edge_index: Tensor, node_graph: Tensor, graphs: int) -> None:
    """Raise ValueError unless graphs are in order and edges within graphs."""
    nodes = len(node_graph)
    if edge_index.size(0) != 2:
        raise ValueError(f"{name}_A.txt must have two columns: 'node, node'")
    if edge_index.numel() and not 0 <= edge_index.min() <= edge_index.max() < nodes:
        raise ValueError(
            f"{name}_A.txt names nodes outside 1..{nodes}, the nodes that "
            f"{name}_graph_indicator.txt lists"
        )
    if (
        node_graph.min() < 0  # the smallest and largest first: differences may wrap
        or node_graph.max() != graphs - 1
        or (node_graph.diff() < 0).any()
    ):
        raise ValueError(
            f"{name}_graph_indicator.txt must be non-decreasing from 1 to {graphs}, "
            f"the number of labels in {name}_graph_labels.txt"
        )
    if (node_graph[edge_index[0]] != node_graph[edge_index[1]]).any():
        raise ValueError(f"{name}_A.txt joins nodes of different graphs")


def _slice(data: Data, node_graph: Tensor, graphs: int) -> dict[str, Tensor]:
    """Number nodes within each graph, and return where graphs begin and end."""
    nodes = torch.bincount(node_graph, minlength=graphs)
    node_slice = prefix_sum(nodes)
    edge_graph = node_graph[data.edge_index[0]]
    edge_slice = prefix_sum(torch.bincount(edge_graph, minlength=graphs))
    data.edge_index -= node_slice[edge_graph]
    slices = {"edge_index": edge_slice, "y": torch.arange(graphs + 1)}
    if data.x is not None:
        slices["x"] = node_slice
    else:  # as ``InMemoryDataset.collate`` stores sizes without features
        data._num_nodes = nodes.tolist()
        data.num_nodes = len(node_graph)
    if data.edge_attr is not None:
        slices["edge_attr"] = edge_slice
    return slices


def _features(
    raw: Path, name: str, of: str, rows: int
) -> tuple[Tensor | None, dict[str, int]]:
    """Return attributes and one-hot labels of nodes or edges, and their widths."""
    parts = {"attributes": torch.empty(rows, 0), "labels": torch.empty(rows, 0)}
    for kind in parts:
        if not (raw / f"{name}_{of}_{kind}.txt").is_file():
            continue
        dtype = np.dtype(np.float32 if kind == "attributes" else np.int64)
        table = torch.from_numpy(_table(raw, name, f"{of}_{kind}", dtype))
        if len(table) != rows:
            raise ValueError(
                f"{name}_{of}_{kind}.txt has {len(table)} rows for {rows} {of}s"
            )
        if kind == "labels":
            _check_labels(f"{name}_{of}_{kind}.txt", table)
            table = table - table.min(dim=0).values
            table = torch.cat([one_hot(column) for column in table.unbind(1)], dim=1)
        parts[kind] = table
    values = torch.cat(list(parts.values()), dim=1)
    sizes = {f"num_{of}_{kind}": part.size(1) for kind, part in parts.items()}
    return (values if values.size(1) else None), sizes


def _check_labels(file: str, table: Tensor) -> None:
    """Refuse labels whose one-hot form no memory holds."""
    for column in table.unbind(1):
        least, most = int(column.min()), int(column.max())
        if len(table) * (most - least + 1) > _MOST_ONES:
            raise ValueError(
                f"{file} has labels from {least} to {most}, too many to be one-hot: "
                "number them from 0"
            )


def _labels(raw: Path, name: str, kind: str) -> NDArray[np.int64]:
    """Return the content of a file with one integer a line."""
    table = _table(raw, name, kind, np.dtype(np.int64))
    if table.shape[1] != 1 or not len(table):
        raise ValueError(f"{name}_{kind}.txt must have one whole number a line")
    return table[:, 0]


def _table(raw: Path, name: str, kind: str, dtype: np.dtype[_T]) -> NDArray[_T]:
    """Return the content of a comma-separated file of numbers, ``(rows, columns)``."""
    path = raw / f"{name}_{kind}.txt"
    with path.open("rb") as file:
        first = next(filter(bytes.strip, file), b"")
    parts: list[NDArray[_T]] = []
    before = 0  # lines
    for lines in _whole_lines(path):
        try:
            # The first line goes ahead of each part: it says how many columns.
            parts.append(_numbers(chain([first], io.BytesIO(lines)), dtype)[1:])
        except (ValueError, DeprecationWarning):
            rows = lines.split(b"\n")
            bad = _first_bad([first, *rows], dtype)
            raise ValueError(
                f"{str(path)!r} is not a table of {first.count(b',') + 1} columns of "
                f"{dtype.name} numbers: line {before + bad + 1} is "
                f"{rows[bad][:80].decode(errors='replace')!r}; replace the archive or "
                "the raw files"
            ) from None
        before += lines.count(b"\n") + 1
    return np.concatenate(parts) if parts else np.empty((0, 1), dtype=dtype)


def _numbers(rows: Iterable[bytes], dtype: np.dtype[_T]) -> NDArray[_T]:
    """Return the numbers of some lines; blank ones do not count.

    Raises:
        ValueError: for lines of different lengths, or what is no number or too large.
        DeprecationWarning: for a fraction that should be a whole number.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        table: NDArray[_T] = np.loadtxt(
            rows, dtype=dtype, comments=None, delimiter=",", ndmin=2
        )
    return table


def _first_bad(rows: list[bytes], dtype: np.dtype[Any]) -> int:
    """Return which line behind the first is the first that does not go with it."""

    def fails(count: int) -> bool:
        try:
            _numbers(rows[:count], dtype)
        except (ValueError, DeprecationWarning):
            return True
        return False

    bad = bisect_left(range(2, len(rows)), True, key=fails)
    while bad < len(rows) - 2 and not rows[bad + 1].strip():  # the first of all is bad
        bad += 1
    return bad


def _whole_lines(path: Path) -> Iterator[bytes]:
    """Yield the text of a file in parts of whole lines."""
    rest = b""
    with (
        path.open("rb") as file,
        byte_bar(f"Reading {path.name}", path.stat().st_size, delay=1.0) as bar,
    ):
        while block := file.read(_CHUNK):
            bar.update(len(block))
            lines, end, rest = (rest + block).rpartition(b"\n")
            if end:
                yield lines
    if rest:
        yield rest
