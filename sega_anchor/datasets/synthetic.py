"""SyntheticCommunities: graphs whose classes differ in how communities are nested."""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.utils import coalesce, to_undirected
from typing_extensions import override

_GROUPS = 8  # outermost groups, which the classes join or leave alone
_COLOURS = 2
_SIBLINGS = (
    ((0, 2), (4, 6), (1, 3), (5, 7)),  # class 0: same colour, as group i has i % 2
    ((0, 1), (2, 3), (4, 5), (6, 7)),  # class 1: different colours
    (),  # class 2: no siblings
)
_INNER = 0.75  # probability of an edge inside a block
_SWAPPED = 0.2  # share of nodes whose colours are swapped
_DEPTHS = range(1, 5)
_SIZES = range(2, 17)  # in larger blocks a matching takes too many draws

_Ints = NDArray[np.int64]


@dataclass(frozen=True)
class _Knobs:
    """What a set of the family is made with; see :class:`SyntheticCommunities`."""

    depth: int = 1
    strength: float = 0.8
    size: int | tuple[int, int] = (4, 6)

    def __post_init__(self) -> None:
        if self.depth not in _DEPTHS:
            raise ValueError(
                f"depth must be a number of levels from {_DEPTHS[0]} to {_DEPTHS[-1]}, "
                f"got {self.depth!r}"
            )
        if not 0 <= self.strength <= 1:
            raise ValueError(
                f"strength must be a probability from 0 to 1, got {self.strength!r}"
            )
        bounds = self.bounds()
        within = len(bounds) == 2 and all(bound in _SIZES for bound in bounds)
        if not within or bounds[0] > bounds[1]:
            raise ValueError(
                f"size must be a number of nodes from {_SIZES[0]} to {_SIZES[-1]}, or "
                f"the least and the most of them such as (4, 6), got {self.size!r}"
            )

    def bounds(self) -> tuple[int, int]:
        """Return the least and the most nodes of a block."""
        return self.size if isinstance(self.size, tuple) else (self.size, self.size)


