import tracemalloc

import pytest
import torch

from sega_anchor import CodingTree, build_coding_tree, structural_entropy
from tests.helpers.slow_trees import entropy

EDGES = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)]


@pytest.mark.parametrize("form", ["definition", "edges"])
def test_equals_the_definition_in_plain_python(form: str) -> None:
    weights = {edge: 1.0 + 0.3 * i for i, edge in enumerate(EDGES)}
    edge_index = torch.tensor(EDGES).t()
    weight = torch.tensor(list(weights.values()))
    for height in (2, 3, 4):
        for method in ("authors", "paper"):
            tree = build_coding_tree(
                edge_index, None, weight, height=height, method=method
            )
            slow = entropy(tree.nested(), weights)
            fast = structural_entropy(tree, edge_index, weight, form=form)
            assert fast == pytest.approx(slow, abs=1e-6)


def test_combine_and_drop_change_the_entropy_by_the_stated_amounts() -> None:
    weights = {edge: 1.0 for edge in EDGES}
    flat = [0, 1, 2, 3, 4, 5]
    combined = [[0, 1], 2, 3, 4, 5]
    total, between, union = 14.0, 1.0, 4.0
    gain = 2 * between / total * torch.tensor(total / union).log2().item()
    assert entropy(flat, weights) - entropy(combined, weights) == pytest.approx(gain)


def test_a_tree_for_another_graph_is_refused() -> None:
    tree = build_coding_tree(torch.tensor([[0], [1]]))
    with pytest.raises(ValueError, match="names vertex 5, but the tree has 2"):
        structural_entropy(tree, torch.tensor(EDGES).t())


def test_an_unknown_form_is_refused() -> None:
    tree = build_coding_tree(torch.tensor([[0], [1]]))
    with pytest.raises(ValueError, match="got 'fast'"):
        structural_entropy(tree, torch.tensor([[0], [1]]), form="fast")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parent", "level"),
    [
        ([2, 2, 3], [0, 0, 1]),  # no root
        ([2, 2, -1], [0, 1, 1]),  # a vertex above level 0
        ([1, 2, -1], [0, 0, 1]),  # a vertex with a child
        ([0, 2, -1], [0, 0, 1]),  # its own parent
        ([-1], [0]),
        ([2, 2, -1], [0, 0]),
    ],
)
def test_arrays_that_are_no_tree_are_refused(parent: list, level: list) -> None:
    with pytest.raises(ValueError, match=r"parent|level"):
        CodingTree(torch.tensor(parent), torch.tensor(level))


def test_networkx_form_has_the_same_edges() -> None:
    tree = build_coding_tree(torch.tensor(EDGES).t(), height=3)
    graph = tree.to_networkx()
    assert sorted(graph.edges) == sorted(
        (above, node) for node, above in enumerate(tree.parent[:-1].tolist())
    )
    assert graph.nodes[0]["level"] == 0


@pytest.mark.parametrize("form", ["definition", "edges"])
def test_a_tall_tree_takes_no_more_memory(form: str) -> None:
    n = 200
    path = torch.stack([torch.arange(n - 1), torch.arange(1, n)])
    bits, peaks = [], []
    for height in (32, 1000):
        tree = build_coding_tree(path, height=height)
        tracemalloc.start()
        bits.append(structural_entropy(tree, path, form=form))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert bits[1] == pytest.approx(bits[0])
    assert peaks[1] < peaks[0] + 8 * 8 * n * 1000  # of which 1000 levels have n each
