"""The loop of pre-training: every graph once an epoch, no labels."""

from collections.abc import Callable
from typing import Any

from ..distributed import is_main
from ..loader import PackedGraphs
from ..loader.epochs import training_loader
from .method import Trainable
from .reporter import OnEpoch, Reporter
from .state import TrainingState
from .train_epoch import train_epoch

Epoch = dict[str, Any]


def run_pretraining(
    model: Trainable,
    graphs: PackedGraphs,
    *,
    epochs: int,
    batch_size: int,
    seed: int,
    state: TrainingState,
    device: str = "cpu",
    keep: Callable[[list[Epoch]], None] | None = None,
    on_epoch: OnEpoch | None = None,
) -> list[Epoch]:
    """Train a model on all graphs, in another order in each epoch.

    The state stays when the training is finished: the caller discards it once the
    result is on disk, so that a kill in between repeats nothing.

    Args:
        model: what is trained.
        graphs: the graphs, in memory or mapped from disk.
        epochs: how many.
        batch_size: graphs per step, at least 2.
        seed: decides the orders.
        state: from which an interrupted training resumes, with the same bits.
        device: where it happens.
        keep: writes, on rank 0, what is to be kept of the epochs done, which it gets
            after each, and once more when a training is taken up.
        on_epoch: called on rank 0 after each epoch, see :class:`.Reporter`.

    Returns:
        For each epoch ``{"loss": mean over steps, "seconds": time}``.
    """
    model.share(device)
    loader, sampler = training_loader(graphs, len(graphs), batch_size, seed, device)
    place = state.load()
    history: list[Epoch] = place.setdefault("history", [])

    def write() -> None:
        if keep is not None and is_main() and history:
            keep(history)

    if "epoch" not in place:  # a stop may have come before this was written
        write()
    model.train()
    reporter = Reporter({"phase": "pre-training", "seed": seed}, epochs, on_epoch)
    for epoch in reporter.epochs(done=len(history)):
        sampler.set_epoch(epoch)
        means = train_epoch(model.step, loader, state, place)
        history.append(means)
        # What is kept must never be ahead of the state.
        if epoch == epochs or keep is not None or state.is_due():
            state.save(**place)
        write()
        reporter.tell(epoch, means, state, place)
    return history
