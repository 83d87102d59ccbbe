"""BatchNorm layers of one process: what torch's says, and single rows."""

import copy

import pytest
import torch
from torch import Tensor, nn

from sega_anchor.nn import BatchNorm, SyncBatchNorm
from tests.helpers.norms import CASES


def alone(x: Tensor) -> Tensor:
    """Join the rows of a single process."""
    return x


def sync(norm: nn.BatchNorm1d) -> SyncBatchNorm:
    return SyncBatchNorm.of(norm, alone)


@pytest.mark.parametrize("name", [name for name in CASES if "single" not in name])
def test_the_layer_of_several_processes_is_that_of_torch(name: str) -> None:
    case = CASES[name]
    expected = case.norm()
    norm = sync(case.norm())
    for batch in case.batches():
        outputs = []
        for layer in (norm, expected):
            x = batch.clone().requires_grad_()
            layer.zero_grad()
            out = layer(x)
            out.pow(3).sum().backward()
            outputs.append([out, x.grad, *[p.grad for p in layer.parameters()]])
        torch.testing.assert_close(*outputs)
    torch.testing.assert_close(norm.state_dict(), expected.state_dict())
    torch.testing.assert_close(norm.eval()(batch), expected.eval()(batch))


def test_statistics_of_16_bits_are_taken_in_float32() -> None:
    x = (100 + torch.randn(500, 3, generator=torch.Generator().manual_seed(0))).half()
    expected, norm = nn.BatchNorm1d(3), sync(nn.BatchNorm1d(3))
    wide = expected(x.float())
    with torch.autocast("cpu", torch.bfloat16):
        out = norm(x)
    assert out.dtype == torch.float16
    torch.testing.assert_close(out, wide.half())
    torch.testing.assert_close(norm.state_dict(), expected.state_dict())


def test_hooks_stay_with_their_layer() -> None:
    called = []
    layer = nn.BatchNorm1d(3)
    layer.register_forward_hook(lambda *_: called.append(1))
    sync(layer)(torch.randn(4, 3))
    assert called


@pytest.mark.parametrize("make", [lambda layer: layer, sync])
def test_a_single_row_is_normalised_by_the_running_statistics(make) -> None:
    layer = make(BatchNorm(3, eps=0.0))
    layer.running_mean.fill_(2.0)
    before = copy.deepcopy(layer.state_dict())
    out = layer(torch.full((1, 3), 5.0))
    torch.testing.assert_close(out, torch.full((1, 3), 3.0))
    torch.testing.assert_close(layer.state_dict(), before)


@pytest.mark.parametrize("make", [lambda layer: layer, sync])
def test_a_single_row_without_statistics_is_refused(make) -> None:
    layer = make(BatchNorm(3, track_running_stats=False))
    with pytest.raises(ValueError, match=r"more than 1 value|at least 2 rows"):
        layer(torch.ones(1, 3))


@pytest.mark.parametrize("make", [lambda layer: layer, sync])
def test_a_single_sequence_has_a_variance(make) -> None:
    x = torch.randn(1, 3, 9)
    torch.testing.assert_close(make(BatchNorm(3))(x), nn.BatchNorm1d(3)(x))
