"""Training: one seed of a run, kept so that it can go on."""

from __future__ import annotations

import os
import time
import zlib
from typing import TYPE_CHECKING, Any

import torch
from tqdm import tqdm

from ...evaluate import svm_scores
from ...loader import PackedLoader
from ...profile import phase
from ...training.checkpoint import save_encoder
from ...training.state import TrainingState
from ..prepare import FOLDS, reset_copy

if TYPE_CHECKING:
    from ._run import Run


class Training:
    """Trains a method with one seed, evaluating on the way.

    Args:
        run: what all seeds share; gets embeddings and scores.
        seed: decides start, order of batches and views.
    """

    def __init__(self, run: Run, seed: int) -> None:
        self.run = run
        self.seed = seed
        place = run.place
        torch.manual_seed(seed)
        view = None if run.view is None else reset_copy(run.view)
        draws = place.generator(seed)
        self.model = run.method(run.in_channels, run.config, view, draws)
        self.model.to(place.device).share(place.device)
        place.seed_rank(seed)
        order = torch.Generator().manual_seed(seed)
        once = None
        if not run.shuffle:
            # Published: shuffled once, then the same batches in every epoch.
            once = torch.randperm(len(run.graphs), generator=order).tolist()
        self.loader = PackedLoader(
            run.graphs,
            run.batch_size,
            run.shuffle,
            order,
            sampler=once,
            device=place.device,
            rank=place.rank,
            ranks=place.ranks,
        )
        self.state = TrainingState(
            run.record.sibling_path(f"seed{seed}.state"),
            [self.model],
            self.model.all_optimizers(),
            [draws, order],
        )

    def finish(self) -> list[dict[str, Any]]:
        """Train and evaluate; return what each epoch measured. The state stays."""
        run, state = self.run, self.state
        history: list[dict[str, Any]] = state.load().get("history", [])
        if len(history) in run.evaluate_at:  # a kill may have come in its midst
            self._evaluate(len(history))
        bar = tqdm(
            range(len(history) + 1, run.epochs + 1),
            desc=f"Seed {self.seed}",
            initial=len(history),
            total=run.epochs,
            disable=None if run.place.is_main else True,
            leave=False,
        )
        for epoch in bar:
            began = time.perf_counter()
            means = self._epoch()
            seconds = time.perf_counter() - began
            history.append({"epoch": epoch, **means, "seconds": seconds})
            bar.set_postfix({k: v for k, v in means.items() if isinstance(v, float)})
            if epoch in run.evaluate_at or state.is_due():
                state.save(history=history)
            if epoch in run.evaluate_at:
                self._evaluate(epoch)
        if run.epochs not in run.evaluate_at:
            self._embed()
        self._keep()
        return history

    def _epoch(self) -> dict[str, Any]:
        """Train for one epoch; return the means over its steps."""
        self.model.train()
        steps = [self.model.step(batch) for batch in self.loader]
        means: dict[str, Any] = {
            key: sum(float(step[key]) for step in steps) / len(steps)
            for key in steps[0]
        }
        return means | self.model.end_of_epoch(self.loader)

    def _embed(self) -> None:
        """Put every embedding of all graphs, in their order, in the result."""
        run = self.run
        self.model.eval()
        loader = PackedLoader(run.graphs, run.batch_size, device=run.place.device)
        with torch.no_grad():
            parts = [self.model.embed(batch) for batch in loader]
        for name in parts[0]:
            whole = torch.cat([part[name] for part in parts]).cpu()
            run.result.embeddings[name] = whole

    def _keep(self) -> None:
        """Write the weights, which ``load_encoder(path, method)`` reads."""
        record = self.run.record
        path = record.sibling_path(f"seed{self.seed}-weights.safetensors")
        if path is not None:
            save_encoder(path, self.model, **record.config, seed=self.seed)

    def _evaluate(self, epoch: int) -> None:
        """Score each embedding fold by fold, keeping every finished fold on record."""
        if not self.run.place.is_main:
            return
        with phase("evaluation"):
            self._embed()
            embeddings = self.run.result.embeddings
            total = FOLDS * len(embeddings)
            with tqdm(total=total, desc="Evaluating", disable=None, leave=False) as bar:
                for place, name in enumerate(embeddings):
                    self._score(epoch, place, name, bar)

    def _score(self, epoch: int, place: int, name: str, bar: Any) -> None:
        """Score one embedding, but for the folds that are on record."""
        run = self.run
        assert run.labels is not None
        parts: dict[str, Any] = {"test": {}, "validation": {}, "cost": {}}
        finished = run.record.seed_entry(self.seed)["evaluations"]
        scores = finished.setdefault(f"{epoch}/{name}", parts)
        missing = [fold for fold in range(FOLDS) if str(fold) not in scores["test"]]
        bar.update(FOLDS - len(missing))
        if not missing:
            return

        def keep(fold: int, found: dict[str, float]) -> None:
            for part, value in found.items():
                scores[part][str(fold)] = value
            run.record.save()
            bar.update()

        # Honest: the same folds for all that are compared within a seed.
        # Published: new ones for every evaluation.
        state = self.seed
        if run.settings.protocol == "paper":
            state = zlib.crc32(f"{self.seed}/{epoch}/{place}".encode())
        svm_scores(
            run.result.embeddings[name],
            run.labels,
            classifier=run.settings.classifier or "rbf",
            folding=run.folding,
            folds=FOLDS,
            random_state=state,
            only=missing,
            jobs=run.settings.jobs or os.cpu_count() or 1,
            on_fold=keep,
        )
