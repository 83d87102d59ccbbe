"""ROC-AUC over many binary tasks with missing labels."""

import torch
from torch import Tensor


def mean_roc_auc(labels: Tensor, scores: Tensor) -> tuple[float, int]:
    """Return the mean ROC-AUC of the tasks that have both classes, MoleculeNet's score.

    Args:
        labels: 0, 1 or NaN where there is none, ``(N, tasks)``.
        scores: higher where label 1 is more likely, ``(N, tasks)``.

    Returns:
        The mean, in [0, 1], and the number of tasks in it.

    Raises:
        ValueError: as in :func:`roc_auc`, and if no task has both classes.

    Source: ``chem/finetune.py`` of snap-stanford/pretrain-gnns.

    Example:
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
    r"""Return the ROC-AUC of each task, NaN for those that lack a class.

    .. math:: \frac{1}{PQ} \Big(\sum_{y_i = 1} r_i - \tfrac{1}{2} P (P + 1)\Big)

    with P labels 1, Q labels 0, and r the ranks of the scores that have a label, where
    equal scores share their mean rank. The values are those of scikit-learn, computed
    for all tasks at once.

    Args:
        labels: 0, 1 or NaN where there is none, ``(N, tasks)``.
        scores: ``(N, tasks)``, finite where there is a label.

    Returns:
        Values in [0, 1] or NaN, ``(tasks,)``, double.

    Raises:
        ValueError: for different shapes, a label that is another number, or a score
            that is NaN or infinite.

    Example:
        >>> labels = torch.tensor([[0.0], [1.0], [1.0]])
        >>> roc_auc(labels, torch.tensor([[0.2], [0.2], [0.9]]))
        tensor([0.7500], dtype=torch.float64)
    """
    _check(labels, scores)
    # Scores without a label rank last, where they do not change other ranks.
    values = scores.double().masked_fill(labels.isnan(), torch.inf)
    rank = _mean_ranks(values)
    positive = labels == 1
    ones, zeros = positive.sum(dim=0), (labels == 0).sum(dim=0)
    above = (rank * positive).sum(dim=0) - ones * (ones + 1) / 2
    return above / (ones * zeros)


def _mean_ranks(values: Tensor) -> Tensor:
    """Return ranks from 1 in each column; equal values share their mean rank."""
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
