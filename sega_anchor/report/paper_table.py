"""paper_table: one of the paper's tables with our numbers in its layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from scipy.stats import rankdata
from typing_extensions import override

from .accuracy import Accuracy
from .collect import Cell, Chosen
from .published import TABLES, PublishedTable, TableName, Value, published
from .result import Choice

if TYPE_CHECKING:
    import pandas

Protocol = Literal["honest", "paper"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
CHOICES: tuple[Choice, ...] = ("test", "validation")
#: How a difference to the published value compares with the spreads of both.
Verdict = Literal["within", "overlapping", "above", "below"]
#: How tables write it.
SIGNS: dict[Verdict, str] = {
    "within": "=",
    "overlapping": "≈",
    "above": ">",
    "below": "<",
}
_ROUNDING = 1e-9


def verdict(value: Value, ours: Accuracy) -> Verdict:
    """Return how far an accuracy is from a published mean and standard deviation.

    "within" one published standard deviation; "overlapping" with it, no further than
    the sum of both standard deviations; else "above" or "below".

    Example:
        >>> [verdict((80.0, 1.0), Accuracy((x - 2, x + 2), 1)) for x in (81, 83, 84)]
        ['within', 'overlapping', 'above']
    """
    mean, spread = value
    difference = ours.mean - mean
    if abs(difference) <= spread + _ROUNDING:
        return "within"
    if abs(difference) <= spread + ours.std + _ROUNDING:
        return "overlapping"
    return "above" if difference > 0 else "below"


class Mean(NamedTuple):
    """A mean over columns of a table, and over how many of those it has."""

    value: float
    columns: int
    of: int

    @override
    def __str__(self) -> str:
        part = "" if self.columns == self.of else f" ({self.columns} of {self.of})"
        return f"{self.value:.2f}{part}"


@dataclass(frozen=True)
class Entry:
    """What paper and records have of a method on a data set."""

    published: Value | None
    cell: Cell | None

    def chosen(self, choice: Choice) -> Chosen | None:
        """Return our value, None if there is none."""
        return None if self.cell is None else self.cell.chosen(choice)

    def verdict(self, choice: Choice) -> Verdict | None:
        """Return how our value compares, None if one of the two is missing."""
        found = self.chosen(choice)
        if found is None or self.published is None:
            return None
        return verdict(self.published, found.accuracy)


#: A line of a method: the paper's values, or ours by one of the two choices.
Line = Literal["published", "test", "validation"]
LINES: tuple[Line, ...] = get_args(Line)


@dataclass(frozen=True)
class Row:
    """A method: its entries and its means over columns.

    Args:
        name: what the paper calls it.
        label: what records call it.
        entries: by column.
        averages: "A.A." of each line, over the columns where paper and records have a
            value; as printed where that is all of the paper's.
        ranks: "A.R." of each line, among the rows that have records, over the columns
            that all of these have.
    """

    name: str
    label: str
    entries: Mapping[str, Entry]
    averages: Mapping[Line, Mean]
    ranks: Mapping[Line, Mean]

    @property
    def is_measured(self) -> bool:
        """Whether there is any record of it."""
        return any(one.cell is not None for one in self.entries.values())


@dataclass(frozen=True)
class PaperTable:
    """One of the paper's tables with our values, under one protocol.

    Args:
        name: such as "table1".
        protocol: of the records.
        title: what it is about.
        datasets: for each column how :func:`~sega_anchor.datasets.load` calls it.
        rows: the methods that are ours too.
    """

    name: TableName
    protocol: Protocol
    title: str
    datasets: Mapping[str, str]
    rows: tuple[Row, ...]

    @property
    def is_measured(self) -> bool:
        """Whether there is any record for it."""
        return any(row.is_measured for row in self.rows)

    def count(self, choice: Choice) -> dict[Verdict, int]:
        """Return how many entries compare how with what is published."""
        found = [e.verdict(choice) for row in self.rows for e in row.entries.values()]
        return {name: found.count(name) for name in SIGNS}

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each method and data set, in per cent.

        The columns are method, dataset, published, by_test and by_validation, each
        with a column of its spread, candidates, seeds, under_way, and how the two
        compare with the published. A.A. and A.R. stand among the data sets, "columns"
        says over how many they are. Needs pandas.
        """
        import pandas

        rows = []
        for row in self.rows:
            for column, entry in row.entries.items():
                rows.append({"method": row.name, "dataset": column, **_flat(entry)})
            for title, means in (("A.A.", row.averages), ("A.R.", row.ranks)):
                values = {_COLUMNS[k]: mean.value for k, mean in means.items()}
                counts = {mean.columns for mean in means.values()}
                about = {"columns": min(counts)} if counts else {}
                rows.append({"method": row.name, "dataset": title, **values, **about})
        frame = pandas.DataFrame(rows)
        whole = [c for c in _WHOLE if c in frame]
        return frame.astype(dict.fromkeys(whole, "Int64"))


