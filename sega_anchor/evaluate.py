"""Accuracy of a support vector machine on graph embeddings, the field's protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from torch import Tensor

_CACHE = 500  # megabytes of kernel rows for each machine
COSTS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SVMScores:
    """Result of :func:`svm_scores`, one entry per evaluated outer fold.

    Attributes:
        test: Accuracy in [0, 1] on the outer test fold, shape `(folds,)`.
        validation: Mean inner accuracy of the chosen cost, shape `(folds,)`.
        holdout: Accuracy on graphs drawn from the training part, with the search
            repeated on the rest, shape `(folds,)`; None if it was not asked for.
        cost: The chosen C, shape `(folds,)`.
    """

    test: Floats
    validation: Floats
    holdout: Floats | None
    cost: Floats

    @property
    def accuracy(self) -> float:
        """Mean test accuracy, the number the tables report."""
        return float(self.test.mean())

    @property
    def validation_accuracy(self) -> float:
        """Mean inner accuracy: choose epochs and settings by this, not by the test."""
        return float(self.validation.mean())

    @property
    def holdout_accuracy(self) -> float | None:
        """Mean accuracy on the held-out training graphs, None if not asked for."""
        return None if self.holdout is None else float(self.holdout.mean())


def svm_scores(
    embedding: ArrayLike | Tensor,
    labels: ArrayLike | Tensor,
    *,
    folds: int = 10,
    inner_folds: int = 5,
    costs: Sequence[float] = COSTS,
    random_state: int | np.random.RandomState = 0,
    holdout: bool = False,
    only: Sequence[int] | None = None,
    jobs: int = 1,
    on_fold: Callable[[int], None] | None = None,
) -> SVMScores:
    r"""Cross-validate an RBF support vector machine on graph embeddings.

    Each of `folds` stratified, shuffled folds is predicted by a machine trained on
    the others with the kernel

    .. math:: \exp(-\|x - x'\|^2 / (d \, \mathrm{Var}(X_{train})))

    and the cost of highest mean accuracy over `inner_folds` (the smallest index on
    ties). Same numbers as scikit-learn's `GridSearchCV(SVC(), {"C": costs})`, but
    distances are computed once and every kernel matrix is shared by all costs.

    Args:
        embedding: Finite features, shape `(num_graphs, channels)`, not standardised.
        labels: One class per graph, shape `(num_graphs,)`.
        folds: Number of outer folds.
        inner_folds: Number of inner folds, stratified and not shuffled.
        costs: Candidate values of C.
        random_state: Seed or generator of the partition. A generator advances as in
            the released code, with and without `holdout`.
        holdout: Whether to compute the validation accuracy that the released code
            computes and never uses; doubles the time.
        only: Outer folds to evaluate, in this order; all of them by default.
        jobs: Number of threads, each with an outer fold; results do not depend on it.
        on_fold: Called in the calling thread with the index of each finished fold.

    Raises:
        ValueError: If shapes, features, classes or folds do not allow the protocol.

    Source: `evaluate_embedding.py` of SEGA, as in InfoGraph and GraphCL.

    Example:
        >>> x = np.repeat([[0.0, 0.0], [1.0, 2.0]], 10, axis=0)
        >>> scores = svm_scores(x, np.repeat([0, 1], 10))
        >>> scores.accuracy, scores.cost.shape
        (1.0, (10,))
    """
    x, y = _checked(embedding, labels)
    chosen = list(range(folds)) if only is None else list(only)
    _check_options(folds, inner_folds, costs, chosen, jobs)
    _check_classes(y, folds)
    partition = _partition(y, folds, random_state)
    squared = euclidean_distances(x, squared=True)

    def score(fold: _Fold) -> list[float]:
        scores = _search(x, y, squared, fold.train, fold.test, inner_folds, costs)
        if holdout:
            held = _search(x, y, squared, fold.rest, fold.held, inner_folds, costs)
            scores.append(held[0])
        return scores

    rows: dict[int, list[float]] = {}
    pool = ThreadPoolExecutor(jobs)
    try:
        futures = {pool.submit(score, partition[index]): index for index in chosen}
        for future in as_completed(futures):
            rows[futures[future]] = future.result()
            if on_fold is not None:
                on_fold(futures[future])
    finally:
        pool.shutdown(cancel_futures=True)
    columns = np.array([rows[index] for index in chosen]).T
    return SVMScores(
        columns[0], columns[1], columns[3] if holdout else None, columns[2]
    )


def mean_std(values: ArrayLike) -> tuple[float, float]:
    """Mean and population standard deviation (ddof 0), as the paper reports seeds.

    Example:
        >>> mean_std([1.0, 3.0])
        (2.0, 1.0)
    """
    array = np.asarray(values, dtype=np.float64)
    return float(array.mean()), float(array.std())


@dataclass(frozen=True)
class _Fold:
    train: Indices
    test: Indices
    held: Indices
    rest: Indices


def _partition(
    y: Indices, folds: int, random_state: int | np.random.RandomState
) -> list[_Fold]:
    """Draw all folds, and the held-out part of each, in the released order."""
    random = check_random_state(random_state)
    splitter = StratifiedKFold(folds, shuffle=True, random_state=random)
    partition = []
    for train, test in splitter.split(y, y):
        random.randint(np.iinfo("i").max)  # drawn by SVC.fit when the search refits
        held = random.choice(train, len(test), replace=False)
        random.randint(np.iinfo("i").max)  # and by the search on the rest
        partition.append(_Fold(train, test, held, np.setdiff1d(train, held)))
    return partition


def _search(
    x: Floats,
    y: Indices,
    squared: Floats,
    train: Indices,
    test: Indices,
    inner_folds: int,
    costs: Sequence[float],
) -> list[float]:
    """Choose C on inner folds of ``train``; return test, inner accuracy and C."""
    inner = np.zeros(len(costs))
    for fit, check in StratifiedKFold(inner_folds).split(train, y[train]):
        inner += _accuracies(x, y, squared, train[fit], train[check], costs)
    inner /= inner_folds
    best = int(inner.argmax())
    (accuracy,) = _accuracies(x, y, squared, train, test, [costs[best]])
    return [accuracy, float(inner[best]), costs[best]]


def _accuracies(
    x: Floats,
    y: Indices,
    squared: Floats,
    train: Indices,
    test: Indices,
    costs: Sequence[float],
) -> Floats:
    """Train with each C on one kernel matrix; return the accuracies on ``test``."""
    variance = x[train].var()
    gamma = 1.0 / (x.shape[1] * variance) if variance else 1.0
    kernel = np.exp(-gamma * squared[np.ix_(train, train)])
    across = np.exp(-gamma * squared[np.ix_(test, train)])
    accuracies = []
    for cost in costs:
        machine = SVC(C=cost, kernel="precomputed", cache_size=_CACHE)
        machine.fit(kernel, y[train])
        accuracies.append(np.mean(machine.predict(across) == y[test]))
    return np.array(accuracies)


def _checked(
    embedding: ArrayLike | Tensor, labels: ArrayLike | Tensor
) -> tuple[Floats, Indices]:
    x, given = np.asarray(embedding, dtype=np.float64), np.asarray(labels)
    if x.ndim != 2 or given.shape != (len(x),):
        raise ValueError(
            "embedding must have shape (num_graphs, channels) and labels "
            f"(num_graphs,), got {x.shape} and {given.shape}"
        )
    if not np.isfinite(x).all():
        raise ValueError(
            f"embedding has {int((~np.isfinite(x)).sum())} entries that are NaN or "
            "infinite: training diverged, lower the learning rate"
        )
    y = np.unique(given, return_inverse=True)[1].astype(np.int64)
    return x, y


def _check_classes(y: Indices, folds: int) -> None:
    counts = np.bincount(y)
    if len(counts) < 2:
        raise ValueError(f"labels must hold at least 2 classes, got {len(counts)}")
    if counts.min() < folds:
        raise ValueError(
            f"class {int(counts.argmin())} has {counts.min()} graphs, fewer than the "
            f"{folds} folds: give more graphs or fewer folds"
        )


def _check_options(
    folds: int,
    inner_folds: int,
    costs: Sequence[float],
    chosen: Sequence[int],
    jobs: int,
) -> None:
    for name, value, least in (
        ("folds", folds, 2),
        ("inner_folds", inner_folds, 2),
        ("jobs", jobs, 1),
    ):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value!r}")
    if not costs or min(costs) <= 0:
        raise ValueError(f"costs must be positive numbers, got {costs!r}")
    if not all(0 <= fold < folds for fold in chosen):
        raise ValueError(f"only must name folds from 0 to {folds - 1}, got {chosen!r}")
