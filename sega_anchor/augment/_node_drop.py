"""NodeDrop: drop random nodes."""

from dataclasses import dataclass

from torch import Generator
from typing_extensions import override

from ._random import check_ratio, part, sample
from ._view_draft import Augmentation, ViewDraft


@dataclass(frozen=True)
class NodeDrop(Augmentation):
    """Drop floor(ratio * n) of the n nodes of each graph, with their edges.

    Nodes are drawn uniformly without replacement; at ratio 1 one node is kept. The
    released code removes the dropped nodes in its clean-up, see :class:`.Released`.

    Args:
        ratio: share of the nodes, 0 to 1 (released code: 0.1).

    Raises:
        ValueError: for a ratio outside [0, 1].

    Source: You et al., NeurIPS 2020, Table 1.

    Example:
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
