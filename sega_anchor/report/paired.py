"""Difference: two methods on equal seeds and folds, and whether chance explains it.

Two questions, two rules. *Seeds*: would other seeds (initialisation, batches, folds)
agree on these very graphs? *Graphs*: would another sample of graphs agree? The second
is the harder one: all folds of all seeds share their graphs, so more seeds help little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

import numpy as np

from .accuracy import Floats

Rule = Literal["seeds", "graphs"]

#: Sums over all signs of half of them are kept in memory.
MOST_SEEDS = 40


def sign_flip_test(differences: Sequence[float] | Floats) -> float:
    """Return the exact two-sided p-value of paired differences.

    It is the share of all ``2^n`` choices of signs whose sum is at least as far from
    zero as the observed one: each is as likely if neither method is better. Below
    ``2^(1 - n)`` it cannot be.

    Raises:
        ValueError: for no difference, or more than 40.

    Example:
        >>> sign_flip_test([1.0, 2.0, 0.5])  # 2 of 8 choices
        0.25
    """
    values = np.asarray(differences, dtype=np.float64)
    if not 1 <= len(values) <= MOST_SEEDS:
        raise ValueError(
            f"the exact test takes 1 to {MOST_SEEDS} differences, got {len(values)}: "
            "give fewer seeds"
        )
    # Rounding must not part what is equally far away.
    least = abs(values.sum()) - 1e-9 * abs(values).sum()
    if least <= 0:
        return 1.0
    half = len(values) // 2
    left, right = _signed_sums(values[:half]), np.sort(_signed_sums(values[half:]))
    # Symmetric: for each sum that is as large there is one as small.
    large = len(right) - np.searchsorted(right, least - left)
    return float(2 * large.sum() / 2.0 ** len(values))


def _signed_sums(values: Floats) -> Floats:
    """Return the sums of the values under all choices of signs."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm, 1979).

    Example:
        >>> holm([0.03, 0.01, 0.04])
        [0.06, 0.03, 0.06]
    """
    found = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(found)
    factors = len(found) - np.arange(len(found))
    adjusted = np.empty_like(found)
    adjusted[order] = np.maximum.accumulate(factors * found[order]).clip(max=1)
    return [float(p) for p in adjusted]


@dataclass(frozen=True)
class Inference:
    """What a rule says of a difference, in percentage points.

    Args:
        low: lower end of the 95 % confidence interval, by Student's t.
        high: upper end.
        p_value: two-sided.
        resolves: the least true difference found with a power of 80 % at the 5 %
            level, at this spread and this number of seeds:
            ``(t(0.975) + t(0.8)) * standard error``.
        adjusted: the p-value after Holm's correction over a whole table.
    """

    low: float
    high: float
    p_value: float
    resolves: float
    adjusted: float | None = None


@dataclass(frozen=True)
class Difference:
    """Accuracy of a method minus that of another, paired.

    Args:
        values: mean over folds for each seed, in percentage points.
        seeds: would other seeds agree on these graphs? An exact sign-flip test over
            seeds; None with a single one.
        graphs: would another sample of graphs agree? The corrected resampled t-test
            over seeds and folds; None if the folds are not the same.

    Source: Nadeau and Bengio, "Inference for the Generalization Error", Machine
    Learning 52, 2003; for repeated cross-validation Bouckaert and Frank, PAKDD 2004.

    Example:
        >>> reference = np.array([[0.80, 0.70], [0.90, 0.75]])  # (seeds, folds)
        >>> difference = Difference.of(reference + [0.02, 0.04], reference)
        >>> str(difference)
        '+3.00 ± 0.00, p = 0.5'
        >>> round(difference.graphs.p_value, 3)
        0.103
    """

    values: tuple[float, ...]
    seeds: Inference | None
    graphs: Inference | None

    @classmethod
    def of(
        cls, scores: Floats, reference: Floats, test_ratio: float | None = None
    ) -> Difference:
        """Compare accuracies in [0, 1], ``(seeds, folds)``, over equal graphs.

        Args:
            scores: of one method.
            reference: of the other.
            test_ratio: how many graphs a fold tests on for each that it trains on;
                default all others are trained on, ``1 / (folds - 1)``.

        Raises:
            ValueError: if the numbers of seeds or folds differ.
        """
        if scores.shape != reference.shape:
            raise ValueError(
                f"the two have {len(reference)} and {len(scores)} seeds of "
                f"{reference.shape[1]} and {scores.shape[1]} folds: run both with the "
                "same"
            )
        each = 100 * (scores - reference)
        values = each.mean(axis=1).round(9)  # what cancels out is 0
        seeds, graphs = _over_seeds(values), _over_graphs(each, test_ratio)
        return cls(tuple(values.tolist()), seeds, graphs)

    @property
    def mean(self) -> float:
        """Mean over seeds."""
        return float(np.mean(self.values))

    def by(self, rule: Rule) -> Inference | None:
        """Return what one of the two rules says."""
        return self.seeds if rule == "seeds" else self.graphs

    def __str__(self) -> str:
        """Return mean and standard deviation over seeds (ddof 0), and p over seeds."""
        text = f"{self.mean:+.2f}"
        if self.seeds is None:
            return text
        return f"{text} ± {np.std(self.values):.2f}, p = {self.seeds.p_value:.2g}"


def _over_seeds(values: Floats) -> Inference | None:
    if len(values) < 2:
        return None
    error = values.std(ddof=1) / sqrt(len(values))
    found = _t_test(values.mean(), error, len(values) - 1)
    return replace(found, p_value=sign_flip_test(values))


def _over_graphs(each: Floats, test_ratio: float | None) -> Inference | None:
    """Return the corrected resampled t-test over ``(seeds, folds)``."""
    folds = each.shape[1]
    if folds < 2:
        return None
    ratio = 1 / (folds - 1) if test_ratio is None else test_ratio
    variance = (1 / each.size + ratio) * each.var(ddof=1)
    return _t_test(each.mean(), sqrt(variance), each.size - 1)


def _t_test(mean: float, error: float, freedom: int) -> Inference:
    from scipy.stats import t as student  # slow to import, rarely needed

    wide, power = (float(student.ppf(q, freedom)) for q in (0.975, 0.8))
    p_value = float(mean == 0)  # without any spread
    if error > 0:
        p_value = float(2 * student.sf(abs(mean) / error, freedom))
    return Inference(
        low=float(mean - wide * error),
        high=float(mean + wide * error),
        p_value=p_value,
        resolves=float((wide + power) * error),
    )


def correct(differences: Sequence[Difference]) -> list[Difference]:
    """Return the differences of a table with Holm's correction over all of them.

    Each of the two rules is corrected for itself.
    """
    corrected = list(differences)
    for rule in ("seeds", "graphs"):
        found = [(i, d.by(rule)) for i, d in enumerate(differences)]
        tested = [(i, one) for i, one in found if one is not None]
        adjusted = holm([one.p_value for _, one in tested])
        for (i, one), p_value in zip(tested, adjusted, strict=True):
            new = replace(one, adjusted=p_value)
            corrected[i] = (
                replace(corrected[i], seeds=new)
                if rule == "seeds"
                else replace(corrected[i], graphs=new)
            )
    return corrected
