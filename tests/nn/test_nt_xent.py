import pytest
import torch
from torch import Tensor

from sega_anchor import NTXent, nt_xent
from tests.helpers.reference import reference


def slow(anchor: Tensor, view: Tensor, temperature: float, include: bool) -> float:
    """One row at a time, in plain Python."""
    n = len(anchor)
    total = 0.0
    for i in range(n):
        score = [
            torch.cosine_similarity(anchor[i], view[j], dim=0).div(temperature).exp()
            for j in range(n)
        ]
        rest = sum(score[j] for j in range(n) if include or j != i)
        total -= float(torch.log(score[i] / rest))
    return total / n


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n", [2, 5, 33])
@pytest.mark.parametrize("temperature", [0.1, 0.2, 1.0])
@pytest.mark.parametrize("include", [False, True])
def test_equals_the_slow_twin(dtype, n: int, temperature: float, include: bool) -> None:
    generator = torch.Generator().manual_seed(n)
    x, y = torch.randn(2, n, 7, generator=generator, dtype=dtype)
    one = slow(x, y, temperature, include)
    other = slow(y, x, temperature, include)
    for symmetric, expected in ((False, one), (True, (one + other) / 2)):
        got = nt_xent(x, y, temperature, symmetric, include)
        assert got.item() == pytest.approx(expected, abs=1e-4)
        module = NTXent(temperature, symmetric, include)
        assert torch.equal(module(x, y), got)


@pytest.mark.parametrize(
    ("key", "names", "arguments"),
    [
        ("sega_T0.2_anchor_x", "xy", (0.2,)),
        ("sega_T0.2_swapped_anchor_y", "yx", (0.2,)),
        ("sega_T0.2_sym", "xy", (0.2, True)),
        ("graphcl_semi_T0.5", "xy", (0.5,)),
        ("graphcl_transfer_T0.1", "xy", (0.1,)),
        ("adgcl_T0.2_sym", "xy", (0.2, True)),
        ("autogcl_loss_cl_T0.5_sym", "xy", (0.5, True)),
    ],
)
def test_equals_the_released_losses(key: str, names: str, arguments: tuple) -> None:
    values = reference("losses")
    x, y = (torch.tensor(values[name], dtype=torch.double) for name in names)
    assert nt_xent(x, y, *arguments).item() == pytest.approx(values[key], abs=2e-6)


@pytest.mark.parametrize("include", [False, True])
def test_a_batch_of_one_has_loss_zero_and_finite_gradients(include: bool) -> None:
    x = torch.randn(1, 4, requires_grad=True)
    loss = nt_xent(x, torch.randn(1, 4), include_positive=include)
    loss.backward()
    assert loss.item() == pytest.approx(0.0, abs=1e-6)
    assert x.grad is not None
    assert x.grad.isfinite().all()


def test_zero_vectors_have_cosine_zero_and_finite_gradients() -> None:
    x = torch.randn(3, 4)
    x[1] = 0
    x.requires_grad_()
    loss = nt_xent(x, torch.zeros(3, 4))
    loss.backward()
    assert loss.item() == pytest.approx(torch.tensor(2.0).log().item())
    assert x.grad is not None
    assert torch.equal(x.grad, torch.zeros(3, 4))
    nt_xent(x, torch.randn(3, 4)).backward()
    assert x.grad.isfinite().all()


def test_large_scores_do_not_overflow() -> None:
    x = torch.eye(4) * 1e20
    assert nt_xent(x, x, temperature=1e-3).isfinite()


def test_gradient_is_numerically_right() -> None:
    x, y = torch.randn(2, 4, 3, dtype=torch.double)
    x.requires_grad_()
    y.requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b: nt_xent(a, b, 0.5, True), (x, y))


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="temperature must be positive, got 0"):
        NTXent(temperature=0)
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(3, 3\)"):
        nt_xent(torch.ones(2, 3), torch.ones(3, 3))
