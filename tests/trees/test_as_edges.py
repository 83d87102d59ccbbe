"""Graphs that are no edge_index: networkx, scipy, NumPy."""

import sys
from typing import Any

import networkx
import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData

from sega_anchor import (
    AddCodingTree,
    AddRandomTree,
    AnchorView,
    build_coding_tree,
    build_coding_trees,
)
from sega_anchor.trees._as_edges import as_edges
from sega_anchor.trees.build import read_csr


def adjacency(graph: Any) -> list[list[float]]:
    """The undirected simple graph that builders see, as a dense matrix."""
    edge_index, n, weight = as_edges(graph, None, None)
    csr = read_csr(edge_index, n, weight)
    matrix = scipy.sparse.csr_array((csr[2], csr[1], csr[0]), shape=(n, n))
    return matrix.toarray().tolist()


@st.composite
def directed(draw: st.DrawFn) -> np.ndarray:
    """A square matrix of weights in sixteenths, so that sums are exact."""
    n = draw(st.integers(1, 7))
    cells = st.lists(st.integers(0, 3), min_size=n * n, max_size=n * n)
    return np.array(draw(cells)).reshape(n, n) / 16


@given(directed())
def test_all_kinds_describe_the_same_graph(matrix: np.ndarray) -> None:
    expected = np.maximum(matrix, matrix.T)
    np.fill_diagonal(expected, 0)
    both = networkx.from_numpy_array(matrix, create_using=networkx.DiGraph)
    once = networkx.from_numpy_array(np.maximum(matrix, matrix.T))
    for graph in (both, once, scipy.sparse.coo_array(matrix)):
        assert adjacency(graph) == expected.tolist()


def test_vertices_are_numbered_as_networkx_lists_them() -> None:
    graph = networkx.Graph()
    graph.add_node("alone")
    names = ["ann", ("b", 2), 7, "dan", 3.5, "fay"]
    for group in (names[:3], names[3:]):
        graph.add_edges_from(networkx.complete_graph(group).edges)
    graph.add_edge(names[0], names[5])
    tree = build_coding_tree(*as_edges(graph, None, None), height=2, method="paper")
    assert tree.nested(list(graph)) == [["alone"], names[:3], names[3:]]


def test_an_edge_without_weight_among_weights_weighs_one() -> None:
    graph = networkx.Graph([(0, 1), (1, 2)])
    assert as_edges(graph, None, None)[2] is None
    graph.edges[0, 1]["weight"] = 2.5
    assert adjacency(graph) == [[0, 2.5, 0], [2.5, 0, 1], [0, 1, 0]]


def test_parallel_edges_add_up_only_with_weights() -> None:
    graph = networkx.MultiGraph([(0, 1), (1, 0), (1, 1)])
    assert adjacency(graph) == [[0, 1], [1, 0]]
    graph.add_edge(0, 1, weight=0.5)
    assert adjacency(graph) == [[0, 2.5], [2.5, 0]]


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("family", ["array", "matrix"])
def test_every_sparse_format_is_read(kind: str, family: str) -> None:
    dense = np.array([[5.0, 2, 0], [1, 0, 4], [0, 0, 0]])
    graph = getattr(scipy.sparse, f"{kind}_{family}")(dense)
    assert adjacency(graph) == [[0, 2, 0], [2, 0, 4], [0, 4, 0]]


def test_stored_zeros_are_no_edges_and_repeated_entries_add_up() -> None:
    entries = ([0.0, 2.0, 3.0], ([0, 1, 1], [1, 2, 2]))
    graph = scipy.sparse.coo_array(entries, shape=(3, 3))
    assert adjacency(graph) == [[0, 0, 0], [0, 0, 5], [0, 5, 0]]


