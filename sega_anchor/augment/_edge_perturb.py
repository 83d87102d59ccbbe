"""EdgePerturb: drop edges, and perhaps add random ones in their place."""

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Generator, Tensor
from typing_extensions import override

from ..utils.checks import check_choice
from ._random import check_ratio, draw_below, mark_first, part, sample
from ._view_draft import Augmentation, ViewDraft

PerturbMode = Literal["undirected", "directed"]


@dataclass(frozen=True)
class EdgePerturb(Augmentation):
    """Drop edges of each graph and, where asked for, add random ones in their place.

    ``"undirected"``: of the m undirected edges without loops, floor(ratio * m) are
    dropped in both directions. Loops stay. This is SEGA's text. With ``add`` (GraphCL,
    Table 1) as many random pairs of nodes of the same graph are drawn. Pairs that are
    loops, edges of the given graph or repetitions are discarded; each of the others
    replaces a dropped edge and takes over its columns and edge features.

    ``"directed"`` (released code): floor(ratio * columns) columns are dropped, loops
    included, and an edge may remain in one direction only. With ``add`` (GraphCL's
    semi-supervised code) a random pair of nodes of the same graph, whatever it is,
    takes the place of each.

    Args:
        ratio: share of the edges or columns, 0 to 1 (released code: 0.1).
        mode: ``"undirected"`` or ``"directed"``.
        add: add as many random pairs as edges are dropped.

    Raises:
        ValueError: for a ratio outside [0, 1] or an unknown mode.

    Example:
        >>> from torch_geometric.data import Data
        >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> data = Data(edge_index=edge_index, num_nodes=3)
        >>> EdgePerturb(ratio=0.25, mode="directed")(data).num_edges
        3
    """

    ratio: float = 0.2
    mode: PerturbMode = "undirected"
    add: bool = False

    def __post_init__(self) -> None:
        check_ratio(self.ratio)
        check_choice("mode", self.mode, PerturbMode)

    @override
    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        if self.mode == "undirected":
            return self._edit_undirected(draft, generator)
        dropped = self._drop(draft.edge_batch, draft, generator)
        if not self.add:
            return replace(draft, edge=draft.edge & ~dropped)
        pairs = _draw_pairs(draft.edge_batch[dropped], draft, generator)
        edge_index = draft.edge_index.clone()
        edge_index[:, dropped] = torch.stack(pairs)
        return replace(draft, edge_index=edge_index)

    def _drop(
        self, graph: Tensor, draft: ViewDraft, generator: Generator | None
    ) -> Tensor:
        count = graph.bincount(minlength=len(draft.sizes))
        return sample(graph, part(self.ratio, count), generator)

    def _edit_undirected(
        self, draft: ViewDraft, generator: Generator | None
    ) -> ViewDraft:
        # The undirected edges without loops, each as one number, and their columns.
        n = len(draft.batch)
        column = (draft.edge_index[0] != draft.edge_index[1]).nonzero().view(-1)
        source, target = draft.edge_index[:, column]
        pair, pair_of = torch.unique(_number(source, target, n), return_inverse=True)

        graph = draft.batch[pair // n]
        stays = ~self._drop(graph, draft, generator)
        edge_index, edge = draft.edge_index, draft.edge.clone()
        if self.add:
            dropped = (~stays).nonzero().view(-1)
            drawn = _number(*_draw_pairs(graph[dropped], draft, generator), n)
            fresh = (drawn // n != drawn % n) & ~torch.isin(drawn, pair)
            fresh &= mark_first(torch.unique(drawn, return_inverse=True)[1])

            # New pairs take over the columns of dropped edges; the other columns go.
            stays = stays.index_put((dropped,), fresh)
            pair = pair.index_put((dropped,), drawn)[pair_of]
            low, high, forth = pair // n, pair % n, source < target
            ends = torch.where(
                forth, torch.stack([low, high]), torch.stack([high, low])
            )
            edge_index = edge_index.clone()
            edge_index[:, column] = ends
        edge[column] &= stays[pair_of]
        return replace(draft, edge_index=edge_index, edge=edge)


def _draw_pairs(
    graph: Tensor, draft: ViewDraft, generator: Generator | None
) -> tuple[Tensor, Tensor]:
    """Draw two nodes, perhaps the same, of each of these graphs."""
    begin, size = draft.ptr[graph], draft.sizes[graph]
    return begin + draw_below(size, generator), begin + draw_below(size, generator)


def _number(a: Tensor, b: Tensor, n: int) -> Tensor:
    """Return a number for the undirected edge of a and b: low * n + high."""
    return torch.minimum(a, b) * n + torch.maximum(a, b)
