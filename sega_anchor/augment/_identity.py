"""The graphs as they are."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Generator
from typing_extensions import override

from sega_anchor.augment._draft import Augmentation, ViewDraft


@dataclass(frozen=True)
class Identity(Augmentation):
    """Return a copy of the graphs, without their trees.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> Identity()(Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3))
    DataBatch(edge_index=[2, 2], batch=[3], ptr=[2])
    """

    @override
    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        return draft
