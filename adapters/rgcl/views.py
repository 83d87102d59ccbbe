"""RGCL's views: nodes kept by chance, in proportion to how much they matter."""

from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Generator, Tensor
from torch_geometric.utils import scatter
from typing_extensions import override

from sega_anchor.augment import Augmentation, ViewDraft
from sega_anchor.utils import check_choice

Side = Literal["rationale", "complement"]
Complement = Literal["same", "rest"]
Rounding = Literal["exact", "released"]


@dataclass(frozen=True)
class RationaleView(Augmentation):
    r"""Keep nodes, drawn without replacement in proportion to their scores.

    Of the n nodes of a graph :math:`n - \lfloor n (1 - \rho) \rfloor` are kept, with
    weight :math:`s_i + 0.001` for the rationale view and
    :math:`\max_j s_j - s_i + 0.001` for the complement view.

    Args:
        score: :math:`s`, ``(num_nodes,)`` of the batch that the view is made of.
        rho: share of the nodes to keep, 0 < rho <= 1.
        side: "rationale" or "complement".
        complement: how many nodes a complement view keeps: "same" as the rationale
            view, as released, or the "rest", :math:`\lfloor n (1 - \rho) \rfloor`.
            At least one node is always kept.
        rounding: "exact", or "released": the product is rounded down as floating point
            has it, so that with rho = 0.9 ten nodes lose none.

    Raises:
        ValueError: for a value that cannot be used; on a call, if the scores are not
            those of the batch.

    Source: Li et al., ICML 2022; repository lsh0520/RGCL, unsupervised_TU/aug.py.

    Example:
        >>> from torch_geometric.data import Data
        >>> data = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=10)
        >>> RationaleView(torch.full((10,), 0.1), rho=0.8)(data).num_nodes
        8
    """

    score: Tensor = field(repr=False)
    rho: float = 0.9
    side: Side = "rationale"
    complement: Complement = "same"
    rounding: Rounding = "exact"

    def __post_init__(self) -> None:
        """Refuse values that cannot be used."""
        check_rho(self.rho)
        check_choice("side", self.side, Side)
        check_choice("complement", self.complement, Complement)
        check_choice("rounding", self.rounding, Rounding)

    @override
    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        if self.score.shape != draft.batch.shape:
            raise ValueError(
                f"score has shape {tuple(self.score.shape)}, but the batch has "
                f"{len(draft.batch)} nodes: give one score for each"
            )
        dropped = drop_count(draft.sizes, self.rho, self.rounding)
        weight = self.score
        keep = draft.sizes - dropped
        if self.side == "complement":
            weight = scatter(weight, draft.batch, reduce="max")[draft.batch] - weight
            keep = dropped if self.complement == "rest" else keep
        kept = sample_weighted(
            weight + 0.001, draft.batch, keep.clamp(min=1), generator
        )
        return draft.induced(kept)


def sample_weighted(
    weight: Tensor, graph: Tensor, take: Tensor, generator: Generator | None = None
) -> Tensor:
    """Mark nodes of each graph, drawn one after the other in proportion to weights.

    The same distribution as numpy's choice without replacement, for all graphs at
    once: each node gets an exponential waiting time of rate ``weight``, and the
    first to come are taken.

    Args:
        weight: positive, ``(num_nodes,)``.
        graph: the graph of each node, ascending, ``(num_nodes,)``.
        take: how many to take from each graph, ``(num_graphs,)``; more than there are
            means all.
        generator: source of randomness, on any device.

    Returns:
        Marks ``(num_nodes,)``.

    Example:
        >>> graph = torch.tensor([0, 0, 0, 1])
        >>> sample_weighted(torch.ones(4), graph, torch.tensor([2, 1])).sum()
        tensor(3)
    """
    device = weight.device if generator is None else generator.device
    wait = torch.empty(weight.shape, dtype=torch.double, device=device)
    wait = wait.exponential_(generator=generator).to(weight.device) / weight
    order = wait.argsort()
    order = order[graph[order].argsort(stable=True)]
    sizes = graph.bincount(minlength=len(take))
    place = torch.arange(len(graph), device=graph.device)
    place = place - (sizes.cumsum(0) - sizes)[graph]
    marks = torch.zeros_like(graph, dtype=torch.bool)
    return marks.index_put((order,), place < take[graph])


def drop_count(sizes: Tensor, rho: float, rounding: Rounding = "exact") -> Tensor:
    """Return how many nodes graphs of these sizes lose, ``(num_graphs,)``.

    Example:
        >>> drop_count(torch.tensor([10, 20]), rho=0.9)
        tensor([1, 2])
        >>> drop_count(torch.tensor([10, 20]), rho=0.9, rounding="released")
        tensor([0, 1])
    """
    product = sizes.double() * (1.0 - rho)
    if rounding == "exact":
        product += 1e-6  # 1 - 0.9 is a little less than a tenth
    return product.long()


def check_rho(rho: float) -> None:
    """Raise ValueError unless rho is a share of nodes to keep."""
    if not 0 < rho <= 1:
        raise ValueError(
            f"rho is {rho!r}; give the share of nodes to keep, such as 0.9"
        )
