"""Small random graphs of all shapes, each made by its number alone."""

import random
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Pairs = list[tuple[int, int]]
WEIGHTS: tuple[Callable[[random.Random], float] | None, ...] = (
    None,
    None,
    lambda draw: float(draw.randint(1, 9)),
    lambda draw: draw.random() + 1e-3,
    lambda draw: 10.0 ** draw.uniform(-6, 6),
)


class Graph(NamedTuple):
    """A graph; each edge once, in either direction."""

    n: int
    edges: Pairs
    weight: list[float]  # empty for unweighted graphs


class Graphs(NamedTuple):
    """Many graphs, one behind the other, as ``build.build_arrays`` takes them."""

    edges: NDArray[np.int64]
    edge_ptr: NDArray[np.int64]
    sizes: NDArray[np.int64]
    weight: NDArray[np.float64]


def join(graphs: Sequence[Graph]) -> Graphs:
    """Return graphs as a few long arrays; all weighted or none."""
    flat = [end for graph in graphs for pair in graph.edges for end in pair]
    return Graphs(
        np.ascontiguousarray(np.array(flat, np.int64).reshape(-1, 2).T),
        np.cumsum([0, *(len(graph.edges) for graph in graphs)]),
        np.array([graph.n for graph in graphs], np.int64),
        np.array([w for graph in graphs for w in graph.weight], np.float64),
    )


def make(seed: int, number: int) -> Graph:
    """Return a graph of 1 to 24 vertices in random order."""
    draw = random.Random((seed << 40) + number)
    n = draw.randint(1, 24)
    pairs = draw.choice(SHAPES)(n, draw)
    if n > 1 and draw.random() < 0.1:  # the last vertices become isolated
        n += draw.randint(1, 3)
    order = draw.sample(range(n), n)
    edges = [
        (order[u], order[v]) if draw.random() < 0.5 else (order[v], order[u])
        for u, v in pairs
    ]
    draw.shuffle(edges)
    weigh = draw.choice(WEIGHTS)
    return Graph(n, edges, [weigh(draw) for _ in edges] if weigh else [])


def is_weighted(graph: Graph) -> bool:
    """Whether a graph has weights."""
    return bool(graph.weight)


def _empty(n: int, draw: random.Random) -> Pairs:
    return []


def _tree(n: int, draw: random.Random) -> Pairs:
    return [(draw.randrange(v), v) for v in range(1, n)]


def _star(n: int, draw: random.Random) -> Pairs:
    return [(0, v) for v in range(1, n)]


def _path(n: int, draw: random.Random) -> Pairs:
    return [(v - 1, v) for v in range(1, n)]


def _cycle(n: int, draw: random.Random) -> Pairs:
    return [*_path(n, draw), *([(0, n - 1)] if n > 2 else [])]


def _clique(n: int, draw: random.Random) -> Pairs:
    return list(combinations(range(n), 2))


def _caterpillar(n: int, draw: random.Random) -> Pairs:
    spine = draw.randint(1, n)
    legs = [(draw.randrange(spine), v) for v in range(spine, n)]
    return _path(spine, draw) + legs


def _barbell(n: int, draw: random.Random) -> Pairs:
    half = n // 2
    two = [pair for pair in _clique(n, draw) if (pair[0] < half) == (pair[1] < half)]
    return two + ([(half - 1, half)] if half else [])


def _grid(n: int, draw: random.Random) -> Pairs:
    wide = draw.randint(1, n)
    rows = [(v - 1, v) for v in range(1, n) if v % wide]
    return rows + [(v - wide, v) for v in range(wide, n)]


def _random(n: int, draw: random.Random) -> Pairs:
    density = draw.choice((0.05, 0.1, 0.2, 0.4, 0.7))
    return [pair for pair in _clique(n, draw) if draw.random() < density]


def _hubs(n: int, draw: random.Random) -> Pairs:
    hubs = draw.randint(1, min(3, n))
    return [(h, v) for h in range(hubs) for v in range(h + 1, n) if draw.random() < 0.7]


def _parts(n: int, draw: random.Random) -> Pairs:
    """Some graphs of other shapes side by side."""
    pairs, first = [], 0
    while first < n:
        size = draw.randint(1, n - first)
        part = draw.choice((_tree, _star, _cycle, _clique, _random))(size, draw)
        pairs += [(first + u, first + v) for u, v in part]
        first += size
    return pairs


SHAPES = (
    *(_empty, _tree, _star, _path, _cycle, _clique, _caterpillar, _barbell, _grid),
    *(_random, _random, _random, _hubs, _parts, _parts),
)