_COLUMNS: dict[Line, str] = {
    "published": "published",
    "test": "by_test",
    "validation": "by_validation",
}
_WHOLE = ("candidates", "seeds", "under_way", "columns")


def paper_table(
    cells: Sequence[Cell], name: TableName, protocol: Protocol
) -> PaperTable:
    """Return one of the paper's tables with the cells that belong in it.

    Args:
        cells: of :func:`collect`.
        name: "table1" to "table4", see :func:`published`.
        protocol: "honest" or "paper"; only cells of it are taken.
    """
    paper = published(name)
    ours = {
        (cell.label, cell.dataset): cell
        for cell in cells
        if (cell.setting, cell.protocol) == (paper.setting, protocol)
    }
    entries = {
        row: {
            column: Entry(one.values[column], ours.get((one.label, dataset)))
            for column, dataset in paper.datasets.items()
        }
        for row, one in paper.rows.items()
        if one.label is not None
    }
    ranks = _ranks(entries)
    rows = tuple(
        Row(
            row,
            str(paper.rows[row].label),
            found,
            _averages(found, paper.rows[row].average),
            ranks.get(row, {}),
        )
        for row, found in entries.items()
    )
    return PaperTable(name, protocol, paper.title, paper.datasets, rows)


def is_in_paper(cell: Cell) -> bool:
    """Return whether one of the paper's tables has a place for a cell."""
    return any(_has_place(published(name), cell) for name in TABLES)


def _has_place(paper: PublishedTable, cell: Cell) -> bool:
    labels = {row.label for row in paper.rows.values()}
    return (
        cell.setting == paper.setting
        and cell.label in labels
        and cell.dataset in paper.datasets.values()
    )


def _value(entry: Entry, line: Line) -> float | None:
    if line == "published":
        return None if entry.published is None else entry.published[0]
    found = entry.chosen(line)
    return None if found is None else found.accuracy.mean


def _averages(entries: Mapping[str, Entry], printed: float | None) -> dict[Line, Mean]:
    """Return the mean of each line over the columns that paper and records have."""
    paper = {c: e.published[0] for c, e in entries.items() if e.published is not None}
    found: dict[Line, Mean] = {}
    for line in CHOICES:
        values = {c: _value(entries[c], line) for c in paper}
        known = {c: v for c, v in values.items() if v is not None}
        if known:
            mean = float(np.mean(list(known.values())))
            found[line] = Mean(mean, len(known), len(paper))
            if line == "test":
                theirs = float(np.mean([paper[c] for c in known]))
                found["published"] = Mean(theirs, len(known), len(paper))
    whole = "published" not in found or found["published"].columns == len(paper)
    if whole and printed is not None:
        found["published"] = Mean(printed, len(paper), len(paper))
    return found


def _ranks(entries: Mapping[str, Mapping[str, Entry]]) -> dict[str, dict[Line, Mean]]:
    """Return the mean rank of each line of each row that has records."""
    rows = [r for r, of in entries.items() if any(e.cell for e in of.values())]
    columns = list(next(iter(entries.values()))) if entries else []
    common = [
        c
        for c in columns
        if all(_value(entries[r][c], k) is not None for r in rows for k in LINES[:2])
    ]
    found: dict[str, dict[Line, Mean]] = {row: {} for row in rows}
    if len(rows) < 2 or not common:
        return found
    for line in LINES:
        values = [[_value(entries[r][c], line) for r in rows] for c in common]
        if any(one is None for column in values for one in column):
            continue
        mean = rankdata(-np.array(values, dtype=float), axis=1).mean(axis=0)
        for row, rank in zip(rows, mean.tolist(), strict=True):
            found[row][line] = Mean(rank, len(common), len(columns))
    return found


def _flat(entry: Entry) -> dict[str, object]:
    """Return an entry as columns of a frame."""
    found: dict[str, object] = {}
    if entry.published is not None:
        found["published"], found["published_std"] = entry.published
    for choice in CHOICES:
        if (chosen := entry.chosen(choice)) is not None:
            found[f"by_{choice}"] = chosen.accuracy.mean
            found[f"by_{choice}_std"] = chosen.accuracy.std
            found[f"by_{choice}_compares"] = entry.verdict(choice)
            found[f"by_{choice}_record"] = chosen.measured.path.name
    if entry.cell is not None:
        found["candidates"] = entry.cell.candidates
        found["seeds"] = entry.cell.seeds
        found["under_way"] = entry.cell.under_way
    return found
