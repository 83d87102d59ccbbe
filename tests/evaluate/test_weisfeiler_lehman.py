from collections import Counter

import networkx
import numpy as np
import pytest
import torch
from scipy.spatial.distance import pdist, squareform
from torch_geometric.data import Batch, Data
from torch_geometric.nn import WLConv
from torch_geometric.utils import from_networkx, to_networkx

from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.evaluate import (
    distinct_graphs,
    svm_scores,
    wl_classes,
    wl_colours,
    wl_embedding,
    wl_kernel,
)


def labelled(graph: networkx.Graph, seed: int) -> Data:
    random = torch.Generator().manual_seed(seed)
    data = from_networkx(graph)
    label = torch.randint(0, 3, (data.num_nodes,), generator=random)
    data.x = torch.nn.functional.one_hot(label, 3).float()
    return data


GRAPHS = [
    *(labelled(networkx.gnp_random_graph(12, 0.2, seed=s), s) for s in range(12)),
    *(labelled(networkx.path_graph(n), 0) for n in (1, 3, 9)),
]


@pytest.fixture(name="batch")
def _batch() -> Batch:
    return Batch.from_data_list(GRAPHS)


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two colourings are equal but for the names of colours."""
    pairs = {*zip(a.tolist(), b.tolist(), strict=True)}
    return len(pairs) == len(a.unique()) == len(b.unique())


def test_colours_are_those_of_wlconv(batch: Batch) -> None:
    slow = batch.x.argmax(dim=1)
    for fast in wl_colours(batch, iterations=4):
        assert same(fast, slow)
        assert int(fast.max()) + 1 == len(fast.unique())
        slow = WLConv()(slow, batch.edge_index)


def test_colours_split_until_they_are_stable() -> None:
    path = from_networkx(networkx.path_graph(9))
    colours = wl_colours(path)
    assert [len(c.unique()) for c in colours] == [1, 2, 3, 4, 5, 5]
    with pytest.raises(ValueError, match="iterations must be at least 0, got -1"):
        wl_colours(path, -1)


def test_the_kernel_counts_common_colours(batch: Batch) -> None:
    count: list[Counter[tuple[int, int]]] = [Counter() for _ in GRAPHS]
    for t, colour in enumerate(wl_colours(batch, 3)):
        for graph, c in zip(batch.batch.tolist(), colour.tolist(), strict=True):
            count[graph][t, c] += 1
    gram = np.array([[sum(a[k] * b[k] for k in a) for b in count] for a in count])
    length = np.sqrt(np.diag(gram))
    expected = gram / np.outer(length, length)
    np.testing.assert_allclose(wl_kernel(batch, 3), expected, atol=1e-12)


def test_distances_of_the_embedding_are_those_of_the_kernel(batch: Batch) -> None:
    embedding = wl_embedding(batch, 3)
    np.testing.assert_allclose(embedding.mean(dim=0), 0, atol=1e-12)
    squared = squareform(pdist(embedding.numpy(), "sqeuclidean"))
    np.testing.assert_allclose(squared, 2 - 2 * wl_kernel(batch, 3), atol=1e-9)


def test_the_embedding_is_learnt_from() -> None:
    graphs = SyntheticCommunities(num_graphs=60)
    embedding = wl_embedding(Batch.from_data_list([*graphs]))
    assert svm_scores(embedding, graphs.y, folds=5).accuracy > 1 / 3


def test_equal_graphs_span_nothing() -> None:
    batch = Batch.from_data_list([GRAPHS[0]] * 3)
    np.testing.assert_allclose(wl_embedding(batch), 0, atol=1e-6)
    empty = Batch.from_data_list(
        [Data(x=torch.ones(0, 1), edge_index=torch.empty(2, 0))]
    )
    assert wl_embedding(empty).shape == (1, 1)


def test_classes_are_those_of_graphs_with_other_numbers_of_nodes() -> None:
    """Renumbered nodes change nothing; one label, or one edge, does."""
    graphs = []
    random = torch.Generator().manual_seed(1)
    for data in GRAPHS:
        order = torch.randperm(data.num_nodes, generator=random)
        renumbered = data.clone()
        renumbered.x = torch.empty_like(data.x).index_copy(0, order, data.x)
        renumbered.edge_index = order[data.edge_index].flip(1)
        graphs += [data, renumbered]
    label = GRAPHS[0].clone()
    label.x = label.x.clone()
    label.x[0] = label.x[0].roll(1)
    edge = GRAPHS[0].clone()
    edge.edge_index = edge.edge_index[
        :, edge.edge_index.sum(0) != edge.edge_index[:, 0].sum()
    ]
    classes = wl_classes(Batch.from_data_list([*graphs, label, edge]))
    assert torch.equal(classes[: 2 * len(GRAPHS) : 2], classes[1 : 2 * len(GRAPHS) : 2])
    assert len(classes.unique()) == len(GRAPHS) + 2 == int(classes.max()) + 1


def test_classes_are_those_of_the_hashes_of_networkx() -> None:
    graphs = [
        from_networkx(networkx.gnp_random_graph(6, 0.4, seed=s)) for s in range(60)
    ]
    hashes = []
    for data in graphs:
        graph = to_networkx(data, to_undirected=True)
        networkx.set_node_attributes(graph, "", "label")
        hashes.append(
            networkx.weisfeiler_lehman_graph_hash(graph, None, "label", iterations=6)
        )
    names = torch.tensor([sorted(set(hashes)).index(h) for h in hashes])
    assert same(wl_classes(Batch.from_data_list(graphs)), names)


@pytest.mark.parametrize(
    ("classes", "labels", "expected"),
    [
        ([0, 0, 0], [1, 1, 1], [0]),  # the first
        ([0, 0, 0], [1, 0, 0], [1]),  # of the majority
        ([0, 0, 0, 0], [1, 0, 0, 1], [0]),  # the first on ties, whatever its label
        ([0, 0, 0, 0], [0, 1, 1, 0], [0]),
        ([2, 0, 2, 1, 0], [5, 3, 5, 3, 7], [0, 1, 3]),  # in the order of graphs
    ],
)
def test_one_graph_of_each_class_is_kept(classes, labels, expected) -> None:
    found = distinct_graphs(torch.tensor(classes), torch.tensor(labels))
    assert found.tolist() == expected
