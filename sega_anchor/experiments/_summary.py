"""summary: the tables of a comparison, and what they say in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..report import (
    Pair,
    Result,
    Tuned,
    difference_table,
    result_table,
    table,
    tuned_table,
)
from ._complete import Cell

_SEEDS = """\
Would other seeds (initialisation, batches, folds) agree on these very graphs? 95 %
interval by Student's t over seeds, p by the exact sign-flip test over seeds:"""

_GRAPHS = """\
Would another sample of graphs agree? 95 % interval and p by the corrected resampled
t-test over seeds and folds (Nadeau and Bengio):"""

_ACCURACIES = """\
Accuracy in per cent, mean ± standard deviation over seeds of the mean over folds;
differences in percentage points, epoch and embedding chosen on validation folds."""

_SCORES = """\
Accuracy in per cent (of transfer, mean ROC-AUC over tasks), mean ± standard deviation
over seeds; differences in percentage points, the epoch chosen on validation data as
under "by validation", or as the protocol does where it keeps none. Where labels are few
alternatives are compared by the loss on validation data, times -100."""

_LEGEND = """\
p is two-sided, Holm's correction over all rows of a table; "resolves" is the least true
difference that the test would find at this spread and number of seeds with a power of
80 %."""


def summary(cells: Sequence[Cell], pairs: Sequence[Pair]) -> str:
    """Return everything that was measured, chosen and compared, as text.

    Args:
        cells: from :func:`complete`.
        pairs: of :func:`pair`.
    """
    parts = ["Everything that was compared:"]
    results = [c.result for c in cells if isinstance(c.result, Result)]
    tuned = [c.result for c in cells if isinstance(c.result, Tuned)]
    if results:
        parts.append(result_table(results))
    if tuned:
        parts.append(tuned_table(tuned))
    if any(cell.compared for cell in cells):
        rules = {rule for c in cells for rule in _rules(c)}
        parts += [
            f"Chosen by the mean {' or '.join(rules)} score over the first seeds:"
        ]
        parts.append(chosen_table(cells))
    if pairs:
        parts += [_SEEDS, difference_table(pairs, "seeds")]
        parts += [_GRAPHS, difference_table(pairs, "graphs")]
    parts += [_ACCURACIES] if results else []
    parts += [_SCORES] if tuned else []
    return "\n\n".join([*parts, *([_LEGEND] if pairs else [])])


def chosen_table(cells: Sequence[Cell]) -> str:
    """Return what was chosen where runs had alternatives, and of how many.

    The last column has the mean score over the first seeds that they were judged by.
    """
    rows = [
        [
            str(cell.result.config["dataset"]),
            cell.run.name,
            ", ".join(map(_words, cell.chosen.choice, cell.chosen.choice.values())),
            str(len(cell.compared)),
            _scores(cell.compared),
        ]
        for cell in cells
        if cell.compared
    ]
    return table(["data set", "method", "chosen", "of", "scores"], rows, keys=2)


def _rules(cell: Cell) -> set[str]:
    """Return whether "validation" or "test" chose among the alternatives."""
    compared = cell.result.config.get("compared", [])
    return {"validation", "test"} & {name for one in compared for name in one}


def _scores(scores: Sequence[float], most: int = 6) -> str:
    """Return the scores of alternatives, of many the best, the median and the worst."""
    if len(scores) <= most:
        return ", ".join(f"{score:.2f}" for score in scores)
    ordered = sorted(scores)
    best, middle, worst = ordered[-1], ordered[len(scores) // 2], ordered[0]
    return f"best {best:.2f}, median {middle:.2f}, worst {worst:.2f}"


def _words(name: str, value: Any) -> str:
    """Return an option as a table has room for it, a file without its far folders."""
    if name == "checkpoint" and value is not None:
        value = "/".join(Path(value).parts[-2:])
    return f"{name} {value}"
