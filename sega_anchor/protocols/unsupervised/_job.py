"""Job: one configuration, prepared; what all its seeds share."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from ...distributed import is_main, main_first, rank_identity
from ...evaluate import INNER_FOLDS, Folding
from ...loader import PackedGraphs
from ...loader.digest import digest
from ...loader.packed_loader import move_if_fits
from ...nn import AnchorView
from ...profile import phase
from ...report import Record
from ...training import FeatureSpec, Method
from ..features import feature_transform
from ..prepare import (
    choose_view,
    find_cache,
    find_graphs,
    find_labels,
    pack,
    prepare,
)
from ..settings import Settings, check_results, identity


@dataclass(frozen=True)
class Job:
    """What the seeds of one configuration share.

    Args:
        method: the class to train.
        config: its hyper-parameters.
        settings: those of the run, nothing left open.
        view: the anchor view, copied for each seed, or None.
        graphs: what the encoders see, on the device if there is room.
        in_channels: width of the graph encoder's input.
        labels: class of each graph; None if nothing is evaluated.
        shuffle: whether batches are drawn again in each epoch.
        folding: how the folds of the evaluation are drawn.
        device: of this rank.
        record: what is measured, with the whole configuration.
    """

    method: type[Method[Any]]
    config: Any
    settings: Settings
    view: AnchorView | None
    graphs: PackedGraphs
    in_channels: int
    labels: Tensor | None
    shuffle: bool
    folding: Folding
    device: str
    record: Record

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
    labels = None
    if settings.evaluate_at:
        labels = find_labels(graphs, settings.folds, INNER_FOLDS)
    features = feature_transform(seen, settings.protocol, name, attributes)
    leaf_channels = features(graphs[0]).tree_x.size(1)
    view = choose_view(method, anchor, leaf_channels, config)
    cache = find_cache(dataset, graphs)
    with main_first(), phase("data"):
        prepared = prepare(graphs, features, view, cache, settings.jobs)
    packed = pack(prepared)
    description = {
        "method": method.name,
        "label": _label(
            method.title(config), view, settings, seen, published.features
        ),
        "dataset": name,
        "content": digest(packed, labels=labels),
        "anchor": None if view is None else repr(view),
        "features": repr(features),
        "choice": published.choice,
        **asdict(config),
        **identity(settings),
        **rank_identity(),
    }
    return Job(
        method,
        config,
        settings,
        view,
        graphs=move_if_fits(packed, torch.device(device)),
        in_channels=prepared[0].x.size(1),
        labels=labels,
        shuffle=published.shuffle or not paper,
        folding=published.folding if paper else "stratified",
        device=device,
        record=Record(description, settings.results if is_main() else None),
    )


def _label(
    title: str,
    view: AnchorView | None,
    settings: Settings,
    seen: FeatureSpec,
    published: FeatureSpec,
) -> str:
    """Return how tables call this run."""
    if view is not None:
        title = "SEGA" if title == "GraphCL" else f"SEGA-{title}"
    if settings.epochs == 0:
        title += ", untrained"
    if seen.degree != published.degree:
        title += f", degrees: {seen.degree}"
    if seen.labels != published.labels:
        title += f", labels: {seen.labels}"
    return title
