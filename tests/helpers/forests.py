"""Graphs for the tests of whole data sets and of their cache."""

from typing import get_args

import torch
from torch_geometric.data import Data, InMemoryDataset

import sega_anchor as sa
from sega_anchor.trees.build import TreeMethod

from .graphs import random_graphs

METHODS = get_args(TreeMethod)


def some_graphs() -> list[Data]:
    """Graphs of all sizes, with isolated vertices, loops and repeats; two edgeless."""
    drawn = random_graphs([7, 1, 30, 2, 12, 5, 40, 3], seed=1)
    edges = [data.edge_index for data in drawn]
    sizes = [data.num_nodes for data in drawn]
    edges += [torch.empty(2, 0).long(), torch.empty(2, 0).long(), edges[3]]
    sizes += [4, 1, 6]
    order = [0, 1, 8, 2, 3, 9, 4, 5, 10, 6, 7]
    random = torch.Generator().manual_seed(0)
    return [
        Data(
            edge_index=edges[i],
            num_nodes=sizes[i],
            w=torch.rand(edges[i].size(1), generator=random),
        )
        for i in order
    ]


def one_by_one(graphs, weight=None, **options) -> list[sa.CodingTree]:
    return [
        sa.build_coding_tree(
            data.edge_index,
            data.num_nodes,
            None if weight is None else data[weight],
            **options,
        )
        for data in graphs
    ]


def same(found, expected) -> bool:
    return len(found) == len(expected) and all(
        torch.equal(a.parent, b.parent) and torch.equal(a.level, b.level)
        for a, b in zip(found, expected, strict=True)
    )


def featured() -> list[Data]:
    return random_graphs([7, 9, 30, 2, 12], seed=3)


class Stored(InMemoryDataset):
    def __init__(self, graphs: list[Data], transform=None) -> None:
        super().__init__(transform=transform)
        self.data, self.slices = self.collate(graphs)
