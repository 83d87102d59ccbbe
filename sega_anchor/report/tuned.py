"""Tuned: the scores of fine-tuning, and the ways to choose an epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from .accuracy import Accuracy, Floats
from .record import Json, read_record
from .result import Choice
from .table import table

if TYPE_CHECKING:
    import pandas

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, repr=False)
class Tuned:
    """Scores after each epoch of fine-tuning, for each seed and fold.

    Args:
        config: full configuration of the run.
        curves: by part of the data, ``(seeds, folds, epochs)``: "validation", where
            higher is better, and "test", accuracies or ROC-AUC in [0, 1]. A fixed split
            has one fold.
        history: per seed, one dict per epoch of pre-training (loss, seconds).
        record: the file that holds all this, if there is one.

    Example:
        >>> curves = {"validation": [[[0.1, 0.3, 0.2]]], "test": [[[0.5, 0.6, 0.7]]]}
        >>> tuned = Tuned({}, {k: np.array(v) for k, v in curves.items()})
        >>> str(tuned.by_validation()), str(tuned.last()), str(tuned.by_test())
        ('60.00', '70.00', '70.00')
    """

    config: dict[str, Any]
    curves: dict[str, Floats]
    history: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    record: Path | None = None

    @classmethod
    def of(cls, config: Json, seeds: dict[int, Json], record: Path | None) -> Tuned:
        """Return what the entries of a record hold, those of all given seeds.

        Args:
            config: full configuration of the run.
            seeds: entries by the number of the seed.
            record: the file that holds them.
        """
        each = [_folds(entry) for entry in seeds.values()]
        curves = {
            part: np.array([[fold[part] for fold in folds] for folds in each])
            for part in each[0][0]
        }
        history = {number: entry.get("history", []) for number, entry in seeds.items()}
        return cls(config, curves, history, record)

    @classmethod
    def load(cls, path: str | Path) -> Tuned:
        """Return what a record holds of the seeds that are complete.

        Args:
            path: of a JSON file in a results folder, see docs/records.md.

        Raises:
            ValueError: for a file that is no record, is damaged, holds no whole seed,
                or is of the unsupervised setting, with the reason.
        """
        content = read_record(path)
        config = content["config"]
        if "setting" not in config:
            raise ValueError(
                f"{path} is a record of the unsupervised setting: use "
                "sega_anchor.report.load"
            )
        folds = config.get("folds", 1)
        seeds = {
            int(seed): entry
            for seed, entry in content["seeds"].items()
            if len(_folds(entry)) == folds
        }
        if not seeds:
            raise ValueError(f"{path} holds no seed that is complete")
        return cls.of(config, dict(sorted(seeds.items())), Path(path))

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each epoch of each seed, fold and part, scores in [0, 1].

        The columns are method (the label), dataset, setting, seed, fold, epoch, and
        one for each part. Needs pandas: ``pip install sega-anchor[report]``.
        """
        import pandas

        about = {name: self.config[name] for name in ("dataset", "setting")}
        shape = next(iter(self.curves.values())).shape
        rows = [
            {
                "method": self.config["label"],
                **about,
                "seed": seed,
                "fold": fold,
                "epoch": epoch + 1,
                **{part: curve[i, fold, epoch] for part, curve in self.curves.items()},
            }
            for i, seed in enumerate(self.history)
            for fold in range(shape[1])
            for epoch in range(shape[2])
        ]
        return pandas.DataFrame(rows)

    @property
    def score(self) -> Accuracy:
        """The number to report, on test data: :meth:`by_validation`.

        Under "paper" it is what the authors report: :meth:`by_test` in semi-supervised
        learning, :meth:`last` for molecules. Whoever chooses hyper-parameters by it has
        tuned on test data: see :attr:`validation`.
        """
        rules = {
            "validation": self.by_validation,
            "test": self.by_test,
            "last": self.last,
        }
        return rules[self._rule]()

    @property
    def validation(self) -> Accuracy:
        """The number to choose by: the score on validation data of the epoch chosen.

        As the best of all epochs it is too good to be reported. Semi-supervised runs
        choose by the loss on validation data: there it is 100 times that, negated.

        Raises:
            ValueError: if there is no validation curve.
        """
        return self.by_validation("validation")

    def by_validation(self, part: str = "test") -> Accuracy:
        """Choose, for each seed and fold, the epoch of the best validation score.

        Args:
            part: part of the data whose score at that epoch is returned.

        Raises:
            ValueError: if there is no validation curve.
        """
        chosen = self._at(self._best_on_validation(), part)
        return Accuracy.over_folds(chosen, self._epochs)

    def by_test(self, part: str = "test") -> Accuracy:
        """Choose, for each seed, the epoch of the best mean TEST score over folds."""
        mean = self.curves[part].mean(axis=1, keepdims=True)
        best = mean.argmax(axis=2)[..., None]
        chosen = np.take_along_axis(mean, best, axis=2)[..., 0]
        return Accuracy.over_folds(chosen, self._epochs)

    def last(self, part: str = "test") -> Accuracy:
        """Return the score after the last epoch."""
        return Accuracy.over_folds(self.curves[part][:, :, -1], 1)

    def test_scores(self, choice: Choice = "validation") -> Floats:
        """Return the test scores behind :attr:`score` or :meth:`by_test`.

        Methods are compared by them, seed by seed and fold by fold.

        Args:
            choice: "validation" takes the epochs that :attr:`score` does, "test" those
                of the best mean TEST scores.

        Returns:
            Scores in [0, 1], ``(seeds, folds)``.
        """
        rule = self._rule if choice == "validation" else choice
        if rule == "last":
            return self.curves["test"][:, :, -1]
        if rule == "validation":
            return self._at(self._best_on_validation(), "test")
        best = self.curves["test"].mean(axis=1, keepdims=True).argmax(axis=2)
        return self._at(best, "test")

    def by_seed(self) -> Tuned:
        """Return the same with seeds in ascending order."""
        if not self.history:  # it says nothing of seeds
            return self
        seeds = sorted(self.history)
        order = [list(self.history).index(seed) for seed in seeds]
        curves = {part: curve[order] for part, curve in self.curves.items()}
        history = {seed: self.history[seed] for seed in seeds}
        return replace(self, curves=curves, history=history)

    @property
    def _rule(self) -> str:
        """By what the protocol chooses an epoch."""
        if self.config.get("protocol") == "paper":
            return str(self.config.get("choice", "test"))
        return "validation"

    def _best_on_validation(self) -> Indices:
        """Return the epoch of the best validation score, ``(seeds, folds)``."""
        if "validation" not in self.curves:
            raise ValueError(
                'protocol="paper" keeps no validation fold: see by_test() and '
                'last(), or run with protocol="honest"'
            )
        best: Indices = self.curves["validation"].argmax(axis=2)
        return best

    def _at(self, epoch: Indices, part: str) -> Floats:
        """Return the scores of a part after so many epochs, ``(seeds, folds)``."""
        curve = self.curves[part]
        shape = curve.shape[:2]
        index = np.broadcast_to(epoch, shape)[..., None]
        return np.take_along_axis(curve, index, axis=2)[..., 0]

    @property
    def _epochs(self) -> int:
        return int(next(iter(self.curves.values())).shape[2])

    @override
    def __repr__(self) -> str:
        names = ("label", "dataset", "protocol")
        words = ", ".join(f"{k}={self.config[k]!r}" for k in names if k in self.config)
        return f"Tuned({words}, score={self.score})"


def _folds(entry: Json) -> list[dict[str, list[float]]]:
    """Return the curves of each fold; a fixed split is one."""
    if "curves" in entry:
        return [entry["curves"]]
    folds = entry.get("folds", {})
    return [folds[name] for name in sorted(folds, key=int)]


def tuned_table(results: Sequence[Tuned], part: str = "test") -> str:
    """Return a table of the ways to choose an epoch, a row for each result."""
    header = ["pre-training", "data set", "validation", "by validation"]
    header += ["last epoch", "by test", "epochs", "seeds"]
    rows = []
    for result in results:
        last, best = result.last(part), result.by_test(part)
        validation: Accuracy | str = "-"
        chosen: Accuracy | str = "-"
        if "validation" in result.curves:
            chosen = result.by_validation(part)
            if result.config.get("setting") != "semi-supervised":  # a loss there
                validation = result.validation
        rows.append(
            [
                str(result.config["label"]),
                str(result.config["dataset"]),
                *map(
                    str, (validation, chosen, last, best, best.candidates, last.seeds)
                ),
            ]
        )
    return table(header, rows, keys=2)
