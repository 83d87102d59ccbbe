"""The distribution over augmentations, and its update after every epoch."""

from typing import Literal

import torch
from torch import Tensor

from sega_anchor.utils import check_choice

Projection = Literal["exact", "bisection"]


def project_to_simplex(b: Tensor) -> Tensor:
    r"""Return the probabilities nearest to a vector, exactly.

    :math:`\max(b - \mu, 0)` with the one :math:`\mu` for which they sum to 1, found by
    sorting.

    Args:
        b: ``(..., n)``; each row is projected on its own.

    Returns:
        ``(..., n)``, not negative, rows of sum 1.

    Source: Wang and Carreira-Perpinan, arXiv:1309.1541, algorithm 1.

    Example:
        >>> project_to_simplex(torch.tensor([1.5, 1.25, 0.0]))
        tensor([0.6250, 0.3750, 0.0000])
    """
    b = b - b.amax(dim=-1, keepdim=True)  # same projection, no digits lost
    high = b.sort(dim=-1, descending=True).values
    surplus = high.cumsum(dim=-1) - 1
    size = torch.arange(1, b.size(-1) + 1, device=b.device)
    support = (high * size > surplus).sum(dim=-1, keepdim=True)
    mu = surplus.gather(-1, support - 1) / support
    return (b - mu).clamp(min=0)


def bisect_to_simplex(b: Tensor, tolerance: float = 0.01) -> Tensor:
    """Return the probabilities nearest to a vector, as nearly as the released code.

    It halves an interval for mu until the sum is 1 up to the tolerance, then scales
    the result to sum 1; entries are up to 0.003 from :func:`project_to_simplex`.

    Args:
        b: ``(n,)``, finite.
        tolerance: positive.

    Raises:
        ValueError: if the tolerance is not positive.

    Example:
        >>> bisect_to_simplex(torch.tensor([3.3, 3.2, 3.6, 3.1, 2.7]))
        tensor([0.2500, 0.1506, 0.5481, 0.0512, 0.0000])
    """
    if not tolerance > 0:
        raise ValueError(f"tolerance must be positive, got {tolerance!r}")
    low, high = b.min() - 1 / len(b), b.max() - 1 / len(b)
    mu = (low + high) / 2
    for _ in range(100):  # no float has more digits to settle
        total = (b - mu).clamp(min=0).sum()
        if abs(total - 1) <= tolerance:
            break
        low, high = (mu, high) if total > 1 else (low, mu)
        mu = (low + high) / 2
    probabilities = (b - mu).clamp(min=0)
    return probabilities / probabilities.sum()


def ascended(
    probabilities: Tensor, losses: Tensor, gamma: float, beta: float = 1.0
) -> Tensor:
    r"""Return the distribution after an ascent step, before its projection.

    .. math:: b = P + \beta \left( l - \gamma (P - 1/n) \right),

    a step of size :math:`\beta` up the gradient of :math:`\sum_i P_i l_i -
    \frac{\gamma}{2} \lVert P - 1/n \rVert^2`.

    Args:
        probabilities: :math:`P`, ``(n,)``.
        losses: :math:`l`, the loss of each augmentation, ``(n,)``.
        gamma: weight of the uniform prior.
        beta: step size.
    """
    prior = 1 / len(probabilities)
    return probabilities + beta * (losses - gamma * (probabilities - prior))


def updated(
    probabilities: Tensor,
    losses: Tensor,
    gamma: float,
    beta: float = 1.0,
    projection: Projection = "exact",
) -> Tensor:
    """Return the distribution of the next epoch: what costs more gets more likely.

    Once an epoch: :func:`ascended`, then :func:`project_to_simplex` ("exact") or, as
    released, :func:`bisect_to_simplex` ("bisection"). With gamma = beta = 1 the old
    distribution does not matter; with gamma <= 0.1 it soon ends in a corner.

    Args:
        probabilities: :math:`P`, ``(n,)``.
        losses: :math:`l`, the loss of each augmentation, ``(n,)``.
        gamma: weight of the uniform prior.
        beta: step size.
        projection: as above.

    Returns:
        ``(n,)``, double precision.

    Raises:
        ValueError: if a loss is not finite or the projection unknown.

    Source: You et al., ICML 2021; repository Shen-Lab/GraphCL_Automated.

    Example:
        >>> losses = torch.tensor([3.1, 3.0, 3.4, 2.9, 2.5])
        >>> updated(torch.full((5,), 0.2), losses, gamma=0.1)
        tensor([0.2500, 0.1500, 0.5500, 0.0500, 0.0000], dtype=torch.float64)
    """
    check_choice("projection", projection, Projection)
    if not losses.isfinite().all():
        raise ValueError(
            f"losses must be finite, got {losses.tolist()}: training diverged, try a "
            "smaller learning rate, or the loader is empty"
        )
    b = ascended(probabilities.double(), losses.double(), gamma, beta)
    return project_to_simplex(b) if projection == "exact" else bisect_to_simplex(b)
