"""Trees that owe nothing to where the vertices stand: shuffled and random ones."""

from typing import get_args

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from sega_anchor import (
    AddCodingTree,
    AddRandomTree,
    AddShuffledTree,
    AnchorView,
    CodingTree,
    build_coding_tree,
)
from sega_anchor.trees import TreeName, tree_levels, tree_transform
from tests.helpers.forests import METHODS, same, some_graphs
from tests.helpers.graphs import random_graphs
from tests.helpers.slow_trees import invariants


def shape(nested: list) -> tuple:
    """The same for two trees that differ in the names of their vertices only."""
    inner = sorted(shape(child) for child in nested if isinstance(child, list))
    return sum(not isinstance(child, list) for child in nested), *inner


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("height", [2, 4])
def test_a_shuffled_tree_has_the_graphs_own_shape(height: int, method) -> None:
    moved = 0
    for graph in some_graphs():
        n = graph.num_nodes
        own = build_coding_tree(graph.edge_index, n, height=height, method=method)
        tree = AddShuffledTree(height, method).tree(graph)
        assert invariants(tree, n, height) == []
        assert shape(tree.nested()) == shape(own.nested())
        moved += tree.nested() != own.nested()
    assert moved >= 4  # of eleven graphs, some too small for two trees


def test_every_vertex_comes_everywhere() -> None:
    """Over many seeds a vertex of a star is below each of its tree's nodes."""
    star = Data(edge_index=torch.tensor([[0] * 5, [1, 2, 3, 4, 5]]), num_nodes=9)
    found = {AddShuffledTree(2, seed=s).tree(star).parent[0].item() for s in range(99)}
    assert found == set(AddCodingTree(2).tree(star).parent[:9].tolist())


def test_the_permutation_depends_on_seed_and_graph_only() -> None:
    graphs = some_graphs()
    trees = [AddShuffledTree(seed=1).tree(graph) for graph in graphs]
    again = [AddShuffledTree(seed=1).tree(graph) for graph in reversed(graphs)]
    assert same(again[::-1], trees)
    assert not same([AddShuffledTree(seed=2).tree(graph) for graph in graphs], trees)
    for tree in trees:
        CodingTree(tree.parent, tree.level)  # checks both


def test_weights_shape_a_shuffled_tree() -> None:
    edge_index = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    graph = Data(edge_index=edge_index, num_nodes=4, w=torch.tensor([1.0, 0, 0, 0]))
    transform = AddShuffledTree(2, weight="w")
    own = AddCodingTree(2, weight="w").tree(graph).nested()
    assert shape(transform.tree(graph).nested()) == shape(own)
    assert shape(own) != shape(AddShuffledTree(2).tree(graph).nested())
    del graph.w
    with pytest.raises(ValueError, match="no edge attribute 'w'"):
        transform(graph)


def test_shuffled_trees_ride_through_a_loader_to_the_anchor() -> None:
    graphs = random_graphs([6, 1, 9, 4])
    transform = AddShuffledTree(3, seed=5)
    view = AnchorView(1, height=3, transform=transform, strict=True).eval()
    anchors = view(next(iter(DataLoader(transform.map(graphs), batch_size=4))))
    for graph, anchor in zip(graphs, anchors, strict=True):
        torch.testing.assert_close(view(transform(graph))[0], anchor)
    own = view(next(iter(DataLoader(AddCodingTree(3).map(graphs), batch_size=4))))
    assert not torch.allclose(anchors, own)
    changed = transform(graphs[0]).subgraph(torch.tensor([0, 1, 2]))
    with pytest.raises(ValueError, match="6 leaves, but the graph has 3"):
        tree_levels(changed, 3)


def test_random_trees_are_balanced_and_seeded() -> None:
    data = random_graphs([10, 17])
    for graph in data:
        tree = AddRandomTree(height=2, seed=1).tree(graph)
        sizes = torch.bincount(tree.ancestors()[1])[graph.num_nodes :]
        assert sizes.max() - sizes.min() <= 1
        assert sizes.numel() == 2
        assert same([tree], [AddRandomTree(height=2, seed=1).tree(graph)])
        assert not same([tree], [AddRandomTree(height=2, seed=2).tree(graph)])


def test_a_name_stands_for_a_transform() -> None:
    found = {name: repr(tree_transform(name, height=4)) for name in get_args(TreeName)}
    own = {name: repr(AddCodingTree(4, name)) for name in METHODS}
    shuffled, random = AddShuffledTree(4, "refined"), AddRandomTree(4)
    assert found == own | {"shuffled": repr(shuffled), "random": repr(random)}
    words = "'refined', 'authors', 'paper', 'shuffled' or 'random', got 'best'"
    with pytest.raises(ValueError, match=words):
        tree_transform("best", height=4)  # type: ignore[arg-type]


def test_controls_show_every_parameter() -> None:
    assert repr(AddRandomTree()) == "AddRandomTree(height=2, seed=0, branching=2)"
    assert repr(AddShuffledTree(weight="w")) == (
        "AddShuffledTree(height=3, method='refined', weight='w', seed=0)"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AddRandomTree(branching=1), "branching must be at least 2, got 1"),
        (lambda: AddRandomTree(seed=-1), "seed must not be negative, got -1"),
        (lambda: AddShuffledTree(seed=-1), "seed must not be negative, got -1"),
        (lambda: AddShuffledTree(1), "height must be an integer of at least 2, got 1"),
        (lambda: AddShuffledTree(method="fast"), "got 'fast'"),  # type: ignore[arg-type]
        (lambda: AddShuffledTree()(Data(num_nodes=2)), "no edge_index"),
    ],
)
def test_bad_input_is_refused(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
