"""write_report: tables and a page of all records in a folder, as files."""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...utils.checks import check_choice
from ...utils.files import check_writable, write_atomically
from ..collect import Cell, Collected, collect
from ..formats import (
    LEGEND,
    cell_frame,
    cell_rows,
    heading,
    latex,
    markdown,
    paper_rows,
)
from ..paper_table import PROTOCOLS, PaperTable, Protocol, is_in_paper, paper_table
from ..published import TABLES, TableName

_OTHERS = "Every method and data set that has no place in the paper's tables."


@dataclass(frozen=True)
class Report:
    """What was written.

    Args:
        page: the file to open.
        found: what the records hold.
        tables: those of the paper that are shown.
        text: all tables as Markdown.
    """

    page: Path
    found: Collected
    tables: tuple[PaperTable, ...]
    text: str


def write_report(
    results: str | Path,
    output: str | Path | None = None,
    tables: Sequence[TableName] | None = None,
    protocol: Protocol | None = None,
) -> Report:
    """Write the paper's tables with the values on record, and a page with figures.

    Each table becomes a Markdown, a CSV and a LaTeX file; ``index.html`` holds all of
    them, needs no network, and links every number to its record. Figures that need the
    graphs themselves are drawn of data sets that are here; nothing is downloaded.

    Args:
        results: folder of the records.
        output: where to write; default: the folder ``report`` in it.
        tables: which of the paper's; default: those that have a value on record.
        protocol: "honest" or "paper"; default: both, as far as there are records.

    Raises:
        ValueError: for a folder without records, or one that cannot be written.
        ImportError: if pandas, matplotlib or Jinja2 is missing.

    Example:
        >>> write_report("no-such-folder")
        Traceback (most recent call last):
        ...
        ValueError: there is no folder 'no-such-folder': name one with records, ...
    """
    for table in tables or ():
        check_choice("tables", table, TableName)
    check_choice("protocol", protocol, Protocol, optional=True)
    _check_extra()
    found = collect(results)
    folder = Path(results) / "report" if output is None else Path(output)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{str(folder)!r} is a file: give --output a folder")
    check_writable(folder)
    from ._render import render  # needs the extra

    protocols = PROTOCOLS if protocol is None else (protocol,)
    cells = [cell for cell in found.cells if cell.protocol in protocols]
    every = [paper_table(cells, t, p) for t in tables or TABLES for p in protocols]
    shown = tuple(one for one in every if one.is_measured or tables)
    others = [cell for cell in cells if not is_in_paper(cell)]
    content = {
        name: text for one in shown for name, text in _paper_files(one).items()
    } | _other_files(others)
    whole = Collected(found.folder, cells, found.left_out)
    content["index.html"] = render(whole, shown, others, folder)
    for name, text in content.items():
        write_atomically(folder / name, text.encode())
    parts = [text for name, text in content.items() if name.endswith(".md")]
    return Report(
        folder / "index.html",
        whole,
        shown,
        "\n".join([*parts, textwrap.fill(LEGEND, 88)]),
    )


def _check_extra() -> None:
    for name in ("pandas", "matplotlib", "jinja2"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise ImportError(
                f"a report needs {name}: pip install 'sega-anchor[report]'"
            ) from error


def _paper_files(one: PaperTable) -> dict[str, str]:
    caption, rows = heading(one), paper_rows(one)
    name = f"{one.name}-{one.protocol}"
    return {
        f"{name}.md": markdown(caption, *rows),
        f"{name}.csv": one.to_frame().to_csv(index=False),
        f"{name}.tex": latex(caption, *rows),
    }


def _other_files(cells: Sequence[Cell]) -> dict[str, str]:
    if not cells:
        return {}
    rows = cell_rows(cells)
    return {
        "others.md": markdown(_OTHERS, *rows),
        "others.csv": cell_frame(cells).to_csv(index=False),
        "others.tex": latex(_OTHERS, *rows),
    }