class SyntheticCommunities(InMemoryDataset):  # type: ignore[misc]
    r"""Small coloured graphs in three classes of nested community structure.

    Every graph has 8 groups. At depth 1 each is a block of :math:`b` nodes, with
    :math:`b` drawn from 4, 5, 6. Two nodes of a block are joined with probability 0.75,
    and every node has exactly one edge to another block. Half of the groups have colour
    0, the others colour 1; then 20 % of the nodes of each colour swap colours.

    * class 0: groups are nested in pairs of the *same* colour,
    * class 1: groups are nested in pairs of *different* colours,
    * class 2: groups are not nested.

    In a nested graph an edge between blocks goes to a sibling with probability 0.8; the
    others join random blocks. Sizes, edges within blocks, colours and degrees do not
    depend on the class: classes differ only in *which* blocks are joined, so no count
    of nodes, edges, degrees or colours separates them.

    Three knobs say what there is to see:

    * ``strength`` is the probability 0.8. At strength 1 no edge is random; at strength
      0 all are, the classes are one, and no method is right more often than by chance,
      one time in three.
    * ``depth`` is the number of nested levels. At depth 2 each group is a pair of
      sibling blocks of one colour, at depth 3 a pair of such pairs, so that a graph has
      :math:`2^{2 + depth}` blocks. Edges to siblings are shared evenly by the levels.
      All classes are nested alike within the groups: only the outermost level tells
      them apart.
    * ``size`` is :math:`b`, one number or the least and the most. Edges between blocks
      stay one a node, so that larger blocks outweigh them.

    Graph ``i`` has class ``i % 3`` and depends on ``seed``, the knobs and ``i`` only: a
    smaller set is the beginning of a larger one, and the same seed gives the same bits.
    Graphs are made in memory. They are undirected, without self-loops or parallel
    edges, with ``x`` ``(num_nodes, 2)`` (the colour, one-hot), ``edge_index``
    ``(2, num_edges)`` and ``y`` ``(1,)``.

    Args:
        num_graphs: number of graphs, at least one for each of the three classes.
        seed: seed of the generator, not negative.
        depth: nested levels, from 1 to 4.
        strength: probability that an edge between blocks goes to a sibling.
        size: nodes a block, from 2 to 16, or the least and the most of them.

    Raises:
        ValueError: for fewer than 3 graphs, a negative seed, or a knob out of range.

    Source: ours, not in the paper; a planted partition with fixed outer degrees, after
    the hierarchical block models of community detection.

    Example:
        >>> dataset = SyntheticCommunities(num_graphs=30, seed=0)
        >>> dataset
        SyntheticCommunities(num_graphs=30, seed=0)
        >>> dataset.num_classes, dataset.num_features
        (3, 2)
        >>> dataset.y.bincount().tolist()
        [10, 10, 10]
        >>> SyntheticCommunities(num_graphs=3, depth=2, size=5)[0].num_nodes  # 16 * 5
        80
    """

    def __init__(
        self,
        num_graphs: int = 300,
        seed: int = 0,
        depth: int = 1,
        strength: float = 0.8,
        size: int | tuple[int, int] = (4, 6),
    ) -> None:
        if num_graphs < len(_SIBLINGS):
            raise ValueError(
                f"num_graphs must be at least {len(_SIBLINGS)}, one graph for each "
                f"class, got {num_graphs}"
            )
        if seed < 0:
            raise ValueError(f"seed must not be negative, got {seed}")
        knobs = _Knobs(depth, strength, size)
        super().__init__()
        self.seed = seed
        self._knobs = knobs
        graphs = [
            _graph(i % len(_SIBLINGS), np.random.default_rng([seed, i]), knobs)
            for i in range(num_graphs)
        ]
        self.data, self.slices = self.collate(graphs)

    @override
    def __repr__(self) -> str:
        shown = {"num_graphs": len(self), "seed": self.seed}
        usual = vars(_Knobs())
        shown |= {k: v for k, v in vars(self._knobs).items() if v != usual[k]}
        words = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"{type(self).__name__}({words})"


def named_synthetic(name: str) -> SyntheticCommunities:
    """Return a set of the family by name: with one knob turned, or none.

    Each set has one name: numbers are written as ``0.5`` and not as ``.5`` or ``0.50``.

    Raises:
        ValueError: for a name that no set has.

    Example:
        >>> named_synthetic("synthetic-strength-0.5")
        SyntheticCommunities(num_graphs=300, seed=0, strength=0.5)
    """
    if name == "synthetic":
        return SyntheticCommunities()
    found = re.fullmatch(r"synthetic-(depth|strength|size)-(.+)", name)
    try:
        knob, text = found.groups() if found else ("", "")
        value: float = float(text) if knob == "strength" else int(text)
        if f"{value:g}" == text:
            turned: dict[str, Any] = {knob: value}
            return SyntheticCommunities(**turned)
        raise ValueError(f"{text!r} is written {value:g}")
    except ValueError as error:
        raise ValueError(
            f"unknown data set {name!r}; synthetic sets are named 'synthetic', "
            f"'synthetic-depth-2' (levels, 1 to {_DEPTHS[-1]}), "
            "'synthetic-strength-0.5' (0 to 1) and 'synthetic-size-12' (nodes a block, "
            f"{_SIZES[0]} to {_SIZES[-1]})"
        ) from error


