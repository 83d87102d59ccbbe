"""evaluate: support vector machines on embeddings, fold by fold."""

import zlib
from typing import Any

from joblib import cpu_count
from torch import Tensor
from tqdm import tqdm

from ...evaluate import svm_scores
from ...profile import phase
from ._job import Job


def evaluate(job: Job, seed: int, epoch: int, embeddings: dict[str, Tensor]) -> None:
    """Score each embedding, keeping every finished fold on record.

    Args:
        job: gets the scores in its record; folds found there are not scored again.
        seed: of the training.
        epoch: after which the embeddings were made.
        embeddings: by name, ``(num_graphs, channels)``.
    """
    total = job.settings.folds * len(embeddings)
    bar = tqdm(total=total, desc="Evaluating", disable=None, leave=False)
    with phase("evaluation"), bar:
        for place, (name, embedding) in enumerate(embeddings.items()):
            # Honest: the same folds for all that are compared within a seed.
            # Published: new ones for every evaluation.
            folds_seed = seed
            if job.settings.protocol == "paper":
                folds_seed = zlib.crc32(f"{seed}/{epoch}/{place}".encode())
            _score(job, seed, f"{epoch}/{name}", embedding, folds_seed, bar)


def _score(
    job: Job, seed: int, key: str, embedding: Tensor, folds_seed: int, bar: Any
) -> None:
    """Score one embedding, but for the folds that are on record."""
    assert job.labels is not None
    finished = job.record.seed_entry(seed).setdefault("evaluations", {})
    parts: dict[str, Any] = {"test": {}, "validation": {}, "cost": {}}
    scores = finished.setdefault(key, parts)
    folds = job.settings.folds
    missing = [fold for fold in range(folds) if str(fold) not in scores["test"]]
    bar.update(folds - len(missing))
    if not missing:
        return

    def keep(fold: int, found: dict[str, float]) -> None:
        for part, value in found.items():
            scores[part][str(fold)] = value
        job.record.save()
        bar.update()

    svm_scores(
        embedding,
        job.labels,
        classifier=job.settings.classifier or "rbf",
        folding=job.folding,
        folds=folds,
        random_state=folds_seed,
        only=missing,
        jobs=job.settings.jobs or cpu_count(),
        on_fold=keep,
    )
