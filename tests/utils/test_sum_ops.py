"""Sums run inside torch.compile and torch.func, with the gradients of autograd."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.library import opcheck
from torch_geometric.data import Batch

from sega_anchor import AddCodingTree
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.nn.tree_encoder import TreeEncoder
from sega_anchor.trees.levels import tree_levels
from sega_anchor.utils import pool, sum_neighbours, sum_rows, take_rows

# torch's own compiler makes an instance of each Function that it meets.
pytestmark = pytest.mark.filterwarnings("ignore:.*should not be instantiated")

EDGES = torch.tensor([[0, 1, 2, 2], [1, 2, 4, 1]])
GROUP = torch.tensor([0, 0, 2, 2, 2])
SUMS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "neighbours": lambda x, _: sum_neighbours(x, EDGES),
    "weighted": lambda x, w: sum_neighbours(x, EDGES, w),
    "rows": lambda x, w: sum_rows(x * w[0], GROUP, 3),
    "mean": lambda x, _: pool(x, GROUP, 3, mean=True),
    "taken": lambda x, w: take_rows(x, GROUP) * w[1],
    "16 bits": lambda x, _: sum_neighbours(x.bfloat16(), EDGES).float(),
}
every_sum = pytest.mark.parametrize("name", SUMS)


@pytest.fixture(autouse=True)
def reset() -> None:
    """Let torch forget what it compiled: it stops at eight versions of a line."""
    torch.compiler.reset()


def given(kind: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(5, 3, generator=generator, dtype=kind)
    return x, torch.rand(4, generator=generator, dtype=kind)


def gradients(loss: Callable[..., Tensor], *inputs: Tensor) -> tuple[Tensor, ...]:
    inputs = tuple(x.clone().requires_grad_() for x in inputs)
    found = torch.autograd.grad(loss(*inputs), inputs, allow_unused=True)
    return tuple(
        torch.zeros_like(x) if gradient is None else gradient
        for x, gradient in zip(inputs, found, strict=True)
    )


def equal(found: tuple[Tensor, ...], expected: tuple[Tensor, ...]) -> bool:
    return all(map(torch.equal, found, expected))


def loss_of(name: str) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda x, w: SUMS[name](x, w).pow(3).sum()


@every_sum
def test_sums_compile_whole(name: str) -> None:
    loss = loss_of(name)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(*given()), loss(*given()))
    assert equal(gradients(compiled, *given()), gradients(loss, *given()))


@every_sum
def test_func_grad_is_that_of_autograd(name: str) -> None:
    loss = loss_of(name)
    found = torch.func.grad(loss, argnums=(0, 1))
    assert equal(found(*given()), gradients(loss, *given()))
    compiled = torch.compile(found, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(*given()), gradients(loss, *given()))


def test_func_grad_twice_is_that_of_autograd() -> None:
    loss = loss_of("weighted")

    def slope(x: Tensor, w: Tensor) -> Tensor:
        return torch.stack([g.pow(2).sum() for g in first(x, w)]).sum()

    first = torch.func.grad(loss, argnums=(0, 1))
    twice = torch.func.grad(slope, argnums=(0, 1))(*given(torch.double))
    inputs = tuple(x.requires_grad_() for x in given(torch.double))
    once = torch.autograd.grad(loss(*inputs), inputs, create_graph=True)
    expected = torch.autograd.grad(sum(g.pow(2).sum() for g in once), inputs)
    torch.testing.assert_close(twice, expected)


@every_sum
def test_gradients_of_each_sample(name: str) -> None:
    x, weight = given()
    samples = torch.stack([x, -2 * x, x.flip(0)])
    single = torch.func.grad(loss_of(name), argnums=(0, 1))
    for of_x, of_weight, expected in zip(
        *torch.func.vmap(single, in_dims=(0, None))(samples, weight),
        [single(sample, weight) for sample in samples],
        strict=True,
    ):
        torch.testing.assert_close((of_x, of_weight), expected)


def test_operators_keep_the_rules_of_torch() -> None:
    x, weight = given()
    y = x.flip(0)
    operators = torch.ops.sega_anchor
    for operator, inputs in (
        (operators.add_rows, (x, EDGES[1], EDGES[0], 5)),
        (operators.add_rows, (x, GROUP, None, 3)),
        (operators.add_weighted_rows, (x, EDGES[1], EDGES[0], weight)),
        (operators.dot_rows, (x, y, EDGES[1], EDGES[0])),
    ):
        assert set(opcheck(operator.default, inputs).values()) == {"SUCCESS"}


@pytest.mark.slow
def test_the_tree_encoder_compiles_whole() -> None:
    dataset = SyntheticCommunities(num_graphs=6)
    batch = Batch.from_data_list(AddCodingTree(3).map(list(dataset)))
    levels = tree_levels(batch, 3)
    x = torch.randn(batch.num_nodes, 4, generator=torch.Generator().manual_seed(0))
    for readout in ("sum", "mean"):
        torch.manual_seed(0)
        encoder = TreeEncoder(4, 8, 8, height=3, readout=readout).eval()
        compiled = torch.compile(encoder, fullgraph=True, backend="aot_eager")
        found, expected = compiled(x, levels), encoder(x, levels)
        assert torch.equal(found, expected)
        parameters = list(encoder.parameters())
        ours = torch.autograd.grad(found.pow(2).sum(), parameters)
        theirs = torch.autograd.grad(expected.pow(2).sum(), parameters)
        torch.testing.assert_close(ours, theirs)


def test_compiled_sums_refuse_what_is_no_row() -> None:
    @torch.compile(fullgraph=True, backend="aot_eager")
    def compiled(x: Tensor, edges: Tensor) -> Tensor:
        return sum_neighbours(x, edges)

    with pytest.raises(ValueError, match="entry 3 names row 9 of 5 and row 1 of 5"):
        compiled(given()[0], torch.tensor([[0, 1, 2, 9], [1, 2, 4, 1]]))
