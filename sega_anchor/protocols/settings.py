"""Settings: what every run of the unsupervised protocol has in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict, get_args

import torch

from .features import Degree

Protocol = Literal["honest", "paper"]


@dataclass(frozen=True)
class Settings:
    """How a run trains, evaluates and keeps records.

    Args:
        protocol: "honest" chooses epoch and embedding on validation folds, shuffles
            batches and uses clean features; "paper" reproduces the published procedure
            with its quirks, selection on test folds included.
        degree: who gets one-hot degrees: "anchor" the tree's leaves only, as
            published; "both" the graph encoder as well; "none" nobody.
        max_degree: cap of the one-hot degree; default as published, 10 for DD and the
            REDDIT sets, else 100.
        seeds: how many seeds, 0, 1, ...
        epochs: training epochs.
        evaluate_at: epochs after which the embeddings are evaluated; none at all, (),
            needs no labels.
        batch_size: graphs per step, at least 2.
        root: folder in which data sets are kept.
        archives: folder of NAME.zip archives, looked at before any download.
        results: folder for the record; a run found there is not repeated.
        jobs: threads for the evaluation; default one per core.
        device: where training happens, such as "cpu" or "cuda".

    Raises:
        ValueError: for a value that cannot be used.

    Example:
        >>> Settings(batch_size=1)
        Traceback (most recent call last):
        ...
        ValueError: batch_size must be at least 2, a lone graph has no negatives, got 1
    """

    protocol: Protocol = "honest"
    degree: Degree = "anchor"
    max_degree: int | None = None
    seeds: int = 5
    epochs: int = 20
    evaluate_at: tuple[int, ...] = (10, 20)
    batch_size: int = 128
    root: str | None = None
    archives: str | None = None
    results: str | None = None
    jobs: int | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse values before any work starts."""
        for name, options in (("protocol", Protocol), ("degree", Degree)):
            value = getattr(self, name)
            if value not in get_args(options):
                known = " or ".join(map(repr, get_args(options)))
                raise ValueError(f"{name} must be {known}, got {value!r}")
        if self.batch_size < 2:
            raise ValueError(
                "batch_size must be at least 2, a lone graph has no negatives, "
                f"got {self.batch_size!r}"
            )
        for name in ("seeds", "epochs", "jobs"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, got {value!r}")
        _check_device(self.device)
        if self.max_degree is not None and self.max_degree < 0:
            raise ValueError(f"max_degree must not be negative, got {self.max_degree}")
        late = [e for e in self.evaluate_at if not 1 <= e <= self.epochs]
        if late:
            raise ValueError(
                f"evaluate_at must name epochs from 1 to {self.epochs}, "
                f"got {self.evaluate_at!r}"
            )


def _check_device(name: str) -> None:
    try:
        kind = torch.device(name).type
    except RuntimeError as error:
        raise ValueError(
            f"device must be a name such as 'cpu' or 'cuda', got {name!r}"
        ) from error
    if kind == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device is {name!r}, but torch finds no GPU here: use device='cpu'"
        )


class Options(TypedDict, total=False):
    """The fields of :class:`Settings` as keyword arguments of a ``run``."""

    protocol: Protocol
    degree: Degree
    max_degree: int | None
    seeds: int
    epochs: int
    evaluate_at: tuple[int, ...]
    batch_size: int
    root: str | None
    archives: str | None
    results: str | None
    jobs: int | None
    device: str
