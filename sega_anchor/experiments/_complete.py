"""complete: all runs on all data sets, by one process or several."""

from __future__ import annotations

import hashlib
import math
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from ..datasets import load
from ..protocols.settings import check_results, identity, seed_numbers
from ..report import Accuracy, Result, Tuned
from ..report.paired import MOST_SEEDS
from ..utils import check_at_least
from ..utils.locks import if_free
from ._run import Alternative, Run, is_setting


@dataclass(frozen=True)
class Cell:
    """A run on a data set.

    Args:
        run: what was trained.
        dataset: its name.
        result: over all seeds. Where there were alternatives, its ``config`` has them
            under "compared", each with its mean validation score.
        chosen: the alternative that was taken.
        validation: by which it was: mean validation score in per cent of each
            alternative over the first seeds; empty if there was but one.
    """

    run: Run
    dataset: str
    result: Result | Tuned
    chosen: Alternative
    validation: tuple[float, ...] = ()

    @property
    def score(self) -> Accuracy:
        """The number to report, on test data."""
        found = self.result
        return found.accuracy if isinstance(found, Result) else found.score


@dataclass(frozen=True)
class _Job:
    """Some seeds of one configuration on a data set."""

    run: Run
    dataset: str
    alternative: Alternative
    seeds: tuple[int, ...]

    @property
    def lock(self) -> Path | None:
        """What says in the results folder that a process is at it."""
        settings = self.alternative.settings
        # Processes that torchrun has started share every step.
        if settings.results is None or int(os.environ.get("WORLD_SIZE", "1")) > 1:
            return None
        about = (
            self.alternative.method.__name__,
            identity(self.alternative.config),
            self.alternative.anchor,
            identity(settings),
            self.dataset,
        )
        digest = hashlib.sha256(repr(about).encode()).hexdigest()[:12]
        return Path(settings.results, f"compare-{digest}")

    def finish(self, shuffled: bool = False) -> Result | Tuned:
        """Train and evaluate what is not on record."""
        seeds = list(self.seeds)
        if shuffled:
            random.shuffle(seeds)
        try:
            found = self.alternative.run(self.dataset, seeds)
        except ValueError as error:
            which = {"run": self.run.name, **self.alternative.choice}
            words = ", ".join(f"{name} {value!r}" for name, value in which.items())
            raise ValueError(f"{words} on {self.dataset}: {error}") from error
        if self.run.named:
            found = replace(found, config={**found.config, "label": self.run.name})
        if isinstance(found, Tuned):
            return found.by_seed()
        history = dict(sorted(found.history.items()))  # as accuracies are
        return replace(found, history=history, embeddings={})  # which are large


def complete(
    runs: Sequence[Run], datasets: Sequence[str], choose_on: int = 3
) -> Iterator[Cell]:
    """Yield each run on each data set, as soon as it is there.

    Where a run has alternatives, the one of the highest mean validation score over its
    first seeds is taken, on each data set; the other seeds do not take part. Test
    folds do not decide.

    What is on record is not computed again. Several processes with the same results
    folder share the work: each begins with what no other is at; then it helps the
    others, with seeds in another order.

    Args:
        runs: of different names.
        datasets: their names, see :func:`~sega_anchor.datasets.load`; with transfer
            those of :func:`~sega_anchor.protocols.transfer.finetune`.
        choose_on: how many seeds the choice is made on.

    Raises:
        ValueError: before any work starts, for what cannot be compared, or data sets
            that cannot be found.

    Example:
        >>> from adapters import graphcl
        >>> options = {"seeds": 1, "epochs": 1, "evaluate_at": (1,), "folds": 2}
        >>> (cell,) = complete([Run("GraphCL", graphcl, options)], ["synthetic"])
        >>> cell.result.config["label"], cell.result.accuracy.seeds
        ('GraphCL', 1)
    """
    datasets = list(dict.fromkeys(datasets))
    _check(runs, datasets, choose_on)
    validation: dict[tuple[str, str], dict[int, float]] = {}
    several = [
        _Job(run, dataset, alternative, _seeds(run)[:choose_on])
        for run, dataset in product(runs, datasets)
        if len(run.alternatives) > 1
        for alternative in run.alternatives
    ]
    for job, result in _share(several):
        found = validation.setdefault((job.run.name, job.dataset), {})
        number = job.run.alternatives.index(job.alternative)
        found[number] = result.validation.mean
    jobs = []
    for run, dataset in product(runs, datasets):
        found = validation.get((run.name, dataset), {0: 0.0})
        best = max(sorted(found), key=lambda n: _rank(found[n]))  # the first on ties
        jobs.append(_Job(run, dataset, run.alternatives[best], _seeds(run)))
    for job, result in _share(jobs):
        found = validation.get((job.run.name, job.dataset), {})
        means = tuple(found[number] for number in sorted(found))
        if means:
            each = zip(job.run.alternatives, means, strict=True)
            compared = [{**one.choice, "validation": mean} for one, mean in each]
            result = replace(result, config={**result.config, "compared": compared})
        yield Cell(job.run, job.dataset, result, job.alternative, means)


def _rank(validation: float) -> float:
    """Return what training that has diverged is last by."""
    return -math.inf if math.isnan(validation) else validation


def _share(jobs: Sequence[_Job]) -> Iterator[tuple[_Job, Result | Tuned]]:
    """Yield the result of each job, those last that another process is at."""
    held = []
    for job in jobs:
        with if_free(job.lock) as free:
            result = job.finish() if free else None
        if result is None:
            held.append(job)
        else:
            yield job, result
    for job in held:  # records see to it that no seed is trained twice
        yield job, job.finish(shuffled=True)


def _seeds(run: Run) -> tuple[int, ...]:
    return seed_numbers(run.settings.seeds)


def _check(runs: Sequence[Run], datasets: Sequence[str], choose_on: int) -> None:
    """Raise ValueError for what cannot be compared."""
    check_at_least("choose_on", choose_on, 1)
    names = [run.name for run in runs]
    for run in runs:
        if names.count(run.name) > 1:
            raise ValueError(f"two runs have the name {run.name!r}: rename one")
        if len(_seeds(run)) > MOST_SEEDS:
            raise ValueError(
                f"run {run.name!r} has {len(_seeds(run))} seeds, but the exact test "
                f"takes {MOST_SEEDS} at most: give fewer"
            )
        _check_choice(run)
    for folder in dict.fromkeys(run.settings.results for run in runs):
        check_results(folder)
    places = [
        (run.settings.root, run.settings.archives)
        for run in runs
        if not is_setting(run.method)
    ]
    for (root, archives), dataset in product(dict.fromkeys(places), datasets):
        load(dataset, root=root, archives=archives)
    for run, dataset in product(runs, datasets):
        if is_setting(run.method):
            run.method.check(dataset, [one.config for one in run.alternatives])


def _check_choice(run: Run) -> None:
    """Raise ValueError where nothing can choose among alternatives."""
    if len(run.alternatives) > 1 and not getattr(run.settings, "validates", True):
        raise ValueError(
            f"run {run.name!r} has {len(run.alternatives)} alternatives, but "
            f"protocol={run.settings.protocol!r} keeps no validation fold to choose "
            'on: give one of them, or protocol="honest"'
        )
