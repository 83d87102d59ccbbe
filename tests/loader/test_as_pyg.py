"""Packed graphs give every attribute that PyG's collation gives, or refuse by name."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.loader import DataLoader

from sega_anchor.loader import PackedGraphs, PackedLoader, PackedWriter, open_packed
from sega_anchor.loader.pack_dataset import pack_dataset
from tests.helpers.forests import Stored


class Rated(Data):
    """Concatenates and renumbers some attributes in its own way."""

    def __cat_dim__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if key == "table":
            return None
        return 1 if key == "wide" else super().__cat_dim__(key, value, *args, **kwargs)

    def __inc__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if key == "item":
            return torch.tensor(7 if self.y else 3)
        return super().__inc__(key, value, *args, **kwargs)


#: What an attribute may be in a graph with number i, n nodes and m edges.
KINDS: dict[str, Callable[[int, int, int], Any]] = {
    "x": lambda i, n, m: torch.rand(n, 2),
    "pos": lambda i, n, m: torch.rand(n, 3),
    "pe": lambda i, n, m: torch.rand(n, 2, 2, dtype=torch.double),
    "node_mask": lambda i, n, m: torch.rand(n) < 0.5,
    "ids": lambda i, n, m: torch.randint(9, (n,), dtype=torch.int16),
    "half": lambda i, n, m: torch.rand(n).half(),
    "brain": lambda i, n, m: torch.rand(n).bfloat16(),
    "waves": lambda i, n, m: torch.rand(1, dtype=torch.cfloat),
    "edge_attr": lambda i, n, m: torch.randint(5, (m, 2)),
    "edge_label_index": lambda i, n, m: torch.randint(max(n, 1), (2, 2 * i)),
    "root_index": lambda i, n, m: torch.tensor([0]),
    "lone_index": lambda i, n, m: torch.tensor(0, dtype=torch.int32),
    "first_index": lambda i, n, m: 0,
    "face": lambda i, n, m: torch.randint(max(n, 1), (3, i)),
    "my_batch": lambda i, n, m: torch.arange(i + 1),
    "count": lambda i, n, m: i,
    "weight": lambda i, n, m: i / 3,
    "exact": lambda i, n, m: np.float64(i / 3),
    "flag": lambda i, n, m: i % 2 == 0,
    "scalar": lambda i, n, m: torch.tensor(i / 7),
    "y": lambda i, n, m: torch.tensor([i]),
    "targets": lambda i, n, m: torch.rand(1, 4),
    "bag": lambda i, n, m: torch.rand(i % 3, 2),
    "nothing": lambda i, n, m: torch.rand(n, 0),
    "num_nodes": lambda i, n, m: n,
    "name": lambda i, n, m: "näm€" * i,
}
#: What only memory holds.
OTHERS: dict[str, Callable[[int, int, int], Any]] = {
    "words": lambda i, n, m: ["a"] * i,
    "numbers": lambda i, n, m: [i, 2],
    "array": lambda i, n, m: np.arange(i),
    "thing": lambda i, n, m: (i, "x"),
}
RATED: dict[str, Callable[[int, int, int], Any]] = {
    "table": lambda i, n, m: torch.rand(2, 3),
    "wide": lambda i, n, m: torch.rand(2, i),
    "item": lambda i, n, m: torch.tensor([i, 1]),
    "y": lambda i, n, m: i % 2,
}


def graph(i: int, n: int, m: int, names: list[str], kind: type[Data] = Data) -> Data:
    kinds = {**KINDS, **OTHERS, **(RATED if kind is Rated else {})}
    edges = torch.randint(max(n, 1), (2, m if n else 0))
    data = kind(edge_index=edges)
    for name in names:
        data[name] = kinds[name](i, n, edges.size(1))
    return data


@st.composite
def graphs(draw: st.DrawFn, kinds: list[str], kind: type[Data] = Data) -> list[Data]:
    names = draw(st.lists(st.sampled_from(kinds), unique=True))
    if not {"x", "num_nodes"} & {*names}:
        names.append(draw(st.sampled_from(["x", "num_nodes"])))
    torch.manual_seed(draw(st.integers(0, 99)))
    sizes = draw(st.lists(st.tuples(*[st.integers(0, 4)] * 2), min_size=1, max_size=5))
    return [graph(i, n, m, names, kind) for i, (n, m) in enumerate(sizes)]


def assert_alike(one: Data, two: Data) -> None:
    """The same attributes in value, type and shape."""
    assert type(one).__name__ == type(two).__name__
    assert sorted(one.keys()) == sorted(two.keys())
    for name in two.keys():
        got, expected = one[name], two[name]
        assert type(got) is type(expected), name
        if isinstance(expected, Tensor):
            assert got.dtype == expected.dtype, name
            assert got.shape == expected.shape, name
            assert torch.equal(got, expected), name
            assert got.is_contiguous() or not expected.is_contiguous()
        elif name == "array":
            assert all(
                np.array_equal(*pair) for pair in zip(got, expected, strict=True)
            )
        else:
            assert got == expected, name
    assert one.num_nodes == two.num_nodes


def assert_same_batch(got: Batch, listed: list[Data]) -> None:
    expected = Batch.from_data_list(listed)
    assert_alike(got, expected)
    assert got.num_graphs == expected.num_graphs
    for i, (one, two) in enumerate(
        zip(got.to_data_list(), expected.to_data_list(), strict=True)
    ):
        assert_alike(one, two)
        assert_alike(got.get_example(i), expected.get_example(i))


def indices(many: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, many - 1), min_size=1, max_size=7)


@given(graphs([*KINDS, *OTHERS]), st.data())
def test_a_batch_has_what_that_of_pyg_has(listed: list[Data], data: Any) -> None:
    packed = PackedGraphs.of(listed)
    index = data.draw(indices(len(listed)))
    for form in (packed, packed.compact(), packed.to("cpu")):
        assert_same_batch(form.batch(index), [listed[i] for i in index])


@given(graphs([*KINDS, *RATED], Rated), st.data())
def test_graphs_say_themselves_how_they_are_batched(
    listed: list[Data], data: Any
) -> None:
    packed = PackedGraphs.of(listed)
    index = data.draw(indices(len(listed)))
    for form in (packed, packed.compact()):
        assert_same_batch(form.batch(index), [listed[i] for i in index])


@given(graphs([*KINDS]), st.data())
def test_folders_give_the_same(listed: list[Data], data: Any) -> None:
    index = data.draw(indices(len(listed)))
    chunk = data.draw(st.integers(1, len(listed)))
    with tempfile.TemporaryDirectory() as folder:
        writer = PackedWriter(folder, {})
        for begin in range(0, len(listed), chunk):
            # Chunks differ in what has as many rows as there are nodes, or edges.
            writer.append(PackedGraphs.of(listed[begin : begin + chunk]))
        writer.finish()
        opened = open_packed(folder)
        for form in (opened, opened.compact()):
            assert_same_batch(form.batch(index), [listed[i] for i in index])


def test_a_data_set_of_all_kinds_is_packed(tmp_path: Path) -> None:
    listed = [graph(i, 1 + i % 4, i % 3, [*KINDS]) for i in range(9)]
    stored = Stored(listed)
    again = list(stored)  # what PyG itself makes of it, whole numbers as tensors
    packed = pack_dataset(stored, tmp_path / "p", chunk=4)
    loader = PackedLoader(packed, 4)
    for got, begin in zip(loader, range(0, 9, 4), strict=True):
        assert_same_batch(got, again[begin : begin + 4])


@pytest.mark.parametrize("name", [*OTHERS, "class"])
def test_what_no_folder_holds_is_refused_before_there_is_one(
    name: str, tmp_path: Path
) -> None:
    if name == "class":
        stored, message = Stored([graph(1, 2, 1, ["x"], Rated)] * 2), "got Rated"
    else:
        stored = Stored([graph(1, 2, 1, ["x"])] * 2)
        stored.transform = AddOther(name)
        message = f"{name} is a .*, a folder holds tensors, numbers and strings"
    with pytest.raises(ValueError, match=message):
        pack_dataset(stored, tmp_path / "p")
    assert not (tmp_path / "p").exists()


class AddOther:
    """Gives graphs what only memory holds."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, data: Data) -> Data:
        data[self.name] = OTHERS[self.name](1, 1, 1)
        return data


