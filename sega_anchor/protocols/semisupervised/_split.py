"""split: which graphs of a fold are labelled, validated on and tested on."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from sklearn.model_selection import StratifiedKFold
from torch import Tensor
from torch_geometric.data import Data

from ..prepare import find_graphs, find_labels
from ..settings import Protocol
from ._config import Config

_FOLD_STATE = 12345  # of the released code's folds


def split(
    labels: Tensor,
    fold: int,
    label_rate: float,
    protocol: Protocol,
    seed: int,
    folds: int = 10,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return which graphs are labelled, validated on and tested on in a fold.

    Stratified folds; the fold before the test fold is for validation, under "paper"
    there is none. Of the other folds the first of ``1 / label_rate`` stratified parts
    is labelled.

    Args:
        labels: class of each graph.
        fold: which fold is the test fold, from 0.
        label_rate: share of the training folds that is labelled.
        protocol: "honest" draws the folds from the seed, "paper" as released.
        seed: of the run.
        folds: how many.

    Returns:
        Three LongTensors; the second is empty under "paper".

    Source: repository Shen-Lab/GraphCL, semisupervised_TU/finetuning.

    Example:
        >>> train, validation, test = split(torch.arange(400) % 2, 0, 0.1, "honest", 0)
        >>> len(train), len(validation), len(test)
        (32, 40, 40)
    """
    state = _FOLD_STATE if protocol == "paper" else seed
    y = labels.numpy()
    cut = StratifiedKFold(folds, shuffle=True, random_state=state)
    tests = [test for _, test in cut.split(y, y)]
    held = tests[fold], tests[fold - 1][: 0 if protocol == "paper" else None]
    rest = np.setdiff1d(np.arange(len(y)), np.concatenate(held))
    parts = StratifiedKFold(round(1 / label_rate), shuffle=True, random_state=state)
    _, labelled = next(iter(parts.split(y[rest], y[rest])))
    found = [torch.from_numpy(index) for index in (rest[labelled], held[1], held[0])]
    return found[0], found[1], found[2]


def check_label_rate(labels: Tensor, label_rate: float, folds: int) -> None:
    """Raise ValueError unless every class has a labelled graph in every fold."""
    least = min(Counter(labels.tolist()).values())
    parts = round(1 / label_rate)
    if least // folds * (folds - 2) < parts:
        raise ValueError(
            f"label_rate={label_rate} leaves folds without a labelled graph of the "
            f"smallest class, which has {least}: give a larger one"
        )


def check(dataset: str | Sequence[Data], configs: Iterable[Config]) -> None:
    """Raise ValueError for data that :func:`.run` would refuse.

    It does so itself; this is for those who have other work to do first.

    Args:
        dataset: as for :func:`.run`.
        configs: what it will be run with.
    """
    wanted = {(c.protocol, c.root, c.archives, c.folds, c.label_rate) for c in configs}
    for protocol, root, archives, folds, label_rate in wanted:
        _, graphs, _ = find_graphs(dataset, protocol, root, archives)
        check_label_rate(find_labels(graphs, folds).long(), label_rate, folds)
