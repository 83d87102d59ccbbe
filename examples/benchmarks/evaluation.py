"""Seconds of the support vector protocol: scikit-learn's grid search and svm_scores.

    python examples/benchmarks/evaluation.py NCI1 --archives DIR
    python examples/benchmarks/evaluation.py NCI1 --folds 2 --repeats 3 --archives DIR

Grid search takes one fold after another and spreads the fits of each over all cores;
svm_scores gives each core folds of its own. So sets of folds are timed, in turns,
with the same number of cores. Worker processes are started beforehand.
"""

import argparse
import os
import time

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from adapters import graphcl
from sega_anchor.datasets import load
from sega_anchor.evaluate import COSTS, svm_scores


def searched(x: np.ndarray, y: np.ndarray, folds: int, jobs: int) -> np.ndarray:
    """Return (accuracy, inner accuracy, C) of the first folds, in scikit-learn."""
    rows = []
    partition = StratifiedKFold(10, shuffle=True, random_state=0).split(x, y)
    for (train, test), _ in zip(partition, range(folds), strict=False):
        search = GridSearchCV(SVC(), {"C": COSTS}, cv=5, n_jobs=jobs)
        search.fit(x[train], y[train])
        accuracy = search.score(x[test], y[test])
        rows.append((accuracy, search.best_score_, search.best_params_["C"]))
    return np.array(rows)


def shared(x: np.ndarray, y: np.ndarray, folds: int, jobs: int) -> np.ndarray:
    """Return the same numbers from svm_scores."""
    scores = svm_scores(x, y, random_state=0, only=range(folds), jobs=jobs)
    return np.stack([scores.test, scores.validation, scores.cost], axis=1)


def main() -> None:
    """Train an embedding of each data set, then time both in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--folds", type=int, default=10, choices=range(1, 11))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--archives", default=None)
    given = parser.parse_args()
    for dataset in given.datasets:
        result = graphcl.run(
            dataset,
            anchor=True,
            seeds=1,
            epochs=given.epochs,
            evaluate_at=(),
            archives=given.archives,
        )
        x = result.embeddings["GT"].double().numpy()
        graphs = load(dataset, archives=given.archives)
        y = np.array([int(graph.y) for graph in graphs])
        searched(x[::10], y[::10], 1, given.jobs)
        seconds = np.zeros((given.repeats, 2))
        for row in seconds:
            numbers = []
            for column, method in enumerate((searched, shared)):
                start = time.perf_counter()
                numbers.append(method(x, y, given.folds, given.jobs))
                row[column] = time.perf_counter() - start
            slow, fast = row
            print(
                f"{dataset}, {x.shape[0]} x {x.shape[1]}, {given.folds} folds, "
                f"{given.jobs} jobs: GridSearchCV {slow:.2f} s, svm_scores {fast:.2f} "
                f"s, {slow / fast:.2f} times; accuracy {numbers[1][:, 0].mean():.4f}, "
                f"all numbers equal: {np.array_equal(numbers[0], numbers[1])}",
                flush=True,
            )
        if given.repeats > 1:
            slow, fast = np.median(seconds, axis=0)
            print(f"{dataset}, medians: {slow:.2f} s, {fast:.2f} s, {slow / fast:.2f}")


if __name__ == "__main__":
    main()
