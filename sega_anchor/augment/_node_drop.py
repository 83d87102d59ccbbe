"""Node dropping."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Generator
from typing_extensions import override

from sega_anchor.augment._draft import Augmentation, ViewDraft
from sega_anchor.augment._random import check_ratio, part, sample


@dataclass(frozen=True)
class NodeDrop(Augmentation):
    """Drop floor(ratio * n) of the n nodes of each graph, with their edges.

    Uniformly without replacement; one node is kept at ratio 1. GraphCL, Table 1.
    The released code leaves the dropped nodes to its clean-up, see `Released`.

    Args:
        ratio: share of the nodes, 0 to 1 (released code: 0.1).

    Raises:
        ValueError: if the ratio is no such share.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> data = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=10)
    >>> NodeDrop(ratio=0.2)(data).num_nodes
    8
    """

    ratio: float = 0.2

    def __post_init__(self) -> None:
        check_ratio(self.ratio)

    @override
    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        keep = (draft.sizes - part(self.ratio, draft.sizes)).clamp(min=1)
        return draft.induced(sample(draft.batch, keep, generator))
