"""ROC-AUC over many binary tasks with missing labels."""

from __future__ import annotations

import torch
from torch import Tensor


def mean_roc_auc(labels: Tensor, scores: Tensor) -> tuple[float, int]:
    """Average the ROC-AUC of the tasks that have both classes, MoleculeNet's score.

    Args:
        labels: 0, 1 or NaN where there is none, ``(N, tasks)``.
        scores: Higher for what is more likely 1, ``(N, tasks)``.

    Returns:
        The mean, in [0, 1], and the number of tasks in it.

    Raises:
        ValueError: As :func:`roc_auc`, and if no task has both classes.

    Source: ``chem/finetune.py`` of snap-stanford/pretrain-gnns.

    >>> nan = float("nan")
    >>> labels = torch.tensor([[0.0, 1.0], [1.0, nan], [1.0, 1.0]])
    >>> mean_roc_auc(labels, torch.tensor([[0.2, 0.1], [0.1, 0.3], [0.9, 0.2]]))
    (0.5, 1)
    """
    found = roc_auc(labels, scores)
    counted = ~found.isnan()
    if not counted.any():
        raise ValueError(
            f"none of the {len(found)} tasks has both classes among its "
            f"{len(labels)} labels: give more molecules or another split"
        )
    return float(found[counted].mean()), int(counted.sum())


def roc_auc(labels: Tensor, scores: Tensor) -> Tensor:
    r"""Compute the ROC-AUC of each task, NaN for those that lack a class.

    .. math:: \frac{1}{PQ} \Big(\sum_{y_i = 1} r_i - \tfrac{1}{2} P (P + 1)\Big)

    for P labels 1, Q labels 0, and the ranks r of the scores among those with a label,
    equal scores sharing their mean rank. scikit-learn's numbers, for all tasks at once.

    Args:
        labels: 0, 1 or NaN where there is none, ``(N, tasks)``.
        scores: ``(N, tasks)``, finite where there is a label.

    Returns:
        Values in [0, 1] or NaN, ``(tasks,)``, double.

    Raises:
        ValueError: If the shapes differ, a label is another number, or a score is NaN
            or infinite.

    >>> labels = torch.tensor([[0.0], [1.0], [1.0]])
    >>> roc_auc(labels, torch.tensor([[0.2], [0.2], [0.9]]))
    tensor([0.7500], dtype=torch.float64)
    """
    _check(labels, scores)
    # Those without a label are ranked last, where they change no other's rank.
    values = scores.double().masked_fill(labels.isnan(), torch.inf)
    rank = _mean_ranks(values)
    positive = labels == 1
    ones, zeros = positive.sum(dim=0), (labels == 0).sum(dim=0)
    above = (rank * positive).sum(dim=0) - ones * (ones + 1) / 2
    return above / (ones * zeros)


def _mean_ranks(values: Tensor) -> Tensor:
    """Rank each column from 1; equal values share the mean of their ranks."""
    ordered, order = values.sort(dim=0)
    place = torch.arange(1, len(values) + 1, device=values.device).unsqueeze(1)
    edge = ordered[1:] != ordered[:-1]
    true = torch.ones_like(values[:1], dtype=torch.bool)
    first = torch.where(torch.cat([true, edge]), place, 0).cummax(dim=0).values
    last = torch.where(torch.cat([edge, true]), place, len(values))
    last = last.flip(0).cummin(dim=0).values.flip(0)
    rank = (first + last).to(values.dtype) / 2
    return torch.empty_like(values).scatter_(0, order, rank)


def _check(labels: Tensor, scores: Tensor) -> None:
    if labels.dim() != 2 or labels.shape != scores.shape or not labels.numel():
        raise ValueError(
            "labels and scores must have one shape (N, tasks), not empty, got "
            f"{tuple(labels.shape)} and {tuple(scores.shape)}"
        )
    known = (labels == 0) | (labels == 1)
    other = labels[~known & ~labels.isnan()]
    if len(other):
        raise ValueError(f"labels must be 0, 1 or NaN, got {other[0].item()}")
    bad = int((known & ~scores.isfinite()).sum())
    if bad:
        raise ValueError(
            f"{bad} scores are NaN or infinite: training diverged, lower the learning "
            "rate"
        )
