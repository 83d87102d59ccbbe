"""Trees are sliced by level alike with the compiled kernel and with torch alone."""

from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.data import Batch, Data

from sega_anchor import AddCodingTree, AddRandomTree, AnchorView
from sega_anchor.trees.levels import (
    TreeLevels,
    _slice_anywhere,
    _slice_on_cpu,
    tree_levels,
)
from tests.helpers.graphs import random_graphs

Slicing = Callable[[Tensor, Tensor, int], TreeLevels]
both = pytest.mark.parametrize("slicing", [_slice_on_cpu, _slice_anywhere])


@st.composite
def forests(draw: st.DrawFn) -> tuple[Batch, int]:
    """A batch with coding trees, and their height."""
    sizes = draw(st.lists(st.integers(1, 20), min_size=1, max_size=6))
    height = draw(st.integers(2, 5))
    listed = random_graphs(sizes, seed=draw(st.integers(0, 99)))
    return Batch.from_data_list([AddCodingTree(height)(g) for g in listed]), height


def stored(data: Data) -> tuple[Tensor, Tensor]:
    return data.coding_tree["level"], data.coding_tree["parent"]


def slow(data: Data, height: int) -> TreeLevels:
    """Slice by following every node's parents, one by one."""
    level, offset = (part.tolist() for part in stored(data))
    at: list[list[int]] = [[] for _ in range(height + 1)]
    for i, where in enumerate(level):
        at[where].append(i)

    def root(i: int) -> int:
        return i if level[i] == height else root(i + offset[i])

    parents = [[up.index(i + offset[i]) for i in own] for own, up in pairwise(at)]
    trees = [[at[-1].index(root(i)) for i in own] for own in at]
    found = [list(map(torch.tensor, of)) for of in (parents, trees)]
    order = torch.tensor([i for own in at for i in own])
    return TreeLevels(*found, len(at[-1]), order)


def same(one: TreeLevels, two: TreeLevels) -> bool:
    pairs = [*zip(one.parents, two.parents, strict=True)]
    pairs += [*zip(one.graphs, two.graphs, strict=True), (one.order, two.order)]
    return one.num_graphs == two.num_graphs and all(torch.equal(*p) for p in pairs)


@given(forests())
def test_compiled_slices_are_those_of_torch(given: tuple[Batch, int]) -> None:
    data, height = given
    expected = slow(data, height)
    for slicing in (_slice_on_cpu, _slice_anywhere):
        levels = slicing(*stored(data), height)
        assert same(levels, expected)
        assert levels.height == height
        assert all(of.dtype == torch.long for of in levels.parents + levels.graphs)
    assert torch.equal(expected.graphs[0], data.batch)


@given(forests(), st.sampled_from([torch.int32, torch.int16]))
def test_narrow_and_strided_trees_are_sliced_too(
    given: tuple[Batch, int], kind: torch.dtype
) -> None:
    data, height = given
    expected = tree_levels(data, height)
    table = torch.stack(stored(data), 1)
    for numbers in (table, table.to(kind)):
        level, parent = numbers.unbind(1)
        data.coding_tree |= {"level": level, "parent": parent}
        assert same(tree_levels(data, height), expected)
    assert same(_slice_anywhere(*table.unbind(1), height), expected)


def pair() -> tuple[Tensor, Tensor]:
    """Levels and parents of two trees: 3 + 2 + 1 nodes, and 2 + 1 + 1."""
    level = torch.tensor([0, 0, 0, 1, 1, 2, 0, 0, 1, 2])
    up = torch.tensor([3, 3, 4, 5, 5, 5, 8, 8, 9, 9])
    return level, up - torch.arange(10)


def test_the_pair_is_whole() -> None:
    level, offset = pair()
    levels = _slice_on_cpu(level, offset, 2)
    assert same(levels, _slice_anywhere(level, offset, 2))
    assert [of.tolist() for of in levels.parents] == [[0, 0, 1, 2, 2], [0, 0, 1]]
    assert levels.num_graphs == 2


@both
@pytest.mark.parametrize("height", [1, 3])
def test_another_height_is_refused(slicing: Slicing, height: int) -> None:
    with pytest.raises(ValueError, match=f"height 2, but height {height} was asked"):
        slicing(*pair(), height)


@both
@pytest.mark.parametrize(("node", "level"), [(0, 3), (9, 3), (1, -1), (5, 99)])
def test_a_level_out_of_range_is_refused(
    slicing: Slicing, node: int, level: int
) -> None:
    levels, offset = pair()
    levels[node] = level
    with pytest.raises(ValueError, match=r"build them with AddCodingTree\(height=2\)"):
        slicing(levels, offset, 2)


@both
@pytest.mark.parametrize(
    ("node", "parent"),
    [
        (8, 10),
        (0, 99),
        (0, -1),
        (3, -7),
        (0, 2**62),
        (0, 5),
        (0, 1),
        (0, 0),
        (3, 4),
        (8, 7),
        (0, 8),
        (7, 3),
        (3, 9),
        (8, 5),
    ],
    ids=lambda value: str(value),
)
def test_a_parent_that_is_none_is_refused(
    slicing: Slicing, node: int, parent: int
) -> None:
    level, offset = pair()
    offset[node] = parent - node
    with pytest.raises(ValueError, match="parents of coding_tree do not describe"):
        slicing(level, offset, 2)


@both
@pytest.mark.parametrize("last", [6, 9])
def test_a_last_node_that_is_no_root_is_refused(slicing: Slicing, last: int) -> None:
    level, offset = (part[:last].contiguous() for part in pair())
    with pytest.raises(ValueError, match="do not describe trees"):
        slicing(level if last == 9 else level.roll(1), offset, 2)


@given(forests(), st.data())
def test_both_refuse_the_same_trees(
    given: tuple[Batch, int], data: st.DataObject
) -> None:
    batch, height = given
    level, offset = (part.clone() for part in stored(batch))
    n = len(level)
    for _ in range(data.draw(st.integers(1, 2))):
        node = data.draw(st.integers(0, n - 1))
        if data.draw(st.booleans()):
            level[node] = data.draw(st.integers(-1, height + 1))
        else:
            offset[node] = data.draw(st.integers(-1, n + 1)) - node
    outcomes = []
    for slicing in (_slice_on_cpu, _slice_anywhere):
        try:
            outcomes.append(slicing(level, offset, height))
        except ValueError as error:
            outcomes.append(str(error))
    one, two = outcomes
    if isinstance(one, str) or isinstance(two, str):
        assert one == two
    else:
        assert same(one, two)


@pytest.mark.parametrize("has_ptr", [True, False])
def test_graphs_whose_nodes_are_mixed_are_refused(has_ptr: bool) -> None:
    data = Batch.from_data_list([AddCodingTree(2)(g) for g in random_graphs([3, 3])])
    data.batch = torch.tensor([0, 1, 0, 1, 0, 1])
    if not has_ptr:
        del data["ptr"]
    message = r"node 1 is of graph 1 and node 2 of graph 0: sort the nodes by graph"
    with pytest.raises(ValueError, match=message):
        tree_levels(data, 2)
    with pytest.raises(ValueError, match=message):
        AnchorView(1, height=2)(data)
    del data["coding_tree"]
    for transform in (AddCodingTree(2), AddRandomTree(2)):
        with pytest.raises(ValueError, match=message):
            transform(data)
