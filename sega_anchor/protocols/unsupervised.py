"""The unsupervised protocol: learn without labels, then ask an SVM what was learnt."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Sequence
from typing import Any

import torch
from torch_geometric.data import Data
from tqdm import tqdm

from ..datasets.loader import PackedLoader, near
from ..distributed import Place, agree, forked, session
from ..evaluate import Folding, svm_scores
from ..profile import phase
from ..report import Evaluation, Record, Result
from ..view import AnchorView
from .checkpoint import save_encoder
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
    pack,
    prepare,
)
from .published import Published
from .settings import Settings
from .state import TrainingState


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
    with session(settings.device) as place, forked(place.device):
        work = _Run(method, dataset, anchor, config, settings, place)
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
        place: Place,
    ) -> None:
        anchored = anchor is not None and anchor is not False
        if settings.protocol == "paper":
            config = method.released(config)
        published = method.published(config, anchored)
        settings = settings.resolved(published)
        with phase("data"):
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
        with place.main_first(), phase("data"):
            prepared = prepare(graphs, features, self.view, cache, settings.jobs)
        content = checksum(prepared)
        self.in_channels = prepared[0].x.size(1)
        self.place = place
        self.graphs = near(pack(prepared), torch.device(place.device))
        description = {
            "method": method.name,
            "label": _label(method.title(config), self.view, settings, published),
            "dataset": name,
            "content": content,
            "anchor": None if self.view is None else repr(self.view),
            "features": repr(features),
            "choice": published.choice,
            **describe(config),
            **_identity(settings),
            **place.identity(),
        }
        self.record = Record(description, settings.results if place.is_main else None)
        self.result = Result(
            description, [], labels=self.labels, record=self.record.path
        )

    def finish(self, seed: int) -> None:
        """Train with one seed, evaluating on the way, and add to the result."""
        known = self.record.measured(seed)
        known.setdefault("evaluations", {})
        if not agree(known.get("complete", False)):
            known["history"] = self._train(seed)
            if self.place.is_main:
                self.record.save_embeddings(seed, self.result.embeddings)
                known["complete"] = True
                self.record.save()
        elif self.place.is_main:
            self.result.embeddings.update(self.record.embeddings(seed))
        # Rank 0 has evaluated; the others learn of it here.
        self.result.embeddings.update(agree(self.result.embeddings))
        known.update(agree(known))
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
        model, draws = self._model(seed)
        order = torch.Generator().manual_seed(seed)
        loader = self._loader(order)
        state = TrainingState(
            self.record.beside(f"seed{seed}.state"),
            [model],
            model.all_optimizers(),
            [draws, order],
        )
        history: list[dict[str, Any]] = state.load().get("history", [])
        if len(history) in self.evaluate_at:  # a kill may have come in its midst
            self._evaluate(model, seed, len(history))
        bar = tqdm(
            range(len(history) + 1, self.epochs + 1),
            desc=f"Seed {seed}",
            initial=len(history),
            total=self.epochs,
            disable=None if self.place.is_main else True,
            leave=False,
        )
        for epoch in bar:
            began = time.perf_counter()
            means = self._epoch(model, loader)
            seconds = time.perf_counter() - began
            history.append({"epoch": epoch, **means, "seconds": seconds})
            bar.set_postfix({k: v for k, v in means.items() if isinstance(v, float)})
            if epoch in self.evaluate_at or state.is_due():
                state.save(history=history)
            if epoch in self.evaluate_at:
                self._evaluate(model, seed, epoch)
        if self.epochs not in self.evaluate_at:
            self._embed(model)
        self._keep(model, seed)
        state.discard()
        return history

    def _model(self, seed: int) -> tuple[Method[Any], torch.Generator]:
        """Return the method as it starts, and where its views draw from."""
        torch.manual_seed(seed)
        view = None if self.view is None else fresh(self.view)
        draws = self.place.generator(seed)
        model = self.method(self.in_channels, self.config, view, draws)
        model.to(self.place.device).share(self.place.device)
        self.place.part_ways(seed)
        return model, draws

    def _keep(self, model: Method[Any], seed: int) -> None:
        """Write the weights, which ``load_encoder(path, method)`` reads."""
        path = self.record.beside(f"seed{seed}-weights.safetensors")
        if path is not None:
            save_encoder(path, model, **self.record.config, seed=seed)

    def _epoch(self, model: Method[Any], loader: PackedLoader) -> dict[str, Any]:
        """Train for one epoch; return the means over its steps."""
        model.train()
        steps = [model.step(batch) for batch in loader]
        means: dict[str, Any] = {
            key: sum(float(step[key]) for step in steps) / len(steps)
            for key in steps[0]
        }
        return means | model.end_of_epoch(loader)

    def _loader(self, order: torch.Generator) -> PackedLoader:
        once = None
        if not self.shuffle:
            # Published: shuffled once, then the same batches in every epoch.
            once = torch.randperm(len(self.graphs), generator=order).tolist()
        return PackedLoader(
            self.graphs,
            self.settings.batch_size or 2,
            self.shuffle,
            order,
            sampler=once,
            device=self.place.device,
            rank=self.place.rank,
            ranks=self.place.ranks,
        )

    def _embed(self, model: Method[Any]) -> None:
        """Put every embedding of all graphs, in their order, in the result."""
        model.eval()
        loader = PackedLoader(
            self.graphs, self.settings.batch_size or 2, device=self.place.device
        )
        with torch.no_grad():
            parts = [model.embed(batch) for batch in loader]
        for name in parts[0]:
            whole = torch.cat([part[name] for part in parts]).cpu()
            self.result.embeddings[name] = whole

    def _evaluate(self, model: Method[Any], seed: int, epoch: int) -> None:
        """Score each embedding fold by fold, keeping every finished fold on record."""
        if not self.place.is_main:
            return
        with phase("evaluation"):
            self._score(model, seed, epoch)

    def _score(self, model: Method[Any], seed: int, epoch: int) -> None:
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
