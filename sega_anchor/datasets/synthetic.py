"""Graphs whose classes differ in how their communities are nested."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.utils import coalesce, to_undirected
from typing_extensions import override

_BLOCKS = 8
_COLOURS = 2
_SIBLINGS = (
    ((0, 2), (4, 6), (1, 3), (5, 7)),  # class 0: block i has colour i % 2, so: same
    ((0, 1), (2, 3), (4, 5), (6, 7)),  # class 1: different colours
    (),  # class 2: no siblings, flat
)
_INNER = 0.75  # probability of an edge inside a block
_NESTED = 0.8  # probability that a node's outer edge goes to the sibling block
_SWAPPED = 0.2  # share of nodes that wear the other colour

_Ints = NDArray[np.int64]


class SyntheticCommunities(InMemoryDataset):  # type: ignore[misc]
    r"""Small coloured graphs in three classes of nested community structure.

    Every graph has 8 blocks of :math:`b` nodes, :math:`b` drawn from 4, 5, 6. Nodes
    of a block are joined with probability 0.75, and every node has exactly one edge
    to another block. Half of the blocks are of colour 0, half of colour 1, and 20 %
    of the nodes of each colour have changed colours.

    * class 0: blocks are nested in pairs of the *same* colour,
    * class 1: blocks are nested in pairs of *different* colours,
    * class 2: blocks are not nested.

    In a nested graph an outer edge goes to the sibling block with probability 0.8;
    all other outer edges join blocks at random. Sizes, inner edges, colours and the
    degree of every node are drawn without regard to the class: only *which* blocks
    are joined tells the classes apart, so that no count of nodes, edges, degrees or
    colours can.

    Graph ``i`` has class ``i % 3`` and depends on ``seed`` and ``i`` only: a smaller
    set is the beginning of a larger one. The graphs are made in memory, without
    files; same seed, same bits. Each is undirected, without self-loops or parallel
    edges, with ``x`` of shape ``(num_nodes, 2)`` (the colour, one-hot),
    ``edge_index`` of shape ``(2, num_edges)`` and ``y`` of shape ``(1,)``.

    Args:
        num_graphs: Number of graphs, at least one for each of the three classes.
        seed: Seed of the generator, not negative.

    Raises:
        ValueError: If ``num_graphs`` is below 3 or ``seed`` is negative.

    Source: ours; a planted partition with fixed outer degrees, after the hierarchical
    block models of the community-detection literature (no part of the paper).

    >>> dataset = SyntheticCommunities(num_graphs=30, seed=0)
    >>> dataset
    SyntheticCommunities(num_graphs=30, seed=0)
    >>> dataset.num_classes, dataset.num_features
    (3, 2)
    >>> dataset.y.bincount().tolist()
    [10, 10, 10]
    """

    def __init__(self, num_graphs: int = 300, seed: int = 0) -> None:
        if num_graphs < len(_SIBLINGS):
            raise ValueError(
                f"num_graphs must be at least {len(_SIBLINGS)}, one graph for each "
                f"class, got {num_graphs}"
            )
        if seed < 0:
            raise ValueError(f"seed must not be negative, got {seed}")
        super().__init__()
        self.seed = seed
        graphs = [
            _graph(i % len(_SIBLINGS), np.random.default_rng([seed, i]))
            for i in range(num_graphs)
        ]
        self.data, self.slices = self.collate(graphs)

    @override
    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}(num_graphs={len(self)}, seed={self.seed})"


def _graph(label: int, rng: np.random.Generator) -> Data:
    """One graph of a class, its nodes in random order."""
    size = int(rng.integers(4, 7))
    colour = _colours(size, rng)
    inner = _inner_edges(size, rng)
    # The block of a node must not be readable from its number.
    place = rng.permutation(_BLOCKS * size)
    # The only draw that looks at the class comes last: with one generator state the
    # classes differ in nothing else, not even in the degree of a single node.
    outer = _outer_edges(label, size, rng)
    x = np.zeros((len(place), _COLOURS), dtype=np.float32)
    x[place, colour] = 1.0
    edges = torch.from_numpy(place[np.concatenate([inner, outer], axis=1)])
    return Data(
        x=torch.from_numpy(x),
        edge_index=coalesce(to_undirected(edges)),
        y=torch.tensor([label]),
    )


def _colours(size: int, rng: np.random.Generator) -> _Ints:
    """Colours of the nodes; as many change from 0 to 1 as from 1 to 0."""
    colour = np.repeat(np.arange(_BLOCKS) % _COLOURS, size)
    count = round(_SWAPPED * _BLOCKS * size / _COLOURS)
    moved = [
        rng.permutation(np.flatnonzero(colour == c))[:count] for c in range(_COLOURS)
    ]
    for c, nodes in enumerate(moved):
        colour[nodes] = 1 - c
    return colour


def _inner_edges(size: int, rng: np.random.Generator) -> _Ints:
    """Edges inside blocks, each present with the same probability, (2, edges)."""
    pairs = np.stack(np.triu_indices(size, k=1))
    starts = size * np.arange(_BLOCKS)
    every = (pairs[:, None, :] + starts[None, :, None]).reshape(2, -1)
    kept: _Ints = every[:, rng.random(every.shape[1]) < _INNER]
    return kept


def _outer_edges(label: int, size: int, rng: np.random.Generator) -> _Ints:
    """Edges between blocks, one at every node, (2, 4 * size)."""
    order = np.stack([b * size + rng.permutation(size) for b in range(_BLOCKS)])
    used = np.zeros(_BLOCKS, dtype=np.int64)
    nested = []
    for a, b in _SIBLINGS[label]:
        used[[a, b]] = rng.binomial(size, _NESTED)
        nested.append(np.stack([order[a, : used[a]], order[b, : used[b]]]))
    loose = np.concatenate([order[b, used[b] :] for b in range(_BLOCKS)])
    return np.concatenate([*nested, _match(loose, size, rng)], axis=1)


def _match(nodes: _Ints, size: int, rng: np.random.Generator) -> _Ints:
    """A uniform perfect matching of nodes that joins no two of one block.

    Siblings leave equally many nodes, so that no block ever holds the majority and
    such a matching exists; about one draw in ten is one.
    """
    while True:
        pairs = rng.permutation(nodes).reshape(2, -1)
        if (pairs[0] // size != pairs[1] // size).all():
            return pairs
