"""Trees far higher than any gain asks for: right, and quick."""

import random
from typing import get_args

import pytest
import torch
from torch_geometric.data import Data

from sega_anchor import (
    AddCodingTree,
    AddRandomTree,
    AnchorView,
    CodingTree,
    TreeEncoder,
    build_coding_tree,
    build_coding_trees,
    structural_entropy,
)
from sega_anchor.trees.build import TreeMethod
from sega_anchor.trees.levels import tree_levels
from tests.helpers.slow_trees import invariants, of_weights

METHODS = get_args(TreeMethod)
HEIGHTS = [*range(2, 41), 64, 1000]
Graph = tuple[torch.Tensor, int, torch.Tensor]


def small_graphs() -> list[Graph]:
    """One that is solved exactly, one that is searched, one that wants a deep tree."""
    draw = random.Random(0)
    found = []
    for n, edges in ((6, 9), (20, 50)):
        pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
        chosen = draw.sample(pairs, edges)
        found.append((n, {pair: draw.random() + 0.1 for pair in chosen}))
    found.append((12, {(u, u + 1): 4.0**-u for u in range(11)}))
    return [(edges, n, weight) for n, w in found for edges, weight in [of_weights(w)]]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("graph", small_graphs(), ids=["tiny", "small", "deep"])
def test_more_levels_never_cost(method: str, graph: Graph) -> None:
    edges, n, weight = graph
    last = float("inf")
    for height in HEIGHTS:
        tree = build_coding_tree(edges, n, weight, height=height, method=method)
        assert invariants(tree, n, height) == []
        bits = structural_entropy(tree, edges, weight)
        assert bits <= last + 1e-9
        last = bits


def shapes(tree: CodingTree) -> set[frozenset[int]]:
    """The sets of vertices below all nodes."""
    return {
        frozenset(torch.nonzero(row == node).view(-1).tolist())
        for row in tree.ancestors()
        for node in row.unique()
    }


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("graph", small_graphs(), ids=["tiny", "small", "deep"])
def test_more_than_32_levels_only_lengthen_the_tree(method: str, graph: Graph) -> None:
    edges, n, weight = graph
    expected = shapes(build_coding_tree(edges, n, weight, height=32, method=method))
    for height in (33, 34, 64, 300):
        tree = build_coding_tree(edges, n, weight, height=height, method=method)
        assert shapes(tree) == expected


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("height", [33, 64, 1000])
def test_a_long_path_takes_seconds(limited, method: str, height: int) -> None:
    n = 2000
    path = torch.stack([torch.arange(n - 1), torch.arange(1, n)])
    tree = limited(path, n, None, height, method)
    lower = build_coding_tree(path, n, height=32, method=method)
    expected = torch.bincount(lower.level).tolist()
    assert torch.bincount(tree.level).tolist() == [n] * (height - 32) + expected


@pytest.mark.parametrize("height", [1001, 10**9, 2**63, 10**30])
def test_a_height_beyond_all_use_is_refused(height: int) -> None:
    data = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2)
    treed = AddCodingTree(2)(data)
    for way in (
        lambda: build_coding_tree(data.edge_index, height=height),
        lambda: build_coding_trees([data], height),
        lambda: AddCodingTree(height),
        lambda: AddRandomTree(height),
        lambda: AnchorView(1, height=height),
        lambda: TreeEncoder(1, 1, 1, height),
        lambda: tree_levels(treed, height),
    ):
        with pytest.raises(ValueError, match=f"height must be at most 1000.*{height}"):
            way()


def test_more_tree_nodes_than_memory_holds_are_refused() -> None:
    data = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=10**8)
    message = r"height 1000 over 100000000 vertices may have 100000000000 nodes.* 10$"
    for way in (
        lambda: build_coding_tree(data.edge_index, 10**8, height=1000),
        lambda: build_coding_trees([data], 1000),
        lambda: AddCodingTree(1000)(data),
        lambda: AddRandomTree(1000)(data),
    ):
        with pytest.raises(ValueError, match=message):
            way()
