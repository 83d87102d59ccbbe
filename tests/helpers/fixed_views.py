"""Methods whose views are not drawn, so that one process and several see the same."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from unittest.mock import patch

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from typing_extensions import override

from adapters import adgcl, autogcl, graphcl, joao, rgcl
from sega_anchor import AddCodingTree, AnchorView
from sega_anchor.augment import Augmentation, ViewDraft
from sega_anchor.backbones import ResGCN
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.training.contrast import Contrast
from sega_anchor.training.method import Trainable

HEIGHT = 3


@dataclass(frozen=True)
class DropEvery(Augmentation):
    """Drop every k-th node of each graph."""

    k: int

    @override
    def edit(self, draft: ViewDraft, generator: torch.Generator | None) -> ViewDraft:
        place = torch.arange(len(draft.batch)) - draft.ptr[draft.batch]
        return draft.induced(place % self.k < self.k - 1)


def most_likely(logits: Tensor, generator: object = None) -> Tensor:
    """Stand in for AutoGCL's random choice."""
    soft = logits.softmax(dim=1)
    hard = torch.zeros_like(soft).scatter(1, soft.argmax(dim=1, keepdim=True), 1.0)
    return hard + (soft - soft.detach())


def heaviest(
    weight: Tensor, graph: Tensor, take: Tensor, generator: object = None
) -> Tensor:
    """Stand in for RGCL's draw: the nodes of greatest weight, the first on ties."""
    marks = torch.zeros_like(graph, dtype=torch.bool)
    for g, count in enumerate(take.tolist()):
        own = (graph == g).nonzero().view(-1)
        marks[own[(-weight[own]).argsort(stable=True)[:count]]] = True
    return marks


@contextmanager
def without_chance() -> Iterator[None]:
    """Take chance out of the learned views."""
    gate = adgcl.gate

    def still(logits: Tensor, generator: object = None) -> Tensor:
        return gate(logits, uniform=torch.full_like(logits, 0.3))

    with ExitStack() as stack:
        for name, stand_in in (
            ("adapters.adgcl.method.gate", still),
            ("adapters.autogcl.view_generator.gumbel_softmax", most_likely),
            ("adapters.rgcl.views.sample_weighted", heaviest),
        ):
            stack.enter_context(patch(name, stand_in))
        yield


def models() -> Iterator[tuple[str, Trainable]]:
    """Yield every method, with and without an anchor, started alike."""
    small = {"hidden_channels": 8, "num_layers": 2, "height": HEIGHT}
    kinds = {
        "GraphCL": (graphcl.GraphCL, graphcl.Config(**small)),
        "JOAO": (joao.JOAO, joao.Config(**small)),
        "JOAOv2": (joao.JOAO, joao.Config(version=2, **small)),
        "JOAOv2 as released": (
            joao.JOAO,
            joao.Config(version=2, head="epoch", **small),
        ),
        "AD-GCL": (adgcl.ADGCL, adgcl.Config(**small)),
        "AutoGCL": (autogcl.AutoGCL, autogcl.Config(**small)),
        "AutoGCL, masked": (autogcl.AutoGCL, autogcl.Config(mask=True, **small)),
        "AutoGCL, released": (
            autogcl.AutoGCL,
            autogcl.Config(objective="released", **small),
        ),
        "RGCL": (rgcl.RGCL, rgcl.Config(**small)),
        "RGCL, transfer": (
            rgcl.RGCL,
            rgcl.Config(form="transfer", replaces="rationale", **small),
        ),
        "GraphCL, quantities": (
            graphcl.GraphCL,
            graphcl.Config(quantities=True, **small),
        ),
    }
    for name, (kind, config) in kinds.items():
        for anchored in (False, True):
            torch.manual_seed(0)
            anchor = kind.default_anchor(2, config) if anchored else None
            model = kind(2, config, anchor, torch.Generator().manual_seed(1))
            if isinstance(model, graphcl.GraphCL):
                model.augment = DropEvery(4)
            if isinstance(model, joao.JOAO):
                model.augmentations = [DropEvery(k) for k in range(3, 8)]
                model.probabilities[:] = torch.tensor([0.0, 0, 1, 0, 0])
                model.epoch_head.fill_(2)
            yield f"{name}, anchored: {anchored}", model.double()
    for anchored in (False, True):
        torch.manual_seed(0)
        encoder = ResGCN(2, 8)
        anchor = AnchorView(2, 8, 8, HEIGHT) if anchored else None
        model = Contrast(encoder, DropEvery(4), anchor)
        yield f"Contrast, anchored: {anchored}", model.double()


def graphs() -> list[Data]:
    """Return graphs of different sizes: 9 of them, for an uneven split."""
    return AddCodingTree(HEIGHT).map(list(SyntheticCommunities(num_graphs=9)))


def measured(model: Trainable, data: Batch) -> dict[str, Tensor]:
    """Return losses, gradients and running statistics of one pass over a batch."""
    model.train()
    data.x = data.x.double()
    found = {}
    if isinstance(model, adgcl.ADGCL):
        climbed = model.step(data)  # both halves, so the learner is moved as well
        found |= climbed
        model.zero_grad()
    out = model.replica(data)
    out["loss"].backward()
    found |= {name: value.detach() for name, value in out.items()}
    found |= {
        f"gradient of {name}": p.grad
        for name, p in model.named_parameters()
        if p.grad is not None
    }
    assert not any(value.requires_grad for value in model.buffers())
    found |= {f"state {k}": v for k, v in model.state_dict().items() if "running" in k}
    if isinstance(model, joao.JOAO):
        model.eval()
        found["estimate"] = model.estimate([data] * 5)
    return found
