"""The facts that ``method="refined"`` is built on, and what it promises."""

import math
import random
import threading

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sega_anchor import CodingTree, build_coding_tree, structural_entropy
from sega_anchor.datasets import load
from sega_anchor.trees._kernels.exact import TINY
from sega_anchor.trees._kernels.squeeze import squeeze
from sega_anchor.trees.build import build_arrays
from tests.helpers.examples import times
from tests.helpers.graphs import weighted_graphs
from tests.helpers.paths import real_data
from tests.helpers.slow_trees import (
    Weights,
    flat_entropy,
    invariants,
    of_weights,
    optimum,
)

NAMES = ("MUTAG", "PROTEINS", "NCI1", "DD", "IMDB-BINARY", "IMDB-MULTI", "COLLAB")
NAMES += ("REDDIT-BINARY", "REDDIT-MULTI-5K")


def bits(n: int, weights: Weights, height: int, method: str = "refined") -> float:
    edge_index, weight = of_weights(weights)
    tree = build_coding_tree(edge_index, n, weight, height=height, method=method)
    return structural_entropy(tree, edge_index, weight)


@st.composite
def dendrograms(draw: st.DrawFn) -> tuple[list[int], list[float], list[float], int]:
    """Parents, volumes, inner weights and leaves of a random tree of merges."""
    n = draw(st.integers(2, 8))
    whole = st.integers(1, 20).map(float)
    volume = draw(st.lists(whole, min_size=n, max_size=n))
    inner = [0.0] * n
    parent = [-1] * n
    tops = list(range(n))
    while len(tops) > 1:
        most = min(len(tops), draw(st.sampled_from([2, 2, 2, 3])))
        chosen = [tops.pop(draw(st.integers(0, len(tops) - 1))) for _ in range(most)]
        for child in chosen:
            parent[child] = len(parent)
        volume.append(sum(volume[child] for child in chosen))
        inner.append(float(draw(st.integers(0, 5))))
        tops.append(len(parent))
        parent.append(-1)
    return parent, volume, inner, n


def cheapest(
    parent: list[int], volume: list[float], inner: list[float], n: int, height: int
) -> float:
    """Try every set of kept nodes."""
    root = len(parent) - 1
    best = math.inf
    for chosen in range(1 << (root - n)):
        kept = {a for a in range(n, root) if chosen >> (a - n) & 1} | {root}
        cost, depth = 0.0, [0] * len(parent)
        for a in range(root - 1, -1, -1):
            depth[a] = depth[parent[a]] + (parent[a] in kept)
        for a in range(n, root + 1):
            holder = a
            while holder not in kept:
                holder = parent[holder]
            cost += inner[a] * math.log2(volume[holder])
        if max(depth) <= height:
            best = min(best, cost)
    return best


@times(4)
@given(dendrograms(), st.integers(2, 5))
def test_squeeze_is_exact(dendrogram, height: int) -> None:
    parent, volume, inner, n = dendrogram
    above, left, cost = squeeze(
        np.array(parent), np.log2(volume), np.array(inner), n, height
    )
    assert cost == pytest.approx(cheapest(parent, volume, inner, n, height), abs=1e-9)
    told = sum(inner[a] * math.log2(volume[above[a]]) for a in range(n, len(parent)))
    assert told == pytest.approx(cost, abs=1e-9)
    assert left[n:].min() >= 0


