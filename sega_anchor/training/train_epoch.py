"""train_epoch: one epoch of any training, which can be stopped within it."""

import math
import time
from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from ..loader import PackedLoader
from ..utils.progress import progress_bar
from .state import TrainingState

#: From a batch to what its step measured, tensors without dimensions.
Step = Callable[[Data], dict[str, Tensor]]


def train_epoch(
    step: Step, loader: PackedLoader, state: TrainingState, place: dict[str, Any]
) -> dict[str, float]:
    """Make a step on each batch of an epoch; return the means of what they measured.

    Every training goes through this function, so all keep one promise: a stop costs a
    minute at most, within an epoch too, and what follows has the same bits.

    Args:
        step: makes one optimisation step.
        loader: the batches of the epoch.
        state: saved once a minute.
        place: position of the training, as ``state.load()`` gave it: saved again, but
            for its entry "epoch", the finished part of an interrupted epoch.

    Returns:
        The mean over the steps of each number, and the time they took as "seconds".

    Raises:
        ValueError: if a mean is NaN or infinite.
    """
    begun = place.pop("epoch", None)
    steps: list[dict[str, Any]] = []
    start = time.perf_counter()
    if begun is not None:
        loader.load_state_dict(begun["loader"])
        steps, start = list(begun["steps"]), start - begun["seconds"]
    bar = progress_bar(
        loader,
        desc="Batches",
        initial=len(steps),
        total=len(loader),
        delay=1.0,  # most epochs are shorter
    )
    for batch in bar:
        steps.append(step(batch))
        if state.is_due():
            steps = [{name: float(value) for name, value in s.items()} for s in steps]
            under_way = {
                "loader": loader.state_dict(),
                "steps": steps,
                "seconds": time.perf_counter() - start,
            }
            state.save(**place, epoch=under_way)
    means = {name: sum(float(s[name]) for s in steps) / len(steps) for name in steps[0]}
    for name, mean in means.items():
        if not math.isfinite(mean):
            raise ValueError(
                f"{name} is {mean} after an epoch: training diverged, lower the "
                "learning rate"
            )
    return {**means, "seconds": time.perf_counter() - start}
