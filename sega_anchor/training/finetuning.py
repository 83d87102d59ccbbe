"""The loop of fine-tuning: train on labels, score parts of the data as it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from typing_extensions import override

from ..distributed import count, gather, shard
from ..loader.epochs import batches, shuffled
from ..loader.packed_graphs import PackedGraphs
from ..loader.packed_loader import move_if_fits
from ..profile import phase
from .method import adam, descend
from .parallel import parallel
from .state import TrainingState

#: Score of each part after each epoch.
Curves = dict[str, list[float]]
#: From outputs ``(N, tasks)`` and labels to a number, the higher the better.
Score = Callable[[Tensor, Tensor], float]
#: From outputs and labels to the loss of a batch.
Loss = Callable[[Tensor, Tensor], Tensor]

_EVALUATED = 512  # graphs at once


@dataclass(frozen=True)
class Part:
    """A part of the data that is scored, and how.

    Args:
        index: which graphs, LongTensor.
        score: from their outputs and labels to a number, the higher the better.
    """

    index: Tensor
    score: Score


class Classifier(nn.Module):
    """An encoder and one linear layer.

    Args:
        represent: the method of the encoder that gives one vector per graph.
        encoder: the encoder.
        width: of these vectors.
        num_outputs: classes or tasks.
    """

    def __init__(
        self,
        encoder: nn.Module,
        represent: Callable[[Data], Tensor],
        width: int,
        num_outputs: int,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.represent = represent
        self.head = nn.Linear(width, num_outputs)

    @override
    def forward(self, data: Data) -> Tensor:
        """Return the outputs ``(num_graphs, num_outputs)``."""
        outputs: Tensor = self.head(self.represent(data))
        return outputs


def finetune(
    model: nn.Module,
    graphs: PackedGraphs,
    labels: Tensor,
    train: Tensor,
    parts: Mapping[str, Part],
    *,
    loss: Loss,
    lr: float,
    epochs: int,
    batch_size: int,
    seed: int,
    state: Path | None = None,
    device: str = "cpu",
    on_epoch: Callable[[], object] | None = None,
) -> Curves:
    """Train a model on labelled graphs with Adam and score it after each epoch.

    Args:
        model: from a batch to outputs ``(num_graphs, outputs)``.
        graphs: all graphs.
        labels: theirs, first dimension ``len(graphs)``.
        train: which to train on, LongTensor.
        parts: what is scored, by name.
        loss: from outputs and labels to the loss of a batch.
        lr: learning rate.
        epochs: how many.
        batch_size: graphs per step.
        seed: decides the orders.
        state: file with which an interrupted training goes on, at the same bits.
        device: where training happens.
        on_epoch: called after each epoch.

    Returns:
        For each part its score after each epoch.
    """
    replica = parallel(model, device)
    graphs = move_if_fits(graphs, torch.device(device))
    optimizer = adam(model.parameters(), lr)
    kept = TrainingState(state, [model], [optimizer])
    curves: Curves = kept.load().get("curves", {name: [] for name in parts})
    labels = labels.to(device)
    done = len(next(iter(curves.values()), []))
    for epoch in range(done + 1, epochs + 1):
        model.train()
        order = shuffled(len(train), seed, epoch)
        for at in batches(order, batch_size, 2 * count()):
            index = train[at]
            with phase("loading"):
                batch = graphs.batch(shard(index)).to(device, non_blocking=True)
            with phase("forward and backward"):
                outputs = gather(replica(batch))
                descend(loss(outputs, labels[index]), optimizer)
        for name, part in parts.items():
            with phase("evaluation"):
                outputs = outputs_of(model, graphs, part.index, device)
                curves[name].append(part.score(outputs, labels[part.index]))
        if on_epoch is not None:
            on_epoch()
        if kept.is_due():
            kept.save(curves=curves)
    kept.discard()
    return curves


@torch.no_grad()
def outputs_of(
    model: nn.Module, graphs: PackedGraphs, index: Tensor, device: str = "cpu"
) -> Tensor:
    """Return a model's outputs for some graphs, in evaluation mode."""
    model.eval()
    shared = len(index) >= count()
    parts = torch.split(shard(index) if shared else index, _EVALUATED)
    outputs = torch.cat([model(graphs.batch(at).to(device)) for at in parts])
    return gather(outputs) if shared else outputs
