"""Training: one seed of a job, kept on disk so that it can resume after a kill."""

import time
from typing import Any

import torch
from torch import Tensor

from ...distributed import is_main, rank_generator, seed_rank
from ...loader import PackedLoader
from ...report.record import fill
from ...training.checkpoint import save_encoder
from ...training.reporter import OnEpoch, Reporter
from ...training.state import TrainingState
from ...training.train_epoch import train_epoch
from ..prepare import reset_copy
from ._evaluation import best_validation, evaluate
from ._job import Job


class Training:
    """Trains a method with one seed, evaluating on the way.

    Args:
        job: what all seeds share; its record gets the scores.
        seed: decides start, order of batches and views.
        on_epoch: called on rank 0 after each epoch.
    """

    def __init__(self, job: Job, seed: int, on_epoch: OnEpoch | None = None) -> None:
        self.job = job
        self.seed = seed
        about = {"phase": "training", "seed": seed}
        self.reporter = Reporter(about, job.epochs, on_epoch)
        torch.manual_seed(seed)
        view = None if job.view is None else reset_copy(job.view)
        draws = rank_generator(seed, job.device)
        self.model = job.method(job.in_channels, job.config, view, draws)
        self.model.to(job.device).share(job.device)
        seed_rank(seed)
        order = torch.Generator().manual_seed(seed)
        once = None
        if not job.shuffle:
            # As released: shuffled once, then the same batches in every epoch.
            once = torch.randperm(len(job.graphs), generator=order).tolist()
        self.loader = PackedLoader(
            job.graphs,
            job.batch_size,
            job.shuffle,
            order,
            sampler=once,
            min_batch_size=2,
            device=job.device,
        )
        self.state = TrainingState(
            job.record.sibling_path(f"seed{seed}.state"),
            [self.model],
            self.model.all_optimizers(),
            [draws, order],
        )

    def finish(self) -> tuple[list[dict[str, Any]], dict[str, Tensor]]:
        """Train and evaluate; the state stays.

        Returns:
            What each epoch measured; the embeddings after the last, on rank 0.
        """
        job, state = self.job, self.state
        place = state.load()
        history: list[dict[str, Any]] = place.setdefault("history", [])
        if job.evaluate_at:
            # Kept with the state, too: it may outlive the record.
            known = job.record.seed_entry(self.seed).setdefault("evaluations", {})
            fill(known, place.get("evaluations", {}))
            place["evaluations"] = known
        if "epoch" not in place:  # a kill may have come amid the evaluation
            self._evaluate(len(history))
        for epoch in self.reporter.epochs(done=len(history)):
            means = self._epoch(place)
            history.append({"epoch": epoch, **means})
            if epoch in (job.epochs, *job.evaluate_at) or state.is_due():
                state.save(**place)
            found = self._evaluate(epoch)
            self.reporter.tell(epoch, {**means, **found}, state, place)
        path = job.record.sibling_path(f"seed{self.seed}-weights.safetensors")
        if path is not None:
            save_encoder(path, self.model, **job.record.config, seed=self.seed)
            job.record.note_file(self.seed, path)
        return history, self._embed()

    def _epoch(self, place: dict[str, Any]) -> dict[str, Any]:
        """Train for one epoch; return what it measured."""
        self.model.train()
        means = train_epoch(self.model.step, self.loader, self.state, place)
        start = time.perf_counter()
        found = self.model.end_of_epoch(self.loader)
        means["seconds"] += time.perf_counter() - start
        return {**means, **found}

    def _evaluate(self, epoch: int) -> dict[str, float]:
        """Score the embeddings on rank 0, if due; return the best "validation"."""
        if epoch not in self.job.evaluate_at or not is_main():
            return {}
        evaluate(self.job, self.seed, epoch, self._embed())
        return {"validation": best_validation(self.job, self.seed, epoch)}

    def _embed(self) -> dict[str, Tensor]:
        """Return every embedding of all graphs, in their order."""
        if not is_main():
            return {}
        self.model.eval()
        loader = PackedLoader(
            self.job.graphs,
            self.job.batch_size,
            device=self.job.device,
            world_size=1,
        )
        with torch.no_grad():
            parts = [self.model.embed(batch) for batch in loader]
        return {
            name: torch.cat([part[name] for part in parts]).cpu() for name in parts[0]
        }
