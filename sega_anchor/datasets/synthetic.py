"""SyntheticCommunities: graphs whose classes differ in how communities are nested."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.utils import coalesce, to_undirected
from typing_extensions import override

_BLOCKS = 8
_COLOURS = 2
_SIBLINGS = (
    ((0, 2), (4, 6), (1, 3), (5, 7)),  # class 0: same colour, as block i has i % 2
    ((0, 1), (2, 3), (4, 5), (6, 7)),  # class 1: different colours
    (),  # class 2: no siblings
)
_INNER = 0.75  # probability of an edge inside a block
_NESTED = 0.8  # probability that a node's outer edge goes to the sibling block
_SWAPPED = 0.2  # share of nodes whose colours are swapped

_Ints = NDArray[np.int64]


class SyntheticCommunities(InMemoryDataset):  # type: ignore[misc]
    r"""Small coloured graphs in three classes of nested community structure.

    Every graph has 8 blocks of :math:`b` nodes, with :math:`b` drawn from 4, 5, 6. Two
    nodes of a block are joined with probability 0.75, and every node has exactly one
    edge to another block. Half of the blocks have colour 0, the others colour 1; then
    20 % of the nodes of each colour swap colours.

    * class 0: blocks are nested in pairs of the *same* colour,
    * class 1: blocks are nested in pairs of *different* colours,
    * class 2: blocks are not nested.

    In a nested graph an edge between blocks goes to the sibling block with probability
    0.8; the others join random blocks. Sizes, edges within blocks, colours and degrees
    do not depend on the class: classes differ only in *which* blocks are joined, so no
    count of nodes, edges, degrees or colours separates them.

    Graph ``i`` has class ``i % 3`` and depends on ``seed`` and ``i`` only: a smaller
    set is the beginning of a larger one, and the same seed gives the same bits. Graphs
    are made in memory. They are undirected, without self-loops or parallel edges, with
    ``x`` ``(num_nodes, 2)`` (the colour, one-hot), ``edge_index`` ``(2, num_edges)``
    and ``y`` ``(1,)``.

    Args:
        num_graphs: number of graphs, at least one for each of the three classes.
        seed: seed of the generator, not negative.

    Raises:
        ValueError: for fewer than 3 graphs or a negative seed.

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
    """Return a graph of a class, its nodes in random order."""
    size = int(rng.integers(4, 7))
    colour = _colours(size, rng)
    inner = _inner_edges(size, rng)
    # The number of a node must not reveal its block.
    place = rng.permutation(_BLOCKS * size)
    # The only draw that depends on the class comes last: for the same generator state
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
    """Return the colours of the nodes; as many change from 0 to 1 as from 1 to 0."""
    colour = np.repeat(np.arange(_BLOCKS) % _COLOURS, size)
    count = round(_SWAPPED * _BLOCKS * size / _COLOURS)
    moved = [
        rng.permutation(np.flatnonzero(colour == c))[:count] for c in range(_COLOURS)
    ]
    for c, nodes in enumerate(moved):
        colour[nodes] = 1 - c
    return colour


def _inner_edges(size: int, rng: np.random.Generator) -> _Ints:
    """Return edges within blocks, each drawn independently, ``(2, num_edges)``."""
    pairs = np.stack(np.triu_indices(size, k=1))
    starts = size * np.arange(_BLOCKS)
    every = (pairs[:, None, :] + starts[None, :, None]).reshape(2, -1)
    kept: _Ints = every[:, rng.random(every.shape[1]) < _INNER]
    return kept


def _outer_edges(label: int, size: int, rng: np.random.Generator) -> _Ints:
    """Return edges between blocks, one at every node, ``(2, 4 * size)``."""
    order = np.stack([b * size + rng.permutation(size) for b in range(_BLOCKS)])
    used = np.zeros(_BLOCKS, dtype=np.int64)
    nested = []
    for a, b in _SIBLINGS[label]:
        used[[a, b]] = rng.binomial(size, _NESTED)
        nested.append(np.stack([order[a, : used[a]], order[b, : used[b]]]))
    loose = np.concatenate([order[b, used[b] :] for b in range(_BLOCKS)])
    return np.concatenate([*nested, _match(loose, size, rng)], axis=1)


def _match(nodes: _Ints, size: int, rng: np.random.Generator) -> _Ints:
    """Return a uniform perfect matching of nodes that joins no two of the same block.

    It exists, as sibling blocks leave equally many nodes, so none has a majority. About
    one draw in ten is valid.
    """
    while True:
        pairs = rng.permutation(nodes).reshape(2, -1)
        if (pairs[0] // size != pairs[1] // size).all():
            return pairs
