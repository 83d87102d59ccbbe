"""ROC-AUC of many tasks at once is scikit-learn's, task by task."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from sega_anchor.evaluate.roc_auc import mean_roc_auc, roc_auc

NAN = float("nan")


def slowly(labels: torch.Tensor, scores: torch.Tensor) -> list[float]:
    """One task after the other, of those with both classes."""
    found = []
    for y, s in zip(labels.T.numpy(), scores.T.numpy(), strict=True):
        known = ~np.isnan(y)
        if len(set(y[known].tolist())) == 2:
            found.append(roc_auc_score(y[known], s[known]))
    return found


@given(st.integers(1, 30), st.integers(1, 9), st.integers(1, 4), st.integers(0, 9999))
def test_scikit_learn_agrees(n: int, tasks: int, levels: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(3, (n, tasks), generator=generator).float()
    labels[labels == 2] = NAN
    scores = torch.randn(n, tasks, generator=generator)
    if levels < 4:  # ties
        scores = (scores * levels).round()
    expected = slowly(labels, scores)
    found = roc_auc(labels, scores)
    np.testing.assert_allclose(found[~found.isnan()], expected, rtol=0, atol=1e-12)
    if expected:
        mean, count = mean_roc_auc(labels, scores)
        assert count == len(expected)
        assert mean == pytest.approx(np.mean(expected), abs=1e-12)


def test_many_tasks_of_many_molecules() -> None:
    generator = torch.Generator().manual_seed(0)
    labels = (torch.rand(858, 617, generator=generator) < 0.1).double()
    labels[torch.rand(858, 617, generator=generator) < 0.7] = NAN
    scores = torch.randn(858, 617, generator=generator).half().double()
    found = roc_auc(labels, scores)[:60]
    expected = slowly(labels[:, :60], scores[:, :60])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_scores_without_a_label_do_not_count() -> None:
    labels = torch.tensor([[0.0], [1.0], [NAN], [NAN]])
    for other in (NAN, float("inf"), -float("inf"), 0.5):
        scores = torch.tensor([[0.1], [0.2], [other], [0.0]])
        assert mean_roc_auc(labels, scores) == (1.0, 1)


def test_tasks_of_one_class_are_left_out() -> None:
    labels = torch.tensor([[0.0, 1.0, NAN, 0.0], [1.0, 1.0, NAN, 0.0]])
    scores = torch.tensor([[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    assert mean_roc_auc(labels, scores) == (0.5, 1)
    assert roc_auc(labels, scores).isnan().tolist() == [False, True, True, True]
    with pytest.raises(ValueError, match="none of the 3 tasks has both classes"):
        mean_roc_auc(labels[:, 1:], scores[:, 1:])


def test_what_is_no_score() -> None:
    labels = torch.tensor([[0.0], [1.0]])
    for bad in (NAN, float("inf")):
        with pytest.raises(ValueError, match="1 scores are NaN or infinite"):
            roc_auc(labels, torch.tensor([[bad], [0.0]]))
    with pytest.raises(ValueError, match=r"0, 1 or NaN, got -1"):
        roc_auc(2 * labels - 1, labels)
    for shape in ((2,), (2, 2), (0, 1)):
        with pytest.raises(ValueError, match="one shape"):
            roc_auc(labels if shape[0] else labels[:0], torch.zeros(shape))