PAIR = torch.tensor([[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("adj", torch.eye(2).to_sparse(), "adj of graph 0 is a Tensor, which does not"),
        ("adj_t", torch.ones(2, 2).to_sparse(), "adj_t of graph 0"),
        ("nested", {"a": torch.ones(2)}, "nested of graph 0 is a dict"),
        ("parts", [torch.ones(2)], "parts of graph 0 is a list of Tensor"),
        ("batch", torch.zeros(2), "batch of graph 0 is what a batch itself calls so"),
        ("edge_index", EdgeIndex(PAIR), "edge_index of graph 0 is a EdgeIndex"),
        (
            "edge_index",
            PAIR.float(),
            "edge_index must hold integers, got torch.float32",
        ),
        ("z", torch.ones(2, requires_grad=True), "z of graph 0 requires a gradient"),
        ("refractive_index", 1.5, "refractive_index of graph 0 .* would add 2 to"),
        ("index_mask", torch.ones(2).bool(), "index_mask .* would add 2 to torch.bool"),
        ("my_batch", torch.empty(0).long(), "PyG cannot batch my_batch of graph 0"),
        ("num_nodes", torch.tensor(2), "num_nodes of graph 0 is a Tensor"),
        ("huge", 2**70, "huge has numbers that no tensor holds"),
    ],
)
def test_what_does_not_pack_is_refused_by_name(
    name: str, value: Any, message: str
) -> None:
    data = Data(x=torch.ones(2, 1), edge_index=PAIR)
    data[name] = value
    with pytest.raises(ValueError, match=message):
        PackedLoader([data])


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (1, 1.5, "v of graph 1 is float, of graph 0 int"),
        (1, True, "v of graph 1 is bool, of graph 0 int"),
        ("a", 1, "v of graph 1 is int, of graph 0 str"),
        (torch.tensor(1), torch.tensor([1]), r"v of graph 1 is torch.int64 \(1,\)"),
        (torch.ones(2), torch.ones(2, 1), r"v of graph 1 is torch.float32 \(2, 1\)"),
    ],
)
def test_graphs_that_differ_are_refused_by_name(
    one: Any, other: Any, message: str
) -> None:
    listed = [Data(x=torch.ones(2, 1), edge_index=PAIR, v=v) for v in (one, other)]
    with pytest.raises(ValueError, match=message):
        PackedLoader(listed)


