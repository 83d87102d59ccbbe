"""Result: the accuracies of a run, and the two ways to choose one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from torch import Tensor
from typing_extensions import override

from .accuracy import Accuracy, Evaluation, Floats
from .record import embeddings_path, read_embeddings, read_record

if TYPE_CHECKING:
    import pandas

Choice = Literal["validation", "test"]


@dataclass(frozen=True, repr=False)
class Result:
    """What ``adapters.<method>.run`` returns.

    Args:
        config: full configuration of the run.
        evaluations: every accuracy that was computed.
        history: per seed, one dict per epoch (loss, seconds).
        embeddings: last epoch of the last seed, ``(num_graphs, channels)`` by name.
        labels: ``(num_graphs,)``, or None if nothing was evaluated.
        record: the file that holds all this, if there is one.
    """

    config: dict[str, Any]
    evaluations: list[Evaluation]
    history: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    embeddings: dict[str, Tensor] = field(default_factory=dict)
    labels: Tensor | None = None
    record: Path | None = None

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Return what a record holds of the seeds that are complete.

        Args:
            path: of a JSON file in a results folder, see docs/records.md.

        Raises:
            ValueError: for a file that is no record, is damaged, or is of another
                setting than the unsupervised one, with the reason.

        Example:
            >>> Result.load("results/nothing.json")
            Traceback (most recent call last):
            ...
            ValueError: results/nothing.json cannot be read as a record ([Errno 2] ...
        """
        content = read_record(path)
        config = content["config"]
        if "setting" in config:
            raise ValueError(
                f"{path} is a record of the {config['setting']} setting: use "
                "sega_anchor.report.load"
            )
        seeds = {
            int(seed): entry
            for seed, entry in content["seeds"].items()
            if entry.get("complete")
        }
        last = embeddings_path(path, max(seeds, default=0))
        return cls(
            config,
            [
                one
                for seed, entry in sorted(seeds.items())
                for one in Evaluation.all_of(seed, entry, config["folds"])
            ],
            {seed: entry["history"] for seed, entry in sorted(seeds.items())},
            read_embeddings(last),
            record=Path(path),
        )

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each fold of each evaluation, accuracies in [0, 1].

        The columns are method (the label), dataset, protocol, seed, epoch, embedding,
        fold, test and validation. Needs pandas: ``pip install sega-anchor[report]``.
        """
        import pandas

        about = {name: self.config[name] for name in ("dataset", "protocol")}
        rows = [
            {
                "method": self.config["label"],
                **about,
                "seed": one.seed,
                "epoch": one.epoch,
                "embedding": one.embedding,
                "fold": fold,
                "test": test,
                "validation": validation,
            }
            for one in self.evaluations
            for fold, (test, validation) in enumerate(
                zip(one.test, one.validation, strict=True)
            )
        ]
        return pandas.DataFrame(rows)

    @property
    def accuracy(self) -> Accuracy:
        """The number to report, on test folds: :meth:`by_validation`.

        Under "paper" it is the choice of the authors. Whoever chooses
        hyper-parameters by it has tuned on the test folds: see :attr:`validation`.
        """
        if (self.config["protocol"], self.config["choice"]) == ("paper", "test"):
            return self.by_test()
        return self.by_validation()

    @property
    def validation(self) -> Accuracy:
        """The number to choose by: inner accuracy of what :meth:`by_validation` takes.

        It has never seen a test fold. As the best of all candidates it is too good to
        be reported.
        """
        _, validation, candidates = self._choose(None)
        return Accuracy.over_folds(validation, candidates)

    def candidates(self) -> list[tuple[int, str]]:
        """Return the (epoch, embedding) pairs that were evaluated."""
        return sorted({(e.epoch, e.embedding) for e in self.evaluations})

    def of(self, epoch: int, embedding: str) -> Accuracy:
        """Return the accuracy of one candidate."""
        test, _ = self._scores(epoch, embedding)
        return Accuracy.over_folds(test, candidates=1)

    def by_validation(self, embedding: str | None = None) -> Accuracy:
        """Choose epoch and embedding on validation folds only.

        This is nested cross-validation: each outer fold of each seed counts the test
        accuracy of the candidate with the best inner accuracy, the first on ties. The
        published procedure draws new folds for every candidate, so there the choice is
        made once per seed, by the mean over folds.

        Args:
            embedding: compare the epochs of this one only, such as ``"G"``.
        """
        test, _, candidates = self._choose(embedding)
        return Accuracy.over_folds(test, candidates)

    def _choose(self, embedding: str | None) -> tuple[Floats, Floats, int]:
        """Return test and validation accuracies, ``(seeds, folds)``, of how many."""
        scores = [self._scores(*candidate) for candidate in self._compared(embedding)]
        test = np.stack([s[0] for s in scores])
        validation = np.stack([s[1] for s in scores])
        if self.config["protocol"] == "paper":
            test = test.mean(axis=2, keepdims=True)
            validation = validation.mean(axis=2, keepdims=True)
        best = validation.argmax(axis=0)[None]
        chosen = (np.take_along_axis(s, best, axis=0)[0] for s in (test, validation))
        return *chosen, len(scores)

    def by_test(self, embedding: str | None = None) -> Accuracy:
        """Choose the candidate with the highest mean TEST accuracy, as papers do.

        Args:
            embedding: compare the epochs of this one only, such as ``"G"``.
        """
        test, candidates = self._best_on_test(embedding)
        return Accuracy.over_folds(test, candidates)

    def test_scores(
        self, choice: Choice = "validation", embedding: str | None = None
    ) -> Floats:
        """Return the test accuracies behind :meth:`by_validation` or :meth:`by_test`.

        Methods are compared by them, fold by fold: under the honest protocol equal
        seeds draw equal folds of equal graphs, whatever the method. The published
        procedure draws new folds for every evaluation, so there only their means are
        returned.

        Args:
            choice: on which folds epoch and embedding are chosen.
            embedding: compare the epochs of this one only, such as ``"G"``.

        Returns:
            Accuracies in [0, 1], ``(seeds, folds)`` or ``(seeds, 1)``.
        """
        best = self._choose if choice == "validation" else self._best_on_test
        scores = best(embedding)[0]
        if self.config["protocol"] == "paper":
            scores = np.mean(scores, axis=1, keepdims=True)
        return scores

    def _best_on_test(self, embedding: str | None) -> tuple[Floats, int]:
        """Return test accuracies, ``(seeds, folds)``, and of how many the best."""
        each = [self._scores(*one)[0] for one in self._compared(embedding)]
        means = [Accuracy.over_folds(scores, 1).mean for scores in each]
        return each[means.index(max(means))], len(each)

    def _compared(self, embedding: str | None) -> list[tuple[int, str]]:
        candidates = self.candidates()
        if not candidates:
            raise ValueError("nothing was evaluated: name epochs in evaluate_at")
        found = [c for c in candidates if embedding in (None, c[1])]
        if not found:
            raise ValueError(
                f"no embedding {embedding!r} was evaluated; known: {candidates}"
            )
        return found

    def _scores(self, epoch: int, embedding: str) -> tuple[Floats, Floats]:
        """Return test and validation accuracies, ``(seeds, folds)``."""
        rows = [
            e
            for e in sorted(self.evaluations, key=lambda e: e.seed)
            if (e.epoch, e.embedding) == (epoch, embedding)
        ]
        if not rows:
            raise ValueError(
                f"nothing was evaluated at epoch {epoch} for embedding {embedding!r}; "
                f"known: {self.candidates()}"
            )
        return np.array([e.test for e in rows]), np.array([e.validation for e in rows])

    @override
    def __repr__(self) -> str:
        names = ("method", "dataset", "protocol")
        words = ", ".join(f"{name}={self.config.get(name)!r}" for name in names)
        accuracy = self.accuracy if self.evaluations else None
        return f"Result({words}, accuracy={accuracy})"
