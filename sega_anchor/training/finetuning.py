"""The loop of fine-tuning: train on labels, score parts of the data as it goes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from typing_extensions import override

from ..distributed import gather, shard, world_size
from ..loader import PackedGraphs, PackedLoader
from ..loader.epochs import training_loader
from ..loader.packed_loader import move_if_fits
from ..profile import phase
from .method import adam, descend
from .parallel import parallel
from .reporter import OnEpoch, Reporter
from .state import TrainingState
from .train_epoch import train_epoch

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


def run_finetuning(
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
    fold: int | None = None,
    on_epoch: OnEpoch | None = None,
) -> tuple[Curves, TrainingState]:
    """Train a model on labelled graphs with Adam and score it after each epoch.

    The state stays when the training is finished: the caller discards it once the
    scores are on disk, so that a kill in between repeats nothing.

    Args:
        model: from a batch to outputs ``(num_graphs, outputs)``.
        graphs: all graphs.
        labels: theirs, first dimension ``len(graphs)``.
        train: which to train on, LongTensor.
        parts: what is scored, by name.
        loss: from outputs and labels to the loss of a batch.
        lr: learning rate.
        epochs: how many.
        batch_size: graphs per step, at least 2.
        seed: decides the orders.
        state: file from which an interrupted training resumes, with the same bits.
        device: where training happens.
        fold: its number, where there are several.
        on_epoch: called on rank 0 after each epoch, see :class:`.Reporter`, with the
            best score so far of a part "validation", in per cent.

    Returns:
        For each part its score after each epoch; and the state, to be discarded.
    """
    replica = parallel(model, device)
    labels = labels.to(device)
    graphs = move_if_fits(graphs.with_labels(labels), torch.device(device))
    optimizer = adam(model.parameters(), lr)
    kept = TrainingState(state, [model], [optimizer])
    loader, sampler = training_loader(graphs, train, batch_size, seed, device)

    def step(batch: Data) -> dict[str, Tensor]:
        with phase("forward and backward"):
            value = loss(gather(replica(batch)), gather(batch.y))
            descend(value, optimizer)
        return {"loss": value.detach()}

    place = kept.load()
    curves: Curves = place.setdefault("curves", {name: [] for name in parts})
    history: list[Any] = place.setdefault("history", [])
    about = {"phase": "fine-tuning", "seed": seed}
    if fold is not None:
        about["fold"] = fold
    reporter = Reporter(about, epochs, on_epoch)
    for epoch in reporter.epochs(done=len(history)):
        sampler.set_epoch(epoch)
        model.train()
        means = train_epoch(step, loader, kept, place)
        history.append(means)
        for name, part in parts.items():
            with phase("evaluation"):
                outputs = outputs_of(model, graphs, part.index, device)
                curves[name].append(part.score(outputs, labels[part.index]))
        if epoch == epochs or kept.is_due():
            kept.save(**place)
        others = {name: 100 * curve[-1] for name, curve in curves.items()}
        if others.pop("validation", None) is not None:
            means = {**means, "validation": 100 * max(curves["validation"])}
        reporter.tell(epoch, means, kept, place, **others)
    return curves, kept


@torch.no_grad()
def outputs_of(
    model: nn.Module, graphs: PackedGraphs, index: Tensor, device: str = "cpu"
) -> Tensor:
    """Return a model's outputs for some graphs, in evaluation mode."""
    model.eval()
    shared = len(index) >= world_size()
    own = shard(index) if shared else index
    loader = PackedLoader(
        graphs,
        _EVALUATED,
        generator=torch.Generator(),  # leaves torch's own to the network
        sampler=own.tolist(),
        device=device,
        world_size=1,
    )
    outputs = torch.cat([model(batch) for batch in loader])
    return gather(outputs) if shared else outputs
