"""Trees in other libraries' words: SciPy's linkage, Newick, networkx; and back."""

from __future__ import annotations

import re
from typing import Any

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

import sega_anchor as sa
from sega_anchor import CodingTree


@st.composite
def trees(draw: st.DrawFn) -> CodingTree:
    """Any tree of height 1 to 4: each group of a level draws one of the next."""
    n, height = draw(st.integers(1, 9)), draw(st.integers(2, 4))
    rows = [[*range(n)]]
    for _ in range(height - 1):
        above = draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
        rows.append([above[group] for group in rows[-1]])
    return CodingTree.from_partitions(rows[1:])


def meeting_level(tree: CodingTree, u: int, v: int) -> int:
    """The level of the lowest common ancestor, by walking up."""
    level = 0
    while u != v:
        u, v, level = int(tree.parent[u]), int(tree.parent[v]), level + 1
    return level


@given(trees())
def test_scipy_accepts_the_linkage_and_finds_the_levels_in_it(tree: CodingTree) -> None:
    matrix, n = tree.to_linkage(), tree.num_vertices
    assert matrix.shape == (n - 1, 4)
    if n == 1:
        return
    assert hierarchy.is_valid_linkage(matrix, throw=True)
    assert hierarchy.is_monotonic(matrix)
    assert sorted(hierarchy.dendrogram(matrix, no_plot=True)["leaves"]) == [*range(n)]
    distance = squareform(hierarchy.cophenet(matrix))
    for u in range(n):
        for v in range(n):
            assert distance[u, v] == meeting_level(tree, u, v)
    for level in range(1, tree.height + 1):
        cut = hierarchy.fcluster(matrix, level, "distance")
        pairs = {*zip(cut.tolist(), tree.partition(level).tolist(), strict=True)}
        assert len(pairs) == len({*cut}) == len(tree.partition(level).unique())


@given(trees())
def test_a_linkage_comes_back_as_the_tree(tree: CodingTree) -> None:
    back = CodingTree.from_linkage(tree.to_linkage(), height=tree.height)
    assert back.nested() == tree.nested()
    CodingTree(back.parent, back.level)  # which checks it


def test_any_linkage_is_a_tree_once_its_distances_are_ranks() -> None:
    points = np.random.default_rng(0).normal(size=(12, 2))
    matrix = hierarchy.linkage(points, "average")
    with pytest.raises(ValueError, match="from 1 to 1000, got 0"):
        CodingTree.from_linkage(matrix)
    matrix[:, 2] = np.arange(1, 12)
    tree = CodingTree.from_linkage(matrix)
    assert tree.height == 11
    for level in range(1, 12):
        assert int(tree.partition(level).max()) == 11 - level


def test_a_star_does_not_make_a_deep_dendrogram() -> None:
    """SciPy's dendrogram recurses, a level a merge."""
    star = CodingTree.from_partitions([[0] * 5000])
    leaves = hierarchy.dendrogram(star.to_linkage(), no_plot=True)["leaves"]
    assert sorted(leaves) == [*range(5000)]


@pytest.mark.parametrize(
    ("matrix", "height", "message"),
    [
        ([[0, 1, 1]], None, r"shape \(num_vertices - 1, 4\), got \(1, 3\)"),
        ([[0, 1, 0, 2]], None, "whole numbers from 1 to 1000, got 0.0"),
        ([[0, 1, 2000, 2]], None, "whole numbers from 1 to 1000, got 2000.0"),
        ([[0, 1, 3, 2]], 2, "integer of at least 3, the largest distance, got 2"),
        ([[0, 1, 3, 2]], 3.0, "integer of at least 3, the largest distance, got 3.0"),
        ([[0, 0, 1, 2]], None, "each cluster is merged once"),
        ([[0, 3, 1, 2], [1, 2, 2, 3]], None, "must merge two clusters that are there"),
        ([[0, 5, 1, 2]], None, "must merge two clusters that are there"),
    ],
)
def test_what_is_no_linkage_of_levels_is_refused(matrix, height, message) -> None:
    with pytest.raises(ValueError, match=message):
        CodingTree.from_linkage(matrix, height)


