"""CodingTreeClustering: an estimator as scikit-learn's own."""

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import sega_anchor as sa
from tests.helpers.other_python import run_python
from tests.helpers.paths import ROOT

ESTIMATORS = [
    sa.CodingTreeClustering(),
    sa.CodingTreeClustering(3, height=3),
    sa.CodingTreeClustering(affinity="precomputed"),
]


def not_for(estimator: sa.CodingTreeClustering) -> dict[str, str]:
    if estimator.affinity == "precomputed":
        return {"check_clustering": "it passes features for an adjacency matrix"}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=not_for)
def test_scikit_learn_finds_nothing_wrong(estimator, check) -> None:
    check(estimator)


def barbell() -> np.ndarray:
    """Two cliques of 5 and 4, an edge between them."""
    matrix = np.zeros((9, 9))
    matrix[:5, :5] = matrix[5:, 5:] = 1
    matrix[4, 5] = matrix[5, 4] = 1
    return matrix


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, csr_array, coo_matrix])
def test_a_matrix_of_weights_gives_the_tree_of_its_graph(form) -> None:
    matrix = barbell()
    found = sa.CodingTreeClustering(affinity="precomputed", height=3, level=2).fit(
        form(matrix)
    )
    graph = csr_array(matrix)
    tree = sa.build_coding_tree(graph, height=3)
    assert found.tree_.parent.tolist() == tree.parent.tolist()
    assert found.labels_.tolist() == tree.partition(2).tolist()
    assert found.entropy_ == sa.structural_entropy(tree, graph)
    assert found.n_features_in_ == 9


def test_features_are_joined_to_their_nearest_neighbours() -> None:
    X, _ = make_blobs(30, random_state=0)
    found = sa.CodingTreeClustering(n_neighbors=4).fit(X)
    distance = np.linalg.norm(X[:, None] - X, axis=2)
    near = distance.argsort(axis=1)[:, 1:5]
    expected = np.zeros((30, 30))
    for u in range(30):
        for v in near[u]:
            expected[u, v] += 0.5
            expected[v, u] += 0.5
    assert found.affinity_matrix_.toarray().tolist() == expected.tolist()


def test_blobs_are_found_with_and_without_their_number() -> None:
    X, y = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    for clusters in (3, 2, 7):
        labels = sa.CodingTreeClustering(clusters).fit_predict(X)
        assert sorted(set(labels)) == [*range(clusters)]
        assert labels.dtype == np.int64
    found = sa.CodingTreeClustering(3, n_neighbors=20).fit_predict(X)
    assert adjusted_rand_score(found, y) == 1.0
    merged = sa.CodingTreeClustering(height=3, level=2).fit_predict(X)
    assert all(len(set(y[merged == cluster])) == 1 for cluster in set(merged))


def test_it_works_in_a_pipeline_and_over_a_grid() -> None:
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), sa.CodingTreeClustering())
    for options in ParameterGrid({"n_clusters": np.arange(2, 4), "n_neighbors": [15]}):
        given = {f"codingtreeclustering__{key}": options[key] for key in options}
        labels = clone(model).set_params(**given).fit_predict(X)
        assert labels.max() + 1 == options["n_clusters"]
        assert adjusted_rand_score(labels, y) > 0.4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be an integer of at least 1, got 0"),
        ({"n_clusters": 10}, "n_clusters must be at most n_samples, got 10 with n_sam"),
        ({"level": 2}, "level must be an integer from 1 to height - 1, 1, got 2"),
        ({"height": 1}, "height must be an integer of at least 2, got 1"),
        ({"method": "best"}, "method must be one of .*'refined'.*, got 'best'"),
        ({"affinity": "rbf"}, "affinity must be 'nearest_neighbors' or 'precomputed'"),
        ({"n_neighbors": 0.5}, "n_neighbors must be an integer of at least 1, got 0.5"),
    ],
)
def test_bad_options_are_refused(options, message) -> None:
    with pytest.raises(ValueError, match=message):
        sa.CodingTreeClustering(**options).fit(barbell())


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((3, 2)), r"must be square, got shape \(3, 2\): pass affinity="),
        (-barbell(), "Negative values .* similarities, got -1.0"),
        (csr_array(-barbell()), "Negative values .* similarities, got -1.0"),
    ],
)
def test_what_is_no_adjacency_matrix_is_refused(matrix, message) -> None:
    with pytest.raises(ValueError, match=message):
        sa.CodingTreeClustering(affinity="precomputed").fit(matrix)


def test_the_package_is_imported_without_scikit_learn() -> None:
    code = (
        "import sys, sega_anchor\n"
        "assert 'sklearn' not in sys.modules\n"
        "print(sega_anchor.CodingTreeClustering.__name__)"
    )
    assert run_python(code, ROOT).stdout.strip() == "CodingTreeClustering"
