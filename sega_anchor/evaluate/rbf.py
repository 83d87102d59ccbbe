"""The RBF machine of the published protocols, on kernel matrices that are shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class RBFMachine:
    """Searches C for ``SVC(kernel="rbf", gamma="scale")``.

    Same numbers as scikit-learn's GridSearchCV, but distances are computed once and
    every kernel matrix is shared by all costs.

    Args:
        x: features, ``(num_graphs, channels)``.
        y: classes 0 to c - 1, ``(num_graphs,)``.
        inner_folds: stratified, not shuffled.
        costs: candidate values of C.
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
        """Compute the distances and return the machine."""
        return cls(x, y, inner_folds, costs, squareform(pdist(x, "sqeuclidean")))

    def search(
        self, train: Indices, *tests: Indices
    ) -> tuple[list[float], float, float]:
        """Choose C on inner folds of ``train``.

        Returns:
            The accuracy on each of ``tests``, the mean inner accuracy of C, and C.
        """
        splitter = StratifiedKFold(self.inner_folds)
        inner = [
            self._accuracies(train[fit], [train[check]], self.costs)
            for fit, check in splitter.split(train, self.y[train])
        ]
        means = np.ascontiguousarray(np.array(inner)[:, :, 0].T).mean(axis=1)
        best = int(means.argmax())
        (accuracies,) = self._accuracies(train, tests, [self.costs[best]])
        return accuracies, float(means[best]), self.costs[best]

    def _accuracies(
        self, train: Indices, tests: Sequence[Indices], costs: Sequence[float]
    ) -> list[list[float]]:
        """Train with each C on one kernel matrix; return the accuracies on tests."""
        variance = self.x[train].var()
        gamma = 1.0 / (self.x.shape[1] * variance) if variance != 0 else 1.0
        within = self._kernel(train, train, gamma)
        across = [self._kernel(test, train, gamma) for test in tests]
        accuracies = []
        for cost in costs:
            # The seed is unused, but without one a fit moves numpy's global state.
            machine = SVC(
                C=cost,
                kernel="precomputed",
                cache_size=200 + within.size * 4e-6,  # megabytes: all rows, in float32
                random_state=0,
            )
            machine.fit(within, self.y[train])
            accuracies.append(
                [
                    float((machine.predict(kernel) == self.y[test]).mean())
                    for kernel, test in zip(across, tests, strict=True)
                ]
            )
        return accuracies

    def _kernel(self, rows: Indices, columns: Indices, gamma: float) -> Floats:
        matrix = self.squared[np.ix_(rows, columns)]
        matrix *= -gamma
        return np.exp(matrix, out=matrix)
