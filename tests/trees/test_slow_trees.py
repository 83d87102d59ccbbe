"""The slow twins themselves: against each other and the reference values."""

import importlib.util
import math
import random
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from sega_anchor import CodingTree, build_coding_tree, structural_entropy
from sega_anchor.datasets import load
from sega_anchor.trees.build import build_arrays
from tests.helpers.paths import EXAMPLES, real_data
from tests.helpers.reference import GRAPHS, reference, tensors
from tests.helpers.released_tree import coding_tree
from tests.helpers.slow_trees import (
    Tree,
    Weights,
    algorithm1,
    best_of_restarts,
    dense,
    entropy,
    flat_entropy,
    invariants,
    of_weights,
    optimum,
    two_level_entropy,
    weights_of,
)

BENCHMARKS = EXAMPLES / "benchmarks" / "trees"


def benchmark(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random_weights(n: int, density: float, draw: random.Random) -> Weights:
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    return {pair: draw.random() + 0.1 for pair in pairs if draw.random() < density}


def all_trees(items: list[Tree], height: int) -> list[Tree]:
    """Every tree of exactly these children or with groups of them, by recursion."""
    trees: list[Tree] = [items]
    if height > 1:
        for blocks in partitions(items):
            if 1 < len(blocks) < len(items):
                inner = [
                    [block[0]] if len(block) == 1 else all_trees(block, height - 1)
                    for block in blocks
                ]
                trees += product(inner)
    return trees


def product(choices: list[list[Tree]]) -> list[Tree]:
    chosen: list[Tree] = [[]]
    for options in choices:
        chosen = [[*begun, option] for begun in chosen for option in options]
    return chosen


def partitions(items: list[Tree]) -> list[list[list[Tree]]]:
    if not items:
        return [[]]
    first, rest = items[0], items[1:]
    found = []
    for blocks in partitions(rest):
        found.append([[first], *blocks])
        for i, block in enumerate(blocks):
            found.append([*blocks[:i], [first, *block], *blocks[i + 1 :]])
    return found


@pytest.mark.parametrize("height", [1, 2, 3, 4])
def test_the_optimum_is_the_least_of_all_trees(height: int) -> None:
    draw = random.Random(height)
    for n in (2, 3, 4, 5):
        weights = random_weights(n, 0.8, draw) or {(0, 1): 1.0}
        least = min(
            entropy(tree, weights) for tree in all_trees(list(range(n)), height)
        )
        assert optimum(n, weights, height) == pytest.approx(least, abs=1e-9)


def test_the_optimum_of_one_level_is_the_flat_tree() -> None:
    weights = random_weights(6, 0.6, random.Random(1))
    flat = flat_entropy(6, weights)
    assert optimum(6, weights, 1) == pytest.approx(flat, abs=1e-12)
    assert entropy(list(range(6)), weights) == pytest.approx(flat, abs=1e-12)
    assert optimum(3, {}, 2) == 0.0


def test_the_optimum_equals_an_independent_search_over_partitions() -> None:
    found = 0
    for graph in reference("coding_trees")["graphs"].values():
        expected = graph.get("brute_force_optimum_height2")
        if expected is None or graph["n"] > 8:
            continue
        weights = weights_of(*tensors(graph["edges"]))
        got = optimum(graph["n"], weights, 2)
        assert got == pytest.approx(expected["H_paper"], abs=1e-6)
        found += 1
    assert found > 4


@pytest.mark.parametrize("height", [2, 3])
def test_no_builder_is_below_the_optimum_and_more_levels_never_cost(
    height: int,
) -> None:
    draw = random.Random(height)
    for _ in range(10):
        weights = random_weights(7, 0.5, draw) or {(0, 1): 1.0}
        least = optimum(7, weights, height)
        assert least <= entropy(algorithm1(7, weights, height), weights) + 1e-12
        assert optimum(7, weights, height + 1) <= least + 1e-12


def test_restarts_find_the_optimum_of_small_graphs() -> None:
    draw = random.Random(0)
    for _ in range(8):
        weights = random_weights(6, 0.6, draw) or {(0, 1): 1.0}
        edge_index, weight = of_weights(weights)
        got = best_of_restarts(edge_index, 6, weight)
        assert got == pytest.approx(optimum(6, weights, 2), abs=1e-9)


def test_two_level_entropy_is_the_entropy_of_the_tree() -> None:
    weights = random_weights(7, 0.6, random.Random(3))
    tree = [[0, 3], [1], [2, 4, 5], [6]]
    label = [next(i for i, group in enumerate(tree) if v in group) for v in range(7)]
    expected = pytest.approx(entropy(tree, weights), abs=1e-12)
    assert two_level_entropy(7, weights, label) == expected


def test_compiled_restarts_are_as_good_as_their_slow_twin() -> None:
    fast = benchmark("restarts").best_of_restarts
    draw = random.Random(5)
    for n in (1, 2, 6, 8, 10):
        weights = random_weights(n, 0.5, draw)
        edge_index, weight = of_weights(weights)
        slow = best_of_restarts(edge_index, n, weight)
        assert fast(edge_index, n, weight) == pytest.approx(slow, abs=1e-9)
    ring = torch.tensor([[*range(8), 0], [*range(1, 8), 0, 7]])
    assert fast(ring, 8) == pytest.approx(best_of_restarts(ring, 8), abs=1e-9)


@pytest.mark.parametrize("height", [2, 3, 4, 5])
@pytest.mark.parametrize("name", GRAPHS)
def test_the_plain_authors_build_the_reference_trees(name: str, height: int) -> None:
    graph = reference("coding_trees")["graphs"][name]
    weights = weights_of(*tensors(graph["edges"]))
    expected = graph["k"][str(height)]["nested"]
    assert coding_tree(dense(graph["n"], weights), height) == expected


@pytest.mark.parametrize("height", [2, 3, 4, 5])
def test_the_plain_authors_build_the_compiled_ones_trees(height: int) -> None:
    draw = random.Random(height)
    for n in range(1, 30):
        weights = random_weights(n, draw.choice([0.0, 0.1, 0.3, 0.8]), draw)
        edge_index, weight = of_weights(weights)
        tree = build_coding_tree(edge_index, n, weight, height=height, method="authors")
        plain = coding_tree(dense(n, weights), height)
        assert plain == tree.nested()
        if weights:
            bits = structural_entropy(tree, edge_index, weight)
            assert bits == pytest.approx(entropy(plain, weights), abs=1e-9)


@pytest.mark.slow
def test_the_plain_authors_on_mutag(tmp_path: Path) -> None:
    for data in load("MUTAG", root=tmp_path, archives=real_data("tu")):
        matrix = np.zeros((data.num_nodes, data.num_nodes), int)
        matrix[tuple(data.edge_index.numpy())] = 1
        for height in (2, 4):
            tree = build_coding_tree(
                data.edge_index, data.num_nodes, height=height, method="authors"
            )
            assert coding_tree(matrix.tolist(), height) == tree.nested()


def test_invariants_name_what_is_wrong() -> None:
    path = torch.tensor([[0, 1, 2], [1, 2, 3]])
    tree = build_coding_tree(path, height=3, method="paper")
    assert invariants(tree, 4, 3) == []
    assert "level 2" in " ".join(invariants(tree, 4, 2))
    assert "vertices 0 .. 4" in " ".join(invariants(tree, 5, 3))
    childless = CodingTree.trusted(
        torch.tensor([3, 3, 4, 4, -1]), torch.tensor([0, 0, 1, 1, 2])
    )
    assert invariants(childless, 2, 2) == [
        "without children are [0, 1, 2], not the vertices"
    ]


def test_weights_of_reads_edges_as_the_builder_does() -> None:
    edges = torch.tensor([[0, 1, 1, 2, 0, 2], [1, 0, 0, 2, 2, 1]])
    weight = torch.tensor([3.0, 1.0, 1.5, 9.0, 0.0, 2.0])
    assert weights_of(edges, weight) == {(0, 1): 3.0, (1, 2): 2.0}
    assert weights_of(edges) == {(0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0}
    tree = build_coding_tree(edges, 3, weight, height=2, method="paper")
    expected = entropy(tree.nested(), weights_of(edges, weight))
    assert math.isclose(structural_entropy(tree, edges, weight), expected)


def test_checks_of_many_trees_agree_with_the_slow_ones() -> None:
    checks, shapes = benchmark("checks"), benchmark("random_graphs")
    every = [shapes.make(7, number) for number in range(120)]
    for weighted in (False, True):
        graphs = [graph for graph in every if bool(graph.weight) == weighted]
        arrays = shapes.join(graphs)
        trees = checks.Trees(*build_arrays(*arrays, height=3, method="paper"))
        joined = checks.Joined(*arrays)
        for bad in checks.defects(trees, arrays.sizes, 3).values():
            assert not bad.any()
        bits, flat = joined.entropy(trees, 3), joined.flat_entropy()
        for i, graph in enumerate(graphs):
            weight = graph.weight or [1.0] * len(graph.edges)
            weights = dict(zip(graph.edges, weight, strict=True))
            tree = CodingTree(*(torch.from_numpy(a) for a in part(trees, i)))
            assert invariants(tree, graph.n, 3) == []
            if weights:
                slow = entropy(tree.nested(), weights)
                assert bits[i] == pytest.approx(slow, rel=1e-9, abs=1e-9)
                assert flat[i] == pytest.approx(flat_entropy(graph.n, weights))


def part(trees, i: int) -> tuple[np.ndarray, np.ndarray]:
    begin, end = trees.tree_ptr[i : i + 2]
    return trees.parent[begin:end], trees.level[begin:end]


@pytest.mark.parametrize(
    ("array", "at", "value", "defect"),
    [
        ("parent", -1, 0, "not a tree"),
        ("parent", 0, 99, "not a tree"),
        ("parent", 0, 5, "wrong leaves"),
        ("parent", 0, 6, "no step of one level"),
        ("level", 0, 1, "wrong level"),
        ("level", -1, 3, "wrong root"),
        ("level", 3, 2, "unsorted"),
    ],
)
def test_checks_see_a_broken_tree(array: str, at: int, value: int, defect: str) -> None:
    checks = benchmark("checks")
    parent = np.array([4, 5, 5, 5, 6, 6, -1])
    level = np.array([0, 0, 0, 0, 1, 1, 2])
    sound, sizes = [parent, level], np.array([4, 4])
    broken = [parent.copy(), level.copy()]
    broken[("parent", "level").index(array)][at] = value
    pairs = zip(sound, broken, strict=True)
    trees = checks.Trees(*map(np.concatenate, pairs), np.array([0, 7, 14]))
    found = checks.defects(trees, sizes, 2)
    assert found[defect].tolist() == [False, True]
    assert not any(bad[0] for bad in found.values())
