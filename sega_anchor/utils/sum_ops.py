"""The compiled sums as operators of torch, which ``torch.compile`` and torch.func know.

Each kernel is an operator that tells the shape of its result without running, and each
operator has a Function around it with its derivative: torch.func takes no other, and
autograd of operators that are written in Python costs twice as much a call.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.library import Library, register_fake

from .. import _kernels

_LIBRARY = Library("sega_anchor", "DEF")
_OPS: Any = torch.ops.sega_anchor


def add_rows(x: Tensor, to: Tensor, of: Tensor | None, num_rows: int) -> Tensor:
    """Add row ``of[i]`` of x, by default row i, to row ``to[i]`` of the result."""
    added: Tensor = _call(_AddRows, x, to, of, num_rows)
    return added


def add_weighted_rows(x: Tensor, to: Tensor, of: Tensor, weight: Tensor) -> Tensor:
    """Like :func:`add_rows`, each row times ``weight[i]``, and as many rows as x."""
    added: Tensor = _call(_AddWeightedRows, x, to, of, weight)
    return added


def take_rows(x: Tensor, index: Tensor) -> Tensor:
    """Return rows of x, whose gradients are added in order."""
    taken: Tensor = _call(_TakeRows, x, index)
    return taken


def _add_rows(x: Tensor, to: Tensor, of: Tensor | None, num_rows: int) -> Tensor:
    of = torch.arange(len(to)) if of is None else of
    out = x.new_zeros(num_rows, x.size(1))
    _check(_kernels.add_rows(*map(_array, (out, x, to, of))), num_rows, x, to, of)
    return out


def _add_weighted_rows(x: Tensor, to: Tensor, of: Tensor, weight: Tensor) -> Tensor:
    out = x.new_zeros(x.shape)
    bad = _kernels.add_weighted_rows(*map(_array, (out, x, to, of, weight)))
    _check(bad, x.size(0), x, to, of)
    return out


def _dot_rows(x: Tensor, y: Tensor, of_x: Tensor, of_y: Tensor) -> Tensor:
    out = x.new_zeros(len(of_x))
    bad = _kernels.dot_rows(*map(_array, (out, x, y, of_x, of_y)))
    _check(bad, len(y), x, of_y, of_x)
    return out


def _check(bad: int, num_rows: int, x: Tensor, to: Tensor, of: Tensor) -> None:
    if bad >= 0:
        raise ValueError(
            f"entry {bad} names row {int(of[bad])} of {x.size(0)} and row "
            f"{int(to[bad])} of {num_rows}: edge_index and batch must fit the nodes"
        )


def _array(x: Tensor) -> Any:
    return x.detach().contiguous().numpy()


def _register(schema: str, run: Any, shape: Any) -> None:
    name = _LIBRARY.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
    _LIBRARY.impl(name, run, "CPU")
    register_fake(f"sega_anchor::{name}", shape, lib=_LIBRARY)


_register(
    "add_rows(Tensor x, Tensor to, Tensor? of, SymInt num_rows) -> Tensor",
    _add_rows,
    lambda x, to, of, num_rows: x.new_empty(num_rows, x.size(1)),
)
_register(
    "add_weighted_rows(Tensor x, Tensor to, Tensor of, Tensor weight) -> Tensor",
    _add_weighted_rows,
    lambda x, to, of, weight: x.new_empty(x.shape),
)
_register(
    "dot_rows(Tensor x, Tensor y, Tensor of_x, Tensor of_y) -> Tensor",
    _dot_rows,
    lambda x, y, of_x, of_y: x.new_empty(of_x.size(0)),
)


def _call(function: type[Function], *inputs: Any) -> Any:
    """Apply a function.

    Without torch.func or a compiler around it, what ``Function.apply`` does beside
    calling its base takes as long as the sums of a small batch.
    """
    if torch.compiler.is_compiling() or _is_transform():
        return function.apply(*inputs)
    return super(Function, function).apply(*inputs)  # type: ignore[misc]


def is_compiled_transform() -> bool:
    """Return whether torch.compile compiles a transform of torch.func right now."""
    return torch.compiler.is_compiling() and _is_transform()


def _is_transform() -> bool:
    # What Function.apply asks too; torch has no public name for it. A torch without it
    # is left to ask in its own way.
    ask = getattr(torch._C, "_are_functorch_transforms_active", None)
    return ask is None or bool(ask())


class _Operator(Function):
    """A function whose backward calls differentiable ones, for second derivatives."""

    @classmethod
    def vmap(
        cls, info: Any, in_dims: tuple[int | None, ...], *inputs: Any
    ) -> tuple[Tensor, int]:
        """Compute one after the other."""
        each = []
        for i in range(info.batch_size):
            pairs = zip(inputs, in_dims, strict=True)
            rows = [x if dim is None else x.select(dim, i) for x, dim in pairs]
            each.append(_call(cls, *rows))
        return torch.stack(each), 0


class _AddRows(_Operator):
    """See :func:`add_rows`."""

    @staticmethod
    def forward(x: Tensor, to: Tensor, of: Tensor | None, num_rows: int) -> Tensor:
        added: Tensor = _OPS.add_rows.default(x, to, of, num_rows)
        return added

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, to, of, _ = inputs
        ctx.num_rows = x.size(0)
        ctx.save_for_backward(to, of)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        to, of = ctx.saved_tensors
        if of is None:
            back = take_rows(gradient, to)
        else:
            back = add_rows(gradient, of, to, ctx.num_rows)
        return back, None, None, None


class _TakeRows(_Operator):
    """See :func:`take_rows`."""

    @staticmethod
    def forward(x: Tensor, index: Tensor) -> Tensor:
        return x.index_select(0, index)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, index = inputs
        ctx.num_rows = x.size(0)
        ctx.save_for_backward(index)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (index,) = ctx.saved_tensors
        return add_rows(gradient, index, None, ctx.num_rows), None


class _AddWeightedRows(_Operator):
    """See :func:`add_weighted_rows`."""

    @staticmethod
    def forward(x: Tensor, to: Tensor, of: Tensor, weight: Tensor) -> Tensor:
        added: Tensor = _OPS.add_weighted_rows.default(x, to, of, weight)
        return added

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(
        ctx: Any, gradient: Tensor
    ) -> tuple[Tensor | None, None, None, Tensor | None]:
        x, to, of, weight = ctx.saved_tensors
        back = of_weight = None
        if ctx.needs_input_grad[0]:
            back = add_weighted_rows(gradient, of, to, weight)
        if ctx.needs_input_grad[3]:
            of_weight = _call(_DotRows, x, gradient, of, to)
        return back, None, None, of_weight


class _DotRows(_Operator):
    """Multiply row ``of_x[i]`` of x by row ``of_y[i]`` of y."""

    @staticmethod
    def forward(x: Tensor, y: Tensor, of_x: Tensor, of_y: Tensor) -> Tensor:
        products: Tensor = _OPS.dot_rows.default(x, y, of_x, of_y)
        return products

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        x, y, of_x, of_y = ctx.saved_tensors
        scaled = gradient.unsqueeze(1)
        of_first = add_rows(take_rows(y, of_y) * scaled, of_x, None, x.size(0))
        of_second = add_rows(take_rows(x, of_x) * scaled, of_y, None, y.size(0))
        return of_first, of_second, None, None