def parse(text: str) -> Any:
    """Newick read token by token: a label, or a list of (child, length)."""
    tokens = re.findall(r"'(?:[^']|'')*'|[(),:;]|[^(),:;']+", text)
    stack: list[list[Any]] = [[]]
    node: Any = None
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            node = stack.pop()
        elif token == ":":
            continue
        elif token in ",;":
            continue
        elif isinstance(node, list | str) and node is not None:
            stack[-1].append((node, int(token)))
            node = None
        elif token[0] == "'":
            node = token[1:-1].replace("''", "'")
        else:
            node = token
    assert node is not None
    return node


def depths(node: Any, above: int = 0) -> dict[str, int]:
    if isinstance(node, str):
        return {node: above}
    found: dict[str, int] = {}
    for child, length in node:
        found |= depths(child, above + length)
    return found


def groups_of(node: Any) -> set[frozenset[str]]:
    if isinstance(node, str):
        return {frozenset([node])}
    below = [groups_of(child) for child, _ in node]
    return {frozenset(depths(node))}.union(*below)


NAMES = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=4)


@given(trees(), st.data())
def test_newick_has_the_communities_and_the_names(tree: CodingTree, data) -> None:
    n = tree.num_vertices
    names = data.draw(st.lists(NAMES, min_size=n, max_size=n, unique=True))
    read = parse(tree.to_newick(names))
    assert depths(read) == dict.fromkeys(names, tree.height)
    expected = {frozenset(names)}
    for level in range(tree.height):
        row = tree.partition(level).tolist()
        for group in set(row):
            members = {names[v] for v in range(n) if row[v] == group}
            expected.add(frozenset(members))
    assert groups_of(read) == expected


def test_newick_of_the_guide() -> None:
    tree = CodingTree.from_partitions([[0, 0, 1, 2], [0, 0, 0, 1]])
    assert tree.to_newick() == "(((0:1,1:1):1,2:2):1,3:3);"
    with pytest.raises(ValueError, match="4 vertices, got 2 names"):
        tree.to_newick("ab")


def test_a_tall_tree_is_written_without_a_deep_stack() -> None:
    row = torch.zeros(3000, 2, dtype=torch.long)
    tree = CodingTree.from_partitions(row)
    assert tree.to_newick() == "((0:1,1:1):3000);"
    assert tree.to_linkage().tolist() == [[0, 1, 1, 2]]


def test_networkx_keeps_the_communities_in_a_file(tmp_path) -> None:
    graph = networkx.karate_club_graph()
    tree = sa.build_coding_tree(graph, height=3)
    tree.annotate(graph, name="group")
    networkx.write_graphml(graph, tmp_path / "karate.graphml")
    read = networkx.read_graphml(tmp_path / "karate.graphml")
    rows = []
    for level in (1, 2):
        groups = networkx.get_node_attributes(read, f"group_{level}")
        assert [*groups.values()] == tree.partition(level).tolist()
        rows.append([*groups.values()])
    assert CodingTree.from_partitions(rows).nested() == tree.nested()
    assert "group_0" not in read.nodes["0"] and "group_3" not in read.nodes["0"]


def test_another_graph_is_not_annotated() -> None:
    graph = networkx.path_graph(4)
    tree = sa.build_coding_tree(networkx.path_graph(3))
    with pytest.raises(ValueError, match="has 3 vertices, but the graph has 4: pass"):
        tree.annotate(graph)
    assert not any(graph.nodes[v] for v in graph)


def test_communities_of_another_library_have_an_entropy() -> None:
    graph = networkx.karate_club_graph()
    found = networkx.community.louvain_communities(graph, seed=0)
    names = {v: f"community {i}" for i, group in enumerate(found) for v in group}
    tree = CodingTree.from_partitions([[names[v] for v in graph]])
    assert {frozenset(group) for group in tree.nested()} == {*map(frozenset, found)}
    ours = sa.build_coding_tree(graph, height=2)
    assert sa.structural_entropy(ours, graph) <= sa.structural_entropy(tree, graph)


@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        ([0, 0, 1], r"shape \(height - 1, num_vertices\), got \(3,\): pass \[groups\]"),
        ([[]], r"got \(1, 0\)"),
        ([[0, 1, 1], [0, 0, 1]], "partition 0 must refine partition 1.* of vertex 1:"),
    ],
)
def test_partitions_that_are_not_nested_are_refused(partitions, message) -> None:
    with pytest.raises(ValueError, match=message):
        CodingTree.from_partitions(partitions)
