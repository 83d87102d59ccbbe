import math
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

from sega_anchor import (
    CodingTree,
    build_coding_tree,
    build_coding_trees,
    structural_entropy,
)
from sega_anchor.datasets import load
from sega_anchor.trees.build import TreeMethod
from tests.helpers.examples import times
from tests.helpers.graphs import weighted_graphs
from tests.helpers.paths import real_data
from tests.helpers.reference import GRAPHS, reference, tensors
from tests.helpers.released_tree import coding_tree
from tests.helpers.slow_trees import Weights, algorithm1, dense, entropy, of_weights

METHODS = get_args(TreeMethod)


def check_tree(tree: CodingTree, n: int, height: int) -> None:
    assert tree.num_vertices == n
    assert tree.height == height
    assert int((tree.level == height).sum()) == 1
    below = torch.bincount(tree.parent[:-1], minlength=tree.parent.numel())
    assert (below[n:] > 0).all()
    assert (below[:n] == 0).all()


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("height", [2, 3, 4, 5])
def test_authors_build_the_reference_trees(name: str, height: int) -> None:
    graph = reference("coding_trees")["graphs"][name]
    edge_index, weight = tensors(graph["edges"])
    tree = build_coding_tree(
        edge_index, graph["n"], weight, height=height, method="authors"
    )
    expected = graph["k"][str(height)]
    got = structural_entropy(tree, edge_index, weight)
    assert got == pytest.approx(expected["H_paper"], abs=1e-6)
    assert torch.bincount(tree.level).tolist() == expected["layer_sizes"]
    assert tree.nested() == expected["nested"]


@pytest.mark.parametrize("height", [2, 3, 4])
def test_paper_matches_independent_algorithm1(height: int) -> None:
    found = 0
    for graph in reference("coding_trees")["graphs"].values():
        if "literal_algorithm1" not in graph:
            continue
        edge_index, weight = tensors(graph["edges"])
        tree = build_coding_tree(
            edge_index, graph["n"], weight, height=height, method="paper"
        )
        expected = graph["literal_algorithm1"][str(height)]["H_paper"]
        got = structural_entropy(tree, edge_index, weight)
        assert got == pytest.approx(expected, abs=1e-6)
        found += 1
    assert found == 12


@pytest.mark.slow
def test_authors_on_all_of_mutag(tmp_path) -> None:
    expected = reference("mutag_trees")["k"]
    dataset = load("MUTAG", root=tmp_path, archives=real_data("tu"))
    for height in (2, 3, 4, 5):
        trees = [
            build_coding_tree(
                data.edge_index, data.num_nodes, height=height, method="authors"
            )
            for data in dataset
        ]
        sizes = sum(torch.bincount(tree.level) for tree in trees)
        bits = [
            structural_entropy(tree, data.edge_index)
            for tree, data in zip(trees, dataset, strict=True)
        ]
        assert sizes.tolist() == expected[str(height)]["total_nodes_per_layer"]
        assert sum(bits) / len(bits) == pytest.approx(
            expected[str(height)]["mean_H_paper"], abs=1e-6
        )


@given(weighted_graphs(least=2, most=7), st.integers(2, 4))
def test_paper_equals_its_slow_twin(graph: tuple[int, Weights], height: int) -> None:
    n, weights = graph
    edge_index, weight = of_weights(weights)
    tree = build_coding_tree(edge_index, n, weight, height=height, method="paper")
    if weights:
        slow = entropy(algorithm1(n, weights, height), weights)
        assert structural_entropy(tree, edge_index, weight) == pytest.approx(slow)


@given(weighted_graphs(least=2, most=9), st.integers(2, 5))
def test_authors_equal_their_slow_twin(graph: tuple[int, Weights], height: int) -> None:
    n, weights = graph
    edge_index, weight = of_weights(weights)
    tree = build_coding_tree(edge_index, n, weight, height=height, method="authors")
    assert tree.nested() == coding_tree(dense(n, weights), height)


@times(15)
@given(weighted_graphs(most=14), st.integers(2, 5), st.sampled_from(METHODS))
def test_every_graph_gets_a_tree(
    graph: tuple[int, Weights], height: int, method: str
) -> None:
    n, weights = graph
    edge_index, weight = of_weights(weights)
    tree = build_coding_tree(edge_index, n, weight, height=height, method=method)
    check_tree(tree, n, height)
    bits = structural_entropy(tree, edge_index, weight)
    assert bits == pytest.approx(
        structural_entropy(tree, edge_index, weight, form="edges"), abs=1e-12
    )
    flat = -sum(
        d * math.log2(d / (2 * sum(weights.values())))
        for v in range(n)
        if (d := sum(w for pair, w in weights.items() if v in pair)) > 0
    ) / (2 * sum(weights.values()) or 1)
    assert -1e-12 <= bits <= flat + 1e-12
    again = build_coding_tree(edge_index, n, weight, height=height, method=method)
    assert torch.equal(tree.parent, again.parent)


@times(10)
@given(weighted_graphs(most=14), st.sampled_from(METHODS), st.randoms())
def test_how_edges_are_written_does_not_matter(graph, method: str, random) -> None:
    n, weights = graph
    edge_index, weight = of_weights(weights)
    tree = build_coding_tree(edge_index, n, weight, method=method)
    order = list(range(2 * len(weights)))
    random.shuffle(order)
    both = torch.cat([edge_index, edge_index.flip(0)], dim=1)[:, order]
    loops = torch.arange(n).expand(2, n)
    other = build_coding_tree(
        torch.cat([both, loops], dim=1),
        n,
        torch.cat([torch.cat([weight, weight])[order], torch.ones(n).double()]),
        method=method,
    )
    assert torch.equal(tree.parent, other.parent)


