import warnings

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from sega_anchor.evaluate import COSTS, svm_scores
from sega_anchor.evaluate.rbf import RBFMachine
from tests.helpers.reference import reference

IRIS = load_iris(return_X_y=True)


def noisy() -> tuple[np.ndarray, np.ndarray]:
    """Unscaled positive features with heavy tails, as sum-pooled embeddings are."""
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 150)
    hidden = random.normal(size=(150, 8)) + 0.4 * y[:, None]
    return np.maximum(hidden @ random.normal(size=(8, 96)), 0) ** 2, y


def digits() -> tuple[np.ndarray, np.ndarray]:
    x, y = load_digits(return_X_y=True)
    return x[:200], y[:200]


def plain(x: np.ndarray, y: np.ndarray, seed: int) -> list[tuple[float, float, float]]:
    """The protocol in plain scikit-learn: (test, inner accuracy, C) of each fold."""
    rows = []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(x, y):
        search = GridSearchCV(SVC(), {"C": list(COSTS)}, cv=5, scoring="accuracy")
        search.fit(x[train], y[train])
        test_accuracy = search.score(x[test], y[test])
        rows.append((test_accuracy, search.best_score_, search.best_params_["C"]))
    return rows


def parity() -> tuple[np.ndarray, np.ndarray]:
    """No small C is better than chance, and the classes are of unequal size."""
    random = np.random.default_rng(2)
    x = random.uniform(-1, 1, size=(160, 2))
    return x, (x.prod(axis=1) > 0.1).astype(int)


def repeated() -> tuple[np.ndarray, np.ndarray]:
    """Three classes on few points, each point many times and in every class: ties."""
    random = np.random.default_rng(3)
    points = random.integers(0, 3, size=(180, 2)).astype(float)
    return points, random.integers(0, 3, 180)


SETS = {
    "iris": IRIS,
    "wine": load_wine(return_X_y=True),
    "noisy": noisy(),
    "digits": digits(),
    "parity": parity(),
    "repeated": repeated(),
}


LONG = ["noisy", "digits"]


@pytest.mark.parametrize(
    "name", ["iris", *(pytest.param(n, marks=pytest.mark.slow) for n in LONG)]
)
def test_equals_scikit_learn_fold_by_fold(name: str) -> None:
    """To the last bit."""
    x, y = SETS[name]
    slow = np.array(plain(x, y, seed=3))
    fast = svm_scores(x, y, random_state=3)
    np.testing.assert_array_equal(fast.test, slow[:, 0])
    np.testing.assert_array_equal(fast.validation, slow[:, 1])
    np.testing.assert_array_equal(fast.cost, slow[:, 2])


@pytest.mark.parametrize(
    ("inner_folds", "costs"),
    [(2, COSTS), (3, COSTS[::-1]), (8, (1.0, 2.0, 1.0, 1e-3, 1e-4))],
)
@pytest.mark.parametrize("name", SETS)
def test_a_search_equals_grid_search(
    name: str, inner_folds: int, costs: tuple[float, ...]
) -> None:
    """Whatever the number of folds and the order of the costs, and where some tie."""
    x, y = SETS[name]
    part = np.arange(len(x)) % 3
    train, test = np.flatnonzero(part), np.flatnonzero(part == 0)
    search = GridSearchCV(SVC(), {"C": costs}, cv=inner_folds)
    search.fit(x[train], y[train])
    machine = RBFMachine.on(x, y, inner_folds, costs)
    (accuracy,), validation, cost = machine.search(train, test)
    assert accuracy == search.score(x[test], y[test])
    assert validation == search.best_score_
    assert cost == search.best_params_["C"]


def test_a_cost_that_can_no_longer_win_is_not_fitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted against the accuracies that scikit-learn finds for every cost."""
    fitted: list[float] = []

    class Counted(SVC):
        def fit(self, *args: np.ndarray) -> SVC:
            fitted.append(self.C)
            return super().fit(*args)

    x, y = parity()
    train = np.arange(len(x))
    search = GridSearchCV(SVC(), {"C": COSTS}, cv=5).fit(x, y)
    found = [search.cv_results_[f"split{fold}_test_score"] for fold in range(4)]
    hopeless = (np.sum(found, axis=0) + 1) / 5 < search.best_score_ - 1e-9
    assert 0 < hopeless.sum() < len(COSTS)
    monkeypatch.setattr("sega_anchor.evaluate.rbf.SVC", Counted)
    _, validation, best = RBFMachine.on(x, y, 5, COSTS).search(train, train)
    assert (validation, best) == (search.best_score_, search.best_params_["C"])
    for cost, lost in zip(COSTS, hopeless, strict=True):
        assert fitted.count(cost) == (4 if lost else 5) + (cost == best)


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_features_too_large_for_a_kernel_are_refused() -> None:
    with pytest.raises(ValueError, match=r"embedding has variance \w+: rescale it"):
        svm_scores(IRIS[0] * 1e200, IRIS[1])


@pytest.mark.slow
@pytest.mark.parametrize("folding", ["stratified", "plain"])
def test_linear_equals_scikit_learn_fold_by_fold(folding: str) -> None:
    """AD-GCL's pipeline, put together from scikit-learn in the released order."""
    x, y = load_wine(return_X_y=True)
    state = np.random.RandomState(3)
    kind = KFold if folding == "plain" else StratifiedKFold
    rows = []
    if folding == "stratified":
        splits = list(kind(10, shuffle=True, random_state=3).split(x, y))
    else:
        splits = kind(10, shuffle=True, random_state=state).split(x, y)
    for train, test in splits:
        if folding == "plain":
            train, held = train_test_split(train, test_size=0.2, random_state=state)
        search = GridSearchCV(LinearSVC(dual=False), {"C": list(COSTS)}, cv=5)
        machine = make_pipeline(StandardScaler(), search).fit(x[train], y[train])
        validation = search.best_score_
        if folding == "plain":
            validation = machine.score(x[held], y[held])
        rows.append((machine.score(x[test], y[test]), validation))
    got = svm_scores(x, y, classifier="linear", folding=folding, random_state=3, jobs=2)
    np.testing.assert_allclose(got.test, [row[0] for row in rows], atol=1e-12)
    np.testing.assert_allclose(got.validation, [row[1] for row in rows], atol=1e-12)


