"""render: the page, from what was collected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib
from jinja2 import Environment, StrictUndefined

from ..collect import Cell, Collected, Measured
from ..formats import MEANS, PROTOCOL_NOTES, VALUES
from ..paper_table import CHOICES, SIGNS, PaperTable
from ..published import TABLES, published
from ._accuracy_figures import entropies, heights, random_trees
from ._entries import COMPARES, Links, lines_of, options_of, summary_rows, varying
from ._run_figures import learning_curves, maps
from ._svg import STYLE, Figure

Draw = Callable[[Sequence[Cell], dict[str, int]], Iterator[Figure]]
#: Sections of figures: the title, who draws them, what would give one.
_SECTIONS: tuple[tuple[str, Draw, str], ...] = (
    (
        "Random trees",
        random_trees,
        "No figure: it needs records of SEGA and of the same with --tree random.",
    ),
    (
        "Accuracy against the height of the trees",
        heights,
        "No figure: it needs records of two heights of a method on a data set.",
    ),
    (
        "Accuracy against the entropy of the trees",
        entropies,
        "No figure: it needs records of two kinds of trees on a data set whose files "
        "are here, in SEGA_ANCHOR_DATA or SEGA_ANCHOR_ARCHIVES.",
    ),
    (
        "Learning curves",
        learning_curves,
        "No figure: it needs records of two epochs, --epochs 2 or more.",
    ),
    (
        "Embeddings with and without the anchor",
        maps,
        "No figure: it needs records of a method with and without the anchor, and the "
        "embeddings (.safetensors) beside them.",
    ),
)


def render(
    found: Collected, tables: Sequence[PaperTable], others: Sequence[Cell], output: Path
) -> str:
    """Return the page as HTML.

    Args:
        found: all that is on record.
        tables: those of the paper that are shown.
        others: cells for the table of the others.
        output: folder of the page.
    """
    cells = found.cells
    links = Links(output)
    accents = {label: i for i, label in enumerate(_methods(cells))}
    environment = Environment(
        autoescape=True, trim_blocks=True, undefined=StrictUndefined
    )
    template = environment.from_string(_file("page.html"))
    text = template.render(
        folder=found.folder.resolve().name,
        style=_file("style.css"),
        script=_file("page.js"),
        records=len(found.records),
        versions=sorted({one.version for one in found.records}),
        methods=list(accents),
        datasets=sorted({cell.dataset for cell in cells}),
        accents=accents,
        signs=SIGNS,
        compares=COMPARES,
        values=VALUES,
        means=MEANS,
        summary=summary_rows(tables),
        tables=[_table(one, links) for one in tables],
        others=_others(others, links),
        figures=[_section(*one, cells, accents) for one in _SECTIONS],
        details=[(cell, _details(cell, links)) for cell in cells],
        left_out=[(path.name, why) for path, why in found.left_out.items()],
    )
    return f"{text.rstrip()}\n"


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _methods(cells: Sequence[Cell]) -> list[str]:
    """Return all labels, SEGA and GraphCL first, then as the paper has them."""
    paper = [row.label for name in TABLES for row in published(name).rows.values()]
    order = ["SEGA", "GraphCL", "SEGA, random tree", *filter(None, paper)]
    labels = sorted({cell.label for cell in cells})
    return [x for x in dict.fromkeys([*order, *labels]) if x in labels]


def _table(table: PaperTable, links: Links) -> dict[str, Any]:
    measured = [row for row in table.rows if row.is_measured] or table.rows
    return {
        "of": table,
        "note": PROTOCOL_NOTES[table.protocol],
        "rows": [(row, lines_of(row, table, links)) for row in table.rows],
        "methods": [row.label for row in measured],
        "datasets": list(table.datasets.values()),
    }


def _others(cells: Sequence[Cell], links: Links) -> dict[str, Any] | None:
    rows = []
    for cell in cells:
        numbers = [links.number(cell, choice) for choice in CHOICES]
        rows.append((cell, [*numbers, links.candidates(cell), links.seeds(cell)]))
    methods, datasets = ({getattr(c, k) for c in cells} for k in ("label", "dataset"))
    about = {"methods": sorted(methods), "datasets": sorted(datasets)}
    return {"rows": rows, **about} if rows else None


def _section(
    title: str, draw: Draw, missing: str, cells: Sequence[Cell], accents: dict[str, int]
) -> dict[str, Any]:
    with matplotlib.rc_context(STYLE):
        figures = list(draw(cells, accents))
    return {
        "title": title,
        "figures": figures,
        "missing": missing,
        "methods": sorted({name for one in figures for name in one.methods}),
        "datasets": sorted({name for one in figures for name in one.datasets}),
    }


def _details(cell: Cell, links: Links) -> list[dict[str, Any]]:
    """Return what the page says of each record of a cell."""
    options = varying(cell)
    ordered = sorted(cell.measured, key=lambda one: _words(one, options))
    return [
        {
            "id": links.detail(one),
            "link": links.file(one),
            "file": one.path.name,
            "differs": _words(one, options),
            "score": str(replace(cell, measured=(one,)).best.accuracy),
            "seeds": one.seeds,
            "scores": _scores(one),
            "options": options_of(one),
        }
        for one in ordered
    ]


def _words(one: Measured, options: Sequence[str]) -> str:
    words = ", ".join(f"{name} {one.config.get(name)}" for name in options)
    seeds = f"{len(one.seeds)} seed{'s' * (len(one.seeds) > 1)}"
    if one.under_way:
        seeds += f" + {one.under_way} under way"
    return f"{words}; {seeds}" if words else seeds


def _scores(one: Measured) -> list[tuple[str, list[str]]]:
    found = ((choice, one.compete(choice)) for choice in CHOICES)
    return [
        (f"by {choice}", [f"{value:.2f}" for value in score[1].values])
        for choice, score in found
        if score is not None
    ]
