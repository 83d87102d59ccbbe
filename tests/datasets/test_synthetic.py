import hashlib
import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.utils import degree

from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.datasets.synthetic import _graph, _Knobs
from tests.helpers.examples import times


def degrees(data: Data) -> np.ndarray:
    return degree(data.edge_index[0], data.num_nodes, dtype=torch.long).numpy()


def counts(data: Data, top: int) -> np.ndarray:
    """All that a classifier of sizes, degrees and colours could use."""
    d = degrees(data)
    histogram = np.bincount(d, minlength=top + 1)
    colours = data.x.sum(0).numpy()
    return np.array([data.num_nodes, data.num_edges, *histogram, d.var(), *colours])


def structure(data: Data) -> np.ndarray:
    """Share of edges in one colour, and four-cycles and triangles for each edge."""
    adjacency = np.zeros((data.num_nodes, data.num_nodes))
    adjacency[tuple(data.edge_index.numpy())] = 1
    colour = data.x.argmax(1)
    same = colour[data.edge_index[0]] == colour[data.edge_index[1]]
    walks = adjacency @ adjacency
    triangles = (walks * adjacency).sum() / 6
    np.fill_diagonal(walks, 0)
    squares = (walks * (walks - 1)).sum() / 8
    return np.array(
        [same.float().mean(), *(np.array([squares, triangles]) / same.numel())]
    )


def accuracy(model: BaseEstimator, x: np.ndarray, y: np.ndarray) -> float:
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    return float(cross_val_score(model, x, y, cv=folds).mean())


@pytest.fixture(scope="module")
def dataset() -> SyntheticCommunities:
    return SyntheticCommunities()


def test_it_is_fast() -> None:
    start = time.perf_counter()
    SyntheticCommunities(num_graphs=300)
    assert time.perf_counter() - start < 3.0


def test_the_set_without_knobs_is_the_one_it_has_always_been() -> None:
    digest = hashlib.sha256()
    for data in SyntheticCommunities(num_graphs=30):
        for values in (data.x, data.edge_index, data.y):
            digest.update(values.numpy().tobytes())
    assert digest.hexdigest().startswith("ad20c911ffbf2318")


def test_it_behaves_as_an_in_memory_dataset(dataset: SyntheticCommunities) -> None:
    assert len(dataset) == 300
    assert (dataset.num_features, dataset.num_classes) == (2, 3)
    assert dataset.y.bincount().tolist() == [100, 100, 100]
    assert len(dataset[10:20]) == 10
    assert dataset[torch.tensor([5, 7])].y.tolist() == [2, 1]
    assert dataset[dataset.y == 1].y.unique().tolist() == [1]
    batch = next(iter(DataLoader(dataset, batch_size=300)))
    assert batch.num_graphs == 300
    assert repr(dataset[:9]) == "SyntheticCommunities(num_graphs=9, seed=0)"


@times(0.3)
@given(st.integers(0, 2), st.integers(0, 2**32))
def test_every_graph_is_valid(label: int, seed: int) -> None:
    data = _graph(label, np.random.default_rng(seed), _Knobs())
    assert data.validate(raise_on_error=True)
    assert data.is_undirected() and data.is_coalesced() and not data.has_self_loops()
    assert data.num_nodes in (32, 40, 48)
    assert data.x.dtype == torch.float32 and data.x.sum(1).eq(1).all()
    assert data.x.sum(0).tolist() == [data.num_nodes / 2] * 2
    assert data.y.tolist() == [label] and data.y.dtype == torch.long


def test_same_seed_same_bits_and_a_smaller_set_is_the_beginning() -> None:
    first, again = SyntheticCommunities(12, seed=3), SyntheticCommunities(60, seed=3)
    other = SyntheticCommunities(12, seed=4)
    for i in range(12):
        assert torch.equal(first[i].edge_index, again[i].edge_index)
        assert torch.equal(first[i].x, again[i].x)
        assert first[i].edge_index.tolist() != other[i].edge_index.tolist()


@pytest.mark.parametrize("seed", range(50))
def test_the_class_changes_no_degree_and_no_colour(seed: int) -> None:
    # Equal for every state of the generator, hence equal in law.
    graphs = [
        _graph(label, np.random.default_rng(seed), _Knobs()) for label in range(3)
    ]
    for data in graphs[1:]:
        assert torch.equal(data.x, graphs[0].x)
        assert (degrees(data) == degrees(graphs[0])).all()
        assert data.edge_index.tolist() != graphs[0].edge_index.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), SVC()),
        RandomForestClassifier(10, max_depth=6, random_state=0),
    ],
    ids=["svm", "forest"],
)
def test_counts_do_not_tell_the_classes_apart(
    model: BaseEstimator, dataset: SyntheticCommunities
) -> None:
    top = max(int(degrees(data).max()) for data in dataset)
    x = np.stack([counts(data, top) for data in dataset])
    y = dataset.y.numpy()
    rng = np.random.default_rng(0)
    null = [accuracy(model, x, rng.permutation(y)) for _ in range(30)]
    # The normal 99 % quantile of what labels without meaning give.
    assert accuracy(model, x, y) < np.mean(null) + 2.33 * np.std(null, ddof=1)


def test_structure_tells_the_classes_apart(dataset: SyntheticCommunities) -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression())
    x = np.stack([structure(data) for data in dataset])
    y = dataset.y.numpy()
    together = accuracy(model, x, y)
    assert 0.6 < together < 0.95
    # Neither colours alone nor cycles alone say it all, and both say something.
    assert 0.42 < accuracy(model, x[:, :1], y) < together
    assert 0.55 < accuracy(model, x[:, 1:], y) < together


def test_structure_tells_the_more_the_stronger_it_is() -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression())
    found = []
    for strength in (0.0, 0.4, 1.0):
        dataset = SyntheticCommunities(strength=strength)
        x = np.stack([structure(data) for data in dataset])
        found.append(accuracy(model, x, dataset.y.numpy()))
    assert found[0] < 0.4 < found[1] < 0.6 < 0.75 < found[2]


@pytest.mark.parametrize("num_graphs", [-1, 0, 2])
def test_too_few_graphs(num_graphs: int) -> None:
    with pytest.raises(ValueError, match=rf"at least 3.*got {num_graphs}"):
        SyntheticCommunities(num_graphs)


def test_negative_seed() -> None:
    with pytest.raises(ValueError, match="got -1"):
        SyntheticCommunities(seed=-1)


def test_classes_differ_by_one_at_most_where_three_does_not_divide() -> None:
    assert SyntheticCommunities(10).y.bincount().tolist() == [4, 3, 3]
