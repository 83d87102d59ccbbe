"""Edge perturbation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Generator, Tensor
from typing_extensions import override

from sega_anchor.augment._draft import Augmentation, ViewDraft
from sega_anchor.augment._random import (
    below,
    check_mode,
    check_ratio,
    first,
    part,
    sample,
)


@dataclass(frozen=True)
class EdgePerturb(Augmentation):
    """Drop edges of each graph and, if undirected, add others in their place.

    `"undirected"` (GraphCL, Table 1): of the m undirected edges without loops
    floor(ratio * m) are dropped, both directions together, and as many random pairs
    of nodes of the same graph are drawn. A pair that is a loop, an edge of the given
    graph, or drawn before is left out; any other takes over the columns of a dropped
    edge, hence its place and its edge features. Loops stay.

    `"directed"` (released code): floor(ratio * columns) columns are dropped, loops
    included. Nothing is added, and an edge can survive in one direction.

    Args:
        ratio: share of the edges or columns, 0 to 1 (released code: 0.1).
        mode: as above.

    Raises:
        ValueError: if the ratio is no such share or the mode unknown.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> data = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
    >>> EdgePerturb(ratio=0.25, mode="directed")(data).num_edges
    3
    """

    ratio: float = 0.2
    mode: Literal["undirected", "directed"] = "undirected"

    def __post_init__(self) -> None:
        check_ratio(self.ratio)
        check_mode(self.mode, ("undirected", "directed"))

    @override
    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        if self.mode == "undirected":
            return self._rewire(draft, generator)
        dropped = self._drop(draft.edge_batch, draft, generator)
        return replace(draft, edge=draft.edge & ~dropped)

    def _drop(
        self, graph: Tensor, draft: ViewDraft, generator: Generator | None
    ) -> Tensor:
        count = graph.bincount(minlength=len(draft.sizes))
        return sample(graph, part(self.ratio, count), generator)

    def _rewire(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        # The undirected edges without loops, each as one number, and their columns.
        n = len(draft.batch)
        column = (draft.edge_index[0] != draft.edge_index[1]).nonzero().view(-1)
        source, target = draft.edge_index[:, column]
        pair, pair_of = torch.unique(_number(source, target, n), return_inverse=True)

        # For each dropped one a random pair of nodes of its graph.
        graph = draft.batch[pair // n]
        dropped = self._drop(graph, draft, generator).nonzero().view(-1)
        begin, size = draft.ptr[graph[dropped]], draft.sizes[graph[dropped]]
        a, b = begin + below(size, generator), begin + below(size, generator)
        drawn = _number(a, b, n)
        fresh = (a != b) & ~torch.isin(drawn, pair)
        fresh &= first(torch.unique(drawn, return_inverse=True)[1])

        # Fresh pairs take over the columns of the dropped ones; the rest goes.
        stays = torch.ones_like(pair, dtype=torch.bool).index_put((dropped,), fresh)
        pair = pair.index_put((dropped,), drawn)[pair_of]
        low, high, forth = pair // n, pair % n, source < target
        ends = torch.where(forth, torch.stack([low, high]), torch.stack([high, low]))
        edge_index, edge = draft.edge_index.clone(), draft.edge.clone()
        edge_index[:, column] = ends
        edge[column] &= stays[pair_of]
        return replace(draft, edge_index=edge_index, edge=edge)


def _number(a: Tensor, b: Tensor, n: int) -> Tensor:
    """Number the undirected edge of a and b among n nodes: low * n + high."""
    return torch.minimum(a, b) * n + torch.maximum(a, b)
