"""RGCL's loss, in the forms of its two code bases."""

import math
from typing import Literal

import torch
from torch import Tensor

from sega_anchor.nn import nt_xent, products, unit
from sega_anchor.utils import check_choice

Form = Literal["unsupervised", "transfer"]


def rgcl_loss(
    x: Tensor,
    rationale: Tensor,
    complement: Tensor,
    temperature: float = 0.2,
    weight: float = 0.1,
    form: Form = "unsupervised",
) -> Tensor:
    r"""Return the loss that draws x to its rationale and away from complements.

    With :math:`E_{ij} = e^{\cos(x_i, r_j) / \tau}` and
    :math:`C_{ij} = e^{\cos(x_i, c_j) / \tau}`,

    .. math::
        a_i = \frac{E_{ii}}{\sum_j E_{ij}}, \quad
        b_i = \frac{E_{ii}}{E_{ii} + \sum_j C_{ij}}

    ``"unsupervised"`` is the mean of :math:`-\log(a_i + \lambda b_i)`; ``"transfer"``
    the mean of :math:`-\log a'_i - \lambda \log b_i`, where the sum in :math:`a'`
    leaves out :math:`j = i`. As in :func:`~sega_anchor.nt_xent`, a zero vector has
    cosine 0 with everything and a finite gradient.

    Args:
        x: what is not sampled, ``(N, channels)``; as in the released transfer code a
            second rationale view; or the anchor.
        rationale: :math:`r`, ``(N, channels)``.
        complement: :math:`c`, ``(N, channels)``.
        temperature: :math:`\tau`, positive.
        weight: :math:`\lambda`, not negative.
        form: as above.

    Raises:
        ValueError: if shapes differ or a value cannot be used.

    Source: repository lsh0520/RGCL, unsupervised_TU/rgcl.py and
    transferLearning/chem/pretrain_rgcl.py.

    Example:
        >>> x = torch.eye(3)
        >>> round(rgcl_loss(x, x, -x, temperature=1.0, weight=0.0).item(), 4)
        0.5514
    """
    check_loss(temperature, weight, form)
    if not x.shape == rationale.shape == complement.shape or x.dim() != 2:
        raise ValueError(
            "x, rationale and complement must all have shape (N, channels), got "
            f"{tuple(x.shape)}, {tuple(rationale.shape)} and {tuple(complement.shape)}"
        )
    of_x, of_rationale = unit(x), unit(rationale)
    own = (of_x * of_rationale).sum(dim=1) / temperature
    others = (products(of_x, unit(complement)) / temperature).logsumexp(dim=1)
    log_b = own - torch.logaddexp(own, others)
    if form == "transfer":
        return nt_xent(x, rationale, temperature) - weight * log_b.mean()
    within = (products(of_x, of_rationale) / temperature).logsumexp(dim=1)
    log_weight = math.log(weight) if weight > 0 else -math.inf
    return -torch.logaddexp(own - within, log_b + log_weight).mean()


def check_loss(temperature: float, weight: float, form: str) -> None:
    """Raise ValueError for values that the loss cannot use."""
    if not temperature > 0:
        raise ValueError(f"temperature must be positive, got {temperature!r}")
    if not weight >= 0:
        raise ValueError(f"weight must not be negative, got {weight!r}")
    check_choice("form", form, Form)
