"""The tables of a report as Markdown, LaTeX and frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .collect import Cell
from .paper_table import CHOICES, LINES, SIGNS, Entry, Line, PaperTable, Row
from .table import table

if TYPE_CHECKING:
    import pandas

NONE = "-"
#: How the lines of a method are called.
TITLES: dict[Line, str] = {
    "published": "paper",
    "test": "ours, chosen on test",
    "validation": "ours, chosen on validation",
}
#: What the protocols are, in a sentence.
PROTOCOL_NOTES = {
    "honest": "Protocol honest: features, folds and batches without the published "
    "procedure's quirks.",
    "paper": "Protocol paper: features, folds and batches as in the published "
    "procedure.",
}
#: How to read values, signs and means.
VALUES = (
    "Per cent, mean ± standard deviation over seeds. Chosen on test: the best mean "
    "TEST score of all configurations, epochs and embeddings, as the paper reports. "
    "Chosen on validation: configuration, epoch and embedding by validation data "
    "alone, the number to believe. Candidates: how many numbers competed."
)
MEANS = (
    "A.A.: mean over the data sets that paper and records have. A.R.: mean rank among "
    "the methods on record. Over fewer data sets than the paper's both say over how "
    "many."
)
LEGEND = (
    f"{VALUES} Against the paper's value: = within one published standard deviation, "
    f"≈ within the sum of both standard deviations, < or > beyond. {MEANS}"
)


def entry_text(entry: Entry, line: Line) -> str:
    """Return a line of an entry, ours with the sign of how it compares.

    Example:
        >>> entry_text(Entry((79.0, 0.72), None), "published")
        '79.00 ± 0.72'
    """
    if line == "published":
        if entry.published is None:
            return NONE
        mean, spread = entry.published
        return f"{mean:.2f} ± {spread:.2f}"
    found, sign = entry.chosen(line), entry.verdict(line)
    if found is None:
        return NONE
    return f"{found.accuracy} {SIGNS[sign]}" if sign else str(found.accuracy)


def seeds_text(cell: Cell | None) -> str:
    """Return how many seeds a cell has, and how many are under way."""
    if cell is None:
        return NONE
    return f"{cell.seeds}" + (f" + {cell.under_way} under way" * bool(cell.under_way))


def candidates_text(cell: Cell | None) -> str:
    """Return how many numbers competed in a cell."""
    return NONE if cell is None else str(cell.candidates)


def paper_rows(found: PaperTable) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a table in the paper's layout, a few lines a method."""
    header = ["method", "value", *found.datasets, "A.A.", "A.R."]
    return header, [line for row in found.rows for line in _lines(row)]


def _lines(row: Row) -> list[list[str]]:
    entries = list(row.entries.values())
    lines = []
    for line in LINES if row.is_measured else LINES[:1]:
        means = [str(m.get(line, NONE)) for m in (row.averages, row.ranks)]
        lines.append([TITLES[line], *(entry_text(e, line) for e in entries), *means])
    if row.is_measured:
        for title, text in (("candidates", candidates_text), ("seeds", seeds_text)):
            lines.append([title, *(text(e.cell) for e in entries), "", ""])
    return [["" if i else row.name, *line] for i, line in enumerate(lines)]


def cell_rows(cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a table with a row for each cell."""
    header = ["data set", "method", "setting", "protocol"]
    header += ["chosen on test", "chosen on validation"]
    header += ["candidates", "configurations", "seeds"]
    rows = []
    for cell in cells:
        values = [cell.chosen(choice) for choice in CHOICES]
        rows.append(
            [
                *(cell.dataset, cell.label, cell.setting, cell.protocol),
                *(NONE if v is None else str(v.accuracy) for v in values),
                *(str(cell.candidates), str(len(cell.measured)), seeds_text(cell)),
            ]
        )
    return header, rows


def cell_frame(cells: Sequence[Cell]) -> pandas.DataFrame:
    """Return a row for each cell, scores in per cent as numbers. Needs pandas."""
    import pandas

    rows = []
    for cell in cells:
        row: dict[str, object] = {
            "dataset": cell.dataset,
            "method": cell.label,
            "setting": cell.setting,
            "protocol": cell.protocol,
        }
        for choice in CHOICES:
            if (found := cell.chosen(choice)) is not None:
                row[f"by_{choice}"] = found.accuracy.mean
                row[f"by_{choice}_std"] = found.accuracy.std
                row[f"by_{choice}_record"] = found.measured.path.name
        row |= {"candidates": cell.candidates, "configurations": len(cell.measured)}
        rows.append({**row, "seeds": cell.seeds, "under_way": cell.under_way})
    return pandas.DataFrame(rows)


def heading(found: PaperTable) -> str:
    """Return what a table is: its number, subject and protocol."""
    return f"Table {found.name[-1]}. {found.title}. {PROTOCOL_NOTES[found.protocol]}"


def markdown(caption: str, header: Sequence[str], rows: Sequence[list[str]]) -> str:
    """Return a caption and a table; wide ones are folded."""
    return f"{caption}\n\n{table(header, rows, keys=2)}\n"


def latex(caption: str, header: Sequence[str], rows: Sequence[list[str]]) -> str:
    """Return a ``table*`` with the rules of booktabs. Needs pandas and Jinja2."""
    import pandas

    frame = pandas.DataFrame(rows, columns=list(header)).map(_tex)
    text = frame.style.hide(axis="index").to_latex(
        column_format="l" * 2 + "r" * (len(header) - 2),
        environment="table*",
        position="t",
        position_float="centering",
        hrules=True,
        caption=_tex(caption),
    )
    return f"% needs \\usepackage{{booktabs}}\n{text}"


#: Our signs and what LaTeX reads otherwise.
_TEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$"}
_TEX |= {"±": r"$\pm$", "≈": r"$\approx$", "<": "$<$", ">": "$>$"}
_TEX |= {"=": "$=$", "{": r"\{", "}": r"\}", "\\": r"\textbackslash{}"}
_TEX |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in text)
