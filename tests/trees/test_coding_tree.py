"""CodingTree: partitions, nested lists and networkx, against slow twins."""

from typing import Any

import networkx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sega_anchor import CodingTree


@st.composite
def trees(draw: st.DrawFn) -> CodingTree:
    """Any tree: at each level every node draws a group, groups then lose their gaps."""
    count = draw(st.integers(1, 9))
    parents, levels = [], [0] * count
    for level in range(1, draw(st.integers(1, 4))):
        drawn = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
        groups = sorted(set(drawn))
        first = len(levels)
        parents += [first + groups.index(group) for group in drawn]
        levels += [level] * len(groups)
        count = len(groups)
    root = len(levels)
    parents += [root] * count + [-1]
    return CodingTree(torch.tensor(parents), torch.tensor([*levels, levels[-1] + 1]))


def slow_nested(tree: CodingTree, node: int) -> Any:
    if node < tree.num_vertices:
        return node
    below = [c for c, above in enumerate(tree.parent.tolist()) if above == node]
    return sorted((slow_nested(tree, child) for child in below), key=first)


def first(nested: Any) -> int:
    return nested if isinstance(nested, int) else min(map(first, nested))


@given(trees())
def test_nested_lists_are_the_tree(tree: CodingTree) -> None:
    assert tree.nested() == slow_nested(tree, tree.parent.numel() - 1)


@given(trees())
def test_a_partition_numbers_the_nodes_of_its_level(tree: CodingTree) -> None:
    for level in range(tree.height + 1):
        nodes = (tree.level == level).nonzero()[:, 0].tolist()
        expected = []
        for node in range(tree.num_vertices):
            while int(tree.level[node]) < level:
                node = int(tree.parent[node])
            expected.append(nodes.index(node))
        assert tree.partition(level).tolist() == expected


@given(trees())
def test_networkx_has_the_same_edges_and_levels(tree: CodingTree) -> None:
    graph = tree.to_networkx()
    assert networkx.is_arborescence(graph)
    assert [above for _, above in sorted((v, u) for u, v in graph.edges)] == (
        tree.parent[:-1].tolist()
    )
    assert [graph.nodes[i]["level"] for i in range(len(graph))] == tree.level.tolist()


def test_names_stand_for_vertices_whatever_they_are() -> None:
    tree = CodingTree(
        torch.tensor([4, 4, 3, 5, 5, -1]), torch.tensor([0, 0, 0, 1, 1, 2])
    )
    names = ["a", ("b", 1), ["c"]]
    assert tree.nested(names) == [["a", ("b", 1)], [["c"]]]


@pytest.mark.parametrize("names", ["ab", "abcd", []])
def test_names_of_another_number_are_refused(names: Any) -> None:
    tree = CodingTree(torch.tensor([3, 3, 3, -1]), torch.tensor([0, 0, 0, 1]))
    with pytest.raises(ValueError, match=f"3 vertices, got {len(names)} names"):
        tree.nested(names)


@pytest.mark.parametrize("level", [-1, 3, 0.5, "1"])
def test_a_level_outside_the_tree_is_refused(level: Any) -> None:
    tree = CodingTree(torch.tensor([2, 2, 3, -1]), torch.tensor([0, 0, 1, 2]))
    with pytest.raises(ValueError, match=f"level must be from 0 to 2, got {level!r}"):
        tree.partition(level)


def test_a_tall_tree_needs_no_deep_stack() -> None:
    height = 5000
    parent = [2, 2, *range(3, height + 2), -1]
    tree = CodingTree(torch.tensor(parent), torch.tensor([0, *range(height + 1)]))
    node = tree.nested()
    for _ in range(height - 1):
        (node,) = node
    assert node == [0, 1]
