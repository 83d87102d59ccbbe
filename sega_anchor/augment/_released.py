"""Released: finish a view as the released training loops do."""

from dataclasses import dataclass, field, replace

import torch
from torch import Generator, Tensor
from typing_extensions import override

from ._node_drop import NodeDrop
from ._view_draft import Augmentation, ViewDraft


@dataclass(frozen=True)
class Released(Augmentation):
    """Finish a view as the code released with GraphCL and SEGA does.

    A graph whose view has no columns gets a view from ``fallback`` instead. With
    ``cleanup``, nodes without columns (loops count) are then removed, and finally all
    loops. In the released data every node but the last of a graph has a loop, so
    clean-up removes dropped nodes and a last node that lost all its edges, but keeps
    other isolated nodes. In data without loops it removes those too.

    Differs from the released code, which merges parallel columns (TU data has none)
    and fails on graphs without edges: here such a graph keeps its nodes.

    Args:
        augmentation: draws the view.
        fallback: draws the views of graphs that have no columns left.
        cleanup: remove loops and nodes without columns. The released loops do so for
            dnodes, subgraph, random2, random3 and random4 (JOAO's for all), not for
            pedges and mask_nodes alone.

    Example:
        >>> from torch_geometric.data import Data
        >>> data = Data(edge_index=torch.tensor([[0, 1, 0], [1, 0, 0]]), num_nodes=3)
        >>> Released(NodeDrop(ratio=0.0))(data)
        DataBatch(edge_index=[2, 2], batch=[2], ptr=[2])
    """

    augmentation: Augmentation
    fallback: Augmentation = field(default_factory=lambda: NodeDrop(ratio=0.1))
    cleanup: bool = True

    @override
    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        edited = self.augmentation.edit(draft, generator)
        lost = ~_has_columns(edited)
        if lost.any():
            edited = edited.splice(self.fallback.edit(draft, generator), lost)
        return _clean_up(edited) if self.cleanup else edited


def _has_columns(draft: ViewDraft) -> Tensor:
    empty = torch.zeros_like(draft.sizes, dtype=torch.bool)
    return empty.index_fill(0, draft.edge_batch[draft.edge], True)


def _clean_up(draft: ViewDraft) -> ViewDraft:
    source, target = draft.edge_index
    ends = draft.edge_index[:, draft.edge].view(-1)
    used = torch.zeros_like(draft.node).index_fill(0, ends, True)
    node = draft.node & (used | ~_has_columns(draft)[draft.batch])
    return replace(draft, node=node, edge=draft.edge & (source != target))
