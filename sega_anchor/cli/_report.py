"""``sega-anchor report``: the paper's tables and figures, ours beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from ..report.paper_table import CHOICES, Protocol
from ..report.published import TableName
from ..utils.texts import escape
from ._json import accuracy_json

if TYPE_CHECKING:
    from ..report import Cell, PaperTable


def add_arguments(parser: ArgumentParser) -> None:
    """Give the parser the arguments of ``sega-anchor report``."""
    parser.add_argument("results", type=str, help="folder of the records")
    parser.add_argument(
        "--output",
        type=str | None,
        help="folder for index.html and the tables as .md, .csv and .tex; default: "
        "report in the folder of the records",
    )
    parser.add_argument(
        "--tables",
        type=TableName,
        nargs="+",
        help="tables of the paper; default: those that have a value on record",
    )
    parser.add_argument(
        "--protocol",
        type=Protocol | None,
        help="of the records that are shown; default: both",
    )


def run(chosen: Namespace) -> dict[str, Any]:
    """Write tables and page; print the tables and where the page is.

    Returns:
        All values, as JSON knows them.

    Raises:
        ValueError: for a folder without records, or one that cannot be written.
    """
    from ..report.page import write_report

    report = write_report(chosen.results, chosen.output, chosen.tables, chosen.protocol)
    print(report.text)
    for path, reason in report.found.left_out.items():
        print(f"left out: {escape(path.name)} {reason}")
    print(f"Page: {escape(str(report.page))}")
    return {
        "page": str(report.page),
        "tables": [_table_json(one) for one in report.tables],
        "cells": [_cell_json(cell) for cell in report.found.cells],
        "left_out": {p.name: why for p, why in report.found.left_out.items()},
    }


def _table_json(table: PaperTable) -> dict[str, Any]:
    """Return the rows of a table: published values, how ours compare, means."""
    rows = [
        {
            "method": row.name,
            "label": row.label,
            "published": {c: entry.published for c, entry in row.entries.items()},
            **{
                f"by_{choice}_compares": {
                    column: entry.verdict(choice)
                    for column, entry in row.entries.items()
                }
                for choice in CHOICES
            },
            "average": {line: m._asdict() for line, m in row.averages.items()},
            "rank": {line: m._asdict() for line, m in row.ranks.items()},
        }
        for row in table.rows
    ]
    return {"name": table.name, "protocol": table.protocol, "rows": rows}


def _cell_json(cell: Cell) -> dict[str, Any]:
    """Return the value of a cell by both choices, and the record each is from."""
    found: dict[str, Any] = {
        name: getattr(cell, name)
        for name in ("setting", "protocol", "label", "dataset", "under_way")
    }
    for choice in CHOICES:
        value = cell.chosen(choice)
        found[f"by_{choice}"] = value and {
            **accuracy_json(value.accuracy),
            "seeds": value.measured.seeds,
            "record": str(value.measured.path),
        }
    return found
