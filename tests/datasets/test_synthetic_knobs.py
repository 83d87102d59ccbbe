"""The family of SyntheticCommunities: what its three knobs change, and what not."""

import re
import time
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.utils import degree

from sega_anchor.datasets import SyntheticCommunities, load
from sega_anchor.datasets.synthetic import _graph, _Knobs, _outer_edges
from tests.helpers.examples import times

KNOBS = [
    _Knobs(),
    _Knobs(depth=2),
    _Knobs(depth=3, strength=1.0),
    _Knobs(depth=4, strength=0.6, size=(2, 5)),
    _Knobs(strength=0.1),
    _Knobs(strength=1.0),
    _Knobs(size=12),
]


def degrees(data: Data) -> list[int]:
    found: list[int] = degree(data.edge_index[0], data.num_nodes).long().tolist()
    return found


def classes(seed: int, knobs: _Knobs) -> list[Data]:
    """One graph of each class, from the same state of the generator."""
    return [_graph(label, np.random.default_rng(seed), knobs) for label in range(3)]


@pytest.mark.parametrize("knobs", [{"depth": 4}, {"size": 12}], ids=str)
def test_it_is_fast(knobs: dict[str, Any]) -> None:
    start = time.perf_counter()
    SyntheticCommunities(num_graphs=300, **knobs)
    assert time.perf_counter() - start < 3.0


@times(0.3)
@given(
    st.integers(0, 2),
    st.integers(0, 2**32),
    st.builds(_Knobs, st.integers(1, 4), st.floats(0, 1), st.integers(2, 12)),
)
def test_every_graph_is_valid(label: int, seed: int, knobs: _Knobs) -> None:
    data = _graph(label, np.random.default_rng(seed), knobs)
    assert data.num_nodes == 4 * 2**knobs.depth * knobs.size
    assert data.x.sum(0).tolist() == [data.num_nodes / 2] * 2
    assert data.validate(raise_on_error=True)
    assert data.is_undirected() and data.is_coalesced() and not data.has_self_loops()
    assert data.y.tolist() == [label]


@pytest.mark.parametrize("knobs", KNOBS, ids=str)
def test_same_seed_same_bits_and_a_smaller_set_is_the_beginning(knobs: _Knobs) -> None:
    turned = vars(knobs)
    first = SyntheticCommunities(12, seed=3, **turned)
    again = SyntheticCommunities(60, seed=3, **turned)
    other = SyntheticCommunities(12, seed=4, **turned)
    for i in range(12):
        assert torch.equal(first[i].edge_index, again[i].edge_index)
        assert torch.equal(first[i].x, again[i].x)
        assert first[i].edge_index.tolist() != other[i].edge_index.tolist()


@pytest.mark.parametrize("knobs", KNOBS, ids=str)
def test_no_knob_lets_the_class_change_them(knobs: _Knobs) -> None:
    differ = 0
    for seed in range(20):
        first, *others = classes(seed, knobs)
        for data in others:
            assert torch.equal(data.x, first.x)
            assert degrees(data) == degrees(first)
            differ += data.edge_index.tolist() != first.edge_index.tolist()
    assert differ > 30


@pytest.mark.parametrize("depth", [1, 3])
def test_without_strength_the_class_is_but_a_number(depth: int) -> None:
    knobs = _Knobs(depth, strength=0)
    for seed in range(10):
        first, *others = classes(seed, knobs)
        for data in others:
            assert torch.equal(data.edge_index, first.edge_index)
            assert torch.equal(data.x, first.x)


def siblings(label: int, knobs: _Knobs) -> list[float]:
    """Share of the edges between blocks that join siblings, at each level."""
    blocks, size = 4 * 2**knobs.depth, 8
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        a, b = _outer_edges(label, blocks, size, knobs, rng) // size
        level = np.array([int(x).bit_length() for x in a ^ b])
        top = (a >> (knobs.depth - 1)) ^ (b >> (knobs.depth - 1))
        inner = [(level == i + 1).mean() for i in range(knobs.depth - 1)]
        found.append([*inner, (top == (2, 1, -1)[label]).mean()])
    return np.mean(found, axis=0).tolist()


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_strength_is_shared_by_the_levels(depth: int) -> None:
    for label in (0, 1):
        assert siblings(label, _Knobs(depth, 1.0)) == pytest.approx(
            [1 / depth] * depth, abs=0.03
        )
        # Of the others one in seven meets a sibling by chance, or somewhat less.
        for share in siblings(label, _Knobs(depth, 0.5)):
            assert 0.5 / depth - 0.01 < share < 0.5 / depth + 0.1
    *inner, top = siblings(2, _Knobs(depth, 0.5))
    assert top == 0 and all(share > 0.5 / depth - 0.01 for share in inner)


@pytest.mark.parametrize(
    ("name", "knobs"),
    [
        ("synthetic", {}),
        ("synthetic-depth-2", {"depth": 2}),
        ("synthetic-strength-0.5", {"strength": 0.5}),
        ("synthetic-strength-1", {"strength": 1.0}),
        ("synthetic-size-12", {"size": 12}),
    ],
)
def test_the_family_by_name(name: str, knobs: dict[str, Any]) -> None:
    found, made = load(name), SyntheticCommunities(**knobs)
    assert repr(found) == repr(made)
    for values in zip(found[:9], made[:9], strict=True):
        first, second = (data.to_dict() for data in values)
        assert all(torch.equal(first[key], second[key]) for key in second)


@pytest.mark.parametrize(
    "rest",
    "depth depth- depth-0 depth-5 depth-2.0 depth-1.5 depth-02 depth-two depth-+2 "
    "strength-.5 strength-0.50 strength-1.1 strength--0.1 strength-nan strength-inf "
    "size-1 size-17 size-4,6 size-1_2 colour-3 Depth-2 depth-2-size-8 2".split(),
)
def test_a_name_that_no_set_of_the_family_has(rest: str) -> None:
    known = r"'synthetic-depth-2' \(levels, 1 to 4\).*strength-0.5.*size-12.* 2 to 16"
    with pytest.raises(
        ValueError, match=rf"data set .synthetic-{re.escape(rest)}.; .*{known}"
    ):
        load(f"synthetic-{rest}")


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"depth": 0}, "depth must be .* from 1 to 4, got 0"),
        ({"depth": 1.5}, "depth must be .* got 1.5"),
        ({"strength": -0.1}, "strength must be .* from 0 to 1, got -0.1"),
        ({"strength": float("nan")}, "strength must be .* got nan"),
        ({"size": 1}, "size must be .* from 2 to 16, .* got 1"),
        ({"size": (6, 4)}, r"size must be .* got \(6, 4\)"),
        ({"size": (4, 5, 6)}, r"size must be .* got \(4, 5, 6\)"),
        ({"size": "4"}, "size must be .* got '4'"),
    ],
)
def test_a_knob_that_cannot_be_turned_so_far(
    knobs: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        SyntheticCommunities(3, **knobs)
