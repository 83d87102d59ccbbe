"""evaluate: support vector machines on embeddings, fold by fold."""

import zlib
from typing import Any

import numpy as np
from joblib import cpu_count
from torch import Tensor

from ...evaluate import svm_scores
from ...profile import phase
from ...report import Evaluation, Result
from ...utils.progress import ProgressCounter, log_line
from ._job import Task


def evaluate(task: Task, seed: int, epoch: int, embeddings: dict[str, Tensor]) -> None:
    """Score each embedding, keeping every finished fold on record.

    Args:
        task: gets the scores in its record; folds found there are not scored again.
        seed: of the training.
        epoch: after which the embeddings were made.
        embeddings: by name, ``(num_graphs, channels)``.
    """
    total = task.settings.folds * len(embeddings)
    with (
        phase("evaluation"),
        ProgressCounter("Evaluating", total, last=False) as counter,
    ):
        for place, (name, embedding) in enumerate(embeddings.items()):
            # Honest: the same folds for all that are compared within a seed.
            # Published: new ones for every evaluation.
            folds_seed = seed
            if task.settings.protocol == "paper":
                folds_seed = zlib.crc32(f"{seed}/{epoch}/{place}".encode())
            _score(task, seed, f"{epoch}/{name}", embedding, folds_seed, counter)
    for one in evaluations(task, seed):
        if one.epoch == epoch:
            validation, test = (100 * np.mean(s) for s in (one.validation, one.test))
            log_line(
                f"seed {seed}, epoch {epoch}, embedding {one.embedding}: "
                f"validation {validation:.2f}, test {test:.2f}"
            )


def evaluations(task: Task, seed: int) -> list[Evaluation]:
    """Return what is on record of a seed, evaluations under way left out."""
    entry = task.record.seed_entry(seed)
    return Evaluation.all_of(seed, entry, task.settings.folds)


def best_validation(task: Task, seed: int, epoch: int) -> float:
    """Return the inner accuracy of the best candidate up to an epoch, in per cent."""
    so_far = [one for one in evaluations(task, seed) if one.epoch <= epoch]
    return Result(task.record.config, so_far).validation.mean


def _score(
    task: Task,
    seed: int,
    key: str,
    embedding: Tensor,
    folds_seed: int,
    counter: ProgressCounter,
) -> None:
    """Score one embedding, but for the folds that are on record."""
    assert task.labels is not None
    labels = task.labels
    if task.chosen is not None:
        embedding, labels = embedding[task.chosen], labels[task.chosen]
    finished = task.record.seed_entry(seed).setdefault("evaluations", {})
    parts: dict[str, Any] = {"test": {}, "validation": {}, "cost": {}}
    scores = finished.setdefault(key, parts)
    folds = task.settings.folds
    missing = [fold for fold in range(folds) if str(fold) not in scores["test"]]
    counter.update(folds - len(missing))
    if not missing:
        return

    def keep(fold: int, found: dict[str, float]) -> None:
        for part, value in found.items():
            scores[part][str(fold)] = value
        task.record.save()
        counter.update()

    svm_scores(
        embedding,
        labels,
        classifier=task.settings.classifier or "rbf",
        folding=task.folding,
        folds=folds,
        random_state=folds_seed,
        only=missing,
        jobs=task.settings.jobs or cpu_count(),
        on_fold=keep,
    )
