"""The loop of pre-training, which can be stopped and taken up anywhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from ..distributed import count, rank, shard
from ..loader.epochs import batches, shuffled
from ..loader.packed_graphs import PackedGraphs
from ..loader.packed_loader import move_if_fits
from ..profile import phase
from .contrast import Contrast
from .state import TrainingState

Epoch = dict[str, Any]


def pretrain(
    model: Contrast,
    graphs: PackedGraphs,
    *,
    epochs: int,
    batch_size: int,
    seed: int,
    state: TrainingState,
    device: str = "cpu",
    on_epoch: Callable[[int, list[Epoch]], None] | None = None,
) -> list[Epoch]:
    """Train a model on all graphs, in a fresh order in each epoch.

    Args:
        model: what is trained.
        graphs: the graphs, in memory or mapped from disk.
        epochs: how many.
        batch_size: graphs per step, at least 2.
        seed: decides the orders.
        state: where the training is kept and found again, at the same bits.
        device: where it happens.
        on_epoch: called after each epoch with its number, from 1, and what is returned;
            of several processes by rank 0 alone.

    Returns:
        For each epoch ``{"loss": mean over steps, "seconds": time}``.
    """
    model.share(device)
    graphs = move_if_fits(graphs, torch.device(device))
    place = state.load()
    history: list[Epoch] = place.get("history", [])
    model.train()
    for epoch in range(len(history) + 1, epochs + 1):
        parts = batches(shuffled(len(graphs), seed, epoch), batch_size, 2 * count())
        done = place.pop("losses", [])
        before = place.pop("seconds", 0.0)
        losses: list[Tensor | float] = list(done)
        began = time.monotonic()
        bar = tqdm(
            parts[len(done) :],
            desc=f"Pre-training, epoch {epoch}/{epochs}",
            initial=len(done),
            total=len(parts),
            disable=None if rank() == 0 else True,
            leave=False,
        )
        for index in bar:
            with phase("loading"):
                batch = graphs.batch(shard(index)).to(device, non_blocking=True)
            losses.append(model.step(batch)["loss"])
            if state.is_due() and len(losses) < len(parts):
                seconds = before + time.monotonic() - began
                told = [float(loss) for loss in losses]
                state.save(history=history, losses=told, seconds=seconds)
        loss = sum(float(loss) for loss in losses) / len(losses)
        seconds = before + time.monotonic() - began
        history.append({"loss": loss, "seconds": round(seconds, 3)})
        if on_epoch is not None and rank() == 0:
            on_epoch(epoch, history)
        state.save(history=history)
    return history
