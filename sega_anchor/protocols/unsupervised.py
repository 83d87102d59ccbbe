"""The unsupervised protocol: learn without labels, then ask an SVM what was learnt."""

from __future__ import annotations

import copy
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

from ..evaluate import svm_scores
from ..report import Evaluation, Record, Result
from ..view import AnchorView
from .method import Method, describe
from .prepare import (
    FOLDS,
    checksum,
    choose_features,
    find_graphs,
    find_labels,
    prepare,
)
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
        return _run(method, dataset, anchor, config, settings)


def _run(
    method: type[Method[Any]],
    dataset: str | Sequence[Data],
    anchor: AnchorView | bool | None,
    config: Any,
    settings: Settings,
) -> Result:
    name, graphs, attributes = find_graphs(dataset, settings)
    labels = find_labels(graphs)
    anchored = anchor is not None and anchor is not False
    features = choose_features(method, name, anchored, attributes, settings)
    leaf_width = features(graphs[0]).tree_x.size(1)
    view = anchor if isinstance(anchor, AnchorView) else None
    if anchored and view is None:
        view = method.default_anchor(leaf_width, config)
    if view is not None and view.in_channels != leaf_width:
        raise ValueError(
            f"the leaves of {name} have {leaf_width} features under these settings, "
            f"but the anchor view has in_channels={view.in_channels}"
        )
    prepared = prepare(graphs, features, view)
    record = Record(
        {
            "method": method.name,
            "label": _label(method, view, settings),
            "dataset": name,
            "content": checksum(prepared),
            "anchor": None if view is None else repr(view),
            "features": repr(features),
            **describe(config),
            **_identity(settings),
        },
        settings.results,
    )
    result = Result(record.config, [], labels=labels, record=record.path)
    for seed in range(settings.seeds):
        _run_seed(method, prepared, view, config, settings, seed, record, result)
    return result


def _label(
    method: type[Method[Any]], view: AnchorView | None, settings: Settings
) -> str:
    """Return how tables call this run."""
    name = method.name
    if view is not None:
        name = "SEGA" if name == "GraphCL" else f"SEGA-{name}"
    if settings.degree == "anchor":
        return name
    return f"{name}, degrees: {settings.degree}"


def _identity(settings: Settings) -> dict[str, Any]:
    """Return the settings that decide the numbers of one seed."""
    # JSON knows lists only; folders, threads and more seeds change no number.
    identity = {**describe(settings), "evaluate_at": list(settings.evaluate_at)}
    for name in ("seeds", "root", "archives", "results", "jobs"):
        del identity[name]
    return identity


def _run_seed(
    method: type[Method[Any]],
    graphs: list[Data],
    view: AnchorView | None,
    config: Any,
    settings: Settings,
    seed: int,
    record: Record,
    result: Result,
) -> None:
    """Train with one seed, evaluating on the way, and add to the result."""
    known = record.measured(seed)
    finished = known.setdefault("evaluations", {})
    if not known.get("complete", False):
        torch.manual_seed(seed)
        generator = torch.Generator(settings.device).manual_seed(seed)
        own = None if view is None else _fresh(view)
        model = method(graphs[0].x.size(1), config, own, generator)
        model.to(settings.device)
        known["history"] = _train(model, graphs, settings, seed, record, result)
        known["complete"] = True
        record.save()
    result.history[seed] = known["history"]
    for key, scores in finished.items():
        epoch, name = key.split("/")
        test, validation = (
            tuple(scores[part][str(fold)] for fold in range(FOLDS))
            for part in ("test", "validation")
        )
        result.evaluations.append(Evaluation(seed, int(epoch), name, test, validation))


def _fresh(view: AnchorView) -> AnchorView:
    """Return a copy of the view with parameters started anew."""
    fresh = copy.deepcopy(view)
    for module in fresh.modules():
        reset = getattr(module, "reset_parameters", None)
        if callable(reset):
            reset()
    return fresh


def _train(
    model: Method[Any],
    graphs: list[Data],
    settings: Settings,
    seed: int,
    record: Record,
    result: Result,
) -> list[dict[str, Any]]:
    order = torch.Generator().manual_seed(seed)
    shuffle = settings.protocol == "honest"
    if not shuffle:  # published: shuffled once, then the same batches in every epoch
        graphs_in = [graphs[i] for i in torch.randperm(len(graphs), generator=order)]
    else:
        graphs_in = graphs
    loader = DataLoader(
        graphs_in, settings.batch_size, shuffle=shuffle, generator=order
    )
    history = []
    bar = tqdm(
        range(1, settings.epochs + 1), desc=f"Seed {seed}", disable=None, leave=False
    )
    for epoch in bar:
        began = time.perf_counter()
        model.train()
        total: dict[str, float] = {}
        for batch in loader:
            for key, value in model.step(batch.to(settings.device)).items():
                total[key] = total.get(key, 0.0) + value
        means = {key: value / len(loader) for key, value in total.items()}
        more = model.end_of_epoch(loader)
        seconds = time.perf_counter() - began
        history.append({"epoch": epoch, **means, **more, "seconds": seconds})
        bar.set_postfix({key: f"{value:.3f}" for key, value in means.items()})
        if epoch in settings.evaluate_at:
            embeddings = embed_all(model, graphs, settings)
            result.embeddings.clear()
            result.embeddings.update(embeddings)
            _evaluate(embeddings, result.labels, epoch, settings, seed, record)
    return history


def embed_all(
    model: Method[Any], graphs: list[Data], settings: Settings
) -> dict[str, Tensor]:
    """Return every embedding of all graphs, in their order, on the CPU."""
    model.eval()
    parts: list[dict[str, Tensor]] = []
    with torch.no_grad():
        for batch in DataLoader(graphs, settings.batch_size):
            parts.append(model.embed(batch.to(settings.device)))
    return {name: torch.cat([part[name] for part in parts]).cpu() for name in parts[0]}


def _evaluate(
    embeddings: dict[str, Tensor],
    labels: Tensor | None,
    epoch: int,
    settings: Settings,
    seed: int,
    record: Record,
) -> None:
    """Score each embedding fold by fold, keeping every finished fold on record."""
    assert labels is not None
    jobs = settings.jobs or os.cpu_count() or 1
    finished = record.measured(seed)["evaluations"]
    todo = FOLDS * len(embeddings)
    with tqdm(total=todo, desc="Evaluating", disable=None, leave=False) as bar:
        for place, (name, embedding) in enumerate(embeddings.items()):
            scores = finished.setdefault(
                f"{epoch}/{name}", {"test": {}, "validation": {}, "cost": {}}
            )
            # Published: new folds for every evaluation. Honest: the same for all that
            # are compared within a seed.
            state = seed
            if settings.protocol == "paper":
                state = zlib.crc32(f"{seed}/{epoch}/{place}".encode())
            missing = [f for f in range(FOLDS) if str(f) not in scores["test"]]
            bar.update(FOLDS - len(missing))

            def keep(fold: int, found: dict[str, float], into: Any = scores) -> None:
                for key, value in found.items():
                    into[key][str(fold)] = value
                record.save()
                bar.update()

            if missing:
                svm_scores(
                    embedding,
                    labels,
                    folds=FOLDS,
                    random_state=state,
                    only=missing,
                    jobs=jobs,
                    on_fold=keep,
                )
