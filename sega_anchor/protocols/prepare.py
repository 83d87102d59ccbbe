"""From a data set to graphs ready to train on, refused early if they are not."""

import copy
from collections import Counter
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData, InMemoryDataset

from ..datasets import load
from ..loader import PackedGraphs
from ..nn import AnchorView
from ..profile import phase
from ..report import Record
from ..training import Method
from ..trees._as_edges import refuse_hetero
from ..trees.levels import TREE
from ..utils import check_writable
from ..utils.progress import ProgressCounter, log_line
from .features import HonestFeatures, PublishedFeatures
from .settings import Protocol


def find_graphs(
    dataset: str | Sequence[Data],
    protocol: Protocol,
    root: str | None,
    archives: str | None,
) -> tuple[str, Sequence[Data], int]:
    """Return the name, the graphs and how many columns of x are attributes."""
    if isinstance(dataset, str):
        # Published features show continuous attributes to the tree encoder.
        use_node_attr = protocol == "paper"
        found = load(
            dataset,
            root=root,
            archives=archives,
            use_node_attr=use_node_attr,
        )
        attributes = getattr(found, "num_node_attributes", 0) if use_node_attr else 0
        # A set of two names has one record.
        return getattr(found, "name", dataset), found, attributes
    if isinstance(dataset, Data | HeteroData):
        raise ValueError(
            "dataset must be a name or a sequence of labelled graphs, got a single "
            f"{type(dataset).__name__}: pass a list of Data"
        )
    if len(dataset) == 0:
        raise ValueError("the data set is empty: give at least one graph of each class")
    refuse_hetero(dataset[0])
    return str(getattr(dataset, "name", type(dataset).__name__)), dataset, 0


def find_labels(graphs: Sequence[Data], folds: int, inner_folds: int = 0) -> Tensor:
    """Return the class of each graph, enough of each for the evaluation's folds."""
    missing = sum(data.y is None for data in graphs)
    if missing:
        raise ValueError(
            f"{missing} of {len(graphs)} graphs have no label y, which the evaluation "
            "needs: set data.y to the class of each graph"
        )
    labels = torch.cat([_label(i, data.y) for i, data in enumerate(graphs)])
    if labels.numel() != len(graphs):
        raise ValueError(
            f"each graph needs exactly one label, got {labels.numel()} labels for "
            f"{len(graphs)} graphs"
        )
    check_classes(labels, folds, inner_folds)
    return labels


def check_classes(labels: Tensor, folds: int, inner_folds: int = 0) -> None:
    """Raise ValueError unless there are enough graphs of each class for the folds."""
    found = Counter(labels.tolist())
    # One in each fold, and one in each inner fold of those that are trained on.
    least = max(folds, ceil(inner_folds * folds / (folds - 1)))
    if len(found) < 2 or min(found.values()) < least:
        raise ValueError(
            f"the evaluation needs at least 2 classes of {least} graphs each, got "
            f"{dict(found)} (class: graphs)"
        )


def _label(i: int, y: Any) -> Tensor:
    """Return the label of a graph, which names a class."""
    try:
        label = torch.as_tensor(y).view(-1)
    except (TypeError, ValueError, RuntimeError):
        label = None
    if label is None or not bool((label.isfinite() & (label == label.floor())).all()):
        raise ValueError(
            f"the label y of graph {i} must be a whole number, its class, got {y!r}: "
            "number the classes 0, 1, ..."
        )
    return label


def choose_view(
    method: type[Method[Any]],
    anchor: AnchorView | bool | None,
    leaf_channels: int,
    config: Any,
) -> AnchorView | None:
    """Return the anchor view of a run, of the widths that the method needs."""
    if anchor is None or anchor is False:
        return None
    default = method.default_anchor(leaf_channels, config)
    if anchor is True:
        return default
    for name, what in (
        ("in_channels", "number of features of the leaves under these settings"),
        ("out_channels", f"width of what {method.name} compares"),
    ):
        wanted, given = getattr(default, name), getattr(anchor, name)
        if given != wanted:
            raise ValueError(
                f"the anchor view has {name}={given!r}, but {wanted} is the "
                f"{what}: pass {name}={wanted}"
            )
    return anchor