def test_squeeze_of_a_caterpillar_is_quick_and_right() -> None:
    """One long spine: the naive table has depth times vertices entries."""
    n = 100_000
    spine = np.arange(n, 2 * n - 1)
    parent = np.concatenate([[n], spine, spine[1:], [-1]])
    volume = np.concatenate([np.ones(n), np.arange(2.0, n + 1)])
    inner = np.concatenate([np.zeros(n), np.ones(n - 1)])
    _, left, cost = squeeze(parent, np.log2(volume), inner, n, 3)
    sizes = np.arange(2, n + 1)
    best = min(
        (a - 1) * math.log2(a) + (b - a) * math.log2(b) + (n - b) * math.log2(n)
        for a in np.unique(np.geomspace(2, n, 400).astype(int))
        for b in sizes[sizes > a][:: max(1, n // 400)]
    )
    assert cost <= best + 1e-6
    assert cost == pytest.approx(best, rel=1e-4)
    assert left[n:].min() == 0


@times(2)
@given(weighted_graphs(least=4, most=10), st.randoms())
def test_gain_of_combine_and_loss_of_drop(graph, random) -> None:
    """COMBINE gains (2c/V) log(V/vol12), and DROP loses just that again."""
    n, weights = graph
    if not weights:
        return
    edge_index, weight = of_weights(weights)
    group = [random.randrange(4) for _ in range(n)]

    def tree(labels: list[list[int]]) -> CodingTree:
        parent, level, below, size = [0] * n, [0] * n, list(range(n)), n
        for i, row in enumerate(labels, 1):
            nodes = {name: size + j for j, name in enumerate(dict.fromkeys(row))}
            for v, name in enumerate(row):
                parent[below[v]] = below[v] = nodes[name]
            size += len(nodes)
            parent += [0] * len(nodes)
            level += [i] * len(nodes)
        parent[-1] = -1
        return CodingTree(torch.tensor(parent), torch.tensor(level))

    whole = [0] * n
    merged = [0 if g < 2 else g for g in group]
    before = structural_entropy(tree([group, group, whole]), edge_index, weight)
    after = structural_entropy(tree([group, merged, whole]), edge_index, weight)
    degree = [sum(w for pair, w in weights.items() if v in pair) for v in range(n)]
    volume = sum(d for d, g in zip(degree, group, strict=True) if g < 2)
    between = sum(w for (u, v), w in weights.items() if {group[u], group[v]} == {0, 1})
    total = sum(degree)
    gain = 2 * between / total * math.log2(total / volume) if between else 0.0
    assert before - after == pytest.approx(gain, abs=1e-9)


@given(weighted_graphs(least=2, most=TINY), st.integers(2, 4))
def test_tiny_graphs_get_the_optimum(graph, height: int) -> None:
    n, weights = graph
    if weights:
        assert bits(n, weights, height) == pytest.approx(optimum(n, weights, height))


@times(3)
@given(weighted_graphs(least=TINY + 1, most=24))
def test_never_above_the_authors_nor_rising_with_height(graph) -> None:
    n, weights = graph
    if not weights:
        return
    last = flat_entropy(n, weights) + 1e-9
    for height in (2, 3, 4, 5):
        found = bits(n, weights, height)
        assert found <= bits(n, weights, height, "authors") + 1e-9
        assert found <= last + 1e-9
        last = found


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_real_graph_is_worse_than_the_authors_tree(name: str, tmp_path) -> None:
    data = load(name, root=tmp_path, archives=real_data("tu"))
    for graph in data[:: max(1, len(data) // 40)]:
        for height in (2, 3, 5):
            ours, theirs = (
                structural_entropy(
                    build_coding_tree(
                        graph.edge_index, graph.num_nodes, height=height, method=method
                    ),
                    graph.edge_index,
                )
                for method in ("refined", "authors")
            )
            assert ours <= theirs + 1e-9


@pytest.mark.parametrize("method", ["refined", "paper", "authors"])
def test_big_shapes(method: str) -> None:
    """Hubs, long paths, cliques and lonely vertices; no recursion, no square."""
    many = 20_000
    path = torch.stack([torch.arange(many - 1), torch.arange(1, many)])
    star = torch.stack([torch.zeros(many - 1, dtype=torch.long), path[1]])
    clique = torch.triu_indices(150, 150, 1)
    for edge_index, n in ((path, many), (star, many), (clique, 150), (clique, many)):
        tree = build_coding_tree(edge_index, n, method=method)
        assert invariants(tree, n, 3) == []


def test_a_hundred_thousand_components() -> None:
    left = torch.arange(0, 200_000, 2)
    tree = build_coding_tree(torch.stack([left, left + 1]), height=2)
    assert torch.equal(tree.partition(1).view(-1, 2).diff().view(-1), left * 0)


def test_the_lock_is_released() -> None:
    """Another thread goes on while one graph is built."""
    generator = torch.Generator().manual_seed(0)
    edge_index = torch.randint(20_000, (2, 200_000), generator=generator)
    build_coding_tree(edge_index[:, :10], 20_000)
    builder = threading.Thread(target=build_coding_tree, args=(edge_index,))
    builder.start()
    turns = 0
    while builder.is_alive():
        turns += 1
        builder.join(0.001)
    assert turns > 20


def test_many_graphs_are_built_as_one_by_one() -> None:
    edges, ptr, sizes, single = [], [0], [], []
    generator = torch.Generator().manual_seed(1)
    for n in (1, 2, 9, 40):
        edge_index = torch.randint(n, (2, 2 * n), generator=generator)
        edges.append(edge_index.numpy())
        ptr.append(ptr[-1] + 2 * n)
        sizes.append(n)
        single.append(build_coding_tree(edge_index, n))
    parent, level, tree_ptr = build_arrays(
        np.concatenate(edges, axis=1),
        np.array(ptr),
        np.array(sizes),
        np.empty(0),
        height=3,
        method="refined",
    )
    for i, tree in enumerate(single):
        own = slice(tree_ptr[i], tree_ptr[i + 1])
        assert parent[own].tolist() == tree.parent.tolist()
        assert level[own].tolist() == tree.level.tolist()


@st.composite
def sparse_graphs(draw: st.DrawFn) -> tuple[int, Weights, int]:
    """A graph like a molecule, and a height it is small for."""
    height = draw(st.integers(3, 5))
    n = draw(st.integers(9, min(40, 4 ** (height - 1))))
    chance = random.Random(draw(st.integers(0, 2**32)))
    weights = {(chance.randrange(max(0, v - 4), v), v): 1.0 for v in range(1, n)}
    for _ in range(draw(st.integers(0, n // 2))):
        u, v = sorted(chance.sample(range(n), 2))
        weights[u, v] = 1.0
    return n, weights, height


@given(sparse_graphs())
def test_small_graphs_are_never_above_the_paper(
    given: tuple[int, Weights, int],
) -> None:
    n, weights, height = given
    assert bits(n, weights, height) <= bits(n, weights, height, "paper") + 1e-9
