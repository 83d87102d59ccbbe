"""comparison_table: methods with and without the anchor, as in the paper's Table 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .result import Accuracy, Result
from .table import table

Choice = Literal["validation", "test"]


@dataclass(frozen=True)
class Pair:
    """A method on a data set: the published baseline, and the same with the anchor.

    Args:
        baseline: result with ``anchor=None``.
        anchored: result of the same seeds with the anchor.
    """

    baseline: Result
    anchored: Result


@dataclass(frozen=True)
class Gain:
    """Accuracy with the anchor minus accuracy without, seed by seed.

    Args:
        values: the differences in percentage points, in the order of seeds.
        p_value: of a two-sided paired t-test over seeds; None with fewer than two
            seeds, or if all differences are the same.

    Seeds differ in initialisation, batches and folds, but not in the graphs, so the
    p-value says nothing about other data sets.

    Example:
        >>> without, with_anchor = Accuracy((80.0, 82.0), 1), Accuracy((82.0, 83.0), 1)
        >>> str(Gain.of(without, with_anchor))
        '+1.50 ± 0.50, p = 0.2'
    """

    values: tuple[float, ...]
    p_value: float | None

    @classmethod
    def of(cls, baseline: Accuracy, anchored: Accuracy) -> Gain:
        """Compare two accuracies over the same seeds.

        Raises:
            ValueError: if the numbers of seeds differ.
        """
        from scipy.stats import ttest_rel  # slow to import, rarely needed

        if baseline.seeds != anchored.seeds:
            raise ValueError(
                f"the two have {baseline.seeds} and {anchored.seeds} seeds: run both "
                "with the same number"
            )
        values = np.subtract(anchored.values, baseline.values)
        p_value = None
        if len(values) > 1 and np.ptp(values) > 0:
            p_value = float(ttest_rel(anchored.values, baseline.values).pvalue)
        return cls(tuple(values.tolist()), p_value)

    def __str__(self) -> str:
        """Return mean and standard deviation over seeds (ddof 0), and p."""
        text = f"{np.mean(self.values):+.2f}"
        if len(self.values) > 1:
            text += f" ± {np.std(self.values):.2f}"
        return text if self.p_value is None else f"{text}, p = {self.p_value:.2g}"


def comparison_table(
    pairs: Sequence[Pair], choice: Choice = "validation", embedding: str | None = None
) -> str:
    """Return rows baseline, anchored and gain for each method, a column per data set.

    Args:
        pairs: in any order; cells of a missing pair stay empty.
        choice: how the numbers are chosen, see :class:`.Result`: on validation folds,
            or by the best mean TEST accuracy, as papers do.
        embedding: compare this one only; ``"G"``, that of the graph encoder, is the one
            that the baselines evaluate.
    """
    found = {(_name(p.baseline), _name(p.baseline, "dataset")): p for p in pairs}
    datasets = list(dict.fromkeys(dataset for _, dataset in found))
    rows = []
    for method in dict.fromkeys(method for method, _ in found):
        those = {d: pair for (m, d), pair in found.items() if m == method}
        titles = (method, _name(next(iter(those.values())).anchored), "gain")
        cells = [
            _cells(those[d], choice, embedding) if d in those else ("",) * 3
            for d in datasets
        ]
        rows += [list(row) for row in zip(titles, *cells, strict=True)]
    return table(["method", *datasets], rows)


def _name(result: Result, key: str = "label") -> str:
    return str(result.config[key])


def _cells(pair: Pair, choice: Choice, embedding: str | None) -> tuple[str, str, str]:
    baseline, anchored = (
        r.by_validation(embedding) if choice == "validation" else r.by_test(embedding)
        for r in (pair.baseline, pair.anchored)
    )
    return str(baseline), str(anchored), str(Gain.of(baseline, anchored))
