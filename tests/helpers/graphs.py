"""Random graphs, and whether two are the same."""

import math
import random

import torch
from hypothesis import strategies as st
from torch_geometric.data import Data

from sega_anchor import AddCodingTree

from .slow_trees import Weights


def random_graphs(sizes: list[int], seed: int = 0) -> list[Data]:
    """Graphs of these sizes with twice as many edges; x numbers the nodes."""
    generator = torch.Generator().manual_seed(seed)
    out = []
    for n in sizes:
        edge_index = torch.randint(n, (2, 2 * n), generator=generator)
        out.append(Data(x=torch.arange(n).float().view(n, 1), edge_index=edge_index))
    return out


@st.composite
def weighted_graphs(
    draw: st.DrawFn, least: int = 1, most: int = 12
) -> tuple[int, Weights]:
    """A graph with real weights, so that no two choices of a builder tie."""
    n = draw(st.integers(least, most))
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    seed = draw(st.integers(0, 2**32))
    random = torch.Generator().manual_seed(seed)
    values = torch.rand(len(chosen), generator=random, dtype=torch.double) + 0.1
    return n, dict(zip(chosen, values.tolist(), strict=True))


@st.composite
def wide_graphs(draw: st.DrawFn, least: int = 2, most: int = 12) -> tuple[int, Weights]:
    """A graph whose weights span hundreds of orders of magnitude, zeros among them.

    Or are all alike, however small or large; or are similarities of random points.
    """
    n = draw(st.integers(least, most))
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    kind = draw(st.sampled_from(["mixed", "alike", "similar"]))
    if kind == "similar":
        place = random.Random(draw(st.integers(0, 2**32)))
        points = [complex(place.random(), place.random()) for _ in range(n)]
        near = 2 * draw(st.sampled_from([0.02, 0.05, 0.1, 0.3])) ** 2
        return n, {
            (u, v): math.exp(-(abs(points[u] - points[v]) ** 2) / near)
            for u, v in pairs
        }
    powers = st.floats(-320, 300).map(lambda power: 10.0**power)
    values = st.just(draw(powers)) if kind == "alike" else st.just(0.0) | powers
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, min_size=1))
    return n, {pair: draw(values) for pair in chosen}


@st.composite
def treed_graphs(draw: st.DrawFn) -> list[Data]:
    """Some graphs with trees, edgeless and of one node among them."""
    tree = AddCodingTree(height=2)
    found = []
    for _ in range(draw(st.integers(1, 5))):
        n, m = draw(st.integers(1, 6)), draw(st.integers(0, 8))
        generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
        data = Data(
            x=torch.rand(n, 3, generator=generator),
            edge_index=torch.randint(n, (2, m), generator=generator),
            edge_attr=torch.randint(5, (m, 2), generator=generator),
            y=torch.rand(1, 2, generator=generator),
            center=torch.randint(n, (1,), generator=generator),
        )
        found.append(tree(data))
    return found


def assert_same(one: Data, two: Data) -> None:
    """The same attributes to the bit, NaN equal to NaN."""
    assert sorted(one.keys()) == sorted(two.keys())
    for key in one.keys():
        torch.testing.assert_close(one[key], two[key], rtol=0, atol=0, equal_nan=True)
    assert one.num_nodes == two.num_nodes
