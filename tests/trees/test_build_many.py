import inspect
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

import sega_anchor as sa
from adapters import graphcl
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.trees import build_many
from tests.helpers.examples import times
from tests.helpers.forests import (
    METHODS,
    Stored,
    featured,
    one_by_one,
    same,
    some_graphs,
)
from tests.helpers.graphs import random_graphs


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("height", [2, 4])
def test_trees_are_those_of_each_graph(small_chunks, method, weight, height) -> None:
    data = some_graphs()
    expected = one_by_one(data, weight, height=height, method=method)
    for threads in (1, 5, None):
        found = sa.build_coding_trees(
            data, height, method=method, weight=weight, threads=threads
        )
        assert same(found, expected)


def test_defaults_are_those_of_a_single_tree() -> None:
    one = inspect.signature(sa.build_coding_tree).parameters
    many = inspect.signature(sa.build_coding_trees).parameters
    assert {n: one[n].default for n in ("height", "method")} == {
        n: many[n].default for n in ("height", "method")
    }


@times(0.3)
@given(st.lists(st.integers(1, 40), max_size=12), st.integers(1, 200))
def test_any_cut_into_chunks_gives_the_same(sizes: list[int], chunk: int) -> None:
    data = random_graphs(sizes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_many, "CHUNK", chunk)
        assert same(sa.build_coding_trees(data), one_by_one(data))


def test_the_work_is_cut_by_size(built, monkeypatch) -> None:
    monkeypatch.setattr(build_many, "CHUNK", 200)
    data = [*random_graphs([4] * 30), *random_graphs([500]), *random_graphs([4] * 30)]
    sa.build_coding_trees(data, threads=1)
    assert sum(built) == 61
    assert len(built) > 3  # not all in one call
    assert built[0] < 20  # the call with the huge graph is first and not the longest


def test_a_tree_owns_its_memory() -> None:
    tree = sa.build_coding_trees(some_graphs())[0]
    assert tree.parent.untyped_storage().nbytes() == 8 * tree.parent.numel()


def test_a_subset_of_a_stored_data_set_has_its_own_trees() -> None:
    graphs = some_graphs()
    dataset = Stored(graphs)
    found = sa.build_coding_trees(dataset, weight="w")
    assert same(found, one_by_one(graphs, weight="w"))
    found = sa.build_coding_trees(dataset[[3, 1, 1]], weight="w")
    assert same(found, one_by_one([graphs[i] for i in (3, 1, 1)], weight="w"))
    assert sa.build_coding_trees(dataset[:0], weight="w") == []


def first_half(data: Data) -> Data:
    return data.subgraph(torch.arange(1 + data.num_nodes // 2))


class Doubled(Stored):
    def get(self, idx: int) -> Data:
        data = super().get(idx)
        n = data.num_nodes
        both = torch.cat([data.edge_index, data.edge_index + n], dim=1)
        return Data(edge_index=both, num_nodes=2 * n)


@pytest.mark.parametrize(
    "dataset",
    [
        Stored(some_graphs(), transform=first_half)[3:9],
        Doubled(featured()),
        Stored([Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))]),
    ],
    ids=["transform", "own get", "one graph"],
)
def test_graphs_are_read_as_indexing_shows_them(dataset) -> None:
    expected = one_by_one([dataset[i] for i in range(len(dataset))])
    assert same(sa.build_coding_trees(dataset), expected)


def test_no_graphs_no_trees() -> None:
    assert sa.build_coding_trees([]) == []
    assert sa.AddCodingTree().map([]) == []


def spoilt(**changes) -> list[Data]:
    """Two good graphs, then one with other attributes."""
    data = random_graphs([3, 4, 3])
    for graph in data:
        graph.w = torch.ones(graph.num_edges)
    for name, value in changes.items():
        data[2][name] = value
    return data


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        (
            spoilt(edge_index=torch.tensor([[0, 1], [1, 7]])),
            r"graph 2: num_nodes is 3, but edge_index names vertex 7: pass num_nodes=8",
        ),
        (
            spoilt(edge_index=torch.tensor([[0], [-1]])),
            "graph 2: edge_index must not be negative, got -1",
        ),
        (spoilt(edge_index=torch.zeros(2, 3)), "graph 2: .* got dtype torch.float32"),
        (spoilt(edge_index=torch.zeros(3, 2)), r"graph 2: .* got \(3, 2\)"),
        (spoilt(edge_index=None), "graph 2: it has no edge_index"),
        (
            [*spoilt(), Data(edge_index=torch.empty(2, 0).long(), num_nodes=0)],
            "graph 3: a graph needs at least one vertex",
        ),
        ([*spoilt(), "MUTAG"], "graph 3: it must be a Data .* got str"),
        ([Batch.from_data_list(spoilt())], "graph 0: it must be a Data .* one graph"),
        (spoilt()[0], r"got a single Data: pass \[data\]"),
    ],
)
def test_a_bad_graph_is_named_before_any_work(built, graphs, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sa.build_coding_trees(graphs)
    with pytest.raises(ValueError, match=message):
        sa.AddCodingTree().map(graphs)
    assert built == []


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (torch.tensor([1.0, 2, -3, 4, 5, 6]), "edge 2 has -3.0"),
        (torch.tensor([1.0, 2, 3, 4, 5, float("nan")]), "edge 5 has nan"),
        (torch.ones(5), r"must hold one number per edge \(6\), got shape \(5,\)"),
        (None, "it has no edge attribute 'w': set it on every graph, or pass"),
    ],
)
def test_a_bad_weight_is_named_before_any_work(built, weight, message: str) -> None:
    with pytest.raises(ValueError, match=f"graph 2: .*{message}"):
        sa.build_coding_trees(spoilt(w=weight), weight="w")
    assert built == []


