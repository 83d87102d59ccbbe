"""PackedGraphs batches as PyG does, in memory and on disk."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from sega_anchor.datasets import load
from sega_anchor.loader.packed_graphs import PackedGraphs
from tests.helpers.graphs import assert_same, treed_graphs

#: Kinds of values, and where they may lie.
VALUES = {
    torch.bool: st.booleans(),
    torch.uint8: st.integers(0, 255),
    torch.int8: st.integers(-128, 127),
    torch.int16: st.integers(-(2**15), 2**15 - 1),
    torch.int32: st.integers(-(2**31), 2**31 - 1),
    torch.int64: st.integers(-(2**63), 2**63 - 1),
    torch.float16: st.floats(width=16),
    torch.float32: st.floats(width=32),
    torch.float64: st.floats(),
}
#: Just within and just beyond what the small types hold.
EDGES = [0, 1, 255, 256, -1, 2**15 - 1, 2**15, -(2**15), 2**31 - 1, 2**31, 2**24 + 1]


@st.composite
def tables(draw: st.DrawFn, rows: int, like: torch.Tensor | None) -> torch.Tensor:
    """Rows of one kind of values: whole, on the edge of a type, or any."""
    kind = draw(st.sampled_from([*VALUES])) if like is None else like.dtype
    width = draw(st.integers(0, 3)) if like is None else like.size(1)
    values = VALUES[kind]
    if kind != torch.bool and draw(st.booleans()):
        fitting = EDGES
        if not kind.is_floating_point:
            known = torch.iinfo(kind)
            fitting = [v for v in EDGES if known.min <= v <= known.max]
        elif kind == torch.float16:
            fitting = [v for v in EDGES if abs(v) < 2**15]
        values = st.sampled_from(fitting)
    many = st.lists(values, min_size=rows * width, max_size=rows * width)
    return torch.tensor(draw(many), dtype=kind).view(rows, width)


@st.composite
def assorted(draw: st.DrawFn) -> list[Data]:
    """Graphs with features of all kinds, of large and small graphs."""
    found: list[Data] = []
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.sampled_from([1, 3, 5, 300, 40000]))
        m, first = draw(st.integers(0, 4)), found[0] if found else Data()
        edges = torch.randint(n, (2, m), generator=torch.Generator().manual_seed(n))
        data = Data(edge_index=edges, num_nodes=n)
        data.edge_attr = draw(tables(m, first.edge_attr))
        data.y = draw(tables(1, first.y))
        found.append(data)
    return found


@given(treed_graphs(), st.data())
def test_a_batch_is_that_of_pyg(listed: list[Data], data: st.DataObject) -> None:
    packed = PackedGraphs.of(listed)
    index = data.draw(st.lists(st.integers(0, len(listed) - 1), min_size=1))
    got = packed.batch(torch.tensor(index))
    expected = Batch.from_data_list([listed[i] for i in index])
    assert_same(got, expected)
    assert got.num_graphs == len(index)
    assert packed.sizes.tolist() == [graph.num_nodes for graph in listed]
    for i, graph in enumerate(listed):
        assert_same(packed[i], graph)


@given(treed_graphs(), st.data())
def test_a_batch_comes_apart_as_that_of_pyg(
    listed: list[Data], data: st.DataObject
) -> None:
    packed = PackedGraphs.of(listed)
    index = data.draw(st.lists(st.integers(0, len(listed) - 1), min_size=1))
    for graphs in (packed, packed.compact()):
        got = graphs.batch(index)
        expected = Batch.from_data_list([listed[i] for i in index])
        apart = got.to_data_list()
        assert len(apart) == len(index)
        for i, (one, two) in enumerate(
            zip(apart, expected.to_data_list(), strict=True)
        ):
            assert_same(one, two)
            assert_same(one, listed[index[i]])
            assert_same(got.get_example(i), expected.get_example(i))
        for one, two in zip(got[: len(index) - 1], apart[:-1], strict=True):
            assert_same(one, two)


@given(assorted(), st.data())
def test_compact_graphs_give_the_same_batches(
    listed: list[Data], data: st.DataObject
) -> None:
    packed = PackedGraphs.of(listed)
    compact = packed.compact()
    index = data.draw(st.lists(st.integers(0, len(listed) - 1), max_size=4))
    got, expected = compact.batch(index), packed.batch(index)
    assert_same(got, expected)
    if index:
        assert_same(got, Batch.from_data_list([listed[i] for i in index]))
    assert {k: v.dtype for k, v in compact.fields.items()} == {
        k: v.dtype for k, v in compact.compact().fields.items()
    }
    assert compact.nbytes <= packed.nbytes
    assert (len(compact), compact.sizes.tolist()) == (
        len(packed),
        packed.sizes.tolist(),
    )
    for name, field in compact.fields.items():
        assert field.dtype.itemsize <= packed.fields[name].dtype.itemsize


def test_compact_graphs_keep_negative_zeros() -> None:
    lone = Data(x=torch.tensor([[-0.0]]), edge_index=torch.empty(2, 0).long())
    assert PackedGraphs.of([lone]).compact().batch([0]).x.signbit().all()


def test_compact_graphs_take_less_memory() -> None:
    n, generator = 40, torch.Generator().manual_seed(0)
    kinds = torch.randint(7, (n,), generator=generator)
    edges = torch.randint(n, (2, 100), generator=generator)
    x = torch.nn.functional.one_hot(kinds, 7).float()
    packed = PackedGraphs.of([Data(x=x, edge_index=edges)] * 3)
    compact = packed.compact()
    assert compact.fields["x"].nbytes * 4 == packed.fields["x"].nbytes
    assert compact.fields["edge_index"].nbytes * 8 == packed.fields["edge_index"].nbytes
    assert compact.nbytes == 3 * (7 * n + 2 * 100)
    assert_same(compact.batch([2, 0]), packed.batch([2, 0]))
    assert_same(compact.to("cpu").batch([1]), packed.batch([1]))


def test_a_data_set_packs() -> None:
    dataset = load("synthetic")
    packed = PackedGraphs.of(dataset)
    assert len(packed) == len(dataset)
    assert_same(
        packed.batch([7, 250]), Batch.from_data_list([dataset[7], dataset[250]])
    )


def test_graphs_without_features_know_their_nodes() -> None:
    lone = Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=3)
    batch = PackedGraphs.of([lone, lone]).batch([0, 1])
    assert (batch.num_nodes, batch.num_graphs) == (6, 2)
    assert batch.batch.tolist() == [0, 0, 0, 1, 1, 1]
    assert_same(batch, Batch.from_data_list([lone, lone]))
    assert_same(PackedGraphs.of([lone, lone])[1], lone)


def test_narrow_edge_indices_stay_narrow() -> None:
    pair = Data(edge_index=torch.tensor([[0], [1]], dtype=torch.int32), num_nodes=2)
    assert_same(
        PackedGraphs.of([pair, pair]).batch([1, 0]), Batch.from_data_list([pair] * 2)
    )


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("edge_attr", torch.ones(3), r"edge_attr of graph 0 has 3 rows.* 1 \(edge\)"),
        ("tree_x", torch.ones(3, 1), r"tree_x of graph 0 has 3 rows.* 2 \(node\)"),
        (
            "coding_tree",
            {"parent": torch.ones(3)},
            "coding_tree__parent of graph 0 .* no coding_tree__level",
        ),
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


@pytest.mark.parametrize(
    "ptr",
    [
        [0, 5, 3],
        [0, -1, 3],
        [1, 2, 3],
        [0, 2, 4],
        [0, 2, 2**62],
        [0, 3],
        [0.0, 2.0, 3.0],
    ],
)
@pytest.mark.parametrize("group", ["node", "edge"])
def test_pointers_out_of_the_fields_are_refused(group: str, ptr: list[int]) -> None:
    fields = {"x": torch.ones(3, 1), "edge_index": torch.zeros(3, 2).long()}
    good = {"node": torch.tensor([0, 2, 3]), "edge": torch.tensor([0, 2, 3])}
    PackedGraphs(fields, good).batch([0, 1])
    with pytest.raises(
        ValueError, match=r"ptr\['(node|edge)'\] must asc|rows, ptr says"
    ):
        PackedGraphs(fields, {**good, group: torch.tensor(ptr)})


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
    with pytest.raises(IndexError, match="there are 1 graphs"):
        PackedGraphs.of([plain])[1]
