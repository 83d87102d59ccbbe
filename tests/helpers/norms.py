"""BatchNorm with all its options, on one process or shared by several."""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from sega_anchor.distributed import gather, rank, world_size
from sega_anchor.nn import BatchNorm
from sega_anchor.training.parallel import parallel

CHANNELS = 4


@dataclass(frozen=True)
class Case:
    """A layer, and how many rows the first of two processes and the second have."""

    kind: type[nn.BatchNorm1d] = nn.BatchNorm1d
    sizes: tuple[int, int] = (5, 2)
    length: int | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def norm(self) -> nn.BatchNorm1d:
        """Return the layer, with numbers of its own."""
        torch.manual_seed(0)
        norm = self.kind(CHANNELS, **self.options).double()
        for parameter in norm.parameters():
            nn.init.normal_(parameter)
        return norm

    def batches(self) -> Tensor:
        """Return three batches of rows, or of sequences."""
        shape = 3, sum(self.sizes), CHANNELS, *([self.length] if self.length else [])
        random = torch.Generator().manual_seed(1)
        return 2 + 3 * torch.randn(shape, generator=random, dtype=torch.double)


CASES = {
    f"affine={affine}, momentum={momentum}, track={track}": Case(
        options={"affine": affine, "momentum": momentum, "track_running_stats": track}
    )
    for affine, momentum, track in product(
        (True, False), (0.1, 0.7, 0.0, None), (True, False)
    )
} | {
    "eps": Case(options={"eps": 0.5}),
    "sequences": Case(length=3),
    "sequences, one each": Case(sizes=(1, 1), length=3),
    "one row each": Case(sizes=(1, 1)),
    "nothing for one": Case(sizes=(7, 0)),
    "nothing for the other": Case(sizes=(0, 7)),
    "ours": Case(BatchNorm),
    "ours, a single row": Case(BatchNorm, sizes=(1, 0)),
    "ours, cumulative": Case(BatchNorm, options={"momentum": None}),
}


def measured(case: Case) -> dict[str, Tensor]:
    """Train a layer for three steps; return values, gradients and statistics."""
    model = parallel(case.norm())
    found = {}
    for step, batch in enumerate(case.batches()):
        own = batch.split(case.sizes)[rank()] if world_size() > 1 else batch
        x = own.clone().requires_grad_()
        model.zero_grad()
        out = gather(model(x))
        out.pow(3).sum().backward()
        found[f"value {step}"] = out.detach()
        assert x.grad is not None
        # Every rank has said what the whole loss says.
        found[f"gradient {step}"] = gather(x.grad) / world_size()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None
            key = f"gradient of {name.removeprefix('module.')} {step}"
            found[key] = parameter.grad.clone()
    state = model.state_dict()
    found |= {key.removeprefix("module."): value for key, value in state.items()}
    if case.options.get("track_running_stats", True):
        model.eval()
        found["evaluated"] = gather(model(own)).detach()
    return found
