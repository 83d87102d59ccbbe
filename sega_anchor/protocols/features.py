"""What the two encoders see: the honest features, and the published ones."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform
from torch_geometric.utils import degree as degrees_of
from typing_extensions import override

from ..nn import degree_features
from ..training.published import FeatureSpec, Visibility
from .settings import Protocol

#: Caps of the one-hot degree that are not 100, where a method has none of its own
#: (repository Wu-Junran/SEGA).
DEGREE_CAPS = {"DD": 10, "REDDIT-BINARY": 10, "REDDIT-MULTI-5K": 10}


@dataclass(frozen=True)
class HonestFeatures(BaseTransform):  # type: ignore[misc]
    """Node labels or a constant 1, plus raw degrees where asked for.

    Self-loops are left as the data set has them: none in the TU sets, since GIN has its
    self term. Sets :obj:`x` for the graph encoder and :obj:`tree_x` for the leaves.

    Args:
        max_degree: cap of the one-hot degree.
        degree: ``"anchor"`` gives degrees to the tree's leaves only, as published;
            ``"both"`` to the graph encoder as well, the fair comparison; ``"none"`` to
            neither.
        labels: who sees node labels, likewise; the others see a constant 1.
        raw_degree: put the degree itself before its one-hot form.

    Example:
        >>> data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
        >>> out = HonestFeatures(max_degree=2, degree="anchor")(data)
        >>> out.x.shape, out.tree_x.shape
        (torch.Size([2, 1]), torch.Size([2, 4]))
    """

    max_degree: int
    degree: Visibility = "anchor"
    labels: Visibility = "both"
    raw_degree: bool = False

    @override
    def forward(self, data: Data) -> Data:
        """Set the features."""
        degrees = _degrees(data, self.max_degree, self.raw_degree)
        label = _labels(data, 0)
        data.x = _features(label, degrees, self.labels, self.degree, False)
        data.tree_x = _features(label, degrees, self.labels, self.degree, True)
        return data


@dataclass(frozen=True)
class PublishedFeatures(BaseTransform):  # type: ignore[misc]
    """Features and self-loops as the released code makes them, quirks included.

    The graph encoder gets ``loops`` copies of a self-loop on every node below
    ``edge_index.max()``, so not on the last one. The leaves get continuous node
    attributes, which the graph encoder mostly never sees, and the degree with one loop,
    if there are any.

    Args:
        max_degree: cap of the one-hot degree.
        num_attributes: how many leading columns of ``x`` are continuous attributes
            that are hidden from the graph encoder.
        loops: 2 in SEGA's repository, 1 in GraphCL's, JOAO's and RGCL's, else 0.
        degree, labels, raw_degree: as in :class:`HonestFeatures`; SEGA's released code
            is ``"anchor"``, ``"both"``, ``False``.

    Source: repository Wu-Junran/SEGA, unsupervised_TU/aug.py and treecl.py.

    Example:
        >>> data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
        >>> PublishedFeatures(max_degree=2)(data).edge_index
        tensor([[0, 1, 0, 0],
                [1, 0, 0, 0]])
    """

    max_degree: int
    num_attributes: int = 0
    loops: int = 2
    degree: Visibility = "anchor"
    labels: Visibility = "both"
    raw_degree: bool = False

    @override
    def forward(self, data: Data) -> Data:
        """Set the features and add the loops."""
        edge_index = data.edge_index
        last = int(edge_index.max()) if edge_index.numel() else 0
        loop = torch.arange(last).expand(2, last)
        data.edge_index = torch.cat([edge_index, *[loop] * min(self.loops, 1)], dim=1)
        degrees = _degrees(data, self.max_degree, self.raw_degree)
        data.edge_index = torch.cat([edge_index, *[loop] * self.loops], dim=1)
        data.edge_attr = None  # rows no longer match; the encoders do not use them
        leaf = _labels(data, 0)
        x = _labels(data, self.num_attributes)
        data.tree_x = _features(leaf, degrees, self.labels, self.degree, True)
        data.x = _features(x, degrees, self.labels, self.degree, False)
        return data


def feature_transform(
    spec: FeatureSpec, protocol: Protocol, dataset: str, attributes: int = 0
) -> HonestFeatures | PublishedFeatures:
    """Return the transform that makes what the encoders see.

    Args:
        spec: what that is.
        protocol: "honest" or "paper".
        dataset: its name, which decides an open cap of the degrees.
        attributes: how many leading columns of ``x`` are continuous attributes.
    """
    cap = spec.max_degree
    if cap is None:
        cap = DEGREE_CAPS.get(dataset, 100)
    seen = spec.degree, spec.labels, spec.raw_degree
    if protocol == "honest":
        return HonestFeatures(cap, *seen)
    hidden = 0 if spec.attributes else attributes
    return PublishedFeatures(cap, hidden, spec.loops, *seen)


def _labels(data: Data, skip: int) -> Tensor:
    """Return the features behind the first ``skip`` columns, or a constant 1."""
    if data.x is None or data.x.size(1) <= skip:
        return torch.ones(data.num_nodes, 1)
    labels: Tensor = data.x[:, skip:].float()
    return labels


def _degrees(data: Data, max_degree: int, raw_degree: bool) -> Tensor:
    """Return one-hot degrees, behind the degrees themselves if asked for."""
    one_hot = degree_features(data, max_degree)
    if not raw_degree:
        return one_hot
    number = degrees_of(data.edge_index[1], data.num_nodes).view(-1, 1)
    return torch.cat([number, one_hot], dim=1)


def _features(
    label: Tensor, degrees: Tensor, labels: Visibility, degree: Visibility, anchor: bool
) -> Tensor:
    """Return what one encoder sees: labels or a constant 1, and perhaps degrees."""
    sees = ("anchor", "both") if anchor else ("both",)
    x = label if labels in sees else torch.ones(len(label), 1)
    return torch.cat([x, degrees], dim=1) if degree in sees else x
