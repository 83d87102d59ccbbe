"""Compiled sums equal PyG's scatter, to the bit, and so do their gradients."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck
from torch_geometric.nn import GINConv, global_add_pool, global_mean_pool
from torch_geometric.utils import scatter

from sega_anchor.backbones._layers import GINLayer
from sega_anchor.utils.scatter import pool, sum_neighbours, sum_rows, take_rows

kinds = st.sampled_from([torch.float32, torch.float64])
EDGES = torch.tensor([[3, 0, 0, 1, 0, 2, 2], [1, 2, 2, 1, 3, 0, 0]])


def matrix(draw: st.DrawFn, rows: int) -> tuple[Tensor, torch.Generator]:
    """Random rows, contiguous or not, of zero and one column among them."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 999)))
    columns = draw(st.integers(0, 5))
    kind, layout = draw(kinds), draw(st.sampled_from(["plain", "turned", "strided"]))
    if layout == "turned":
        return torch.randn(
            columns, rows, generator=generator, dtype=kind
        ).t(), generator
    if layout == "strided":
        wide = torch.randn(rows, 2 * columns, generator=generator, dtype=kind)
        return wide[:, ::2], generator
    return torch.randn(rows, columns, generator=generator, dtype=kind), generator


@st.composite
def grouped(draw: st.DrawFn) -> tuple[Tensor, Tensor, int]:
    """Rows, their groups in any order, the number of groups; empty ones among them."""
    rows, groups = draw(st.integers(0, 30)), draw(st.integers(1, 8))
    x, generator = matrix(draw, rows)
    return x, torch.randint(groups, (rows,), generator=generator), groups


