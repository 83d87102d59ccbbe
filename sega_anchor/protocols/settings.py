"""Settings: what every run of the unsupervised protocol has in common."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, TypeAlias, TypedDict

import torch

from ..distributed import is_main
from ..evaluate import SVMKind
from ..training.published import FeatureSpec, Published, Visibility
from ..utils import check_at_least, check_choice, check_writable

#: How many, or which.
Seeds: TypeAlias = int | Sequence[int]
Protocol = Literal["honest", "paper"]


@dataclass(frozen=True)
class Settings:
    """How a run trains, evaluates and keeps records.

    Where the default is "as published", see ``METHOD.published(config, anchored)``.

    Args:
        protocol: "honest" chooses epoch and embedding on validation folds, shuffles
            batches and uses clean features; "paper" reproduces the published procedure
            with its quirks, selection on test folds included.
        labels: who sees node labels: "anchor" the tree's leaves only, "both" the graph
            encoder as well, "none" nobody, all see a constant; default as published.
        degree: who sees one-hot degrees, likewise; default as published.
        max_degree: cap of the one-hot degree; default as published, 10 for DD and the
            REDDIT sets, else 100 (AutoGCL: 100 for all).
        seeds: how many seeds, 0, 1, ..., or a list of them, such as [3, 4].
        epochs: training epochs; default as published. With 0 the networks are
            evaluated as they are drawn, batch norm with its initial statistics.
        evaluate_at: epochs after which the embeddings are evaluated, 0 before the
            first; none at all, (), needs no labels; default as published, as far as
            there are such epochs.
        batch_size: graphs per step, at least 2; default as published.
        classifier: "rbf" kernel or "linear"; default as published.
        folds: of the evaluation.
        distinct: evaluate on distinct graphs only: of graphs that Weisfeiler-Lehman
            finds equal, node labels included, the first of their most frequent class.
            Training sees all.
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
    labels: Visibility | None = None
    degree: Visibility | None = None
    max_degree: int | None = None
    seeds: Seeds = 5
    epochs: int | None = None
    evaluate_at: tuple[int, ...] | None = None
    batch_size: int | None = None
    classifier: SVMKind | None = None
    folds: int = 10
    distinct: bool = False
    root: str | None = None
    archives: str | None = None
    results: str | None = None
    jobs: int | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse values before any work starts."""
        check_choice("protocol", self.protocol, Protocol)
        # What a method's authors fixed may stay open; the protocol may not.
        check_choice("labels", self.labels, Visibility, optional=True)
        check_choice("degree", self.degree, Visibility, optional=True)
        check_choice("classifier", self.classifier, SVMKind, optional=True)
        if self.batch_size is not None:
            check_batch_size(self.batch_size)
        seed_numbers(self.seeds)
        for name, least in (("epochs", 0), ("jobs", 1)):
            if getattr(self, name) is not None:
                check_at_least(name, getattr(self, name), least)
        check_at_least("folds", self.folds, 2)
        check_device(self.device)
        if self.max_degree is not None and self.max_degree < 0:
            raise ValueError(f"max_degree must not be negative, got {self.max_degree}")
        if self.epochs is not None:
            _check_epochs(self.evaluate_at or (), self.epochs)

    def resolved(self, published: Published) -> Settings:
        """Return these settings with everything left open as published.

        Example:
            >>> Settings(epochs=5).resolved(Published()).evaluate_at
            (5,)
        """
        epochs = published.epochs if self.epochs is None else self.epochs
        evaluate_at = self.evaluate_at
        if evaluate_at is None:
            known = tuple(e for e in published.evaluate_at if e <= epochs)
            evaluate_at = known or (epochs,)
        _check_epochs(evaluate_at, epochs)
        return replace(
            self,
            labels=self.labels or published.features.labels,
            degree=self.degree or published.features.degree,
            epochs=epochs,
            evaluate_at=evaluate_at,
            batch_size=self.batch_size or published.batch_size,
            classifier=self.classifier or published.classifier,
        )

    def features(self, published: FeatureSpec) -> FeatureSpec:
        """Return what the encoders see: what is given here, the rest as published."""
        cap = published.max_degree if self.max_degree is None else self.max_degree
        return replace(
            published,
            labels=self.labels or published.labels,
            degree=self.degree or published.degree,
            max_degree=cap,
        )


def _check_epochs(evaluate_at: tuple[int, ...], epochs: int) -> None:
    if not all(0 <= epoch <= epochs for epoch in evaluate_at):
        raise ValueError(
            f"evaluate_at must name epochs from 0 to {epochs}, got {evaluate_at!r}"
        )


def check_batch_size(batch_size: int) -> None:
    """Raise ValueError unless a batch has negatives."""
    if not batch_size >= 2:
        raise ValueError(
            "batch_size must be at least 2, a lone graph has no negatives, "
            f"got {batch_size!r}"
        )


def check_device(name: str) -> None:
    """Raise ValueError unless torch can compute there."""
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


def seed_numbers(seeds: Seeds) -> tuple[int, ...]:
    """Return the seeds that a count or a list of them means.

    Raises:
        ValueError: for no seed, a negative one or one given twice.

    Example:
        >>> seed_numbers(2), seed_numbers([3, 4])
        ((0, 1), (3, 4))
    """
    try:
        if not isinstance(seeds, Iterable):
            check_at_least("seeds", seeds, 1)
            return tuple(range(seeds))
        found = tuple(map(operator.index, seeds))
    except TypeError:
        found = ()
    if not found or min(found) < 0 or len(set(found)) < len(found):
        raise ValueError(
            f"seeds must be a count or a list of different seeds, such as 5 or [3, 4], "
            f"got {seeds!r}"
        )
    return found


def check_results(folder: str | None) -> None:
    """Raise ValueError if records are to go where this process cannot write."""
    if folder is not None and is_main():
        check_writable(folder, "the results folder")


def check_options(
    options: Mapping[str, object], settings: type[Any], config: type[Any] | None = None
) -> None:
    """Raise ValueError for a name that is no option, naming the one that was meant.

    Args:
        options: by name, as given.
        settings: the dataclass whose fields are options.
        config: the dataclass of hyper-parameters that are given as ``config=``.

    Example:
        >>> check_options({"epoch": 5}, Settings)
        Traceback (most recent call last):
        ...
        ValueError: there is no option 'epoch'; did you mean 'epochs'?
    """
    known = [field.name for field in fields(settings)]
    inner = [] if config is None else [field.name for field in fields(config)]
    others = [] if config is None else ["anchor", "config", *inner]
    for name, value in options.items():
        if name in known:
            continue
        if name in inner:
            raise ValueError(
                f"{name} is a hyper-parameter of the method: "
                f"use config=Config({name}={value!r})"
            )
        near = difflib.get_close_matches(name, [*known, *others], n=1)
        guess = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
        raise ValueError(f"there is no option {name!r}; {guess}")


#: Fields that came later count where they are not this: so older records are found.
_LATER = {"distinct": False, "quantities": False, "replaces": "original"}


def identity(config: Any, *unimportant: str) -> dict[str, Any]:
    """Return the fields of a configuration that decide numbers, as JSON knows them.

    Args:
        config: a frozen dataclass.
        unimportant: fields that decide none, beside folders and seeds.
    """
    left_out = {"seeds", "root", "archives", "results", "jobs", *unimportant}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(config).items()
        if name not in left_out and (name not in _LATER or value != _LATER[name])
    }


class Options(TypedDict, total=False):
    """The fields of :class:`Settings` as keyword arguments of a ``run``."""

    protocol: Protocol
    labels: Visibility | None
    degree: Visibility | None
    max_degree: int | None
    seeds: Seeds
    epochs: int | None
    evaluate_at: tuple[int, ...] | None
    batch_size: int | None
    classifier: SVMKind | None
    folds: int
    distinct: bool
    root: str | None
    archives: str | None
    results: str | None
    jobs: int | None
    device: str
