"""Task and Job: one configuration, prepared; what all its seeds share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from ...distributed import is_main, main_first, rank_identity
from ...evaluate import INNER_FOLDS, Folding, distinct_graphs, wl_classes
from ...loader import PackedGraphs
from ...loader.digest import digest
from ...loader.packed_loader import move_if_fits
from ...nn import AnchorView
from ...profile import phase
from ...report import Record
from ...training import FeatureSpec, Method
from ...trees import AddRandomTree, AddShuffledTree, AddTree
from ..features import feature_transform
from ..prepare import (
    check_classes,
    choose_view,
    find_cache,
    find_graphs,
    find_labels,
    pack,
    prepare,
    view_words,
)
from ..settings import Settings, check_results, identity


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is evaluated over seeds, and where that is kept.

    Args:
        settings: those of the run, nothing left open.
        labels: class of each graph; None if nothing is evaluated.
        chosen: numbers of the graphs that are evaluated; None for all.
        folding: how the folds of the evaluation are drawn.
        record: what is measured, with the whole configuration.
    """

    settings: Settings
    labels: Tensor | None
    chosen: Tensor | None
    folding: Folding
    record: Record


@dataclass(frozen=True, kw_only=True)
class Job(Task):
    """What the seeds of one configuration share, and train on.

    Args:
        method: the class to train.
        config: its hyper-parameters.
        view: the anchor view, copied for each seed, or None.
        graphs: what the encoders see, on the device if there is room.
        in_channels: width of the graph encoder's input.
        shuffle: whether batches are drawn again in each epoch.
        device: of this rank.
    """

    method: type[Method[Any]]
    config: Any
    view: AnchorView | None
    graphs: PackedGraphs
    in_channels: int
    shuffle: bool
    device: str

    @property
    def epochs(self) -> int:
        """Training epochs."""
        assert self.settings.epochs is not None  # resolved
        return self.settings.epochs

    @property
    def evaluate_at(self) -> tuple[int, ...]:
        """Epochs after which the embeddings are evaluated."""
        return self.settings.evaluate_at or ()

    @property
    def batch_size(self) -> int:
        """Graphs per step."""
        assert self.settings.batch_size is not None  # resolved
        return self.settings.batch_size


def prepare_job(
    method: type[Method[Any]],
    dataset: str | Sequence[Data],
    anchor: AnchorView | bool | None,
    config: Any,
    settings: Settings,
    device: str,
) -> Job:
    """Load data, build trees and open the record; arguments as :func:`run` has them.

    Raises:
        ValueError: for data or settings that cannot be used.
    """
    check_results(settings.results)
    anchored = anchor is not None and anchor is not False
    paper = settings.protocol == "paper"
    if paper:
        config = method.released(config)
    published = method.published(config, anchored)
    seen = settings.features(published.features)
    settings = settings.resolved(published)
    with phase("data"):
        name, graphs, attributes = find_graphs(
            dataset, settings.protocol, settings.root, settings.archives
        )
    labels = chosen = None
    if settings.evaluate_at:
        labels, chosen = choose_graphs(name, graphs, attributes, settings)
    features = feature_transform(seen, settings.protocol, name, attributes)
    leaf_channels = features(graphs[0]).tree_x.size(1)
    view = choose_view(method, anchor, leaf_channels, config)
    cache = find_cache(dataset, graphs)
    with main_first(), phase("data"):
        prepared = prepare(graphs, features, view, cache, settings.jobs)
    packed = pack(prepared)
    title = method.title(config)
    if view is not None:
        title = "SEGA" if title == "GraphCL" else f"SEGA-{title}"
        trees = _tree_name(view.transform)
        title += view_words(trees, view.quantities, settings.protocol)
    if settings.epochs == 0:
        title += ", untrained"
    description = {
        "method": method.name,
        "label": label(title, settings, seen, published.features),
        "dataset": name,
        "content": digest(packed, labels=labels, **beside(chosen)),
        "anchor": None if view is None else repr(view),
        "features": repr(features),
        "choice": published.choice,
        **identity(config),
        **identity(settings),
        **rank_identity(),
    }
    return Job(
        method=method,
        config=config,
        settings=settings,
        view=view,
        graphs=move_if_fits(packed, torch.device(device)),
        in_channels=prepared[0].x.size(1),
        labels=labels,
        chosen=chosen,
        shuffle=published.shuffle or not paper,
        folding=published.folding if paper else "stratified",
        device=device,
        record=Record(description, settings.results if is_main() else None),
    )


def _tree_name(transform: AddTree) -> str:
    """Return what a configuration would call the trees of a transform."""
    if isinstance(transform, AddShuffledTree):
        return "shuffled"
    if isinstance(transform, AddRandomTree):
        return "random"
    return str(getattr(transform, "method", type(transform).__name__))


def choose_graphs(
    name: str, graphs: Sequence[Data], attributes: int, settings: Settings
) -> tuple[Tensor, Tensor | None]:
    """Return the class of each graph, and which are evaluated, None for all.

    That depends on the data alone, and not on what a method shows to its encoders, so
    that methods are compared on the same graphs.

    Raises:
        ValueError: for labels that are none, or too few of a class for the folds.
    """
    labels = find_labels(graphs, settings.folds, INNER_FOLDS)
    if not settings.distinct:
        return labels, None
    shown = FeatureSpec(labels="both", degree="none")
    features = feature_transform(shown, settings.protocol, name, attributes)
    packed = pack(prepare(graphs, features, None))
    classes = wl_classes(packed.batch(range(len(packed))))
    chosen = distinct_graphs(classes, labels)
    check_classes(labels[chosen], settings.folds, INNER_FOLDS)
    return labels, chosen


def beside(chosen: Tensor | None) -> dict[str, Tensor]:
    """Return what the digest of the graphs covers beside them and their labels."""
    return {} if chosen is None else {"chosen": chosen}


def label(
    title: str, settings: Settings, seen: FeatureSpec, published: FeatureSpec
) -> str:
    """Return how tables call a run: what differs from the published follows."""
    if seen.degree != published.degree:
        title += f", degrees: {seen.degree}"
    if seen.labels != published.labels:
        title += f", labels: {seen.labels}"
    if settings.distinct:
        title += ", distinct graphs"
    return title
