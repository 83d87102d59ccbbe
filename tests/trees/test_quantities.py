"""Tree quantities: those of the slow twin, however the graph is given."""

from __future__ import annotations

import copy

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.data import Batch, Data

from sega_anchor import (
    AddCodingTree,
    AddRandomTree,
    AddShuffledTree,
    CodingTree,
    build_coding_tree,
    structural_entropy,
)
from sega_anchor.loader import PackedGraphs
from sega_anchor.trees import AddTree
from sega_anchor.trees.quantities import QUANTITIES, scaled, tree_quantities
from sega_anchor.trees.transforms import attach
from tests.helpers.forests import some_graphs
from tests.helpers.slow_quantities import slow_quantities

EDGELESS = torch.empty(2, 0).long()


@st.composite
def graphs(draw: st.DrawFn) -> Data:
    """A graph with weights w, some of them 0, loops, repeats, one direction or both."""
    n = draw(st.integers(1, 9))
    vertex = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(vertex, vertex), max_size=20))
    pairs += [(v, u) for u, v in pairs if draw(st.booleans())]
    w = [draw(st.sampled_from([0.0, 0.25, 1.0, 3.0, 7.1])) for _ in pairs]
    edge_index = torch.tensor(pairs, dtype=torch.long).view(-1, 2).t()
    return Data(edge_index=edge_index, num_nodes=n, w=torch.tensor(w))


@st.composite
def transforms(draw: st.DrawFn) -> AddTree:
    """Trees of any kind: the quantities are of every tree, not of good ones only."""
    height, weight = draw(st.integers(2, 4)), draw(st.sampled_from([None, "w"]))
    if draw(st.booleans()):
        return AddCodingTree(height, "paper", weight)
    return draw(st.sampled_from([AddRandomTree(height), AddShuffledTree(height)]))


def assert_close(found: Tensor, expected: Tensor | list[list[float]]) -> None:
    wanted = torch.as_tensor(expected, dtype=torch.float)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)


def column(found: Tensor, name: str) -> Tensor:
    return found[:, QUANTITIES.index(name)]


def bits(data: Data, weight: str | None = None) -> float:
    """The structural entropy of the tree that a graph carries."""
    offset, level = data.coding_tree["parent"], data.coding_tree["level"]
    parent = torch.arange(len(offset)) + offset
    parent[-1] = -1
    weights = None if weight is None else data[weight]
    return structural_entropy(CodingTree(parent, level), data.edge_index, weights)


@given(graphs(), transforms(), st.sampled_from([None, "w"]))
@example(Data(edge_index=EDGELESS, num_nodes=1, w=torch.empty(0)), AddCodingTree(), "w")
@example(Data(edge_index=EDGELESS, num_nodes=4), AddCodingTree(2), None)
def test_the_quantities_are_those_of_the_slow_twin(data, transform, weight) -> None:
    data = transform(data)
    found = tree_quantities(data, weight)
    assert found.dtype == torch.float
    assert_close(found, slow_quantities(data, weight))
    entropy = column(found, "entropy")
    assert entropy.sum().item() == pytest.approx(bits(data, weight), abs=1e-5)


@given(st.lists(graphs(), min_size=1, max_size=4), st.sampled_from([None, "w"]))
def test_a_batch_is_its_graphs_one_behind_the_other(several, weight) -> None:
    data = AddCodingTree(3, weight=weight).map(several)
    batch = Batch.from_data_list(data)
    found = tree_quantities(batch, weight)
    assert_close(found, slow_quantities(batch, weight))
    each = [tree_quantities(graph, weight) for graph in data]
    assert torch.equal(found, torch.cat(each))


@given(graphs(), st.sampled_from([None, "w"]), st.randoms(use_true_random=False))
def test_names_of_vertices_and_order_of_edges_do_not_matter(data, weight, random):
    n = data.num_nodes
    own = AddRandomTree(3).tree(data)
    found = tree_quantities(attach(copy.copy(data), own), weight)
    name = torch.tensor(random.sample(range(n), n))  # vertex v becomes name[v]
    order = random.sample(range(data.num_edges), data.num_edges)
    other = Data(edge_index=name[data.edge_index[:, order]], num_nodes=n)
    other.w = data.w[order]
    parent = own.parent.clone()
    parent[name] = own.parent[:n]
    renamed = attach(other, CodingTree(parent, own.level))
    expected = tree_quantities(renamed, weight)
    assert_close(found[:n], expected[name])
    assert_close(found[n:], expected[n:])


