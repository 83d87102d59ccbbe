"""TreeEncoder: messages from the leaves of a coding tree to its root."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn
from typing_extensions import override

from ..trees.build import check_height
from ..trees.levels import TreeLevels
from ..trees.quantities import QUANTITIES, LevelQuantities, statistics_width
from ..utils.scatter import pool, sum_rows
from .batch_norm import BatchNorm

Readout = Literal["sum", "mean", "root"]


class TreeEncoder(nn.Module):
    r"""Encode coding trees from the leaves to the root (the paper's tree encoder, HRN).

    .. math::
        x_a^{(i)} = \mathrm{MLP}^{(i)} \Big( \sum_{b \in children(a)} x_b^{(i-1)} \Big),
        \qquad i = 1 \dots height

    where each MLP is twice Linear - BatchNorm - ReLU. Levels 1 to ``height`` are pooled
    per graph, concatenated and mapped to ``out_channels`` by one linear layer.

    Args:
        in_channels: width of the leaf features.
        hidden_channels: width of every level.
        out_channels: width of the embedding.
        height: level of the roots, at least 2.
        readout: ``"sum"`` or ``"mean"`` pool every level, ``"root"`` takes the root
            alone. (default: ``"sum"``)
        link_input: also pool the leaf features themselves. (default: :obj:`False`)
        drop_root: leave the root level out of the read-out. (default: :obj:`False`)
        dropout: share of the embedding dropped in training. (default: :obj:`0.0`)
        quantities: let the encoder see what the tree knows of its graph: normalised
            :func:`~sega_anchor.trees.quantities.tree_quantities` stand beside the
            features of the leaves and beside each sum over children, and
            :func:`~sega_anchor.trees.quantities.tree_statistics` beside what the
            read-out pools, on the scale of it. Ours, not the paper's.
            (default: :obj:`False`)

    Raises:
        ValueError: for sizes below 1, a height below 2, an unknown read-out, or
            ``readout="root"`` with ``drop_root``.

    Source: Wu et al., ICML 2023, section 3.3; repository Wu-Junran/SEGA, hrn.py. A
    level with a single node in training is normalised by the running statistics,
    where plain BatchNorm fails.

    Example:
        >>> from torch_geometric.data import Data
        >>> from sega_anchor import AddCodingTree
        >>> from sega_anchor.trees.levels import tree_levels
        >>> path = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
        >>> levels = tree_levels(AddCodingTree(height=2)(path), height=2)
        >>> TreeEncoder(4, 8, 16, height=2)(torch.ones(3, 4), levels).shape
        torch.Size([1, 16])
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        height: int,
        readout: Readout = "sum",
        link_input: bool = False,
        drop_root: bool = False,
        dropout: float = 0.0,
        quantities: bool = False,
    ) -> None:
        super().__init__()
        for name, value, least in (
            ("in_channels", in_channels, 1),
            ("hidden_channels", hidden_channels, 1),
            ("out_channels", out_channels, 1),
        ):
            if value < least:
                raise ValueError(f"{name} must be at least {least}, got {value!r}")
        check_height(height)
        if readout not in ("sum", "mean", "root"):
            raise ValueError(
                f"readout must be 'sum', 'mean' or 'root', got {readout!r}"
            )
        if readout == "root" and drop_root:
            raise ValueError(
                "readout='root' leaves nothing to read with drop_root=True"
            )
        self.height = height
        self.readout = readout
        self.link_input = link_input
        self.drop_root = drop_root
        self.quantities = quantities
        beside = len(QUANTITIES) if quantities else 0
        widths = [in_channels + beside] + [hidden_channels] * height
        self.mlps = nn.ModuleList(
            _mlp(below + beside, above) for below, above in pairwise(widths)
        )
        self.read = self._levels_read()
        pooled = sum(widths[level] for level in self.read)
        if quantities:
            statistics = statistics_width(height)
            # Not affine, as linear layers follow: no gradient goes below the leaves.
            self.norms = nn.ModuleList(BatchNorm(beside, affine=False) for _ in widths)
            self.statistics_norm = BatchNorm(statistics, affine=False)
            self.pooled_norm = BatchNorm(pooled, affine=False)
            pooled += statistics
        self.align = nn.Linear(pooled, out_channels)
        self.dropout = nn.Dropout(dropout)

    @override
    def extra_repr(self) -> str:
        """Name what the submodules do not show."""
        return (
            f"height={self.height}, readout={self.readout!r}, "
            f"link_input={self.link_input}, drop_root={self.drop_root}"
            f"{', quantities=True' if self.quantities else ''}"
        )

    def _levels_read(self) -> list[int]:
        first = self.height if self.readout == "root" else 1
        last = self.height - 1 if self.drop_root else self.height
        return [0] * self.link_input + list(range(first, last + 1))

    @override
    def forward(
        self, x: Tensor, levels: TreeLevels, quantities: LevelQuantities | None = None
    ) -> Tensor:
        """Return embeddings ``(num_graphs, out_channels)``.

        Args:
            x: leaf features ``(num_nodes, in_channels)``.
            levels: from :func:`~sega_anchor.trees.levels.tree_levels`.
            quantities: from :func:`~sega_anchor.trees.quantities.level_quantities`, if
                the encoder was made to see them.
        """
        seen = self._normalised(quantities)
        content = [_beside(x, seen[0])]
        for mlp, parents, above, own in zip(
            self.mlps, levels.parents, levels.graphs[1:], seen[1:], strict=True
        ):
            below = sum_rows(content[-1], parents, above.numel())
            content.append(mlp(_beside(below, own)))
        parts = [
            pool(
                content[level],
                levels.graphs[level],
                levels.num_graphs,
                mean=self.readout == "mean",
            )
            for level in self.read
        ]
        pooled = torch.cat(parts, dim=1)
        statistics = self._statistics(quantities, pooled)
        embedding: Tensor = self.dropout(self.align(_beside(pooled, statistics)))
        return embedding

    def _statistics(
        self, quantities: LevelQuantities | None, pooled: Tensor
    ) -> Tensor | None:
        """Return normalised statistics on the scale of what is pooled.

        Sums over many nodes would drown them, in the linear layer and for whatever
        compares embeddings by distance.
        """
        if quantities is None:
            return None
        statistics = quantities.statistics.to(self.align.weight.dtype)
        normalised: Tensor = self.statistics_norm(statistics)
        self.pooled_norm(pooled.detach())  # keeps account of the scale, no more
        variance = self.pooled_norm.running_var
        assert isinstance(variance, Tensor)
        return normalised * variance.mean().sqrt()

    def _normalised(
        self, quantities: LevelQuantities | None
    ) -> Sequence[Tensor | None]:
        """Return what stands beside the content of each level, if anything."""
        if (quantities is None) == self.quantities:
            raise ValueError(
                f"the encoder was made with quantities={self.quantities}, but "
                f"{'none' if quantities is None else 'some'} were given: see "
                "level_quantities"
            )
        if quantities is None:
            return [None] * (self.height + 1)
        return [
            norm(nodes.to(self.align.weight.dtype))
            for norm, nodes in zip(self.norms, quantities.nodes, strict=True)
        ]


def _beside(content: Tensor, quantities: Tensor | None) -> Tensor:
    if quantities is None:
        return content
    return torch.cat([content, quantities], dim=1)


def _mlp(in_channels: int, out_channels: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(in_channels, out_channels),
        BatchNorm(out_channels),
        nn.ReLU(inplace=True),
        nn.Linear(out_channels, out_channels),
        BatchNorm(out_channels),
        nn.ReLU(inplace=True),
    )
