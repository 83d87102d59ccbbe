"""AttributeMask: replace the features of random nodes."""

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Generator, Tensor
from torch_geometric.utils import scatter
from typing_extensions import override

from ..utils.checks import check_choice
from ._random import check_ratio, part, sample
from ._view_draft import Augmentation, ViewDraft

MaskMode = Literal["noise", "mean"]


@dataclass(frozen=True)
class AttributeMask(Augmentation):
    """Replace the features of floor(ratio * n) of the n nodes of each graph.

    Nodes are drawn uniformly without replacement. With ``"noise"`` each of their
    features becomes Gaussian, mean 0.5, standard deviation 0.5 (released unsupervised
    code); with ``"mean"`` the mean over the graph (GraphCL's semi-supervised code).

    Args:
        ratio: share of the nodes, 0 to 1 (released code: 0.1).
        mode: ``"noise"`` or ``"mean"``.

    Raises:
        ValueError: for a ratio outside [0, 1] or an unknown mode; when called, for data
            without floating-point ``x``.

    Example:
        >>> from torch_geometric.data import Data
        >>> x, edge_index = torch.zeros(10, 2), torch.tensor([[0, 1], [1, 2]])
        >>> view = AttributeMask(ratio=0.2)(Data(x=x, edge_index=edge_index))
        >>> int((view.x != 0).any(dim=1).sum())
        2
    """

    ratio: float = 0.2
    mode: MaskMode = "noise"

    def __post_init__(self) -> None:
        check_ratio(self.ratio)
        check_choice("mode", self.mode, MaskMode)

    @override
    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        x = draft.x
        if x is None or not x.is_floating_point():
            found = "None" if x is None else str(x.dtype)
            raise ValueError(f"x is {found}; AttributeMask needs float features")
        mask = sample(draft.batch, part(self.ratio, draft.sizes), generator)
        row = mask.nonzero().view(-1)
        if self.mode == "noise":
            new = _noise(x[row], generator)
        else:
            new = scatter(x, draft.batch, reduce="mean")[draft.batch[row]]
        return replace(draft, x=x.index_put((row,), new))


def _noise(like: Tensor, generator: Generator | None) -> Tensor:
    device = like.device if generator is None else generator.device
    normal = torch.randn(
        like.shape, generator=generator, device=device, dtype=like.dtype
    )
    return normal.to(like.device) * 0.5 + 0.5
