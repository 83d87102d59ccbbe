"""svm_scores: accuracy of a support vector machine on graph embeddings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.utils import check_random_state
from torch import Tensor

from ..utils.checks import check_at_least, check_choice
from .linear import LinearMachine
from .rbf import Floats, Indices, RBFMachine

COSTS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)
INNER_FOLDS = 5

SVMKind = Literal["rbf", "linear"]
Folding = Literal["stratified", "plain"]


@dataclass(frozen=True, eq=False)
class SVMScores:
    """Result of :func:`svm_scores`, one entry per evaluated outer fold.

    Args:
        test: accuracy in [0, 1] on the outer test fold, ``(folds,)``.
        validation: mean inner accuracy of the chosen C, ``(folds,)``.
        holdout: accuracy on graphs drawn from the training part, with the search
            repeated on the rest, ``(folds,)``; None if not asked for.
        cost: the chosen C, ``(folds,)``.
    """

    test: Floats
    validation: Floats
    holdout: Floats | None
    cost: Floats

    @property
    def accuracy(self) -> float:
        """Mean test accuracy, the number that papers report."""
        return float(self.test.mean())

    @property
    def validation_accuracy(self) -> float:
        """Mean inner accuracy, by which to choose epochs and settings."""
        return float(self.validation.mean())

    @property
    def holdout_accuracy(self) -> float | None:
        """Mean accuracy on the held-out training graphs; None if not asked for."""
        return None if self.holdout is None else float(self.holdout.mean())


def svm_scores(
    embedding: ArrayLike | Tensor,
    labels: ArrayLike | Tensor,
    *,
    classifier: SVMKind = "rbf",
    folding: Folding = "stratified",
    folds: int = 10,
    inner_folds: int = INNER_FOLDS,
    costs: Sequence[float] = COSTS,
    random_state: int | np.random.RandomState = 0,
    holdout: bool = False,
    only: Sequence[int] | None = None,
    jobs: int = 1,
    on_fold: Callable[[int, dict[str, float]], None] | None = None,
) -> SVMScores:
    r"""Cross-validate a support vector machine on graph embeddings.

    Each of ``folds`` shuffled folds is predicted by a machine trained on the others,
    with the C of highest mean accuracy over ``inner_folds`` (the smallest index on
    ties). The kernel of ``"rbf"`` is

    .. math:: \exp(-\|x - x'\|^2 / (d \, \mathrm{Var}(X_{train})))

    and the results equal those of scikit-learn's ``GridSearchCV(SVC(), {"C": costs})``.
    All costs share the kernel matrices: with n graphs they take about ``8 n^2`` bytes,
    and up to ``12 n^2`` more for each job. ``"linear"`` is ``LinearSVC(dual=False)`` on
    standardised features.

    Args:
        embedding: finite features, ``(num_graphs, channels)``, not standardised.
        labels: one class per graph, ``(num_graphs,)``.
        classifier: ``"rbf"`` or ``"linear"``.
        folding: ``"stratified"``, or ``"plain"`` as in AD-GCL's released code: folds
            ignore classes, a fifth of each training part is held out of training, and
            ``validation`` is the accuracy there.
        folds: number of outer folds.
        inner_folds: number of inner folds, stratified and not shuffled.
        costs: candidate values of C.
        random_state: seed or generator of the partition. A generator advances as in
            the released code, with and without ``holdout``.
        holdout: compute the validation accuracy that SEGA's released code computes and
            never uses; doubles the time.
        only: outer folds to evaluate, in this order; default all.
        jobs: number of threads, each with one outer fold; does not change results.
        on_fold: called in the calling thread after each fold, with its index and its
            ``test``, ``validation`` and ``cost``.

    Returns:
        The accuracies.

    Raises:
        ValueError: before any training, for shapes, features, classes, folds, costs or
            jobs that do not allow the protocol.

    Source: repositories Wu-Junran/SEGA (evaluate_embedding.py, as in InfoGraph and
    GraphCL) and susheels/adgcl (unsupervised/embedding_evaluation.py).

    Example:
        >>> x = np.repeat([[0.0, 0.0], [1.0, 2.0]], 10, axis=0)
        >>> scores = svm_scores(x, np.repeat([0, 1], 10))
        >>> scores.accuracy, scores.cost.shape
        (1.0, (10,))
    """
    chosen = list(range(folds) if only is None else only)
    _check_options(classifier, folding, folds, inner_folds, costs, chosen, jobs)
    if holdout and folding == "plain":
        raise ValueError("holdout needs folding='stratified', got 'plain'")
    x, y, classes = _checked(embedding, labels, folds)
    split = _partition if folding == "stratified" else _plain_partition
    partition = split(y, folds, check_random_state(random_state))
    for fold in partition:
        _check_classes(classes, y[fold.train], inner_folds)
        if holdout:
            _check_classes(classes, y[fold.rest], inner_folds)
    kind = RBFMachine.on if classifier == "rbf" else LinearMachine
    machine = kind(x, y, inner_folds, costs)

    def score(fold: _Fold) -> list[float]:
        parts = [fold.test] if folding == "stratified" else [fold.test, fold.held]
        (test, *held), validation, cost = machine.search(fold.train, *parts)
        scores = [test, *(held or [validation]), cost]
        if holdout:
            scores += machine.search(fold.rest, fold.held)[0]
        return scores

    with warnings.catch_warnings():
        # As released: at the largest C the linear machine may hit its iteration limit.
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows = _each(score, partition, chosen, jobs, on_fold)
    test, validation, cost, *held = np.array([rows[index] for index in chosen]).T
    return SVMScores(test, validation, held[0] if holdout else None, cost)


@dataclass(frozen=True)
class _Fold:
    train: Indices
    test: Indices
    held: Indices
    rest: Indices


def _each(
    score: Callable[[_Fold], list[float]],
    partition: Sequence[_Fold],
    chosen: Sequence[int],
    jobs: int,
    on_fold: Callable[[int, dict[str, float]], None] | None,
) -> dict[int, list[float]]:
    """Score the chosen folds on threads; call ``on_fold`` after each."""
    rows: dict[int, list[float]] = {}
    pool = ThreadPoolExecutor(jobs)
    try:
        futures = {pool.submit(score, partition[index]): index for index in chosen}
        for future in as_completed(futures):
            rows[futures[future]] = future.result()
            if on_fold is not None:
                test, validation, cost = future.result()[:3]
                scores = {"test": test, "validation": validation, "cost": cost}
                on_fold(futures[future], scores)
    finally:
        pool.shutdown(cancel_futures=True)
    return rows


def _partition(y: Indices, folds: int, random: np.random.RandomState) -> list[_Fold]:
    """Draw all folds, and the held-out part of each, in the released order.

    There, fitting an SVC draws a seed: each of the two searches of a fold advances the
    generator.
    """
    splitter = StratifiedKFold(folds, shuffle=True, random_state=random)
    partition = []
    for train, test in splitter.split(y, y):
        random.randint(np.iinfo("i").max)
        held = random.choice(train, len(test), replace=False)
        random.randint(np.iinfo("i").max)
        partition.append(_Fold(train, test, held, np.setdiff1d(train, held)))
    return partition


def _plain_partition(
    y: Indices, folds: int, random: np.random.RandomState
) -> list[_Fold]:
    """Draw folds that ignore classes, and hold out a fifth of the rest."""
    partition = []
    for rest, test in KFold(folds, shuffle=True, random_state=random).split(y):
        train, held = train_test_split(rest, test_size=0.2, random_state=random)
        partition.append(_Fold(train, test, held, rest))
    return partition


def _checked(
    embedding: ArrayLike | Tensor, labels: ArrayLike | Tensor, folds: int
) -> tuple[Floats, Indices, NDArray[Any]]:
    """Return features, classes 0 .. c - 1, and the names of the classes."""
    x = np.ascontiguousarray(_array(embedding), dtype=np.float64)
    given = _array(labels)
    if x.ndim != 2 or not x.size or given.shape != x.shape[:1]:
        raise ValueError(
            "embedding must have shape (num_graphs, channels) and labels "
            f"(num_graphs,), got {x.shape} and {given.shape}"
        )
    if bad := int((~np.isfinite(x)).sum()):
        raise ValueError(
            f"embedding has {bad} entries that are NaN or infinite: training "
            "diverged, lower the learning rate"
        )
    classes, y = np.unique(given, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"labels must hold at least 2 classes, got {len(classes)}")
    _check_classes(classes, y, folds)
    return x, y, classes


def _array(values: ArrayLike | Tensor) -> NDArray[Any]:
    return np.asarray(values.detach().cpu() if isinstance(values, Tensor) else values)


def _check_classes(classes: NDArray[Any], y: Indices, folds: int) -> None:
    counts = np.bincount(y, minlength=len(classes))
    if counts.min() < folds:
        raise ValueError(
            f"class {classes[counts.argmin()]} has {counts.min()} graphs to split, "
            f"fewer than the {folds} folds: give more graphs or fewer folds"
        )


def _check_options(
    classifier: str,
    folding: str,
    folds: int,
    inner_folds: int,
    costs: Sequence[float],
    chosen: Sequence[int],
    jobs: int,
) -> None:
    check_choice("classifier", classifier, SVMKind)
    check_choice("folding", folding, Folding)
    check_at_least("folds", folds, 2)
    check_at_least("inner_folds", inner_folds, 2)
    check_at_least("jobs", jobs, 1)
    if len(costs) == 0 or not all(cost > 0 for cost in costs):
        raise ValueError(f"costs must be positive numbers, got {costs!r}")
    if not chosen or not all(0 <= fold < folds for fold in chosen):
        raise ValueError(f"only must name folds from 0 to {folds - 1}, got {chosen!r}")