@st.composite
def networks(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of nodes, edges unsorted, repeated or none, and their weights."""
    n, m = draw(st.integers(1, 12)), draw(st.integers(0, 60))
    x, generator = matrix(draw, n)
    edge_index = torch.randint(n, (2, m), generator=generator)
    if draw(st.booleans()):
        edge_index = edge_index.t().contiguous().t()
    return x, edge_index, torch.randn(m, generator=generator, dtype=x.dtype)


def neighbours(x: Tensor, edge_index: Tensor, weight: Tensor | None = None) -> Tensor:
    """Do what :func:`sum_neighbours` does, with a vector per edge."""
    message = x[edge_index[0]]
    if weight is not None:
        message = message * weight.view(-1, 1)
    return scatter(message, edge_index[1], 0, len(x), "sum")


def gradients(out: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    shape = torch.arange(out.numel(), dtype=out.dtype).view(out.shape) + 1
    return torch.autograd.grad((out * shape).sum(), inputs)


@given(grouped())
def test_rows_are_summed_as_scatter_does(given: tuple[Tensor, Tensor, int]) -> None:
    x, index, groups = given
    x.requires_grad_()
    got, expected = sum_rows(x, index, groups), scatter(x, index, 0, groups, "sum")
    assert got.dtype == x.dtype
    assert torch.equal(got, expected)
    added = torch.zeros_like(expected).index_add(0, index, x)
    torch.testing.assert_close(got, added)
    assert torch.equal(*gradients(got, x), *gradients(expected, x))
    assert torch.equal(sum_rows(x, index.int(), groups), expected)


@given(grouped())
def test_pools_are_those_of_pyg(given: tuple[Tensor, Tensor, int]) -> None:
    x, graph, graphs = given
    assert torch.equal(pool(x, graph, graphs), global_add_pool(x, graph, graphs))
    mean = pool(x, graph, graphs, mean=True)
    torch.testing.assert_close(mean, global_mean_pool(x, graph, graphs))
    empty = graph.bincount(minlength=graphs) == 0
    assert not mean[empty].any()
    named = int(graph.max()) + 1 if len(graph) else 0
    assert torch.equal(pool(x, graph), pool(x, graph, named))
    assert pool(x, graph).shape == (named, x.size(1))
    assert torch.equal(pool(x, None), global_add_pool(x, None))
    if len(x):
        assert torch.equal(pool(x, None, mean=True), global_mean_pool(x, None))


@given(grouped(), st.integers(0, 40))
def test_rows_are_taken(given: tuple[Tensor, Tensor, int], many: int) -> None:
    x, _, _ = given
    x.requires_grad_()
    generator = torch.Generator().manual_seed(many)
    index = torch.randint(max(len(x), 1), (many if len(x) else 0,), generator=generator)
    got = take_rows(x, index)
    assert torch.equal(got, x[index])
    expected = gradients(x.index_select(0, index), x)
    torch.testing.assert_close(gradients(got, x), expected)


@given(networks())
def test_neighbours_are_summed_as_scatter_does(
    given: tuple[Tensor, Tensor, Tensor],
) -> None:
    x, edge_index, weight = given
    x.requires_grad_()
    weight.requires_grad_()
    got, expected = sum_neighbours(x, edge_index), neighbours(x, edge_index)
    assert torch.equal(got, expected)
    torch.testing.assert_close(gradients(got, x), gradients(expected, x))
    # Not any layout of x: see the test below.
    rows = x.contiguous()
    got = sum_neighbours(rows, edge_index, weight)
    expected = neighbours(rows, edge_index, weight)
    assert torch.equal(got, expected)
    if x.size(1):
        of_got = gradients(got, x, weight)
        torch.testing.assert_close(of_got, gradients(expected, x, weight))


@pytest.mark.parametrize("backward", [False, True])
def test_weighted_sums_take_any_layout(backward: bool) -> None:
    x, weight = torch.arange(8.0).view(4, 2).requires_grad_(), torch.rand(7)
    if backward:
        found = [
            gradients(summed(x, EDGES, weight).t(), x)[0]
            for summed in (sum_neighbours, neighbours)
        ]
    else:
        turned = x.detach().t().contiguous().t()
        found = [f(turned, EDGES, weight) for f in (sum_neighbours, neighbours)]
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("many", [1, 6, 8])
def test_weights_that_do_not_fit_the_edges_are_refused(many: int) -> None:
    with pytest.raises(ValueError, match="edge_weight"):
        sum_neighbours(torch.ones(4, 2), EDGES, torch.ones(many))


def test_an_index_that_is_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match="index"):
        sum_rows(torch.ones(3, 1), torch.tensor([0]), 1)


def doubles(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    x = torch.randn(*shape, generator=generator, dtype=torch.double)
    return x.requires_grad_()


@pytest.mark.parametrize("edges", [EDGES, EDGES[:, :1], EDGES[:, :0]])
@pytest.mark.parametrize("check", [gradcheck, gradgradcheck])
def test_gradients_are_right_twice(check, edges: Tensor) -> None:
    x, weight = doubles(4, 3), doubles(edges.size(1))
    assert check(lambda x: sum_neighbours(x, edges), (x,))
    assert check(lambda x: sum_rows(x, torch.tensor([2, 0, 2, 2]), 4), (x,))
    assert check(lambda x: take_rows(x, edges[1]), (x,))
    assert check(lambda x: pool(x, torch.tensor([2, 0, 2, 2]), 4, mean=True), (x,))
    if edges.numel():
        assert check(lambda x, w: sum_neighbours(x, edges, w), (x, weight))
        assert check(lambda w: sum_neighbours(x.detach(), edges, w), (weight,))


def test_threads_do_not_change_a_bit() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2000, 33, generator=generator, requires_grad=True)
    edges = torch.randint(2000, (2, 40000), generator=generator)
    weight = torch.rand(40000, generator=generator, requires_grad=True)
    group = torch.randint(50, (2000,), generator=generator)

    def everything() -> list[Tensor]:
        plain, weighted = sum_neighbours(x, edges), sum_neighbours(x, edges, weight)
        pooled, taken = sum_rows(x, group, 50), take_rows(x, edges[0])
        found = [plain, weighted, pooled]
        found += [*gradients(plain, x), *gradients(weighted, x, weight)]
        return [*found, *gradients(pooled, x), *gradients(taken, x)]

    threads, runs = torch.get_num_threads(), []
    try:
        for many in (1, 2):
            torch.set_num_threads(many)
            runs.append(everything())
            assert torch.equal(runs[-1][0], neighbours(x, edges))
            assert torch.equal(runs[-1][1], neighbours(x, edges, weight))
            assert torch.equal(runs[-1][2], scatter(x, group, 0, 50, "sum"))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(one, two) for one, two in zip(*runs, strict=True))


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([[0, 1], [1, 4]], r"entry 1 names row 1 of 4 and row 4 of 4: edge_index"),
        ([[0, 9], [1, 0]], r"entry 1 names row 9 of 4 and row 0 of 4"),
        ([[-1, 0], [1, 0]], r"entry 0 names row -1 of 4 and row 1 of 4"),
        ([[0, 0], [1, -2]], r"entry 1 names row 0 of 4 and row -2 of 4"),
    ],
)
def test_an_edge_without_its_node_is_named(
    edges: list[list[int]], message: str
) -> None:
    for weight in (None, torch.ones(2)):
        with pytest.raises(ValueError, match=message):
            sum_neighbours(torch.ones(4, 2), torch.tensor(edges), weight)


def test_a_row_without_its_group_is_named() -> None:
    group = torch.tensor([0, 1, 2])
    with pytest.raises(ValueError, match=r"entry 2 names row 2 of 3 and row 2 of 2"):
        sum_rows(torch.ones(3, 1), group, 2)
    with pytest.raises(ValueError, match="edge_index and batch must fit the nodes"):
        pool(torch.ones(3, 1), group, 1, mean=True)
    with pytest.raises(ValueError, match="index must name the group of each of 3"):
        sum_rows(torch.ones(3, 1), torch.zeros(4, dtype=torch.long), 1)


def test_other_types_and_shapes_are_left_to_torch() -> None:
    x = torch.arange(8.0).view(4, 2).bfloat16().requires_grad_()
    weight = torch.ones(EDGES.size(1), dtype=torch.bfloat16)
    for got in (sum_neighbours(x, EDGES), sum_neighbours(x, EDGES, weight)):
        assert got.dtype == torch.bfloat16
        assert torch.equal(got, neighbours(x, EDGES))
    gradients(sum_neighbours(x, EDGES, weight) + take_rows(x, torch.arange(4)), x)
    group = torch.tensor([0, 0, 2, 2])
    assert pool(x, group, 3, mean=True).tolist() == [[1, 2], [0, 0], [5, 6]]
    deep = torch.randn(4, 2, 3)
    assert torch.equal(sum_rows(deep, group, 3), scatter(deep, group, 0, 3, "sum"))
    mixed = sum_neighbours(torch.ones(4, 1), EDGES, torch.ones(7).double())
    assert mixed.dtype == torch.float64


@given(networks(), st.integers(1, 4))
def test_the_gin_layer_is_that_of_pyg(
    given: tuple[Tensor, Tensor, Tensor], hidden: int
) -> None:
    x, edge_index, _ = given
    if not x.size(1):
        return
    x.requires_grad_()
    layer = GINLayer(x.size(1), hidden, 3).to(x.dtype)
    other = GINConv(GINLayer(x.size(1), hidden, 3).nn, eps=0).to(x.dtype)
    # PyG keeps its fixed eps among the buffers, ours has none.
    assert (
        dict(layer.named_parameters()).keys() == dict(other.named_parameters()).keys()
    )
    assert other.state_dict().keys() - layer.state_dict().keys() == {"eps"}
    other.load_state_dict(layer.state_dict(), strict=False)
    got, expected = layer(x, edge_index), other(x, edge_index)
    torch.testing.assert_close(got, expected)
    ours = gradients(got, x, *layer.parameters())
    torch.testing.assert_close(ours, gradients(expected, x, *other.parameters()))


WRONG_ROWS = {
    "beyond": torch.tensor([0, 9, 1]),
    "far beyond": torch.tensor([0, 10**9, 1]),
    "negative": torch.tensor([0, -1, 1]),
    "floats": torch.tensor([0.0, 1.0, 1.0]),
    "bools": torch.tensor([True, False, True]),
}
KINDS = [torch.float64, torch.bfloat16, torch.int64]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", WRONG_ROWS)
def test_no_sum_takes_an_index_of_no_row(what: str, kind: torch.dtype) -> None:
    index, x = WRONG_ROWS[what], torch.ones(3, 2).to(kind)
    matched = "index must be int64" if "s" in what else "names row|name row"
    for compute in (
        lambda: sum_rows(x, index, 3),
        lambda: pool(x, index, 3),
        lambda: pool(x, index, 3, mean=True),
        lambda: take_rows(x, index),
        lambda: sum_neighbours(x, torch.stack([index, index.flip(0)])),
        lambda: sum_neighbours(x, torch.stack([index, index]), torch.ones(3).to(kind)),
    ):
        with pytest.raises(ValueError, match=matched):
            compute()


@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_groups_in_any_order_and_32_bits(kind: torch.dtype) -> None:
    x = torch.arange(6).view(3, 2).to(kind)
    for index in (torch.tensor([2, 0, 2]), torch.tensor([2, 0, 2]).int()):
        assert sum_rows(x, index, 3).tolist() == [[2, 3], [0, 0], [4, 6]]
        assert pool(x, index).tolist() == [[2, 3], [0, 0], [4, 6]]
        assert take_rows(x, index).tolist() == [[4, 5], [0, 1], [4, 5]]
        edges = torch.stack([index, index.flip(0)])
        assert sum_neighbours(x, edges).tolist() == [[0, 1], [0, 0], [8, 10]]


@pytest.mark.parametrize("shape", [(3, 2), (1, 2), (2,), (2, 2, 1)])
def test_edges_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="edge_index must be int64"):
        sum_neighbours(torch.ones(3, 1), torch.zeros(shape, dtype=torch.long))
