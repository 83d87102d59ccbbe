"""The unsupervised protocol: learn without labels, then ask an SVM what was learnt."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from tqdm import tqdm

from ..evaluate import Folding, svm_scores
from ..report import Evaluation, Record, Result
from ..view import AnchorView
from .method import Method, describe
from .prepare import (
    FOLDS,
    checksum,
    choose_features,
    choose_view,
    find_cache,
    find_graphs,
    find_labels,
    fresh,
    prepare,
)
from .published import Published
from .settings import Settings


def run(
    method: type[Method[Any]],
    dataset: str | Sequence[Data],
    anchor: AnchorView | bool | None,
    config: Any,
    settings: Settings,
) -> Result:
    """Train and evaluate a method over seeds; every adapter's ``run`` ends here.

    Args:
        method: the class to train.
        dataset: a name for :func:`~sega_anchor.datasets.load`, or labelled graphs.
        anchor: None or False for the baseline, True for the method's default anchor,
            or an anchor view whose copies, started anew, serve each seed.
        config: the method's hyper-parameters.
        settings: what all runs have in common.

    Returns:
        The result; with ``settings.results`` it is also on disk, and whatever is found
        there is not computed again.

    Raises:
        ValueError: before any training, for data or settings that cannot be used.
    """
    # Networks start from torch's global generator: leave the caller's as it was.
    gpus = [] if settings.device == "cpu" else [settings.device]
    with torch.random.fork_rng(devices=gpus):
        work = _Run(method, dataset, anchor, config, settings)
        for seed in range(settings.seeds):
            work.finish(seed)
    return work.result


class _Run:
    """One configuration: what its seeds share, and what they have measured."""

    def __init__(
        self,
        method: type[Method[Any]],
        dataset: str | Sequence[Data],
        anchor: AnchorView | bool | None,
        config: Any,
        settings: Settings,
    ) -> None:
        anchored = anchor is not None and anchor is not False
        if settings.protocol == "paper":
            config = method.released(config)
        published = method.published(config, anchored)
        settings = settings.resolved(published)
        name, graphs, attributes = find_graphs(dataset, settings)
        self.labels = find_labels(graphs) if settings.evaluate_at else None
        features = choose_features(name, attributes, settings, published)
        leaf_channels = features(graphs[0]).tree_x.size(1)
        self.view = choose_view(method, anchor, leaf_channels, config)
        self.method = method
        self.config = config
        self.settings = settings
        self.epochs = settings.epochs or 0
        self.evaluate_at = settings.evaluate_at or ()
        self.shuffle = settings.protocol == "honest" or published.shuffle
        self.folding: Folding = "stratified"
        if settings.protocol == "paper":
            self.folding = published.folding
        cache = find_cache(dataset, graphs)
        self.graphs = prepare(graphs, features, self.view, cache, settings.jobs)
        description = {
            "method": method.name,
            "label": _label(method.title(config), self.view, settings, published),
            "dataset": name,
            "content": checksum(self.graphs),
            "anchor": None if self.view is None else repr(self.view),
            "features": repr(features),
            "choice": published.choice,
            **describe(config),
            **_identity(settings),
        }
        self.record = Record(description, settings.results)
        self.result = Result(
            description, [], labels=self.labels, record=self.record.path
        )

    def finish(self, seed: int) -> None:
        """Train with one seed, evaluating on the way, and add to the result."""
        known = self.record.measured(seed)
        known.setdefault("evaluations", {})
        if not known.get("complete", False):
            known["history"] = self._train(seed)
            self.record.save_embeddings(seed, self.result.embeddings)
            known["complete"] = True
            self.record.save()
        else:
            self.result.embeddings.update(self.record.embeddings(seed))
        self.result.history[seed] = known["history"]
        for key, scores in known["evaluations"].items():
            epoch, name = key.split("/")
            test, validation = (
                tuple(scores[part][str(fold)] for fold in range(FOLDS))
                for part in ("test", "validation")
            )
            self.result.evaluations.append(
                Evaluation(seed, int(epoch), name, test, validation)
            )

    def _train(self, seed: int) -> list[dict[str, Any]]:
        torch.manual_seed(seed)
        device = self.settings.device
        view = None if self.view is None else fresh(self.view)
        model = self.method(
            self.graphs[0].x.size(1),
            self.config,
            view,
            torch.Generator(device).manual_seed(seed),
        ).to(device)
        loader = self._loader(seed)
        history = []
        epochs = range(1, self.epochs + 1)
        bar = tqdm(epochs, desc=f"Seed {seed}", disable=None, leave=False)
        for epoch in bar:
            began = time.perf_counter()
            model.train()
            steps = [model.step(batch.to(device)) for batch in loader]
            means = {key: sum(s[key] for s in steps) / len(steps) for key in steps[0]}
            means |= model.end_of_epoch(loader)
            seconds = time.perf_counter() - began
            history.append({"epoch": epoch, **means, "seconds": seconds})
            bar.set_postfix({k: v for k, v in means.items() if isinstance(v, float)})
            if epoch in self.evaluate_at:
                self._evaluate(model, seed, epoch)
        if self.epochs not in self.evaluate_at:
            self._embed(model)
        return history

    def _loader(self, seed: int) -> DataLoader:
        order = torch.Generator().manual_seed(seed)
        size = self.settings.batch_size
        if self.shuffle:
            return DataLoader(self.graphs, size, shuffle=True, generator=order)
        # Published: shuffled once, then the same batches in every epoch.
        once = torch.randperm(len(self.graphs), generator=order).tolist()
        return DataLoader([self.graphs[i] for i in once], size)

    def _embed(self, model: Method[Any]) -> None:
        """Put every embedding of all graphs, in their order, in the result."""
        model.eval()
        parts: list[dict[str, Tensor]] = []
        with torch.no_grad():
            for batch in DataLoader(self.graphs, self.settings.batch_size):
                parts.append(model.embed(batch.to(self.settings.device)))
        for name in parts[0]:
            whole = torch.cat([part[name] for part in parts]).cpu()
            self.result.embeddings[name] = whole

    def _evaluate(self, model: Method[Any], seed: int, epoch: int) -> None:
        """Score each embedding fold by fold, keeping every finished fold on record."""
        assert self.labels is not None
        self._embed(model)
        finished = self.record.measured(seed)["evaluations"]
        total = FOLDS * len(self.result.embeddings)
        with tqdm(total=total, desc="Evaluating", disable=None, leave=False) as bar:
            for place, (name, embedding) in enumerate(self.result.embeddings.items()):
                parts: dict[str, Any] = {"test": {}, "validation": {}, "cost": {}}
                scores = finished.setdefault(f"{epoch}/{name}", parts)
                missing = [f for f in range(FOLDS) if str(f) not in scores["test"]]
                bar.update(FOLDS - len(missing))
                if not missing:
                    continue

                def keep(fold: int, found: dict[str, float], to: Any = scores) -> None:
                    for part, value in found.items():
                        to[part][str(fold)] = value
                    self.record.save()
                    bar.update()

                # Honest: the same folds for all that are compared within a seed.
                # Published: new ones for every evaluation.
                state = seed
                if self.settings.protocol == "paper":
                    state = zlib.crc32(f"{seed}/{epoch}/{place}".encode())
                svm_scores(
                    embedding,
                    self.labels,
                    classifier=self.settings.classifier or "rbf",
                    folding=self.folding,
                    folds=FOLDS,
                    random_state=state,
                    only=missing,
                    jobs=self.settings.jobs or os.cpu_count() or 1,
                    on_fold=keep,
                )


def _label(
    title: str, view: AnchorView | None, settings: Settings, published: Published
) -> str:
    """Return how tables call this run."""
    if view is not None:
        title = "SEGA" if title == "GraphCL" else f"SEGA-{title}"
    for setting, words in (("degree", "degrees"), ("labels", "labels")):
        value = getattr(settings, setting)
        if value != getattr(published, setting):
            title += f", {words}: {value}"
    return title


def _identity(settings: Settings) -> dict[str, Any]:
    """Return the settings that decide the numbers of one seed."""
    # JSON knows lists only; folders, threads and more seeds change no number.
    identity = {**describe(settings), "evaluate_at": list(settings.evaluate_at or ())}
    for name in ("seeds", "root", "archives", "results", "jobs"):
        del identity[name]
    return identity
