"""Attribute masking."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Generator, Tensor
from torch_geometric.utils import scatter
from typing_extensions import override

from sega_anchor.augment._draft import Augmentation, ViewDraft
from sega_anchor.augment._random import check_mode, check_ratio, part, sample


@dataclass(frozen=True)
class AttributeMask(Augmentation):
    """Replace the features of floor(ratio * n) of the n nodes of each graph.

    Nodes are drawn uniformly without replacement. `"noise"`: each entry of their
    rows is Gaussian, mean 0.5, standard deviation 0.5 (released unsupervised code).
    `"mean"`: the mean row of the graph (GraphCL's semi-supervised code).

    Args:
        ratio: share of the nodes, 0 to 1 (released code: 0.1).
        mode: as above.

    Raises:
        ValueError: if the ratio is no such share or the mode unknown; on a call, if
            the data has no floating-point `x`.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> x, edge_index = torch.zeros(10, 2), torch.tensor([[0, 1], [1, 2]])
    >>> view = AttributeMask(ratio=0.2)(Data(x=x, edge_index=edge_index))
    >>> int((view.x != 0).any(dim=1).sum())
    2
    """

    ratio: float = 0.2
    mode: Literal["noise", "mean"] = "noise"

    def __post_init__(self) -> None:
        check_ratio(self.ratio)
        check_mode(self.mode, ("noise", "mean"))

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
