"""Weights of any size, and any mixture of sizes, get a tree in time, and the right one.

All trees are built in another process: the kernels that these graphs once kept busy for
ever heed no signal.
"""

import math
from typing import get_args

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sega_anchor import build_coding_tree, structural_entropy
from sega_anchor.trees.build import TreeMethod, read_csr
from tests.helpers.examples import times
from tests.helpers.graphs import wide_graphs
from tests.helpers.slow_trees import (
    Weights,
    algorithm1,
    entropy,
    invariants,
    of_weights,
    optimum,
)

METHODS = get_args(TreeMethod)
EDGES = torch.tensor([[5, 0, 1, 0, 1, 4, 2], [8, 7, 3, 6, 4, 6, 6]])
WEIGHTS = [7e7, 1e9, 4e-10, 1.2e8, 1e-7, 2538267.217932289, 2e-6]


def similarities(n: int, seed: int) -> torch.Tensor:
    """Weights between random points, most of them next to nothing."""
    generator = torch.Generator().manual_seed(seed)
    points = torch.randn(n, 4, dtype=torch.double, generator=generator)
    row, col = torch.triu_indices(n, n, 1)
    return torch.exp(-(points[row] - points[col]).square().sum(1) / (2 * 0.1**2))


@pytest.mark.parametrize("method", METHODS)
def test_weights_of_many_sizes_get_a_tree(limited, method: str) -> None:
    weight = torch.tensor(WEIGHTS, dtype=torch.double)
    tree = limited(EDGES, 9, weight, 2, method)
    assert invariants(tree, 9, 2) == []
    edges = [(5, 8), (0, 7)]  # the two that weigh the most
    assert all(set(pair) in map(set, tree.nested()) for pair in edges)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("height", [2, 3, 5])
def test_similarity_graphs_get_a_tree(limited, method: str, height: int) -> None:
    for seed in range(20):
        edges, n = torch.triu_indices(12, 12, 1), 12
        tree = limited(edges, n, similarities(n, seed), height, method)
        assert invariants(tree, n, height) == []


@times(6)
@given(graph=wide_graphs(), height=st.sampled_from([2, 3, 4, 5, 8, 33, 64]))
@pytest.mark.parametrize("method", METHODS)
def test_any_weights_get_a_tree(limited, graph, height: int, method: str) -> None:
    n, weights = graph
    edge_index, weight = of_weights(weights)
    tree = limited(edge_index, n, weight, height, method)
    assert invariants(tree, n, height) == []
    bits = structural_entropy(tree, edge_index, weight)
    assert math.isfinite(bits)
    assert bits == pytest.approx(
        structural_entropy(tree, edge_index, weight, form="edges"), abs=1e-9
    )
    both = torch.cat([edge_index, edge_index.flip(0)], dim=1)
    again = limited(both, n, weight.repeat(2), height, method)
    assert torch.equal(tree.parent, again.parent)


def seen(weights: Weights) -> Weights:
    """The weights as parts of the largest, without those that no sum would notice."""
    largest = max(weights.values())
    parts = {pair: w / largest for pair, w in weights.items() if largest > 0}
    return {pair: w for pair, w in parts.items() if w > 1e-17}


@times(3)
@given(graph=wide_graphs(most=6), height=st.integers(2, 4))
def test_the_trees_are_those_of_the_slow_twins(limited, graph, height: int) -> None:
    n, weights = graph
    edge_index, weight = of_weights(weights)
    visible = seen(weights)
    if not visible:
        return
    for method, expected in (
        ("refined", optimum(n, visible, height)),
        ("paper", entropy(algorithm1(n, visible, height), visible)),
    ):
        tree = limited(edge_index, n, weight, height, method)
        found = structural_entropy(tree, edge_index, weight)
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("weights", [[0.1, 1e-7, 1 / 3, 7.0], [1e20, 3e20]])
def test_ordinary_weights_keep_all_their_bits(weights: list[float]) -> None:
    ends = torch.arange(len(weights) + 1).unfold(0, 2, 1).t()
    graph = read_csr(ends, None, torch.tensor(weights, dtype=torch.double))
    assert sorted(graph.weight.tolist()) == sorted(2 * weights)


def test_what_no_sum_would_notice_is_no_edge() -> None:
    path = torch.tensor([[0, 1, 2], [1, 2, 3]])
    weight = torch.tensor([1.0, 1e-20, 1.0], dtype=torch.double)
    apart = torch.tensor([[0, 2], [1, 3]])
    for method in METHODS:
        tree = build_coding_tree(path, 4, weight, method=method)
        expected = build_coding_tree(apart, 4, method=method)
        assert torch.equal(tree.parent, expected.parent)
        assert structural_entropy(tree, path, weight) == 1.0


@pytest.mark.parametrize("method", ["refined", "paper"])
@pytest.mark.parametrize("size", [1e-320, 5e-324, 1e-200, 1e200, 1e300])
def test_the_size_of_equal_weights_does_not_matter(method: str, size: float) -> None:
    edges = torch.triu_indices(12, 12, 1)[:, ::4]
    weight = torch.full((edges.size(1),), size, dtype=torch.double)
    tree = build_coding_tree(edges, 12, weight, method=method)
    expected = build_coding_tree(edges, 12, method=method)
    assert structural_entropy(tree, edges, weight) == pytest.approx(
        structural_entropy(expected, edges), rel=1e-9
    )


def test_a_star_of_tiny_weights_is_quick(limited) -> None:
    """Beside a large one: each look-up of a leaf once took longer than the last."""
    n = 300_000
    star = torch.stack([torch.zeros(n, dtype=torch.long), torch.arange(1, n + 1)])
    weight = torch.rand(
        n, dtype=torch.double, generator=torch.Generator().manual_seed(0)
    )
    weight *= 1e-6
    weight[0] = 1.0
    assert limited(star, n + 1, weight, 2).num_vertices == n + 1


@pytest.mark.parametrize("size", [1e308, 1.7e308])
def test_weights_whose_sum_overflows_are_refused(size: float) -> None:
    weight = torch.full((7,), size, dtype=torch.double)
    for method in METHODS:
        with pytest.raises(ValueError, match=r"twice its sum is .*scale the weights"):
            build_coding_tree(EDGES, 9, weight, method=method)