def test_equals_the_released_evaluation_on_iris() -> None:
    validation, test = reference("svc_evaluation")["value"]
    x, y = load_iris(return_X_y=True)
    state = np.random.RandomState(0)
    scores = svm_scores(x, y, random_state=state, holdout=True)
    assert scores.holdout_accuracy == pytest.approx(validation, abs=1e-7)
    assert scores.accuracy == pytest.approx(test, abs=1e-7)


def test_threads_and_single_folds_change_nothing() -> None:
    x, y = load_iris(return_X_y=True)
    seen: dict[int, dict[str, float]] = {}
    one = svm_scores(x, y)
    two = svm_scores(x, y, jobs=2, on_fold=seen.__setitem__)
    some = svm_scores(x, y, only=[7, 2])
    np.testing.assert_array_equal(one.test, two.test)
    np.testing.assert_array_equal(some.validation, one.validation[[7, 2]])
    assert sorted(seen) == list(range(10))
    assert [seen[fold]["test"] for fold in range(10)] == one.test.tolist()


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0, 1 / 3])
def test_a_constant_embedding_is_the_majority_class(value: float) -> None:
    """The variance of 0.1, 0.1, ... is not 0 in floating point; distances must be."""
    y = np.repeat([0, 1], [50, 100])
    scores = svm_scores(np.full((150, 32), value), y, folds=5, costs=[0.1, 1000.0])
    np.testing.assert_allclose(scores.test, 100 / 150)


def test_numpy_global_state_is_left_alone() -> None:
    before = np.random.get_state(legacy=False)["state"]
    svm_scores(*IRIS, holdout=True, costs=[1.0], only=[0])
    after = np.random.get_state(legacy=False)["state"]
    np.testing.assert_array_equal(before["key"], after["key"])
    assert before["pos"] == after["pos"]


def test_a_generator_advances_as_released_whatever_is_asked_for() -> None:
    states = np.random.RandomState(5), np.random.RandomState(5)
    svm_scores(*IRIS, random_state=states[0], costs=[1.0], holdout=True)
    svm_scores(*IRIS, random_state=states[1], costs=[1.0], only=[4])
    assert states[0].randint(10**9) == states[1].randint(10**9)


def test_tensors_and_class_names_give_the_same_numbers() -> None:
    x, y = IRIS
    array = svm_scores(x, y, only=[0, 1])
    tensor = torch.tensor(x, requires_grad=True)
    named = svm_scores(x, np.array(["a", "b", "c"])[y], only=[0, 1])
    for other in (svm_scores(tensor, torch.tensor(y), only=[0, 1]), named):
        np.testing.assert_array_equal(array.validation, other.validation)
        np.testing.assert_array_equal(array.test, other.test)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"embedding": IRIS[0][:100]}, "shape"),
        ({"embedding": IRIS[0] * np.nan}, "600 entries that are NaN or infinite"),
        ({"labels": np.zeros(150)}, "at least 2 classes, got 1"),
        ({"labels": np.arange(150) < 4}, "class True has 4 graphs to split, fewer"),
        ({"labels": np.where(np.arange(150) < 9, "rare", "x")}, "class rare has 9 "),
        ({"folds": 2, "inner_folds": 30}, "class 0 has 25 graphs to split, fewer"),
        ({"folds": 1}, "folds must be at least 2, got 1"),
        ({"jobs": 0}, "jobs must be at least 1, got 0"),
        ({"only": [10]}, "from 0 to 9"),
        ({"only": []}, "from 0 to 9"),
        ({"costs": [0.0]}, "costs must be positive"),
        ({"classifier": "poly"}, "classifier must be 'rbf' or 'linear', got 'poly'"),
        ({"folding": "odd"}, "folding must be 'stratified' or 'plain', got 'odd'"),
        ({"folding": "plain", "holdout": True}, "holdout needs folding='strat"),
    ],
)
def test_bad_input_is_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        svm_scores(**{"embedding": IRIS[0], "labels": IRIS[1], **arguments})


def test_a_linear_machine_that_stops_at_its_limit_is_no_noise() -> None:
    """Collinear columns, as those of sum-pooled embeddings, make the largest C slow."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 100)
    a, b = random.normal(size=(100, 2)).T + 0.4 * y
    x = np.stack([a**i * b**j for i in range(6) for j in range(6)], axis=1)
    with pytest.warns(ConvergenceWarning):
        LinearSVC(dual=False, C=1000).fit(StandardScaler().fit_transform(x), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svm_scores(x, y, classifier="linear", only=[0, 1], jobs=2)
