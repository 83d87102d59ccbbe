"""run: what the seeds of one configuration share, and what they have measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch_geometric.data import Data

from ...distributed import Place, broadcast_object, preserve_rng, session
from ...evaluate import Folding
from ...loader.packed_loader import move_if_fits
from ...nn.anchor_view import AnchorView
from ...profile import phase
from ...report import Evaluation, Record, Result
from ...training.method import Method, describe
from ...training.published import Published
from ..prepare import (
    FOLDS,
    checksum,
    choose_features,
    choose_view,
    find_cache,
    find_graphs,
    find_labels,
    pack,
    prepare,
)
from ..settings import Settings
from ._training import Training


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
    with session(settings.device) as place, preserve_rng(place.device):
        work = Run(method, dataset, anchor, config, settings, place)
        for seed in range(settings.seeds):
            work.finish(seed)
    return work.result


class Run:
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
        self.batch_size = settings.batch_size or 2
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
        self.graphs = move_if_fits(pack(prepared), torch.device(place.device))
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
        known = self.record.seed_entry(seed)
        known.setdefault("evaluations", {})
        if not broadcast_object(known.get("complete", False)):
            training = Training(self, seed)
            known["history"] = training.finish()
            if self.place.is_main:
                self.record.save_embeddings(seed, self.result.embeddings)
                known["complete"] = True
                self.record.save()
            training.state.discard()
        elif self.place.is_main:
            self.result.embeddings.update(self.record.embeddings(seed))
        # Rank 0 has evaluated; the others learn of it here.
        self.result.embeddings.update(broadcast_object(self.result.embeddings))
        known.update(broadcast_object(known))
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
