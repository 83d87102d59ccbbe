"""What the two encoders see: the honest features, and the published ones."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform
from typing_extensions import override

from ..view import degree_features

Degree = Literal["anchor", "both", "none"]

#: Caps of the one-hot degree where they are not 100 (repository Wu-Junran/SEGA).
DEGREE_CAPS = {"DD": 10, "REDDIT-BINARY": 10, "REDDIT-MULTI-5K": 10}


class HonestFeatures(BaseTransform):  # type: ignore[misc]
    """Node labels or a constant 1, plus raw degrees where asked for.

    Self-loops are left as the data set has them: none in the TU sets, since GIN has its
    self term. Sets :obj:`x` for the graph encoder and :obj:`tree_x` for the leaves.

    Args:
        max_degree: cap of the one-hot degree.
        degree: ``"anchor"`` gives degrees to the tree's leaves only, as published;
            ``"both"`` to the graph encoder as well, the fair comparison; ``"none"`` to
            neither.

    Example:
        >>> data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
        >>> out = HonestFeatures(max_degree=2, degree="anchor")(data)
        >>> out.x.shape, out.tree_x.shape
        (torch.Size([2, 1]), torch.Size([2, 4]))
    """

    def __init__(self, max_degree: int, degree: Degree = "anchor") -> None:
        self.max_degree = max_degree
        self.degree = degree

    @override
    def forward(self, data: Data) -> Data:
        """Set the features."""
        x = _labels(data, 0)
        rich = torch.cat([x, degree_features(data, self.max_degree)], dim=1)
        data.x = rich if self.degree == "both" else x
        data.tree_x = x if self.degree == "none" else rich
        return data

    @override
    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(max_degree={self.max_degree}, "
            f"degree={self.degree!r})"
        )


class PublishedFeatures(BaseTransform):  # type: ignore[misc]
    """Features and self-loops as the released code makes them, quirks included.

    The graph encoder gets ``loops`` copies of a self-loop on every node below
    ``edge_index.max()``, so not on the last one. The leaves get continuous node
    attributes, which the graph encoder never sees, and the degree with one loop.

    Args:
        max_degree: cap of the one-hot degree.
        num_attributes: how many leading columns of ``x`` are continuous attributes.
        loops: 2 in SEGA's repository, 1 in GraphCL's.
        degree: as in :class:`HonestFeatures`; the released code is ``"anchor"``.

    Source: repository Wu-Junran/SEGA, unsupervised_TU/aug.py and treecl.py.

    Example:
        >>> data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
        >>> PublishedFeatures(max_degree=2)(data).edge_index
        tensor([[0, 1, 0, 0],
                [1, 0, 0, 0]])
    """

    def __init__(
        self,
        max_degree: int,
        num_attributes: int = 0,
        loops: int = 2,
        degree: Degree = "anchor",
    ) -> None:
        self.max_degree = max_degree
        self.num_attributes = num_attributes
        self.loops = loops
        self.degree = degree

    @override
    def forward(self, data: Data) -> Data:
        """Set the features and add the loops."""
        edge_index = data.edge_index
        last = int(edge_index.max()) if edge_index.numel() else 0
        loop = torch.arange(last).expand(2, last)
        data.edge_index = torch.cat([edge_index, loop], dim=1)
        degrees = degree_features(data, self.max_degree)
        data.edge_index = torch.cat([edge_index, *[loop] * self.loops], dim=1)
        data.edge_attr = None  # rows no longer match; the encoders do not use them
        leaf = _labels(data, 0)
        x = _labels(data, self.num_attributes)
        data.tree_x = leaf if self.degree == "none" else torch.cat([leaf, degrees], 1)
        data.x = torch.cat([x, degrees], 1) if self.degree == "both" else x
        return data

    @override
    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(max_degree={self.max_degree}, "
            f"num_attributes={self.num_attributes}, loops={self.loops}, "
            f"degree={self.degree!r})"
        )


def _labels(data: Data, skip: int) -> Tensor:
    """Return the features behind the first ``skip`` columns, or a constant 1."""
    if data.x is None or data.x.size(1) <= skip:
        return torch.ones(data.num_nodes, 1)
    labels: Tensor = data.x[:, skip:].float()
    return labels
