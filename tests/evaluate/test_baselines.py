import networkx
import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.utils import from_networkx

from sega_anchor.evaluate import (
    STATISTICS,
    feature_histogram,
    graph_statistics,
    standardise,
)

GRAPHS: dict[str, networkx.Graph] = {
    "karate": networkx.karate_club_graph(),
    "star": networkx.star_graph(40),
    "clique": networkx.complete_graph(7),
    "two parts": networkx.disjoint_union(
        networkx.cycle_graph(5), networkx.lollipop_graph(4, 3)
    ),
    "random": networkx.gnp_random_graph(30, 0.2, seed=1),
    "no edges": networkx.empty_graph(3),
    "one node": networkx.empty_graph(1),
}


def plain(graph: networkx.Graph) -> Data:
    bare = networkx.Graph()
    bare.add_nodes_from(graph.nodes)
    bare.add_edges_from(graph.edges)
    return from_networkx(bare)


def slow(graph: networkx.Graph) -> list[float]:
    """The statistics, as networkx counts them."""
    degree = [d for _, d in graph.degree]
    return [
        np.log1p(graph.number_of_nodes()),
        np.log1p(graph.number_of_edges()),
        networkx.density(graph),
        np.mean(degree),
        np.std(degree),
        np.log1p(max(degree)),
        np.mean([d == 1 for d in degree]),
        networkx.transitivity(graph),
        np.log1p(networkx.number_connected_components(graph)),
    ]


def test_statistics_are_those_of_networkx() -> None:
    batch = Batch.from_data_list([plain(graph) for graph in GRAPHS.values()])
    found = graph_statistics(batch)
    assert found.shape == (len(GRAPHS), len(STATISTICS))
    np.testing.assert_allclose(found, [slow(g) for g in GRAPHS.values()], atol=1e-12)
    single = graph_statistics(plain(GRAPHS["karate"]))
    torch.testing.assert_close(single[0], found[0])


def test_directions_loops_and_repeated_edges_are_passed_over() -> None:
    graph = plain(GRAPHS["random"])
    one_way = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    loops = torch.arange(30).expand(2, 30)
    other = torch.cat([one_way, one_way[:, :9], loops], dim=1)
    changed = Data(edge_index=other, num_nodes=30)
    assert torch.equal(graph_statistics(changed), graph_statistics(graph))


def test_a_histogram_counts_the_nodes_of_each_label() -> None:
    labels = [torch.tensor([0, 2, 2]), torch.tensor([1])]
    graphs = [Data(x=torch.nn.functional.one_hot(label, 3).float()) for label in labels]
    found = feature_histogram(Batch.from_data_list(graphs))
    assert found.tolist() == [[1, 0, 2], [0, 1, 0]]
    with pytest.raises(ValueError, match="a histogram needs features x"):
        feature_histogram(Data(num_nodes=2))


def test_standardised_columns_weigh_the_same_and_constant_ones_nothing() -> None:
    random = torch.Generator().manual_seed(0)
    x = torch.rand(50, 3, generator=random).double()
    x = torch.cat([x * torch.tensor([1.0, 1e6, 1e-6]) + 7, torch.full((50, 1), 0.1)], 1)
    found = standardise(x)
    torch.testing.assert_close(found.mean(dim=0), torch.zeros(4).double())
    expected = torch.tensor([1.0, 1.0, 1.0, 0.0]).double()
    torch.testing.assert_close(found.std(dim=0, correction=0), expected)
