"""Tables of methods beside the reference that they are paired with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from .accuracy import Accuracy, Floats
from .paired import Difference, Rule, correct
from .result import Choice, Result
from .table import table
from .tuned import Tuned

Measured = Result | Tuned


@dataclass(frozen=True)
class Pair:
    """Two methods on a data set, on equal seeds and folds.

    Args:
        reference: such as a published baseline.
        result: what is compared with it, such as the same with the anchor.

    Raises:
        ValueError: if seeds, folds, protocol or the labels of the graphs differ.
    """

    reference: Measured
    result: Measured

    def __post_init__(self) -> None:
        """Refuse to pair what has other folds."""
        names = [f"{r.config['label']!r}" for r in (self.result, self.reference)]
        where = f"{' and '.join(names)} on {self.reference.config['dataset']}"
        both = (self.reference, self.result)
        for name in ("setting", "dataset", "protocol", "folds"):
            one, other = (r.config.get(name) for r in both)
            if one != other:
                raise ValueError(
                    f"{where} cannot be paired: {name} is {other!r} and {one!r}; run "
                    "both with the same"
                )
        one, other = map(_seeds, both)
        if one != other:
            raise ValueError(
                f"{where} cannot be paired: their seeds are {other} and {one}; run "
                "both with the same"
            )
        labels = [r.labels for r in both if isinstance(r, Result)]
        known = [one for one in labels if one is not None]
        if len(known) == 2 and not torch.equal(*known):
            raise ValueError(
                f"{where} cannot be paired: they were evaluated on other graphs, so "
                "that their folds differ"
            )

    def difference(
        self, choice: Choice = "validation", embedding: str | None = None
    ) -> Difference:
        """Return the accuracy of the result minus that of the reference.

        Args:
            choice: how accuracies are chosen, see :meth:`.Result.test_scores`.
            embedding: compare this one only.
        """
        both = (self.result, self.reference)
        scores, reference = (_test_scores(r, choice, embedding) for r in both)
        ratios = [ratio for r in both if (ratio := _test_ratio(r)) is not None]
        return Difference.of(scores, reference, max(ratios, default=None))


def comparison_table(
    pairs: Sequence[Pair], choice: Choice = "validation", embedding: str | None = None
) -> str:
    """Return the layout of the paper's Table 4, a column per data set.

    The rows are, for each pair of methods, the reference, the other and the gain, with
    the exact test over seeds of :class:`.Difference`.

    Args:
        pairs: in any order; cells of a missing pair stay empty.
        choice: how the numbers are chosen, see :class:`.Result`: on validation folds,
            or by the best mean TEST accuracy, as papers do.
        embedding: compare this one only; ``"G"``, that of the graph encoder, is the one
            that the baselines evaluate.
    """
    found = {(*_titles(p), _name(p.reference, "dataset")): p for p in pairs}
    datasets = list(dict.fromkeys(dataset for _, _, dataset in found))
    rows = []
    for titles in dict.fromkeys((name, other) for name, other, _ in found):
        those = [found.get((*titles, dataset)) for dataset in datasets]
        cells = [_cells(p, choice, embedding) if p else ("",) * 3 for p in those]
        rows += [list(row) for row in zip((*titles, "gain"), *cells, strict=True)]
    return table(["method", *datasets], rows)


def difference_table(pairs: Sequence[Pair], rule: Rule) -> str:
    """Return what one of the two rules of :class:`.Difference` says of each pair.

    Columns: mean difference and its 95 % interval in percentage points; p, and p after
    Holm's correction over the table; the least difference that would be found with a
    power of 80 %.

    Args:
        pairs: a row for each.
        rule: "seeds", would other seeds agree on these graphs? "graphs", would another
            sample of graphs agree?
    """
    header = ["data set", "method", "against", "difference", "95 % interval"]
    header += ["p", "p, Holm", "resolves"]
    rows = []
    differences = correct([pair.difference() for pair in pairs])
    for pair, difference in zip(pairs, differences, strict=True):
        against, title = _titles(pair)
        row = [_name(pair.reference, "dataset"), title, against]
        row.append(f"{difference.mean:+.2f}")
        one = difference.by(rule)
        if one is None:
            row += ["-"] * 4
        else:
            row.append(f"{one.low:+.2f} to {one.high:+.2f}")
            row += [f"{one.p_value:.2g}", f"{one.adjusted:.2g}", f"{one.resolves:.2f}"]
        rows.append(row)
    return table(header, rows, keys=3)


def _titles(pair: Pair) -> tuple[str, str]:
    return _name(pair.reference), _name(pair.result)


def _name(result: Measured, key: str = "label") -> str:
    return str(result.config[key])


def _cells(pair: Pair, choice: Choice, embedding: str | None) -> tuple[str, str, str]:
    both = (pair.reference, pair.result)
    reference, result = (_accuracy(r, choice, embedding) for r in both)
    return str(reference), str(result), str(pair.difference(choice, embedding))


def _seeds(result: Measured) -> list[int]:
    if isinstance(result, Tuned):
        return sorted(result.history)
    return sorted({e.seed for e in result.evaluations})


def _test_scores(result: Measured, choice: Choice, embedding: str | None) -> Floats:
    if isinstance(result, Tuned):  # there is one embedding
        return result.by_seed().test_scores(choice)
    return result.test_scores(choice, embedding)


def _accuracy(result: Measured, choice: Choice, embedding: str | None) -> Accuracy:
    if isinstance(result, Tuned):
        return result.score if choice == "validation" else result.by_test()
    if choice == "validation":
        return result.by_validation(embedding)
    return result.by_test(embedding)


def _test_ratio(result: Measured) -> float | None:
    """Return how many graphs are tested for each labelled one, where those are few."""
    rate = result.config.get("label_rate")
    if rate is None:
        return None
    held = 1 if result.config["protocol"] == "paper" else 2
    return float(1 / (rate * (result.config["folds"] - held)))
