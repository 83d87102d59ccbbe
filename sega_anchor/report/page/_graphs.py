"""What figures need of data sets, of those that are here without a download."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...datasets import load
from ...datasets._files import archive_folder, data_root
from ...datasets.tu._archive import is_complete
from ...trees import TreeName, structural_entropy, tree_transform

#: Of so many graphs, spread over the set, the mean entropy is taken.
SAMPLED = 200
_ANCHOR = re.compile(r"Add(Coding|Shuffled|Random)Tree\(height=(\d+)")
_METHOD = re.compile(r"method='(\w+)'")


class Trees(NamedTuple):
    """Which trees a configuration gave to its anchor."""

    height: int
    name: TreeName


def trees_of(config: dict[str, Any]) -> Trees | None:
    """Return the trees of a configuration, None if it has no anchor of known trees.

    Example:
        >>> trees_of({"anchor": "AnchorView(transform=AddRandomTree(height=2, ..."})
        Trees(height=2, name='random')
    """
    text = str(config.get("anchor") or "")
    if (found := _ANCHOR.search(text)) is None:
        return None
    height = int(found[2])
    if found[1] == "Random":
        return Trees(height, "random")
    if found[1] == "Shuffled":
        return Trees(height, "shuffled")
    method: Any = _METHOD.search(text)
    return Trees(height, method[1] if method else "refined")


@cache
def local_graphs(name: str) -> Any | None:
    """Return a data set that needs no download, None for another."""
    try:
        if not name.startswith("synthetic"):
            folder = archive_folder(None)
            archived = folder is not None and (folder / f"{name}.zip").is_file()
            if not archived and not is_complete(data_root(None) / name / "raw", name):
                return None
        return load(name)
    except ValueError:  # damaged, or no data set of ours
        return None


@cache
def class_of_graphs(name: str) -> Tensor | None:
    """Return the class of each graph of a local set, 0, 1, ..."""
    graphs = local_graphs(name)
    if graphs is None:
        return None
    classes: Tensor = torch.cat([graph.y.view(-1)[:1] for graph in graphs])
    numbers: Tensor = torch.unique(classes, return_inverse=True)[1]
    return numbers


@cache
def mean_entropy(name: str, trees: Trees) -> float | None:
    """Return the mean structural entropy, in bits, of a sample of a local set."""
    graphs = local_graphs(name)
    if graphs is None:
        return None
    transform = tree_transform(trees.name, trees.height)
    chosen = np.unique(np.linspace(0, len(graphs) - 1, SAMPLED).astype(int))
    bits = [
        structural_entropy(transform.tree(graph), graph.edge_index)
        for graph in (graphs[int(i)] for i in chosen)
    ]
    return float(np.mean(bits))
