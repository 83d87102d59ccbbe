"""nt_xent and NTXent: the contrastive loss of the GraphCL family."""

import torch
from torch import Tensor, nn
from typing_extensions import override

from ..distributed import gather as gather_rows
from ..utils.precision import widen, without_autocast


def nt_xent(
    anchor: Tensor,
    view: Tensor,
    temperature: float = 0.2,
    symmetric: bool = False,
    include_positive: bool = False,
) -> Tensor:
    r"""Return the normalised-temperature cross entropy between two sets of vectors.

    With :math:`s_{ij}` the cosine of anchor :math:`i` and view :math:`j`,

    .. math::
        L = \frac{1}{N} \sum_i \Big( \log \sum_{j \ne i} e^{s_{ij} / \tau}
            - s_{ii} / \tau \Big)

    The positive pair is left out of the denominator, as in the paper's equation 3 and
    GraphCL (the loss may be negative); ``include_positive`` puts it in (RGCL).

    Args:
        anchor: ``(N, channels)``.
        view: ``(N, channels)``; row i is the positive of anchor i.
        temperature: :math:`\tau`, positive.
        symmetric: average with the loss whose anchor is ``view``.
        include_positive: sum the denominator over all j.

    Returns:
        A scalar. A batch of one without negatives has loss 0; a zero vector has cosine
        0 with everything and a finite gradient. Vectors of 16 bits are compared in
        float32, under autocast too.

    Raises:
        ValueError: if the shapes differ or the temperature is not positive.

    Source: Wu et al., ICML 2023, equation 3; You et al., NeurIPS 2020 (GraphCL).

    Example:
        >>> x = torch.eye(3)
        >>> round(nt_xent(x, x, temperature=1.0).item(), 4)  # log 2 - 1
        -0.3069
    """
    _check_temperature(temperature)
    if anchor.dim() != 2 or anchor.shape != view.shape:
        raise ValueError(
            "anchor and view must both have shape (N, channels), got "
            f"{tuple(anchor.shape)} and {tuple(view.shape)}"
        )
    similarity = products(unit(anchor), unit(view)) / temperature
    loss = _one_side(similarity, include_positive)
    if symmetric:
        loss = (loss + _one_side(similarity.t(), include_positive)) / 2
    return loss


class NTXent(nn.Module):
    """Module form of :func:`nt_xent`; the anchor comes first.

    Args:
        temperature: positive. (default: :obj:`0.2`)
        symmetric: see :func:`nt_xent`. (default: :obj:`False`)
        include_positive: see :func:`nt_xent`. (default: :obj:`False`)
        gather: with a process group, take the negatives from the batches of all ranks,
            with gradients: averaged over ranks, as ``DistributedDataParallel`` does,
            they are those of one process with the whole batch. (default: :obj:`False`)

    Raises:
        ValueError: if the temperature is not positive.

    Example:
        >>> NTXent(0.5)
        NTXent(temperature=0.5, symmetric=False, include_positive=False, gather=False)
    """

    def __init__(
        self,
        temperature: float = 0.2,
        symmetric: bool = False,
        include_positive: bool = False,
        gather: bool = False,
    ) -> None:
        super().__init__()
        _check_temperature(temperature)
        self.temperature = temperature
        self.symmetric = symmetric
        self.include_positive = include_positive
        self.gather = gather

    @override
    def forward(self, anchor: Tensor, view: Tensor) -> Tensor:
        """Return the loss of ``anchor`` against ``view``, both ``(N, channels)``."""
        if self.gather:
            anchor, view = gather_rows(widen(anchor)), gather_rows(widen(view))
        return nt_xent(
            anchor, view, self.temperature, self.symmetric, self.include_positive
        )

    @override
    def extra_repr(self) -> str:
        return (
            f"temperature={self.temperature}, symmetric={self.symmetric}, "
            f"include_positive={self.include_positive}, gather={self.gather}"
        )


def _check_temperature(temperature: float) -> None:
    if not temperature > 0:
        raise ValueError(f"temperature must be positive, got {temperature!r}")


def unit(x: Tensor) -> Tensor:
    """Return rows of length 1; a zero row stays zero and has a modest gradient.

    Differs from torch's normalize, which divides that gradient by 1e-12. Rows of 16
    bits become float32.

    Example:
        >>> unit(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
        tensor([[0.6000, 0.8000],
                [0.0000, 0.0000]])
    """
    x = widen(x)
    norm = x.norm(dim=1, keepdim=True)
    return x / torch.where(norm > 0, norm, 1.0)


def products(x: Tensor, y: Tensor) -> Tensor:
    """Return each row of x times each row of y, ``(rows of x, rows of y)``.

    Differs from ``x @ y.t()`` under autocast, which would round to 16 bits what a loss
    takes exponentials of.

    Example:
        >>> products(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
        tensor([[11.,  2.]])
    """
    with without_autocast(x):
        return widen(x) @ widen(y).t()


def _one_side(similarity: Tensor, include_positive: bool) -> Tensor:
    positive = similarity.diagonal()
    if not include_positive:
        if len(similarity) == 1:
            return (positive * 0.0).sum()
        own = torch.eye(len(similarity), dtype=torch.bool, device=similarity.device)
        similarity = similarity.masked_fill(own, float("-inf"))
    return (similarity.logsumexp(dim=1) - positive).mean()