@given(graphs())
def test_one_direction_or_both_repeats_and_loops_are_the_same(data) -> None:
    n, edge_index = data.num_nodes, data.edge_index
    loop = torch.arange(n).expand(2, n)
    given_twice = torch.cat([edge_index.flip(0), edge_index, edge_index, loop], dim=1)
    tree = build_coding_tree(edge_index, n)
    found, same = (
        tree_quantities(attach(Data(edge_index=edges, num_nodes=n), tree))
        for edges in (edge_index, given_twice)
    )
    assert torch.equal(found, same)


def test_repeated_weights_add_up_and_the_larger_direction_counts() -> None:
    edge_index = torch.tensor([[0, 0, 1, 1, 2], [1, 1, 0, 2, 2]])
    weight = torch.tensor([1.0, 2.0, 2.5, 0.5, 9.0])
    data = AddCodingTree(2)(Data(edge_index=edge_index, num_nodes=3, w=weight))
    volume = column(tree_quantities(data, "w"), "volume")
    assert volume[:3].tolist() == [3.0, 3.5, 0.5]
    assert volume[-1] == 7.0
    data.w = weight.numpy()  # as build_coding_tree takes weights, too
    assert torch.equal(column(tree_quantities(data, "w"), "volume"), volume)


@pytest.mark.parametrize("weight", [None, "w"])
def test_whole_sets_of_any_size(weight: str | None) -> None:
    batch = Batch.from_data_list(AddCodingTree(4).map(some_graphs()))
    found = tree_quantities(batch, weight)
    assert len(found) == len(batch.coding_tree["level"])
    assert found.isfinite().all()
    assert_close(found, slow_quantities(batch, weight))


@pytest.mark.parametrize("kind", [AddCodingTree, AddShuffledTree])
def test_trees_carry_the_quantities_that_would_be_computed(kind) -> None:
    transform = kind(3, weight="w", quantities=True)
    computed = kind(3, weight="w").map(some_graphs())
    carried = transform.map(some_graphs())
    expected = tree_quantities(Batch.from_data_list(computed), "w")
    for batch in (
        Batch.from_data_list(carried),
        PackedGraphs.of(carried).batch(range(len(carried))),
        transform(Batch.from_data_list(some_graphs())),
    ):
        assert torch.equal(batch.coding_tree["quantities"], scaled(expected))
        assert torch.equal(tree_quantities(batch, "w"), expected)


def test_a_graph_does_not_feel_the_weights_of_its_neighbours_in_a_batch() -> None:
    """The same graph in the unit of its weights and in one 1e20 times as large."""
    edge_index = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    data = []
    for unit in (1e-10, 1e10):
        w = unit * torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.double)
        data.append(Data(edge_index=edge_index, num_nodes=4, w=w))
    data = AddCodingTree(2, weight="w").map(data)
    together = tree_quantities(Batch.from_data_list(data), "w")
    alone = torch.cat([tree_quantities(graph, "w") for graph in data])
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=0)


@pytest.mark.parametrize("unit", [1e-33, 1.0, 1e33])
def test_volumes_come_in_the_unit_of_the_weights(unit: float) -> None:
    edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    w = unit * torch.ones(3, dtype=torch.double)
    data = AddCodingTree(2)(Data(edge_index=edge_index, num_nodes=3, w=w))
    volume = column(tree_quantities(data, "w"), "volume")
    assert (volume / unit)[:3].tolist() == pytest.approx([2.0] * 3)


@pytest.mark.parametrize("batched", [False, True])
def test_a_graph_without_tree_or_weight_is_refused(batched: bool) -> None:
    bare = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2)
    treed = AddCodingTree(2)(bare)
    if batched:
        bare, treed = (Batch.from_data_list([data]) for data in (bare, treed))
    with pytest.raises(
        ValueError, match="no coding tree: attach one with AddCodingTree"
    ):
        tree_quantities(bare)
    with pytest.raises(ValueError, match="no edge attribute 'w'"):
        tree_quantities(treed, "w")


def test_a_tree_of_another_graph_is_refused() -> None:
    edge_index = torch.tensor([[0, 1, 2], [1, 2, 3]])
    data = AddCodingTree(2)(Data(edge_index=edge_index, num_nodes=4))
    rewired = copy.copy(data)
    rewired.edge_index = torch.tensor([[0, 1, 2], [2, 3, 3]])
    with pytest.raises(ValueError, match="built from other edges"):
        tree_quantities(rewired)
    tree = {key: data.coding_tree[key] for key in ("parent", "level")}
    fewer = Data(edge_index=EDGELESS, num_nodes=3, coding_tree=tree)
    with pytest.raises(ValueError, match="does not fit the graph"):
        tree_quantities(fewer)
