"""RBFMachine: the RBF support vector machine of the published protocols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn import config_context
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class RBFMachine:
    """``SVC(kernel="rbf", gamma="scale")``, with a search for C.

    Results equal those of scikit-learn's GridSearchCV, but distances are computed once,
    all costs share the kernel matrices, and a cost that can no longer win is dropped.

    Args:
        x: features, ``(num_graphs, channels)``.
        y: classes 0 to c - 1, ``(num_graphs,)``.
        inner_folds: number of inner folds, stratified and not shuffled.
        costs: candidate values of C.
        squared: squared distances between all rows of x.
    """

    x: Floats
    y: Indices
    inner_folds: int
    costs: Sequence[float]
    squared: Floats

    @classmethod
    def on(
        cls, x: Floats, y: Indices, inner_folds: int, costs: Sequence[float]
    ) -> RBFMachine:
        """Return a machine, with the distances computed."""
        return cls(x, y, inner_folds, costs, squareform(pdist(x, "sqeuclidean")))

    def search(
        self, train: Indices, *tests: Indices
    ) -> tuple[list[float], float, float]:
        """Choose C on inner folds of ``train``.

        Returns:
            The accuracy on each of ``tests``, the mean inner accuracy of C, and C.

        Raises:
            ValueError: if the features have no finite, positive kernel width.
        """
        # scikit-learn need not check again for each C: _scorer makes sure that kernels
        # are finite, and svm_scores checks C and the folds.
        with config_context(assume_finite=True, skip_parameter_validation=True):
            best, validation = self._choose(train)
            accuracies = self._scorer(train, tests)(self.costs[best])
        return accuracies, validation, self.costs[best]

    def _choose(self, train: Indices) -> tuple[int, float]:
        """Return the index of the best C, the smallest on ties, and its accuracy.

        A C that would lose even with accuracy 1 on all remaining folds is not fitted
        again. Rounding is monotonic, so rounded means compare correctly.
        """
        # Inner accuracies if all remaining predictions are wrong, and if all are right.
        least = np.zeros((len(self.costs), self.inner_folds))
        most = np.ones_like(least)
        splits = StratifiedKFold(self.inner_folds).split(train, self.y[train])
        for fold, (fit, check) in enumerate(splits):
            score = self._scorer(train[fit], [train[check]])
            # The most promising C first: it rules out most of the others.
            for index in np.argsort(-most.mean(axis=1), kind="stable"):
                best = least.mean(axis=1).argmax()
                if (most[index].mean(), best) >= (least[best].mean(), index):
                    (accuracy,) = score(self.costs[index])
                    least[index, fold] = most[index, fold] = accuracy
        means = least.mean(axis=1)
        return int(means.argmax()), float(means.max())

    def _scorer(
        self, train: Indices, tests: Sequence[Indices]
    ) -> Callable[[float], list[float]]:
        """Return a function that trains with a C and scores each of ``tests``."""
        variance = self.x[train].var()
        gamma = 1.0 / (self.x.shape[1] * variance) if variance != 0 else 1.0
        if not 0 < gamma < np.inf:
            raise ValueError(f"embedding has variance {variance}: rescale it")
        within = self._kernel(train, train, gamma)
        across = [self._kernel(test, train, gamma) for test in tests]

        def score(cost: float) -> list[float]:
            # The seed is unused, but without it a fit advances NumPy's global state.
            machine = SVC(
                C=cost,
                kernel="precomputed",
                cache_size=200 + within.size * 4e-6,  # MB: all rows, in float32
                random_state=0,
            )
            machine.fit(within, self.y[train])
            return [
                float((machine.predict(kernel) == self.y[test]).mean())
                for kernel, test in zip(across, tests, strict=True)
            ]

        return score

    def _kernel(self, rows: Indices, columns: Indices, gamma: float) -> Floats:
        matrix = self.squared[np.ix_(rows, columns)]
        matrix *= -gamma
        return np.exp(matrix, out=matrix)
