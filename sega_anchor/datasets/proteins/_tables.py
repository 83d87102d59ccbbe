"""Tables of proteins: interactions in the format of STRING, and labels."""

import gzip
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

CHANNELS = (
    "neighborhood",
    "fusion",
    "cooccurence",  # as STRING spells it
    "coexpression",
    "experimental",
    "database",
    "textmining",
)
"""Columns of STRING's ``protein.links.detailed`` files, relations w1 to w7."""

_ROWS = 1 << 18  # number of rows read at once
_LONGEST = 64  # bytes of a name
_HIGHEST = 1000  # largest score

Names = NDArray[np.bytes_]


class Interactions(NamedTuple):
    """Proteins and their relations."""

    names: Names  # (num_proteins,), sorted, each with a relation
    edge_index: Tensor  # (2, num_edges)
    relations: Tensor  # (num_edges, 7), 0 or 1, uint8


def read_interactions(path: Path, threshold: int) -> Interactions:
    """Read a table with the columns protein1, protein2 and :data:`CHANNELS`.

    A relation is 1 where its channel scores at least ``threshold``. Pairs and proteins
    without relations are left out.

    Raises:
        ValueError: if a column is missing, a row cannot be read, or no relation is
            left.
    """
    kind = np.dtype([("ends", f"S{_LONGEST}", 2), ("scores", np.int64, len(CHANNELS))])
    wanted = ("protein1", "protein2", *CHANNELS)
    names, ends, relations, top = [], [], [], 0
    for table in _chunks(path, lambda header: _places(path, header, wanted), kind):
        top = max(top, int(table["scores"].max()))
        if top > _HIGHEST or int(table["scores"].min()) < 0:
            raise ValueError(
                f"{path}: scores must be whole numbers from 0 to {_HIGHEST}"
            )
        present = table["scores"] >= threshold
        kept = present.any(axis=1)
        own, places = np.unique(_names(path, table["ends"][kept]), return_inverse=True)
        names.append(own)
        ends.append(places.reshape(-1, 2))
        relations.append(present[kept])
    everyone = np.unique(np.concatenate(names)) if names else np.empty(0, "S1")
    if not len(everyone):
        raise ValueError(
            f"{path}: no score reaches the threshold {threshold}, the highest is "
            f"{top}; give a lower threshold (1 for relations that are 0 or 1)"
        )
    numbers = [
        np.searchsorted(everyone, n)[e] for n, e in zip(names, ends, strict=True)
    ]
    edge_index = torch.from_numpy(np.concatenate(numbers).T)
    merged = torch.from_numpy(np.concatenate(relations).astype(np.uint8))
    return Interactions(everyone, edge_index, merged)


def read_labels(path: Path, num_tasks: int) -> tuple[Names, Tensor]:
    """Read a table of proteins and their labels, 0 or 1, ``(num_proteins, num_tasks)``.

    Raises:
        ValueError: for another number of tasks, other labels, or a repeated protein.
    """
    header: list[str] = []

    def places(found: list[str]) -> list[int]:
        header.extend(found)
        if len(found) != num_tasks + 1:
            raise ValueError(
                f"{path} has {len(found) - 1} tasks beside its first column, expected "
                f"{num_tasks}; give num_tasks={len(found) - 1} if that is right"
            )
        return list(range(len(found)))

    kind = np.dtype([("ends", f"S{_LONGEST}", 1), ("labels", "S8", num_tasks)])
    tables = list(_chunks(path, places, kind))
    if not tables:
        raise ValueError(f"{path} has no proteins")
    table = np.concatenate(tables)
    names, labels = _names(path, table["ends"][:, 0]), table["labels"]
    bad = (labels != b"0") & (labels != b"1")
    if bad.any():
        row, task = np.argwhere(bad)[0]
        raise ValueError(
            f"{path}: labels must be 0 or 1, got {labels[row, task].decode()!r} for "
            f"protein {names[row].decode()} in column {header[task + 1]!r}"
        )
    unique, count = np.unique(names, return_counts=True)
    if len(unique) < len(names):
        twice = unique[count.argmax()].decode()
        raise ValueError(
            f"{path} has protein {twice} {count.max()} times, expected once"
        )
    return names, torch.from_numpy((labels == b"1").astype(np.float32))


def species_of(path: Path, names: Names) -> Tensor:
    """Return the NCBI taxonomy numbers, which precede the dots in STRING's names.

    Raises:
        ValueError: naming the first protein without one.
    """
    prefix, dot, _ = np.moveaxis(np.char.partition(names, b"."), -1, 0)
    bad = ~np.char.isdigit(prefix) | (dot == b"")
    if bad.any():
        raise ValueError(
            f"{path}: protein {names[bad][0].decode()!r} has no species; names must "
            "begin with an NCBI taxonomy number and a dot, as 9606.ENSP00000000233"
        )
    return torch.from_numpy(prefix.astype(np.int64))


def _places(path: Path, header: list[str], wanted: tuple[str, ...]) -> list[int]:
    missing = [name for name in wanted if name not in header]
    if missing:
        raise ValueError(
            f"{path} has no column {', '.join(missing)}; its first line must name the "
            f"columns {' '.join(wanted)}, others are ignored"
        )
    return [header.index(name) for name in wanted]


def _chunks(
    path: Path, places: Callable[[list[str]], list[int]], kind: np.dtype[Any]
) -> Iterator[NDArray[Any]]:
    """Yield a table part by part, with the columns at the given positions."""
    with _opened(path) as file:
        columns = places(file.readline().split())
        begin = 2
        while lines := list(islice(file, _ROWS)):
            if len(table := _table(path, lines, begin, kind, columns)):
                yield table
            begin += len(lines)


def _table(
    path: Path, lines: list[str], begin: int, kind: np.dtype[Any], columns: list[int]
) -> NDArray[Any]:
    if all(line.isspace() for line in lines):
        return np.empty(0, kind)
    try:
        return np.loadtxt(lines, kind, comments=None, usecols=columns, ndmin=1)
    except ValueError as error:
        if len(lines) > 1:  # to name the line
            half = len(lines) // 2
            _table(path, lines[:half], begin, kind, columns)
            return _table(path, lines[half:], begin + half, kind, columns)
        raise ValueError(
            f"{path}: line {begin} cannot be read, {lines[0].strip()[:80]!r}; it needs "
            "a value for each column, separated by blanks or tabs, and scores that are "
            "whole numbers"
        ) from error


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _names(path: Path, names: Names) -> Names:
    if names.size and np.char.str_len(names).max() == _LONGEST:
        raise ValueError(f"{path}: a name has {_LONGEST} bytes or more, too long")
    return names
