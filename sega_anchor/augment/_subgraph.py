"""Subgraph: keep a subgraph around a random node."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Generator, Tensor
from typing_extensions import override

from ..utils.checks import check_choice
from ..utils.scatter import prefix_sum
from ._random import check_ratio, draw_below, mark_first, part
from ._view_draft import Augmentation, ViewDraft

SubgraphMode = Literal["walk", "star", "neighbourhood"]


@dataclass(frozen=True)
class Subgraph(Augmentation):
    """Keep up to floor(ratio * n) + 1 of the n nodes of each graph, near a random one.

    A start node is drawn uniformly and kept. Then n nodes are visited, and new ones are
    kept until there are enough; fewer are kept if the visits find fewer. The columns
    between kept nodes stay.

    ``"walk"`` (GraphCL, Table 1): the visits are a random walk, which ignores loops,
    counts parallel edges separately and stays at a node without neighbours. It takes as
    many steps as the largest graph has nodes, each for all graphs at once.

    ``"star"`` (released code, whose walk never leaves the start): each visit is an
    independent uniform draw from the neighbours of the start, which include the start
    if it has a loop.

    ``"neighbourhood"`` (released code of the protein networks, where the star's slip is
    mended): each visit is a uniform draw from the neighbours of all nodes kept so far.

    Args:
        ratio: share of the nodes to keep, 0 to 1.
        mode: ``"walk"``, ``"star"`` or ``"neighbourhood"``.

    Raises:
        ValueError: for a ratio outside [0, 1] or an unknown mode.

    Example:
        >>> from torch_geometric.data import Data
        >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> data = Data(edge_index=edge_index, num_nodes=3)
        >>> Subgraph(ratio=0.4)(data)
        DataBatch(edge_index=[2, 2], batch=[2], ptr=[2])
    """

    ratio: float = 0.2
    mode: SubgraphMode = "walk"

    def __post_init__(self) -> None:
        check_ratio(self.ratio)
        check_choice("mode", self.mode, SubgraphMode)

    @override
    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        start = draft.ptr[:-1] + draw_below(draft.sizes, generator)
        start = start[draft.sizes > 0]
        if self.mode == "neighbourhood":
            more = part(self.ratio, draft.sizes)
            return draft.induced(_neighbourhood(draft, start, more, generator))
        visit = _walk if self.mode == "walk" else _star
        visited = visit(draft, start, generator)

        kept = torch.zeros_like(draft.node).index_fill(0, start, True)
        new = mark_first(visited) & ~kept[visited]
        count = prefix_sum(new)
        count = count[1:] - count[draft.ptr][draft.batch]
        new &= count <= part(self.ratio, draft.sizes)[draft.batch]
        return draft.induced(kept.index_fill(0, visited[new], True))


def _star(draft: ViewDraft, start: Tensor, generator: Generator | None) -> Tensor:
    """Return n draws from the neighbours of each start, graph by graph."""
    is_start = torch.zeros_like(draft.node).index_fill(0, start, True)
    source, target = draft.edge_index
    chosen = torch.zeros_like(draft.node).index_fill(0, target[is_start[source]], True)
    chosen |= _isolated(draft.edge_index, draft.node) & is_start
    neighbour = chosen.nonzero().view(-1)
    begin = prefix_sum(chosen)[draft.ptr]
    degree = begin.diff()[draft.batch]
    return neighbour[begin[draft.batch] + draw_below(degree, generator)]


def _walk(draft: ViewDraft, start: Tensor, generator: Generator | None) -> Tensor:
    """Return the n steps of a random walk from each start, graph by graph."""
    edges = draft.edge_index[:, draft.edge_index[0] != draft.edge_index[1]]
    isolated = _isolated(edges, draft.node).nonzero().view(-1)
    source, target = torch.cat([edges, isolated.expand(2, -1)], dim=1)
    neighbour = target[source.argsort(stable=True)]
    degree = source.bincount(minlength=len(draft.node))
    begin = prefix_sum(degree)

    steps = int(draft.sizes.max())
    draws = draw_below(start.new_full((steps, len(start)), 2**31), generator)
    path = [start]
    for draw in draws:
        path.append(neighbour[begin[path[-1]] + draw % degree[path[-1]]])
    walked = torch.stack(path, dim=1)[:, 1:]
    size = draft.sizes[draft.sizes > 0].unsqueeze(1)
    return walked[torch.arange(steps, device=size.device) < size]


def _neighbourhood(
    draft: ViewDraft, start: Tensor, more: Tensor, generator: Generator | None
) -> Tensor:
    """Mark each start and so many nodes more, each a neighbour of one before.

    A visit is made in all graphs at once, at most as many as a graph has nodes.
    """
    source, target = draft.edge_index
    kept = torch.zeros_like(draft.node).index_fill(0, start, True)
    for visits in range(int(draft.sizes.max())):
        near = torch.zeros_like(kept).index_fill(0, target[kept[source]], True)
        begin = prefix_sum(near)[draft.ptr]
        degree = begin.diff()
        drawn = begin[:-1] + draw_below(degree, generator)
        visited = (degree > 0) & (more > 0) & (visits < draft.sizes)
        node = near.nonzero().view(-1)[drawn[visited]]
        if not len(node):
            break
        more = more.index_put((draft.batch[node],), (~kept[node]).long().neg(), True)
        kept = kept.index_fill(0, node, True)
    return kept


def _isolated(edges: Tensor, node: Tensor) -> Tensor:
    return torch.ones_like(node).index_fill(0, edges[0], False)