def test_graphs_of_other_classes_are_refused() -> None:
    plain, rated = (kind(x=torch.ones(2, 1), edge_index=PAIR) for kind in (Data, Rated))
    with pytest.raises(ValueError, match="graph 1 is a Rated, graph 0 a Data"):
        PackedLoader([plain, rated])
    with pytest.raises(ValueError, match=r"graph 0 is a HeteroData.*DataLoader"):
        PackedLoader([HeteroData()])
    with pytest.raises(ValueError, match="graph 0 is a DataBatch"):
        PackedLoader([Batch.from_data_list([plain])])


@pytest.mark.parametrize("edges", [[[0], [2]], [[-1], [0]]])
def test_edges_out_of_the_graph_are_refused_once_for_the_set(edges: Any) -> None:
    good = Data(x=torch.ones(2, 1), edge_index=PAIR)
    bad = Data(x=torch.ones(2, 1), edge_index=torch.tensor(edges))
    with pytest.raises(ValueError, match="edge_index of graph 1 names a node outside"):
        PackedGraphs.of([good, bad])


def test_pyg_s_own_loader_takes_packed_graphs() -> None:
    listed = [graph(i, 2, 1, ["x", "y", "name"]) for i in range(5)]
    (batch,) = DataLoader(PackedGraphs.of(listed), 5)
    assert_alike(batch, Batch.from_data_list(listed))
