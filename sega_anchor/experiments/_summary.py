"""summary: the tables of a comparison, and what they say in words."""

from __future__ import annotations

from collections.abc import Sequence

from ..report import Pair, difference_table, result_table, table
from ._complete import Cell

_SEEDS = """\
Would other seeds (initialisation, batches, folds) agree on these very graphs? 95 %
interval by Student's t over seeds, p by the exact sign-flip test over seeds:"""

_GRAPHS = """\
Would another sample of graphs agree? 95 % interval and p by the corrected resampled
t-test over seeds and folds (Nadeau and Bengio):"""

_LEGEND = """\
Accuracy in per cent, mean ± standard deviation over seeds of the mean over folds;
differences in percentage points, epoch and embedding chosen on validation folds; p is
two-sided, Holm's correction over all rows of a table; "resolves" is the least true
difference that the test would find at this spread and number of seeds with a power of
80 %."""


def summary(cells: Sequence[Cell], pairs: Sequence[Pair]) -> str:
    """Return everything that was measured, chosen and compared, as text.

    Args:
        cells: from :func:`complete`.
        pairs: of :func:`pair`.
    """
    parts = ["Everything that was compared:"]
    parts.append(result_table([cell.result for cell in cells]))
    if any(cell.validation for cell in cells):
        parts += ["Chosen by validation accuracy over the first seeds:"]
        parts.append(chosen_table(cells))
    if pairs:
        parts += [_SEEDS, difference_table(pairs, "seeds")]
        parts += [_GRAPHS, difference_table(pairs, "graphs")]
    return "\n\n".join([*parts, _LEGEND])


def chosen_table(cells: Sequence[Cell]) -> str:
    """Return what was chosen where runs had alternatives, and of how many.

    The last column has the mean validation accuracy of each of them.
    """
    rows = [
        [
            cell.dataset,
            cell.run.name,
            ", ".join(f"{name} {value}" for name, value in cell.chosen.choice.items()),
            str(len(cell.validation)),
            ", ".join(f"{mean:.2f}" for mean in cell.validation),
        ]
        for cell in cells
        if cell.validation
    ]
    return table(["data set", "method", "chosen", "of", "validation"], rows, keys=2)
