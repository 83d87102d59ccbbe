"""Baselines that train nothing: statistics, histograms, the Weisfeiler-Lehman kernel.

from sega_anchor.protocols.unsupervised import baseline
baseline.run("MUTAG", config=baseline.Config("wl"), seeds=20).accuracy
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal

from torch import Tensor
from torch_geometric.data import Data
from typing_extensions import Unpack

from ...distributed import (
    is_main,
    main_first,
    preserve_rng,
    process_group,
    rank_identity,
)
from ...evaluate import (
    feature_histogram,
    graph_statistics,
    standardise,
    wl_embedding,
)
from ...loader import PackedGraphs
from ...loader.digest import digest
from ...nn import AnchorView
from ...profile import phase
from ...report import Record, Result
from ...training import FeatureSpec, OnEpoch
from ...trees import AddTree, TreeName, tree_transform
from ...trees.quantities import tree_statistics
from ...utils import check_at_least, check_choice
from ...utils.progress import log_shown
from ..features import feature_transform
from ..prepare import announce, find_cache, find_graphs, pack, prepare
from ..settings import (
    Options,
    Settings,
    check_options,
    check_results,
    identity,
    seed_numbers,
)
from ._evaluation import evaluate
from ._job import Task, beside, choose_graphs, label
from ._run import Measured, finish_seed, make_result

KindName = Literal["statistics", "degrees", "labels", "histograms", "wl", "trees"]


@dataclass(frozen=True)
class Config:
    """Which baseline.

    Args:
        kind: "statistics" nine plain numbers, see
            :func:`~sega_anchor.evaluate.graph_statistics`; "degrees" and "labels" how
            many nodes have each degree or label, "histograms" both; "wl" the
            Weisfeiler-Lehman subtree kernel on node labels; "trees" moments of the
            coding trees' quantities, see
            :func:`~sega_anchor.trees.quantities.tree_statistics`.
        iterations: of "wl"; default as many as GIN has layers.
        height: of the coding trees of "trees".
        tree: how those are built, see ``build_coding_tree``, or a control, "shuffled"
            or "random"; default "authors" under protocol="paper", else "refined".

    Raises:
        ValueError: for a value that cannot be used.
    """

    kind: KindName = "statistics"
    iterations: int = 3
    height: int = 5
    tree: TreeName | None = None

    def __post_init__(self) -> None:
        """Refuse values before any work starts."""
        check_choice("kind", self.kind, KindName)
        check_at_least("iterations", self.iterations, 0)
        self.tree_transform()

    def tree_transform(self, default: TreeName = "refined") -> AddTree:
        """Return what gives graphs their trees."""
        return tree_transform(self.tree or default, self.height)


_NOTHING = FeatureSpec(labels="none", degree="none")
_DEGREES = FeatureSpec(labels="none", degree="both")
_LABELS = FeatureSpec(labels="both", degree="none")
_BOTH = FeatureSpec(labels="both", degree="both")


@dataclass(frozen=True)
class Kind:
    """A baseline.

    Args:
        title: how tables call it.
        embed: a vector for each graph of a batch, ``(num_graphs, channels)``.
        features: what it sees as ``x``; by default nothing, a constant 1.
        trees: whether the graphs carry coding trees.
    """

    title: str
    embed: Callable[[Data, Config], Tensor]
    features: FeatureSpec = _NOTHING
    trees: bool = False


def _statistics(data: Data, config: Config) -> Tensor:
    return standardise(graph_statistics(data))


def _histogram(data: Data, config: Config) -> Tensor:
    return feature_histogram(data)


def _wl(data: Data, config: Config) -> Tensor:
    return wl_embedding(data, config.iterations)


def _trees(data: Data, config: Config) -> Tensor:
    return standardise(tree_statistics(data).double())


#: Each baseline by name; one more is one line here and its name above.
KINDS: dict[KindName, Kind] = {
    "statistics": Kind("Statistics", _statistics),
    "degrees": Kind("Degree histogram", _histogram, _DEGREES),
    "labels": Kind("Label histogram", _histogram, _LABELS),
    "histograms": Kind("Histograms", _histogram, _BOTH),
    "wl": Kind("WL kernel", _wl, _LABELS),
    "trees": Kind("Tree statistics", _trees, trees=True),
}


def run(
    dataset: str | Sequence[Data],
    *,
    anchor: AnchorView | bool | None = None,
    config: Config | None = None,
    on_epoch: OnEpoch | None = None,
    **options: Unpack[Options],
) -> Result:
    """Evaluate a baseline as embeddings are: same folds, same machine, same record.

    Args:
        dataset: name of a data set, or labelled graphs.
        anchor: for ``kind="trees"`` an anchor view whose trees are measured instead of
            those of ``config``; otherwise to be left out.
        config: which baseline.
        on_epoch: never called.
        options: fields of :class:`~sega_anchor.protocols.Settings`. Those of training
            and ``degree`` change nothing, ``labels="none"`` hides node labels.

    Returns:
        Accuracies and configuration as those of a method, evaluated once, at epoch 0
        as embedding ``"G"``. ``embeddings`` is empty if all seeds are on record.

    Raises:
        ValueError: for data or settings that cannot be used.

    Example:
        >>> result = run("synthetic", config=Config("degrees"), seeds=1)
        >>> result.config["label"], result.candidates()
        ('Degree histogram', [(0, 'G')])
    """
    check_options(options, Settings, Config)
    chosen = Config() if config is None else config
    settings = _settled(Settings(**options))
    if anchor and not KINDS[chosen.kind].trees:
        raise ValueError(
            f"kind={chosen.kind!r} looks at no trees: leave the anchor out, or take "
            "kind='trees'"
        )
    with process_group(settings.device) as device, preserve_rng(device), log_shown():
        check_results(settings.results)
        with main_first(), phase("data"):
            task, graphs = _prepare(dataset, anchor, chosen, settings)
        seeds = seed_numbers(settings.seeds)
        announce(task.record, len(graphs), seeds, 0, device)
        found: dict[str, Tensor] = {}

        @cache
        def embedding() -> Tensor:
            everything = graphs.batch(range(len(graphs)))
            found["G"] = KINDS[chosen.kind].embed(everything, chosen)
            return found["G"]

        for seed in seeds:
            finish_seed(task, seed, partial(_measure, task, seed, embedding))
        return make_result(task, found)


def _measure(task: Task, seed: int, embedding: Callable[[], Tensor]) -> Measured:
    """Score the embedding; it is not kept, since it is the same for all seeds."""
    if is_main():
        vectors = embedding()
        if task.labels is not None:
            evaluate(task, seed, 0, {"G": vectors})
    return [], {}


def _settled(settings: Settings) -> Settings:
    """Return the settings without those of training."""
    return replace(
        settings,
        labels=settings.labels if settings.labels == "none" else None,
        degree=None,
        epochs=None,
        evaluate_at=() if settings.evaluate_at == () else (0,),
        batch_size=None,
        classifier=settings.classifier or "rbf",
    )


def _prepare(
    dataset: str | Sequence[Data],
    anchor: AnchorView | bool | None,
    config: Config,
    settings: Settings,
) -> tuple[Task, PackedGraphs]:
    """Return what is evaluated, and the graphs as the baseline sees them."""
    kind = KINDS[config.kind]
    name, graphs, attributes = find_graphs(
        dataset, settings.protocol, settings.root, settings.archives
    )
    labels = chosen = None
    if settings.evaluate_at:
        labels, chosen = choose_graphs(name, graphs, attributes, settings)
    seen = settings.features(kind.features)
    features = feature_transform(seen, settings.protocol, name, attributes)
    view = anchor if isinstance(anchor, AnchorView) else None
    if kind.trees and view is None:
        usual: TreeName = "authors" if settings.protocol == "paper" else "refined"
        view = AnchorView(
            1, height=config.height, transform=config.tree_transform(usual)
        )
    cached = find_cache(dataset, graphs)
    packed = pack(prepare(graphs, features, view, cached, settings.jobs))
    title, decisive = kind.title, {}
    if kind.trees and config.tree:
        title += f", {config.tree}"
    if view is not None:
        decisive["trees"] = repr(view.transform)
    if config.kind == "wl":
        decisive["iterations"] = str(config.iterations)
    description = {
        "method": "Baseline",
        "label": label(title, settings, seen, kind.features),
        "dataset": name,
        "content": digest(packed, labels=labels, **beside(chosen)),
        "features": repr(features),
        "choice": "validation",
        "kind": config.kind,
        **decisive,
        **identity(settings, *_NOT_DECISIVE),
        **rank_identity(),
    }
    record = Record(description, settings.results if is_main() else None)
    task = Task(
        settings=settings,
        labels=labels,
        chosen=chosen,
        folding="stratified",
        record=record,
    )
    return task, packed


#: Settings that change no number here, or none that "features" does not name.
_NOT_DECISIVE = (
    "labels",
    "degree",
    "max_degree",
    "epochs",
    "evaluate_at",
    "batch_size",
    "device",
)
