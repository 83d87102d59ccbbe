"""tree_groups: any number of groups, against all partitions of small graphs."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import networkx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import sega_anchor as sa
from tests.helpers.graphs import weighted_graphs, wide_graphs
from tests.helpers.slow_trees import Weights, entropy, of_weights

Graph = tuple[int, Weights]


def partitions(n: int) -> Iterator[list[int]]:
    """All partitions of n vertices, groups numbered by first vertex."""
    if n == 0:
        yield []
        return
    for smaller in partitions(n - 1):
        for group in range(max(smaller, default=-1) + 2):
            yield [*smaller, group]


def two_level(groups: list[int], weights: Weights) -> float:
    """The entropy of the tree of height two, from the definition."""
    members: list[list[Any]] = [[] for _ in range(max(groups) + 1)]
    for v, group in enumerate(groups):
        members[group].append(v)
    return entropy(members, weights) if weights else 0.0


def in_groups(graph: Graph, k: int, height: int = 2) -> list[int]:
    n, weights = graph
    edges, weight = of_weights(weights)
    tree = sa.build_coding_tree(edges, n, weight, height=height)
    return sa.tree_groups(tree, edges, weight, k=k).tolist()


def random_cuts(n: int, k: int, seed: int, count: int = 20) -> Iterator[list[int]]:
    """Random partitions into exactly k groups."""
    chance = random.Random(seed)
    for _ in range(count):
        groups = [*range(k), *(chance.randrange(k) for _ in range(n - k))]
        chance.shuffle(groups)
        yield groups


@given(weighted_graphs() | wide_graphs(), st.integers(2, 4))
def test_there_are_as_many_groups_as_asked_for(graph: Graph, height: int) -> None:
    for k in range(1, graph[0] + 1):
        assert set(in_groups(graph, k, height)) == {*range(k)}


@given(weighted_graphs(least=3), st.integers(2, 4))
def test_a_level_with_k_nodes_is_taken_as_it_is(graph: Graph, height: int) -> None:
    n, weights = graph
    edges, weight = of_weights(weights)
    tree = sa.build_coding_tree(edges, n, weight, height=height)
    for level in range(height + 1):
        expected = tree.partition(level)
        k = int(expected.max()) + 1
        found = sa.tree_groups(tree, edges, weight, k=k)
        # Where several levels are equal it is one partition, however numbered.
        assert len({*zip(found.tolist(), expected.tolist(), strict=True)}) == k


@given(weighted_graphs(least=2, most=10), st.integers(0, 2**32))
def test_random_cuts_are_no_better_on_average(graph: Graph, seed: int) -> None:
    n, weights = graph
    for k in range(1, n + 1):
        bits = two_level(in_groups(graph, k), weights)
        cuts = [two_level(groups, weights) for groups in random_cuts(n, k, seed)]
        assert bits <= sum(cuts) / len(cuts) + 1e-9


def test_nearly_all_small_graphs_get_the_best_groups() -> None:
    """Compared with all partitions of 150 graphs of up to 7 vertices."""
    chance = random.Random(0)
    all_partitions = {n: [*partitions(n)] for n in range(3, 8)}
    missed, worst, total = 0, 0.0, 0
    for _ in range(150):
        n, density = chance.randint(3, 7), chance.choice([0.3, 0.5, 0.7])
        weights = {
            (u, v): chance.uniform(1, 2)
            for u in range(n)
            for v in range(u + 1, n)
            if chance.random() < density
        }
        if not weights or not networkx.is_connected(networkx.Graph([*weights])):
            continue
        best = [math.inf] * (n + 1)
        for groups in all_partitions[n]:
            k = max(groups) + 1
            best[k] = min(best[k], quick(groups, weights))
        for k in range(1, n + 1):
            gap = two_level(in_groups((n, weights), k), weights) / best[k] - 1
            assert gap > -1e-9
            missed, worst, total = missed + (gap > 1e-9), max(worst, gap), total + 1
    assert total > 300
    assert missed / total < 0.03
    assert worst < 0.05


def quick(groups: list[int], weights: Weights) -> float:
    """The formula of the docstring, in one pass over edges."""
    total = 2 * sum(weights.values())
    degree, vol = [0.0] * len(groups), [0.0] * len(groups)
    inner = [0.0] * len(groups)
    for (u, v), w in weights.items():
        for x in (u, v):
            degree[x] += w
            vol[groups[x]] += w
        inner[groups[u]] += 2 * w * (groups[u] == groups[v])
    bits = -sum(d * math.log2(d / total) for d in degree if d)
    bits += sum(a * math.log2(b / total) for a, b in zip(inner, vol, strict=True) if a)
    return bits / total


@given(weighted_graphs(least=2, most=8), st.data())
def test_no_vertex_had_better_be_elsewhere(graph: Graph, data: st.DataObject) -> None:
    """Where no level has k nodes: a local optimum of single moves along edges."""
    n, weights = graph
    k = data.draw(st.integers(1, n))
    edges, weight = of_weights(weights)
    tree = sa.build_coding_tree(edges, n, weight, height=2)
    if k in torch.bincount(tree.level).tolist():
        return
    groups = sa.tree_groups(tree, edges, weight, k=k).tolist()
    bits = two_level(groups, weights)
    for (u, v), _ in weights.items():
        for x, y in ((u, v), (v, u)):
            if groups.count(groups[x]) > 1:
                other = [*groups[:x], groups[y], *groups[x + 1 :]]
                assert two_level(other, weights) >= bits - 1e-9


def test_communities_are_merged_and_split_at_their_seams() -> None:
    """A ring of four cliques; three edges join each to its partner, one to the next."""
    graph = networkx.disjoint_union_all([networkx.complete_graph(6)] * 4)
    graph.add_edges_from((v, v + 6) for v in (0, 1, 2, 12, 13, 14))
    graph.add_edges_from([(3, 15), (9, 21)])
    tree = sa.build_coding_tree(graph, height=2)
    clique = torch.arange(24) // 6
    assert sa.tree_groups(tree, graph, k=4).tolist() == clique.tolist()
    assert sa.tree_groups(tree, graph, k=2).tolist() == (clique // 2).tolist()
    six = sa.tree_groups(tree, graph, k=6)
    for group in range(6):  # none of them reaches over a seam
        assert len(set(clique[six == group].tolist())) == 1


def test_isolated_vertices_take_no_group_from_communities() -> None:
    triangles = torch.tensor([[0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3]])
    tree = sa.build_coding_tree(triangles, 9, height=2)
    two = sa.tree_groups(tree, triangles, k=2).tolist()
    assert two[:6] in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    three = sa.tree_groups(tree, triangles, k=3).tolist()
    assert three == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_stray_components_take_no_group_from_communities() -> None:
    """Three cliques in a ring, and five pairs of vertices beside them."""
    cliques = [networkx.complete_graph(8)] * 3
    graph = networkx.disjoint_union_all(cliques + [networkx.path_graph(2)] * 5)
    graph.add_edges_from([(0, 8), (9, 16), (17, 1)])
    tree = sa.build_coding_tree(graph, height=2)
    groups = sa.tree_groups(tree, graph, k=4)
    clique = torch.arange(34) // 8
    clique[24:] = 3
    assert groups.tolist() == clique.tolist()


def test_a_graph_without_edges_has_any_number_of_groups() -> None:
    nothing = torch.empty(2, 0, dtype=torch.long)
    tree = sa.build_coding_tree(nothing, 5, height=2)
    for k in range(1, 6):
        assert sa.tree_groups(tree, nothing, k=k).unique().tolist() == [*range(k)]


def test_the_same_graph_gives_the_same_groups_however_edges_are_ordered() -> None:
    graph = networkx.karate_club_graph()
    edges = torch.tensor([*graph.edges]).t()
    weight = torch.tensor([w for *_, w in graph.edges(data="weight")]).double()
    tree = sa.build_coding_tree(graph)
    order = torch.randperm(len(weight), generator=torch.Generator().manual_seed(0))
    for k in range(1, 35):
        one = sa.tree_groups(tree, graph, k=k)
        assert one.equal(sa.tree_groups(tree, edges[:, order], weight[order], k=k))


@pytest.mark.parametrize("k", [0, 4, 1.0, True, None])
def test_another_number_is_refused(k: Any) -> None:
    path = torch.tensor([[0, 1], [1, 2]])
    tree = sa.build_coding_tree(path, height=2)
    with pytest.raises(ValueError, match=f"from 1 to .* vertices, 3, got {k!r}"):
        sa.tree_groups(tree, path, k=k)


def test_another_graph_is_refused() -> None:
    tree = sa.build_coding_tree(torch.tensor([[0, 1], [1, 2]]), height=2)
    with pytest.raises(ValueError, match="names vertex 3, but the tree has 3"):
        sa.tree_groups(tree, torch.tensor([[0], [3]]), k=2)