def test_a_bad_graph_in_a_stored_data_set_is_named(built) -> None:
    dataset = Stored(spoilt(edge_index=torch.tensor([[0, 1], [1, 7]])))
    with pytest.raises(ValueError, match="graph 0: num_nodes is 3"):
        sa.build_coding_trees(dataset[2:])
    with pytest.raises(ValueError, match="graph 0: it has no edge attribute 'v'"):
        sa.build_coding_trees(dataset, weight="v")
    assert built == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"height": 1}, "height must be an integer of at least 2, got 1"),
        ({"method": "fast"}, "got 'fast'"),
        ({"threads": 0}, "threads must be at least 1, got 0"),
    ],
)
def test_bad_options_are_refused(options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sa.build_coding_trees(some_graphs(), **options)


def content(data: Data) -> dict[str, list]:
    found = data.to_dict()
    found |= found.pop("coding_tree", {})
    return {key: torch.as_tensor(value).tolist() for key, value in found.items()}


@pytest.mark.parametrize(
    "transform",
    [
        sa.AddCodingTree(4, "paper", weight="w"),
        sa.AddCodingTree(),
        sa.AddRandomTree(3, seed=5),
        sa.AddShuffledTree(3, "paper", weight="w", seed=5),
    ],
    ids=repr,
)
def test_over_gives_what_the_transform_gives(transform, tmp_path) -> None:
    data = some_graphs()
    before = [content(graph) for graph in data]
    expected = [content(transform(graph)) for graph in data]
    for _ in range(2):
        done = transform.map(data, cache=tmp_path, threads=2)
        assert [content(graph) for graph in done] == expected
    assert [content(graph) for graph in data] == before


def test_over_reads_a_random_transform_once() -> None:
    def drop(data: Data) -> Data:
        n = int(torch.randint(2, 6, (1,)))
        return data.subgraph(torch.arange(n))

    torch.manual_seed(0)
    done = sa.AddCodingTree().map(Stored(random_graphs([6] * 20), transform=drop))
    assert len({graph.num_nodes for graph in done}) > 1
    anchor = sa.AnchorView(1)
    anchor(Batch.from_data_list(done))  # refuses trees of other graphs


def test_a_transform_of_your_own_keeps_its_trees() -> None:
    class Flat(sa.AddCodingTree):
        def tree(self, data: Data) -> sa.CodingTree:
            n = data.num_nodes
            chain = torch.arange(n, 3 * n).tolist() + [3 * n] * n + [-1]
            level = torch.arange(4).repeat_interleave(torch.tensor([n, n, n, 1]))
            return sa.CodingTree(torch.tensor(chain), level)

    (one,) = Flat().map(random_graphs([9]))
    assert torch.bincount(one.coding_tree["level"]).tolist() == [9, 9, 9, 1]


def archive(folder: Path, graphs: list[Data]) -> None:
    """Write graphs as the raw files of the TU set TOY."""
    raw = folder / "TOY" / "raw"
    raw.mkdir(parents=True)
    first = np.cumsum([1, *(graph.num_nodes for graph in graphs)])
    rows = [
        f"{u}, {v}"
        for graph, begin in zip(graphs, first, strict=False)
        for u, v in (graph.edge_index.t() + begin).tolist()
    ]
    member = [i + 1 for i, (a, b) in enumerate(pairwise(first)) for _ in range(a, b)]
    lines = {
        "A": rows,
        "graph_indicator": map(str, member),
        "graph_labels": (str(int(graph.y)) for graph in graphs),
    }
    for kind, content in lines.items():
        (raw / f"TOY_{kind}.txt").write_text("\n".join(content) + "\n")


def test_training_by_name_builds_trees_once(tmp_path, built) -> None:
    archive(tmp_path, list(SyntheticCommunities(num_graphs=30)))
    options = {"seeds": 1, "epochs": 1, "evaluate_at": (), "root": str(tmp_path)}
    first = graphcl.run("TOY", anchor=True, **options)
    assert sum(built) == 30
    assert list((tmp_path / "TOY" / "trees").iterdir())
    built.clear()
    again = graphcl.run("TOY", anchor=True, **options)
    assert built == []
    for name, embedding in first.embeddings.items():
        assert torch.equal(embedding, again.embeddings[name])
    config = graphcl.Config(tree="refined")
    graphcl.run("TOY", anchor=True, config=config, **options, protocol="paper")
    assert built == []  # trees are of the graphs as they came, without self-loops


def test_training_on_your_own_graphs_writes_nothing(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    graphs = list(SyntheticCommunities(num_graphs=30))
    for data in (graphs, "synthetic"):
        graphcl.run(data, anchor=True, seeds=1, epochs=1, evaluate_at=())
    assert list(tmp_path.iterdir()) == []