def _graph(label: int, rng: np.random.Generator, knobs: _Knobs) -> Data:
    """Return a graph of a class, its nodes in random order."""
    low, high = knobs.bounds()
    size = int(rng.integers(low, high + 1))
    blocks = _GROUPS << (knobs.depth - 1)
    colour = _colours(blocks, size, rng)
    inner = _inner_edges(blocks, size, rng)
    # The number of a node must not reveal its block.
    place = rng.permutation(blocks * size)
    # The only draws that depend on the class come last: for the same generator state
    # classes differ in nothing else, not even in the degree of a single node.
    outer = _outer_edges(label, blocks, size, knobs, rng)
    x = np.zeros((len(place), _COLOURS), dtype=np.float32)
    x[place, colour] = 1.0
    edges = torch.from_numpy(place[np.concatenate([inner, outer], axis=1)])
    return Data(
        x=torch.from_numpy(x),
        edge_index=coalesce(to_undirected(edges)),
        y=torch.tensor([label]),
    )


def _colours(blocks: int, size: int, rng: np.random.Generator) -> _Ints:
    """Return the colours of the nodes; as many change from 0 to 1 as from 1 to 0."""
    colour = np.repeat(np.arange(_GROUPS) % _COLOURS, blocks // _GROUPS * size)
    count = round(_SWAPPED * blocks * size / _COLOURS)
    moved = [
        rng.permutation(np.flatnonzero(colour == c))[:count] for c in range(_COLOURS)
    ]
    for c, nodes in enumerate(moved):
        colour[nodes] = 1 - c
    return colour


def _inner_edges(blocks: int, size: int, rng: np.random.Generator) -> _Ints:
    """Return edges within blocks, each drawn independently, ``(2, num_edges)``."""
    pairs = np.stack(np.triu_indices(size, k=1))
    starts = size * np.arange(blocks)
    every = (pairs[:, None, :] + starts[None, :, None]).reshape(2, -1)
    kept: _Ints = every[:, rng.random(every.shape[1]) < _INNER]
    return kept


def _outer_edges(
    label: int, blocks: int, size: int, knobs: _Knobs, rng: np.random.Generator
) -> _Ints:
    """Return edges between blocks, one at every node, ``(2, blocks * size / 2)``."""
    order = np.stack([b * size + rng.permutation(size) for b in range(blocks)])
    strength, depth = knobs.strength, knobs.depth
    # The inner levels take equally many nodes of every block, rounded at random so that
    # the mean is right; depth 1 has none and draws nothing.
    offset = rng.random() if depth > 1 else 0.0
    stops = (size * strength / depth * np.arange(depth) + offset).astype(int).tolist()
    nested = [
        _join(order[a, start:stop], order[b, start:stop], rng)
        for level, (start, stop) in enumerate(pairwise(stops))
        for a, b in np.arange(blocks).reshape(-1, 2, 1 << level)
    ]
    start = stops[-1]
    used = np.full(blocks, start)
    groups = np.arange(blocks).reshape(_GROUPS, -1)
    last = strength / (depth - (depth - 1) * strength)  # of what the others leave
    for pair in _SIBLINGS[label]:
        a, b = groups[list(pair)]
        used[a] = used[b] = stop = start + int(rng.binomial(size - start, last))
        nested.append(_join(order[a, start:stop], order[b, start:stop], rng))
    loose = np.concatenate([order[b, used[b] :] for b in range(blocks)])
    return np.concatenate([*nested, _match(loose, size, rng)], axis=1)


def _join(a: _Ints, b: _Ints, rng: np.random.Generator) -> _Ints:
    """Return a matching of two groups' nodes, both ``(blocks, nodes of each)``."""
    return np.stack([a.ravel(), rng.permuted(b, axis=0).ravel()])


def _match(nodes: _Ints, size: int, rng: np.random.Generator) -> _Ints:
    """Return a uniform perfect matching of nodes that joins no two of the same block.

    It exists, as sibling blocks leave equally many nodes, so none has a majority. About
    one draw in ten is valid in blocks of 5 nodes, one in two thousand in those of 16.
    """
    while True:
        pairs = rng.permutation(nodes).reshape(2, -1)
        if (pairs[0] // size != pairs[1] // size).all():
            return pairs
