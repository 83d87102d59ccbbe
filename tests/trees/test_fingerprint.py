"""A fingerprint changes with the edges of a graph, and with nothing else."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.transforms import AddSelfLoops, ToUndirected

from sega_anchor import AddCodingTree, AddRandomTree, AnchorView
from sega_anchor.loader import PackedGraphs
from sega_anchor.trees.fingerprint import _hash_anywhere, fingerprint
from sega_anchor.trees.levels import graph_fingerprint, tree_levels
from tests.helpers.graphs import random_graphs

WORD = 1 << 64
TREES = AddCodingTree(2), AddRandomTree(2)


def slow(data: Data) -> int:
    """The fingerprint of a graph in Python's integers."""

    def mix(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
        return z ^ (z >> 31)

    up = down = 0
    for u, v in data.edge_index.t().tolist():
        pair = mix((min(u, v) << 32) + max(u, v))
        up += pair * (u < v)
        down += pair * (u > v)
    up, down = up % WORD, down % WORD
    found = mix(((up if up == down else up + down) + data.num_nodes) % WORD)
    return found - WORD if found >= WORD // 2 else found


@given(st.lists(st.integers(1, 20), min_size=1, max_size=6), st.integers(0, 99))
def test_compiled_and_torch_sums_are_those_of_the_definition(
    sizes: list[int], seed: int
) -> None:
    graphs = random_graphs(sizes, seed)
    batch = Batch.from_data_list(graphs)
    given = batch.edge_index, batch.batch, batch.ptr.diff()
    found = fingerprint(*given)
    assert found.tolist() == [slow(graph) for graph in graphs]
    assert torch.equal(_hash_anywhere(*given), found)
    assert torch.equal(fingerprint(given[0].int(), *given[1:]), found)
    assert torch.equal(graph_fingerprint(batch), found)
    assert torch.equal(torch.cat([graph_fingerprint(g) for g in graphs]), found)


def test_graphs_of_five_nodes_all_differ() -> None:
    pairs = torch.combinations(torch.arange(5)).t()
    found = {
        int(graph_fingerprint(Data(edge_index=pairs[:, chosen], num_nodes=n)))
        for n in (5, 6)
        for chosen in torch.cartesian_prod(*[torch.tensor([False, True])] * 10)
    }
    assert len(found) == 2 * 2**10


def once(n: int = 12) -> Data:
    """A ring with chords, each edge given once."""
    node = torch.arange(n)
    edges = torch.stack([node, (node + 1) % n]), torch.stack([node, (node + 3) % n])
    return Data(x=torch.rand(n, 3), edge_index=torch.cat(edges, 1))


def shuffled(data: Data) -> Data:
    data.edge_index = data.edge_index[:, torch.randperm(data.num_edges)]
    return data


def turned(data: Data) -> Data:
    data.edge_index = data.edge_index.flip(0)
    return data


def dropped(data: Data) -> Data:
    data.edge_index = data.edge_index[:, 1:]
    return data


def rewired(data: Data) -> Data:
    data.edge_index = data.edge_index.clone()
    data.edge_index[1, 0] = 7
    return data


def permuted(data: Data) -> Data:
    data.edge_index = torch.randperm(12)[data.edge_index]
    return data


def added(data: Data) -> Data:
    data.edge_index = torch.cat([data.edge_index, torch.tensor([[0], [6]])], 1)
    return data


LEGAL = [ToUndirected(), AddSelfLoops(), shuffled, turned]
CHANGES = [dropped, rewired, permuted, added]


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("change", LEGAL)
def test_the_same_graph_in_other_words_keeps_its_tree(
    tree: Callable[[Data], Data], change: Callable[[Data], Data]
) -> None:
    view = AnchorView(3, height=2, strict=True)
    data = tree(once())
    view(Batch.from_data_list([data, change(data.clone())]))


@pytest.mark.parametrize("anywhere", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_a_tree_whose_graph_has_changed_is_refused(
    change: Callable[[Data], Data], anywhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if anywhere:
        monkeypatch.setattr(
            "sega_anchor.trees.fingerprint._hash_on_cpu", _hash_anywhere
        )
    torch.manual_seed(0)
    data = AddCodingTree(2)(once())
    other = change(data.clone())
    batch = Batch.from_data_list([data, data, other, other])
    for changed, number in ((other, 0), (batch, 2)):
        with pytest.raises(
            ValueError,
            match=rf"graph {number} was built from other .*"
            r"Apply the transform \(AnchorView.transform",
        ):
            AnchorView(3, height=2)(changed)


@pytest.mark.parametrize("transform", TREES)
def test_every_way_to_attach_trees_notes_the_graph(
    transform: AddCodingTree | AddRandomTree, tmp_path
) -> None:
    graphs = random_graphs([5, 1, 8])
    expected = [slow(graph) for graph in graphs]
    mapped = transform.map(graphs, cache=tmp_path)
    again = transform.map(graphs, cache=tmp_path)  # found in the cache
    (loaded,) = DataLoader([transform(graph) for graph in graphs], batch_size=3)
    for data in (
        Batch.from_data_list(mapped),
        Batch.from_data_list(again),
        loaded,
        transform(Batch.from_data_list(graphs)),
        PackedGraphs.of(mapped).compact().batch([0, 1, 2]),
    ):
        assert data.coding_tree["fingerprint"].dtype == torch.long
        assert data.coding_tree["fingerprint"].tolist() == expected
        tree_levels(data, 2)


def test_the_transform_again_takes_the_new_graph() -> None:
    view = AnchorView(3, height=2, strict=True)
    view(view.transform(dropped(view.transform(once()))))


def without_fingerprint() -> Data:
    data = AddCodingTree(2)(once())
    del data.coding_tree["fingerprint"]
    return data


def test_trees_of_unknown_graphs_are_taken_with_one_warning() -> None:
    view = AnchorView(3, height=2).eval()
    data = without_fingerprint()
    expected = view(AddCodingTree(2)(data))
    with pytest.warns(UserWarning, match="do not say what graphs they were built from"):
        assert torch.equal(view(data), expected)
    view(data)  # and no second one: warnings are errors


def test_a_strict_view_refuses_trees_of_unknown_graphs() -> None:
    with pytest.raises(ValueError, match=r"no fingerprint in .*or pass strict=False"):
        AnchorView(3, height=2, strict=True)(without_fingerprint())


def test_fingerprints_that_do_not_fit_the_batch_are_refused() -> None:
    data = AddCodingTree(2)(once())
    data.coding_tree["fingerprint"] = data.coding_tree["fingerprint"].repeat(2)
    with pytest.raises(ValueError, match=r"fingerprint of .* has shape \(2,\)"):
        tree_levels(data, 2)


@pytest.mark.parametrize("edge", [[0, 12], [-1, 3]])
def test_an_edge_to_no_node_is_refused(edge: list[int]) -> None:
    data = AddCodingTree(2)(once())
    data.edge_index = torch.cat([data.edge_index, torch.tensor([edge]).t()], 1)
    message = rf"edge 24 joins nodes \[{edge[0]}, {edge[1]}\], but there are 12 nodes"
    with pytest.raises(ValueError, match=message):
        tree_levels(data, 2)


@pytest.mark.parametrize("graph", [3, -1, 10**9])
def test_a_node_in_no_graph_is_refused(graph: int) -> None:
    edges, batch = torch.tensor([[0, 1], [1, 2]]), torch.tensor([0, graph, 0])
    with pytest.raises(ValueError, match="edge_index and batch must fit them"):
        fingerprint(edges, batch, torch.tensor([3]))