def test_a_boolean_matrix_is_unweighted() -> None:
    entries = ([True, True, False], ([0, 0, 1], [1, 1, 2]))
    graph = scipy.sparse.coo_array(entries, shape=(3, 3))
    assert as_edges(graph, None, None)[2] is None
    assert adjacency(graph) == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_arrays_serve_as_edge_index_and_weight() -> None:
    edges = np.array([[0, 1], [1, 2]], dtype=np.int32)[:, ::-1]
    edges.flags.writeable = False
    edge_index, n, weight = as_edges(edges, 4, np.array([2, 3]))  # type: ignore[arg-type]
    assert n == 4
    assert edge_index.dtype == torch.long
    assert edge_index.tolist() == [[1, 0], [2, 1]]
    assert weight is not None
    assert weight.tolist() == [2, 3]
    assert as_edges(np.empty((2, 0)), 1, None)[0].shape == (2, 0)


def test_a_tensor_passes_through_untouched() -> None:
    edge_index, weight = torch.tensor([[0], [1]]), torch.ones(1)
    given = as_edges(edge_index, 3, weight)
    assert given[0] is edge_index
    assert given[1] == 3
    assert given[2] is weight


def test_no_library_is_imported_to_look_at_a_graph(monkeypatch) -> None:
    for name in ("networkx", "scipy.sparse"):
        monkeypatch.setitem(sys.modules, name, None)  # an import of it would fail
    assert as_edges(np.array([[0], [1]]), None, None)[0].tolist() == [[0], [1]]
    with pytest.raises(ValueError, match="got list"):
        as_edges([[0], [1]], None, None)  # type: ignore[arg-type]


PATH = networkx.path_graph(3)
HEAVY = networkx.Graph([(0, 1, {"weight": "heavy"})])
EDGES = torch.tensor([[0], [1]])


@pytest.mark.parametrize(
    ("graph", "more", "message"),
    [
        (PATH, (3, None), "a Graph has its own num_nodes: leave num_nodes out"),
        (PATH, (None, torch.ones(2)), "has its own edge_weight"),
        (scipy.sparse.eye_array(2), (2, None), "has its own num_nodes"),
        (HEAVY, (None, None), 'attribute "weight" must hold numbers.*heavy'),
        (networkx.Graph(), (None, None), "one vertex, got an empty Graph"),
        (scipy.sparse.csr_array((0, 0)), (None, None), "needs at least one vertex"),
        (scipy.sparse.csr_array((2, 3)), (None, None), r"square, got shape \(2, 3\)"),
        (scipy.sparse.coo_array([1, 0]), (None, None), r"square, got shape \(2,\)"),
        (scipy.sparse.csr_array([[0, 1j], [0, 0]]), (None, None), "got dtype complex"),
        (np.eye(3), (None, None), r"got \(3, 3\): wrap .*csr_array\(matrix\)"),
        (np.ones((2, 3)), (None, None), "must hold integers, got dtype float64"),
        (Data(edge_index=EDGES), (None, None), "got a Data: pass data.edge_index"),
        ("graph.txt", (None, None), "a networkx graph or a scipy .*, got str"),
        (None, (None, None), "got NoneType"),
    ],
)
def test_what_cannot_be_read_is_refused(graph: Any, more: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_edges(graph, *more)


def test_a_heterogeneous_graph_is_refused_by_name_everywhere() -> None:
    graph = HeteroData()
    graph["user"].x = torch.ones(3, 2)
    graph["user", "likes", "user"].edge_index = torch.tensor([[0, 1], [1, 2]])
    for take in (
        build_coding_tree,
        build_coding_trees,
        lambda graph: build_coding_trees([graph]),
        AddCodingTree(),
        AddRandomTree(),
        lambda graph: AddCodingTree().map([graph]),
        AnchorView(2),
        AnchorView(2).embed,
    ):
        with pytest.raises(ValueError, match=r"got a HeteroData.*to_homogeneous\(\)"):
            take(graph)
    assert build_coding_tree(graph.to_homogeneous().edge_index).num_vertices == 3