@pytest.mark.parametrize("method", METHODS)
def test_unweighted_duplicates_count_once(method: str) -> None:
    edge_index = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    tree = build_coding_tree(edge_index, method=method)
    twice = build_coding_tree(edge_index.repeat(1, 3), method=method)
    assert torch.equal(tree.parent, twice.parent)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_graphs_without_edges_are_chains(method: str, n: int) -> None:
    empty = torch.empty(2, 0, dtype=torch.long)
    tree = build_coding_tree(empty, n, height=4, method=method)
    assert torch.bincount(tree.level).tolist() == [n, n, n, n, 1]
    assert structural_entropy(tree, empty) == 0.0


@pytest.mark.parametrize("method", METHODS)
def test_relabelling_keeps_the_entropy_when_nothing_ties(method: str) -> None:
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        full = torch.triu_indices(20, 20, 1)
        keep = torch.rand(full.size(1), generator=generator) < 0.2
        edge_index = full[:, keep]
        weight = torch.rand(edge_index.size(1), generator=generator).double() + 0.1
        order = torch.randperm(20, generator=generator)
        bits = [
            structural_entropy(
                build_coding_tree(edges, 20, weight, method=method), edges, weight
            )
            for edges in (edge_index, order[edge_index])
        ]
        assert bits[0] == pytest.approx(bits[1], abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_deep_path_and_a_big_star(method: str) -> None:
    n = 3000
    path = torch.stack([torch.arange(n - 1), torch.arange(1, n)])
    star = torch.stack([torch.zeros(n - 1, dtype=torch.long), torch.arange(1, n)])
    for edge_index in (path, star):
        check_tree(build_coding_tree(edge_index, method=method), n, 3)


CYCLE = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])
HALVES = torch.tensor([4.0, 1.0, 4.0, 0.0, 2.0, 1.0])


@pytest.mark.parametrize(
    "weight",
    [
        HALVES.half(),
        HALVES.bfloat16(),
        HALVES.clone().requires_grad_(),
        HALVES.int(),
        HALVES.to(torch.uint8),
        HALVES.numpy(),
        HALVES.int().numpy(),
    ],
    ids=["half", "bfloat16", "grad", "int", "uint8", "numpy", "numpy int"],
)
def test_weights_may_be_of_any_numeric_type(weight: Any) -> None:
    expected = build_coding_tree(CYCLE, 6, HALVES.double(), height=2)
    tree = build_coding_tree(CYCLE, 6, weight, height=2)
    assert torch.equal(tree.parent, expected.parent)
    assert structural_entropy(tree, CYCLE, weight) == structural_entropy(
        expected, CYCLE, HALVES.double()
    )
    data = Data(edge_index=CYCLE, num_nodes=6, w=weight)
    (tree,) = build_coding_trees([data], 2, weight="w")
    assert torch.equal(tree.parent, expected.parent)


@pytest.mark.parametrize("kept", [HALVES.bool(), HALVES.bool().numpy()])
def test_boolean_weights_say_which_edges_there_are(kept: Any) -> None:
    there = torch.as_tensor(kept)
    tree = build_coding_tree(CYCLE, 6, kept, height=2)
    expected = build_coding_tree(CYCLE[:, there], 6, height=2)
    assert torch.equal(tree.parent, expected.parent)


EDGE = torch.tensor([[0, 1], [1, 2]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"method": "best"},
            "method must be one of 'refined', 'authors', 'paper', got 'best'",
        ),
        ({"height": 1}, "height must be an integer of at least 2, got 1"),
        ({"height": 2.5}, "got 2.5"),
        ({"num_nodes": 2}, "num_nodes is 2, but edge_index names vertex 2"),
        ({"edge_index": EDGE - 1}, "must not be negative, got -1"),
        ({"edge_index": EDGE.float()}, "must hold integers, got dtype torch.float32"),
        ({"edge_index": EDGE[0]}, "shape"),
        ({"edge_index": torch.empty(2, 0)}, "at least one vertex"),
        ({"edge_weight": torch.tensor([1.0, -1.0])}, "edge 1 has -1.0"),
        ({"edge_weight": torch.tensor([float("nan"), 1.0])}, "edge 0 has nan"),
        ({"edge_weight": torch.tensor([1.0, float("inf")])}, "edge 1 has inf"),
        ({"edge_weight": torch.ones(3)}, "one number per edge"),
        ({"edge_weight": np.ones(3)}, "one number per edge"),
        (
            {"edge_weight": torch.ones(2) * 1j},
            "real numbers, got dtype torch.complex64",
        ),
        ({"edge_weight": np.ones(2) * 1j}, "real numbers, got dtype complex128"),
        ({"edge_weight": np.array(["1", "2"])}, "real numbers, got dtype <U1"),
        ({"edge_weight": [1.0, 2.0]}, r"got list: pass torch.tensor\(weights\)"),
    ],
)
def test_bad_input_is_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build_coding_tree(**{"edge_index": EDGE, **arguments})


@pytest.mark.parametrize("method", ["refined", "authors", "paper"])
def test_repeated_edges_add_up_alike_in_any_order(method: str) -> None:
    random = torch.Generator().manual_seed(0)
    for _ in range(50):
        once = torch.randint(9, (2, 18), generator=random)
        edges = once.repeat(1, 4)
        weight = torch.randint(1, 4, (72,), generator=random).double() / 10
        tree = build_coding_tree(edges, 9, weight, method=method)
        bits = structural_entropy(tree, edges, weight)
        for _ in range(8):
            order = torch.randperm(72, generator=random)
            again = build_coding_tree(edges[:, order], 9, weight[order], method=method)
            assert torch.equal(again.parent, tree.parent)
            assert structural_entropy(tree, edges[:, order], weight[order]) == bits
