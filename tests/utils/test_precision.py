"""Losses and sums of 16-bit numbers are those of the same numbers in float32."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch

from adapters import adgcl, autogcl
from adapters.rgcl import rgcl_loss
from sega_anchor import NTXent, nt_xent
from sega_anchor.utils import pool, sum_neighbours, sum_rows, take_rows
from tests.helpers import fixed_views

HALF = pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
EDGE_GRAPH = torch.arange(300) % 3
LOSSES: dict[str, Callable[..., Tensor]] = {
    "nt_xent": lambda x, y, _: nt_xent(x, y),
    "symmetric": lambda x, y, _: nt_xent(x, y, 0.1, symmetric=True),
    "with positive": lambda x, y, _: nt_xent(x, y, include_positive=True),
    "module": lambda x, y, _: NTXent(gather=True)(x, y),
    "RGCL": lambda x, y, z: rgcl_loss(x, y, z),
    "RGCL, transfer": lambda x, y, z: rgcl_loss(x, y, z, form="transfer"),
    "AD-GCL": lambda x, *_: adgcl.regulariser(x[:, 0], EDGE_GRAPH, 3),
}


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_under_autocast_are_those_in_float32(
    name: str, kind: torch.dtype
) -> None:
    torch.manual_seed(0)
    given = [torch.randn(300, 32).to(kind).requires_grad_() for _ in range(3)]
    with torch.autocast("cpu", torch.bfloat16):
        loss = LOSSES[name](*given)
    loss.backward()
    expected = LOSSES[name](*(x.detach().float() for x in given))
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, expected, atol=1e-6, rtol=0)
    assert given[0].grad is not None
    assert given[0].grad.dtype == kind
    assert bool((given[0].grad != 0).any())
    assert bool(given[0].grad.isfinite().all())


@pytest.mark.parametrize("name", [name for name, _ in fixed_views.models()])
def test_every_method_has_a_float32_loss_under_autocast(name: str) -> None:
    model = dict(fixed_views.models())[name]
    batch = Batch.from_data_list(fixed_views.graphs())
    model.float().train()
    with fixed_views.without_chance(), torch.autocast("cpu", torch.bfloat16):
        loss = model.loss(batch)
    assert loss.dtype == torch.float32
    loss.backward()
    anchor = [p.grad for n, p in model.named_parameters() if n.startswith("anchor")]
    assert all(grad is not None and bool(grad.isfinite().all()) for grad in anchor)


def test_float64_stays_float64() -> None:
    x, y = torch.randn(2, 5, 3, dtype=torch.double)
    with torch.autocast("cpu", torch.bfloat16):
        loss = nt_xent(x, y)
    assert loss.dtype == torch.float64
    assert torch.equal(loss, nt_xent(x, y))


def test_choices_are_drawn_in_float32() -> None:
    choice = autogcl.gumbel_softmax(torch.randn(9, 2).bfloat16())
    assert choice.dtype == torch.float32


@HALF
def test_a_thousand_rows_are_not_lost(half: torch.dtype) -> None:
    # Added up one by one, ones stand still at 256 in bfloat16, at 2048 in float16.
    ones, one_group = torch.ones(4000, 2, dtype=half), torch.zeros(4000).long()
    whole = torch.full((1, 2), 4000, dtype=half)
    for total in (sum_rows(ones, one_group, 1), pool(ones, one_group, 1)):
        assert torch.equal(total, whole)
    star = torch.stack([torch.arange(4000), one_group])
    assert torch.equal(sum_neighbours(ones, star)[:1], whole)
    assert torch.equal(sum_neighbours(ones, star, ones[:, 0])[:1], whole)
    weighted = sum_neighbours(ones, star, torch.ones(4000))
    assert weighted.dtype == torch.float32
    assert torch.equal(weighted[:1], whole.float())


@HALF
def test_means_are_rounded_once(half: torch.dtype) -> None:
    x = torch.randn(999, 64, generator=torch.Generator().manual_seed(0)).to(half)
    graph = torch.arange(999) % 7
    mean = pool(x, graph, 7, mean=True)
    assert torch.equal(mean, pool(x.float(), graph, 7, mean=True).to(half))


@HALF
def test_gradients_of_taken_rows_are_not_lost(half: torch.dtype) -> None:
    x = torch.ones(1, 2, dtype=half, requires_grad=True)
    taken = take_rows(x, torch.zeros(4000).long())
    assert taken.dtype == half
    taken.backward(torch.ones_like(taken))
    assert x.grad is not None
    assert torch.equal(x.grad, torch.full((1, 2), 4000, dtype=half))
