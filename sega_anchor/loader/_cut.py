"""Cutting graphs out of flat tensors: compiled on a CPU, gathers elsewhere."""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import torch
from torch import Tensor

from .. import _kernels
from ..utils.scatter import prefix_sum

#: What numpy, and so the kernels, can hold.
_KNOWN = {
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float32,
    torch.float64,
}


@dataclass(frozen=True)
class Cut:
    """Which rows of a table the chosen graphs have.

    Sizes are known on the CPU, so that nothing waits for a GPU.

    Args:
        begin: first row of each graph, on the CPU.
        size: number of rows of each graph, on the CPU.
        device: where the tables are.
    """

    begin: Tensor
    size: Tensor
    device: torch.device

    @property
    def is_compiled(self) -> bool:
        """Whether the kernels cut, rather than torch."""
        return self.device.type == "cpu"

    @cached_property
    def ptr(self) -> Tensor:
        """Where each graph begins in what is cut, and the end."""
        return prefix_sum(self.size)

    @cached_property
    def total(self) -> int:
        """How many rows are cut."""
        return int(self.ptr[-1])

    @cached_property
    def at(self) -> Tensor:
        """The rows, one behind the other, on the device."""
        shift = self.repeat(self.begin - self.ptr[:-1])
        return torch.arange(self.total, device=self.device) + shift

    def repeat(self, values: Tensor) -> Tensor:
        """Repeat a value of each graph for each of its rows, on the device."""
        size = self.size.to(self.device, non_blocking=True)
        return values.to(self.device, non_blocking=True).repeat_interleave(
            size, output_size=self.total
        )

    def rows(self, table: Tensor, dtype: torch.dtype) -> Tensor:
        """Return the rows of a table, as another type."""
        if not self.is_compiled or not {table.dtype, dtype} <= _KNOWN:
            return table.index_select(0, self.at).to(dtype)
        out = torch.empty(self.total, *table.shape[1:], dtype=dtype)
        _kernels.cut_rows(_flat(out), _flat(table), *self._graphs)
        return out

    def edges(self, table: Tensor, dtype: torch.dtype, shift: Tensor) -> Tensor:
        """Return edges ``(2, total)``, the vertices of each graph shifted."""
        if not self.is_compiled:
            edges = table.index_select(0, self.at).to(dtype)
            return (edges + self.repeat(shift).to(dtype).unsqueeze(1)).t().contiguous()
        out = torch.empty(2, self.total, dtype=dtype)
        _kernels.cut_edges(out.numpy(), table.numpy(), *self._graphs, shift.numpy())
        return out

    def column(self, values: Tensor, like: Tensor) -> Tensor:
        """Return a value of each graph for each of its rows, to be added to those."""
        return self.repeat(values).to(like.dtype).view(-1, *[1] * (like.dim() - 1))

    def graphs(self) -> Tensor:
        """Return the number of the graph of each row, in order."""
        if not self.is_compiled:
            return self.repeat(torch.arange(len(self.size)))
        out = torch.empty(self.total, dtype=torch.long)
        _kernels.number_groups(out.numpy(), self.size.numpy())
        return out

    @property
    def _graphs(self) -> tuple[Any, Any]:
        return self.begin.numpy(), self.size.numpy()


def _flat(table: Tensor) -> Any:
    return table.reshape(len(table), prod(table.shape[1:])).numpy()
