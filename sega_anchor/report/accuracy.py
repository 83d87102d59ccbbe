"""Evaluation and Accuracy: what one embedding scores, and means over seeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from .record import Json

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Evaluation:
    """Accuracies of one embedding after one epoch of one seed.

    Args:
        seed: seed of the run.
        epoch: number of finished epochs.
        embedding: ``"G"`` graph encoder, ``"T"`` tree encoder, ``"GT"`` both.
        test: accuracy on each outer test fold, in [0, 1].
        validation: accuracy over inner folds of each outer training part.
    """

    seed: int
    epoch: int
    embedding: str
    test: tuple[float, ...]
    validation: tuple[float, ...]

    @classmethod
    def all_of(cls, seed: int, entry: Json, folds: int) -> list[Evaluation]:
        """Return what a record has of a seed, evaluations under way left out."""
        found = []
        names = [str(fold) for fold in range(folds)]
        for key, scores in entry.get("evaluations", {}).items():
            if all(fold in scores["test"] for fold in names):
                epoch, embedding = key.split("/")
                test, validation = (
                    tuple(scores[part][fold] for fold in names)
                    for part in ("test", "validation")
                )
                found.append(cls(seed, int(epoch), embedding, test, validation))
        return found


@dataclass(frozen=True)
class Accuracy:
    """A mean accuracy over seeds, in per cent, and how it was chosen.

    Args:
        values: mean over folds of each seed, in the order of seeds.
        candidates: how many (epoch, embedding) pairs were compared to choose it.
    """

    values: tuple[float, ...]
    candidates: int

    @classmethod
    def over_folds(cls, scores: Floats, candidates: int) -> Accuracy:
        """Average scores in [0, 1], ``(seeds, folds)``, over folds."""
        return cls(tuple((100 * scores.mean(axis=1)).tolist()), candidates)

    @property
    def mean(self) -> float:
        """Mean over seeds."""
        return float(np.mean(self.values))

    @property
    def std(self) -> float:
        """Population standard deviation (ddof 0) over seeds."""
        return float(np.std(self.values))

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return len(self.values)

    @override
    def __str__(self) -> str:
        if self.seeds == 1:  # one number has no spread
            return f"{self.mean:.2f}"
        return f"{self.mean:.2f} ± {self.std:.2f}"
