"""Identity: the graphs without changes."""

from dataclasses import dataclass

from torch import Generator
from typing_extensions import override

from ._view_draft import Augmentation, ViewDraft


@dataclass(frozen=True)
class Identity(Augmentation):
    """Copy the graphs, without their trees.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> Identity()(Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3))
        DataBatch(edge_index=[2, 2], batch=[3], ptr=[2])
    """

    @override
    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        return draft
