"""Transforms of PyG behind a tree: it stays as it is, or the view refuses it."""

import warnings
from collections.abc import Sequence

import pytest
import torch
from torch.testing import assert_close
from torch_geometric import transforms as T
from torch_geometric.data import Batch, Data

from sega_anchor import AddCodingTree, AddRandomTree, AnchorView, build_coding_trees
from sega_anchor.datasets import load
from sega_anchor.trees.levels import tree_levels
from tests.helpers.paths import real_data

KEEP = [  # the graph as it is, or in other words
    T.ToUndirected(),
    T.AddSelfLoops(),
    T.AddRemainingSelfLoops(),
    T.RemoveSelfLoops(),
    T.RemoveDuplicatedEdges(),
    T.GCNNorm(),
    T.Constant(),
    T.OneHotDegree(100),
    T.LocalDegreeProfile(),
    T.TargetIndegree(),
    T.NormalizeFeatures(),
    T.RandomNodeSplit(num_val=1, num_test=0),
    T.AddRandomWalkPE(3),
    T.ToDevice("cpu"),
]
CHANGE = [T.VirtualNode(), T.LineGraph(), T.Pad(40)]
PARTS = [T.LargestConnectedComponents(), T.RemoveIsolatedNodes()]


def clashing() -> list[Data]:
    """Graphs with as many edges as tree nodes, as nodes, or just one."""
    pairs = torch.combinations(torch.arange(9)).t()
    random = torch.Generator().manual_seed(0)
    graphs = []
    for _ in range(400):
        chosen = pairs[:, torch.rand(36, generator=random) < 0.25]
        edges = torch.cat([chosen, chosen.flip(0)], 1)
        graphs.append(Data(x=torch.ones(9, 2), edge_index=edges))
    found = [
        graph
        for graph, tree in zip(graphs, build_coding_trees(graphs), strict=True)
        if graph.num_edges == len(tree.parent)
    ]
    assert len(found) > 5
    lone = Data(x=torch.ones(1, 2), edge_index=torch.zeros(2, 1).long())
    node = torch.arange(6)
    ring = Data(x=torch.ones(6, 2), edge_index=torch.stack([node, (node + 1) % 6]))
    return [*found[:9], lone, ring]


def check_kept(graphs: Sequence[Data], transform: T.BaseTransform) -> None:
    for tree in (AddCodingTree(3), AddRandomTree(3)):
        treed = [tree(graph) for graph in graphs]
        done = [transform(graph) for graph in treed]
        for before, after in zip(treed, done, strict=True):
            assert_close(after.coding_tree, before.coding_tree, rtol=0, atol=0)
        tree_levels(Batch.from_data_list(done), 3)  # refuses trees of other graphs


def check_noticed(graphs: Sequence[Data], transform: T.BaseTransform) -> None:
    for graph in graphs:
        treed = AddCodingTree(3)(graph)
        done = transform(treed)
        if done.num_nodes == graph.num_nodes and transform in PARTS:
            tree_levels(done, 3)
            continue
        with pytest.raises(ValueError, match=r"Apply the transform .* after"):
            tree_levels(done, 3)


@pytest.mark.parametrize("transform", KEEP, ids=str)
def test_what_keeps_the_graph_keeps_the_tree(transform: T.BaseTransform) -> None:
    graphs = clashing()
    check_kept(graphs, transform)


@pytest.mark.parametrize("transform", PARTS, ids=str)
def test_nodes_that_go_are_noticed(transform: T.BaseTransform) -> None:
    graphs = [graph for graph in clashing() if graph.num_nodes == 9]
    assert any(transform(graph).num_nodes < 9 for graph in graphs)
    check_noticed(graphs, transform)


@pytest.mark.parametrize("transform", CHANGE, ids=str)
def test_other_graphs_are_noticed(transform: T.BaseTransform) -> None:
    check_noticed([g for g in clashing() if g.num_nodes == 9], transform)


def test_batches_keep_their_trees_too() -> None:
    graphs = [AddCodingTree(3)(graph) for graph in clashing()[:-1]]
    batch = T.ToUndirected()(Batch.from_data_list(graphs))
    for before, after in zip(graphs, batch.to_data_list(), strict=True):
        assert_close(after.coding_tree, before.coding_tree, rtol=0, atol=0)


def test_a_graph_without_edge_index_is_taken_with_a_warning() -> None:
    (graph, *_) = clashing()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own: sparse tensors are in beta
        data = T.ToSparseTensor()(AddCodingTree(3)(graph))
        view = AnchorView(2, height=3)
        assert view(data).shape == (1, 96)
    with pytest.raises(ValueError, match="no edge_index"):
        AnchorView(2, height=3, strict=True)(data)


@pytest.mark.slow
def test_real_molecules_keep_their_trees(tmp_path) -> None:
    archives = real_data("tu", "MUTAG.zip").parent
    graphs = list(load("MUTAG", root=tmp_path, archives=archives))
    for transform in KEEP:
        check_kept(graphs, transform)
    for transform in PARTS:
        check_noticed(graphs, transform)