def view_words(tree: str | None, quantities: bool, protocol: Protocol) -> str:
    """Return what tables say of an anchor view behind the name of its method.

    Args:
        tree: how the trees are built, or which control they are; None for the usual.
        quantities: whether the view sees sizes, volumes and cuts.
        protocol: whose usual trees need no word.

    Example:
        >>> view_words("shuffled", quantities=True, protocol="honest")
        ', quantities, shuffled leaves'
        >>> view_words("authors", quantities=False, protocol="paper")
        ''
    """
    usual = "authors" if protocol == "paper" else "refined"
    controls = {"shuffled": "shuffled leaves", "random": "random tree"}
    words = ", quantities" if quantities else ""
    if tree not in (None, usual):
        words += f", {controls.get(str(tree), f'tree: {tree}')}"
    return words


def reset_copy(view: AnchorView) -> AnchorView:
    """Return a copy of the view whose parameters start again."""
    copied = copy.deepcopy(view)
    for module in copied.modules():
        reset = getattr(module, "reset_parameters", None)
        if callable(reset):
            reset()
    return copied


def find_cache(dataset: str | Sequence[Data], graphs: Sequence[Data]) -> Path | None:
    """Return where the trees of a set known by name are kept: beside its files."""
    if not isinstance(dataset, str) or not isinstance(graphs, InMemoryDataset):
        return None
    folder = Path(graphs.processed_dir).with_name("trees")
    if not folder.parent.exists():  # a set without files
        return None
    try:  # it may be another user's, or its disk full
        check_writable(folder)
    except ValueError:
        return None
    return folder


def prepare(
    graphs: Sequence[Data],
    features: HonestFeatures | PublishedFeatures,
    view: AnchorView | None,
    cache: Path | None = None,
    threads: int | None = None,
) -> list[Data]:
    """Give every graph its features and its tree, and drop all else but the label."""
    # The trees first: features may add self-loops.
    if view is not None:
        with phase("trees"):
            graphs = view.transform.map(graphs, threads=threads, cache=cache)
    keep = ("x", "tree_x", "edge_index", TREE, "y")
    prepared = []
    with ProgressCounter("Preparing graphs", len(graphs), last=False) as counter:
        for data in graphs:
            done = features(data)
            if view is None:
                del done["tree_x"]
            prepared.append(Data.from_dict({k: done[k] for k in keep if k in done}))
            counter.update()
    return prepared


def pack(graphs: Sequence[Data]) -> PackedGraphs:
    """Return what encoders see of prepared graphs, packed; labels stay behind."""
    bare = [data.__copy__() for data in graphs]
    for data in bare:
        data.pop("y", None)
    packed = PackedGraphs.of(bare)
    for name in {"x", "tree_x"} & packed.fields.keys():
        wrong = ~packed.fields[name].isfinite().all(dim=1)
        if wrong.any():
            row = wrong.nonzero()[0]
            i = int(torch.searchsorted(packed.ptr["node"], row, right=True)) - 1
            raise ValueError(
                f"the features of graph {i} are not finite: replace NaN and infinity"
            )
    return packed.compact()


def announce(
    record: Record,
    graphs: int,
    seeds: Sequence[int],
    epochs: int | str,
    device: str,
) -> None:
    """Write the first line of a run to the log."""
    what = f"{record.config['label']} on {record.config['dataset']}"
    numbers = ", ".join(map(str, seeds))
    where = "no record" if record.path is None else f"record {record.path}"
    log_line(
        f"{what}: {graphs} graphs, seeds {numbers}, epochs {epochs}, {device}, {where}"
    )
