import numpy as np
import pytest
from oracles import reference
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from sega_anchor.evaluate import COSTS, svm_scores


def noisy() -> tuple[np.ndarray, np.ndarray]:
    """Unscaled positive features with heavy tails, as sum-pooled embeddings are."""
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 150)
    hidden = random.normal(size=(150, 8)) + 0.4 * y[:, None]
    return np.maximum(hidden @ random.normal(size=(8, 96)), 0) ** 2, y


def digits() -> tuple[np.ndarray, np.ndarray]:
    x, y = load_digits(return_X_y=True)
    return x[:300], y[:300]


def plain(x: np.ndarray, y: np.ndarray, seed: int) -> list[tuple[float, float, float]]:
    """The protocol in plain scikit-learn: (test, inner accuracy, C) of each fold."""
    rows = []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(x, y):
        search = GridSearchCV(SVC(), {"C": list(COSTS)}, cv=5, scoring="accuracy")
        search.fit(x[train], y[train])
        test_accuracy = search.score(x[test], y[test])
        rows.append((test_accuracy, search.best_score_, search.best_params_["C"]))
    return rows


@pytest.mark.parametrize(
    ("x", "y"),
    [load_iris(return_X_y=True), load_wine(return_X_y=True), noisy(), digits()],
    ids=["iris", "wine", "noisy", "digits"],
)
def test_equals_scikit_learn_fold_by_fold(x: np.ndarray, y: np.ndarray) -> None:
    slow = np.array(plain(x, y, seed=3))
    fast = svm_scores(x, y, random_state=3)
    np.testing.assert_allclose(fast.test, slow[:, 0], atol=1e-12)
    np.testing.assert_allclose(fast.validation, slow[:, 1], atol=1e-12)
    np.testing.assert_array_equal(fast.cost, slow[:, 2])


def test_equals_the_released_evaluation_on_iris() -> None:
    validation, test = reference("svc_evaluation")["value"]
    x, y = load_iris(return_X_y=True)
    state = np.random.RandomState(0)
    scores = svm_scores(x, y, random_state=state, holdout=True)
    assert scores.holdout_accuracy == pytest.approx(validation, abs=1e-7)
    assert scores.accuracy == pytest.approx(test, abs=1e-7)


def test_threads_and_single_folds_change_nothing() -> None:
    x, y = load_iris(return_X_y=True)
    seen: list[int] = []
    one = svm_scores(x, y)
    two = svm_scores(x, y, jobs=2, on_fold=seen.append)
    some = svm_scores(x, y, only=[7, 2])
    np.testing.assert_array_equal(one.test, two.test)
    np.testing.assert_array_equal(some.validation, one.validation[[7, 2]])
    assert sorted(seen) == list(range(10))


def test_a_constant_embedding_is_the_majority_class() -> None:
    y = np.repeat([0, 1], [20, 40])
    assert svm_scores(np.ones((60, 4)), y).accuracy == pytest.approx(40 / 60)


IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"embedding": IRIS[0][:100]}, "shape"),
        ({"embedding": IRIS[0] * np.nan}, "600 entries that are NaN or infinite"),
        ({"labels": np.zeros(150)}, "at least 2 classes, got 1"),
        ({"labels": np.arange(150) < 4}, "class 1 has 4 graphs, fewer than the 10"),
        ({"folds": 1}, "folds must be at least 2, got 1"),
        ({"jobs": 0}, "jobs must be at least 1, got 0"),
        ({"only": [10]}, "from 0 to 9"),
        ({"costs": [0.0]}, "costs must be positive"),
    ],
)
def test_bad_input_is_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        svm_scores(**{"embedding": IRIS[0], "labels": IRIS[1], **arguments})
