"""complete: all runs on all data sets, by one process or several."""

from __future__ import annotations

import hashlib
import math
import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from ..datasets import load
from ..protocols.settings import check_results, identity, seed_numbers
from ..report import Accuracy, Result, Tuned
from ..report.paired import MOST_SEEDS
from ..report.result import Choice
from ..utils import check_at_least, check_choice
from ..utils.locks import if_free
from ._run import Alternative, Run, is_setting


@dataclass(frozen=True)
class Cell:
    """A run on a data set.

    Args:
        run: what was trained.
        dataset: its name.
        result: over all seeds. Where there were alternatives, its ``config`` has them
            under "compared", each with the mean score that it was judged by.
        chosen: the alternative that was taken.
        compared: by which it was: mean score in per cent of each alternative over the
            first seeds, on validation folds as a rule; empty if there was but one.
    """

    run: Run
    dataset: str
    result: Result | Tuned
    chosen: Alternative
    compared: tuple[float, ...] = ()

    @property
    def candidates(self) -> int:
        """Among how many the number to report was chosen, alternatives included."""
        return max(len(self.compared), 1) * self.score.candidates

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
    runs: Sequence[Run],
    datasets: Sequence[str],
    choose_on: int = 3,
    finalists: int = 1,
    by: Choice = "validation",
) -> Iterator[Cell]:
    """Yield each run on each data set, as soon as it is there.

    Where a run has alternatives, the best of them over its first seeds are trained with
    all seeds, on each data set, and of these the best is taken. Test folds do not
    decide, unless that is asked for.

    What is on record is not computed again. Several processes with the same results
    folder share the work: each begins with what no other is at; then it helps the
    others, with seeds in another order.

    Args:
        runs: of different names.
        datasets: their names, see :func:`~sega_anchor.datasets.load`; with transfer
            those of :func:`~sega_anchor.protocols.transfer.finetune`.
        choose_on: how many seeds the choice is made on.
        finalists: how many alternatives get all seeds.
        by: what decides, the mean "validation" score of an alternative or, as papers
            do, its best mean "test" score.

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
    check_at_least("choose_on", choose_on, 1)
    check_at_least("finalists", finalists, 1)
    check_choice("by", by, Choice)
    _check(runs, datasets, by)
    places = list(product(runs, datasets))
    first: dict[tuple[Run, str], dict[Alternative, float]] = {}
    several = [
        _Job(run, dataset, alternative, _seeds(run)[:choose_on])
        for run, dataset in places
        if len(run.alternatives) > 1
        for alternative in run.alternatives
    ]
    for job, result in _share(several):
        scores = first.setdefault((job.run, job.dataset), {})
        scores[job.alternative] = _score(result, by)
    jobs = [
        _Job(run, dataset, alternative, _seeds(run))
        for run, dataset in places
        for alternative in _best(run, first.get((run, dataset)), finalists)
    ]
    missing = Counter((job.run, job.dataset) for job in jobs)
    final: dict[tuple[Run, str], dict[Alternative, Result | Tuned]] = {}
    for job, result in _share(jobs):
        place = job.run, job.dataset
        found = final.setdefault(place, {})
        found[job.alternative] = result
        if len(found) == missing[place]:
            yield _cell(*place, first.get(place, {}), found, by)


def _best(
    run: Run, scores: dict[Alternative, float] | None, count: int
) -> list[Alternative]:
    """Return the best alternatives, the earlier on ties."""
    if scores is None:
        return [*run.alternatives]
    return sorted(run.alternatives, key=lambda one: -_rank(scores[one]))[:count]


def _cell(
    run: Run,
    dataset: str,
    first: dict[Alternative, float],
    found: dict[Alternative, Result | Tuned],
    by: Choice,
) -> Cell:
    """Return the best of what has all seeds."""
    finals = [one for one in run.alternatives if one in found]
    chosen = finals[0]
    if len(finals) > 1:
        chosen = max(finals, key=lambda one: _rank(_score(found[one], by)))
    result = found[chosen]
    compared = tuple(first[one] for one in run.alternatives if one in first)
    if compared:
        each = [{**one.choice, by: first[one]} for one in run.alternatives]
        result = replace(result, config={**result.config, "compared": each})
    return Cell(run, dataset, result, chosen, compared)


def _score(result: Result | Tuned, by: Choice) -> float:
    """Return what alternatives are judged by, in per cent."""
    return (result.by_test() if by == "test" else result.validation).mean


def _rank(score: float) -> float:
    """Return what training that has diverged is last by."""
    return -math.inf if math.isnan(score) else score


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


def _check(runs: Sequence[Run], datasets: Sequence[str], by: Choice) -> None:
    """Raise ValueError for what cannot be compared."""
    names = [run.name for run in runs]
    for run in runs:
        if names.count(run.name) > 1:
            raise ValueError(f"two runs have the name {run.name!r}: rename one")
        if len(_seeds(run)) > MOST_SEEDS:
            raise ValueError(
                f"run {run.name!r} has {len(_seeds(run))} seeds, but the exact test "
                f"takes {MOST_SEEDS} at most: give fewer"
            )
        if by == "validation":
            _check_choice(run)
    for folder in dict.fromkeys(run.settings.results for run in runs):
        check_results(folder)
    for reason in missing_data(runs, datasets).values():
        raise ValueError(reason)


def missing_data(runs: Sequence[Run], datasets: Sequence[str]) -> dict[str, str]:
    """Return why data sets cannot be had, or what a run begins with, by data set.

    What is to be downloaded is.

    Example:
        >>> from adapters import graphcl
        >>> missing_data([Run("GraphCL", graphcl, {})], ["synthetic", "no set"])
        {'no set': "unknown data set 'no set'; Known: ...
    """
    needs = {}
    for run, dataset in product(runs, datasets):
        shared = (run.settings.root, run.settings.archives)
        needs[dataset, run if is_setting(run.method) else shared] = run
    missing: dict[str, str] = {}
    for (dataset, _), run in needs.items():
        try:
            if is_setting(run.method):
                run.method.check(dataset, [one.config for one in run.alternatives])
            else:
                load(dataset, root=run.settings.root, archives=run.settings.archives)
        except ValueError as error:
            missing.setdefault(dataset, str(error))
    return missing


def _check_choice(run: Run) -> None:
    """Raise ValueError where nothing can choose among alternatives."""
    if len(run.alternatives) > 1 and not getattr(run.settings, "validates", True):
        raise ValueError(
            f"run {run.name!r} has {len(run.alternatives)} alternatives, but "
            f"protocol={run.settings.protocol!r} keeps no validation fold to choose "
            'on: give one of them, or protocol="honest"'
        )
