"""What the template shows: numbers with their records, rows that filters know."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from ..collect import Cell, Measured
from ..formats import NONE, seeds_text
from ..paper_table import CHOICES, LINES, SIGNS, Entry, Line, PaperTable, Row, Verdict
from ..result import Choice

#: Said of each sign.
COMPARES = {
    "within": "within one published standard deviation",
    "overlapping": "within the sum of both standard deviations",
    "above": "above the paper's value by more than both standard deviations",
    "below": "below the paper's value by more than both standard deviations",
}
#: The lines of a method, where there is little room.
_SHORT: dict[Line, str] = {
    "published": "paper",
    "test": "by test",
    "validation": "by validation",
}
#: Entries of a configuration that say the same at length.
_LONG = {"anchor", "label", "dataset"}


class Number(NamedTuple):
    """A value in a table: its text, what sorts it, and where it is from."""

    mean: str
    spread: str = ""
    sort: float | None = None
    link: str = ""
    tip: str = ""
    sign: str = ""
    compares: str = ""
    part: str = ""


class Item(NamedTuple):
    """A cell of a table, in a column that filters may hide."""

    number: Number
    dataset: str = ""


class LineOfMethod(NamedTuple):
    """A line of a method: what it is, and an item for each column."""

    kind: str
    title: str
    items: list[Item]


@dataclass(frozen=True)
class Links:
    """Where records are, seen from the page, and what tells them apart.

    Args:
        output: folder of the page.
    """

    output: Path

    def file(self, one: Measured) -> str:
        """Return the address of a record."""
        relative = os.path.relpath(one.path.resolve(), self.output.resolve())
        return quote(Path(relative).as_posix())

    def detail(self, one: Measured) -> str:
        """Return the name of the place on the page that tells of a record."""
        return re.sub(r"[^\w.-]", "_", one.path.stem)

    def tip(self, cell: Cell, one: Measured) -> str:
        """Return in a few lines what a number is from."""
        differs = varying(cell)
        options = ", ".join(f"{k} {one.config.get(k)}" for k in differs)
        lines = [f"{cell.label} on {cell.dataset}, protocol {cell.protocol}"]
        lines += [f"chosen of {len(cell.measured)}: {options}"] if options else []
        lines.append(f"seeds {', '.join(map(str, one.seeds))}")
        return "\n".join(lines)

    def number(
        self, cell: Cell, choice: Choice, compares: Verdict | None = None
    ) -> Number:
        """Return the value of a cell."""
        found = cell.chosen(choice)
        if found is None:
            return Number(NONE)
        accuracy = found.accuracy
        return Number(
            f"{accuracy.mean:.2f}",
            f"{accuracy.std:.2f}" if accuracy.seeds > 1 else "",
            accuracy.mean,
            self.file(found.measured),
            self.tip(cell, found.measured),
            SIGNS[compares] if compares else "",
            compares or "",
        )

    def candidates(self, cell: Cell) -> Number:
        """Return how many numbers competed in a cell."""
        return Number(str(cell.candidates), "", cell.candidates)

    def seeds(self, cell: Cell) -> Number:
        """Return how many seeds a cell has, and where the page tells of them."""
        place = f"#{self.detail(cell.best.measured)}"
        return Number(
            seeds_text(cell), "", cell.seeds, place, "configuration and seeds"
        )


def varying(cell: Cell) -> list[str]:
    """Return the options in which the configurations of a cell differ."""
    names = {name for one in cell.measured for name in one.config}
    names -= {*_LONG, "content"}  # trees are part of the digest of the graphs
    return [
        n
        for n in sorted(names)
        if len({repr(o.config.get(n)) for o in cell.measured}) > 1
    ]


def options_of(one: Measured) -> list[tuple[str, str]]:
    """Return a configuration as pairs of words, the view's transform for the anchor."""
    found = [(k, str(v)) for k, v in one.config.items() if k not in _LONG]
    if anchor := one.config.get("anchor"):
        transform = re.search(r"transform=(.*?)(?:, max_degree=.*)?\n", str(anchor))
        found.insert(0, ("anchor", transform[1] if transform else str(anchor)))
    return found


def lines_of(row: Row, table: PaperTable, links: Links) -> list[LineOfMethod]:
    """Return the lines of a method, those of ours only where there are records."""
    found = []
    for line in LINES if row.is_measured else LINES[:1]:
        items = [
            Item(_number(entry, line, links), table.datasets[column])
            for column, entry in row.entries.items()
        ]
        for means in (row.averages, row.ranks):
            mean = means.get(line)
            sort = None if mean is None else mean.value
            value, _, part = str(mean or NONE).partition(" (")
            items.append(Item(Number(value, "", sort, part=part.rstrip(")"))))
        found.append(LineOfMethod(line, _SHORT[line], items))
    if row.is_measured:
        for title in ("candidates", "seeds"):
            items = [
                Item(_count(entry.cell, title, links), table.datasets[column])
                for column, entry in row.entries.items()
            ]
            found.append(
                LineOfMethod("count", title, [*items, *[Item(Number(""))] * 2])
            )
    return found


def _number(entry: Entry, line: Line, links: Links) -> Number:
    if line == "published":
        if entry.published is None:
            return Number(NONE)
        mean, spread = entry.published
        return Number(f"{mean:.2f}", f"{spread:.2f}", mean)
    if entry.cell is None:
        return Number(NONE)
    return links.number(entry.cell, line, entry.verdict(line))


def _count(cell: Cell | None, title: str, links: Links) -> Number:
    if cell is None:
        return Number(NONE)
    if title == "seeds":
        return links.seeds(cell)
    return links.candidates(cell)


def summary_rows(tables: Sequence[PaperTable]) -> list[list[str]]:
    """Return how many values of each table compare how, for both choices."""
    rows = []
    for table in tables:
        entries = [entry for row in table.rows for entry in row.entries.values()]
        possible = sum(entry.published is not None for entry in entries)
        for choice in CHOICES:
            counts = table.count(choice)
            measured = sum(counts.values())
            rows.append(
                [
                    f"Table {table.name[-1]}, {table.protocol}",
                    choice,
                    f"{measured} of {possible}",
                    *(str(counts[name]) for name in SIGNS),
                ]
            )
    return rows
