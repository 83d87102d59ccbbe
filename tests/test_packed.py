"""PackedGraphs batches as PyG does, in memory and on disk."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from sega_anchor import AddCodingTree
from sega_anchor.datasets import load
from sega_anchor.datasets.packed import PackedGraphs

TREE = AddCodingTree(height=2)


@st.composite
def graphs(draw: st.DrawFn) -> list[Data]:
    """Some graphs, edgeless and of one node among them."""
    found = []
    for _ in range(draw(st.integers(1, 5))):
        n, m = draw(st.integers(1, 6)), draw(st.integers(0, 8))
        generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
        data = Data(
            x=torch.rand(n, 3, generator=generator),
            edge_index=torch.randint(n, (2, m), generator=generator),
            edge_attr=torch.randint(5, (m, 2), generator=generator),
            y=torch.rand(1, 2, generator=generator),
            center=torch.randint(n, (1,), generator=generator),
        )
        found.append(TREE(data))
    return found


def same(one: Data, two: Data) -> None:
    assert sorted(one.keys()) == sorted(two.keys())
    for key in one.keys():
        torch.testing.assert_close(one[key], two[key], rtol=0, atol=0)
    assert one.num_nodes == two.num_nodes


@given(graphs(), st.data())
@settings(deadline=None, max_examples=60)
def test_a_batch_is_that_of_pyg(listed: list[Data], data: st.DataObject) -> None:
    packed = PackedGraphs.of(listed)
    index = data.draw(st.lists(st.integers(0, len(listed) - 1), min_size=1))
    got = packed.batch(torch.tensor(index))
    expected = Batch.from_data_list([listed[i] for i in index])
    same(got, expected)
    assert got.num_graphs == len(index)
    assert packed.sizes.tolist() == [graph.num_nodes for graph in listed]
    for i, graph in enumerate(listed):
        same(packed[i], graph)


def test_a_data_set_packs() -> None:
    dataset = load("synthetic")
    packed = PackedGraphs.of(dataset)
    assert len(packed) == len(dataset)
    same(packed.batch([7, 250]), Batch.from_data_list([dataset[7], dataset[250]]))


def test_graphs_without_features_know_their_nodes() -> None:
    lone = Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=3)
    batch = PackedGraphs.of([lone, lone]).batch([0, 1])
    assert (batch.num_nodes, batch.num_graphs) == (6, 2)
    assert batch.batch.tolist() == [0, 0, 0, 1, 1, 1]
    same(batch, Batch.from_data_list([lone, lone]))
    same(PackedGraphs.of([lone, lone])[1], lone)


def test_narrow_edge_indices_stay_narrow() -> None:
    pair = Data(edge_index=torch.tensor([[0], [1]], dtype=torch.int32), num_nodes=2)
    same(PackedGraphs.of([pair, pair]).batch([1, 0]), Batch.from_data_list([pair] * 2))


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("edge_attr", torch.ones(3), r"edge_attr of graph 0 has 3 rows.* 1 \(edge\)"),
        ("tree_x", torch.ones(3, 1), r"tree_x of graph 0 has 3 rows.* 2 \(node\)"),
        ("tree_parent", torch.ones(3), "tree_parent of graph 0 .* no tree_level"),
        ("root_index", torch.tensor([1]), "root_index of graph 0 would be renumbered"),
        ("my_batch", torch.tensor([1]), "my_batch of graph 0 would be renumbered"),
    ],
)
def test_rows_that_would_go_to_other_graphs_are_refused(
    name: str, values: torch.Tensor, message: str
) -> None:
    bad = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))
    bad[name] = values
    with pytest.raises(ValueError, match=message):
        PackedGraphs.of([bad])


@pytest.mark.parametrize(
    "index", [[-1], [2, -1], [3], torch.tensor([True, False, True]), [[0, 1]], [0.5]]
)
def test_what_is_no_list_of_graphs_is_refused(index: list[int]) -> None:
    pair = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))
    packed = PackedGraphs.of([pair] * 3)
    with pytest.raises(IndexError, match=r"there are 3 graphs|list of graph numbers"):
        packed.batch(index)
    assert packed.batch([]).num_nodes == 0


def test_graphs_that_differ_are_refused() -> None:
    edge_index = torch.tensor([[0], [1]])
    plain = Data(x=torch.ones(2, 1), edge_index=edge_index)
    wide = Data(x=torch.ones(2, 2), edge_index=edge_index)
    more = Data(x=torch.ones(2, 1), edge_index=edge_index, y=torch.ones(1))
    with pytest.raises(ValueError, match="there are no graphs"):
        PackedGraphs.of([])
    with pytest.raises(ValueError, match=r"x of graph 1 is torch.float32 \(2, 2\)"):
        PackedGraphs.of([plain, wide])
    with pytest.raises(ValueError, match=r"graph 1 .* differ in .* \['y'\]"):
        PackedGraphs.of([plain, more])
    more.y = torch.ones(2)
    with pytest.raises(ValueError, match="y of graph 0 has 2 rows"):
        PackedGraphs.of([more])
    with pytest.raises(IndexError, match="there are 1 graphs"):
        PackedGraphs.of([plain])[1]
