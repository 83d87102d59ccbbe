"""Strings of packed graphs on disk: bytes of all, read when they are asked for."""

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from ..utils.scatter import prefix_sum

#: Also for halves of characters, which Python's strings may hold.
_ENCODING = ("utf-8", "surrogatepass")


class Texts(Sequence[str]):
    """A string for each graph.

    Args:
        table: the bytes of all, one behind the other.
        ptr: where each begins, and the end.
    """

    def __init__(self, table: Tensor, ptr: Tensor) -> None:
        if len(table) != int(ptr[-1]):
            raise ValueError(f"there are {len(table)} bytes, ptr says {int(ptr[-1])}")
        self._table, self._ptr = table, ptr

    @override
    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self._ptr) - 1

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str]: ...
    @override
    def __getitem__(self, i: int | slice) -> str | list[str]:
        """Return the string of a graph, or of some."""
        numbers = range(len(self))[i]
        if not isinstance(numbers, int):
            return [self[number] for number in numbers]
        begin, end = self._ptr[numbers : numbers + 2].tolist()
        return self._table[begin:end].numpy().tobytes().decode(*_ENCODING)


def text_fields(
    values: Mapping[str, Sequence[Any]],
) -> dict[str, tuple[Tensor, Tensor]]:
    """Return the bytes of strings, and where each begins, by name.

    Example:
        >>> table, ptr = text_fields({"name": ["a", "", "bc"]})["name"]
        >>> ptr, Texts(table, ptr)[2]
        (tensor([0, 1, 1, 3]), 'bc')
    """
    found = {}
    for name, texts in values.items():
        encoded = [text.encode(*_ENCODING) for text in texts]
        joined = np.array(bytearray(b"".join(encoded)), dtype=np.uint8)
        sizes = torch.tensor([len(each) for each in encoded])
        found[name] = torch.from_numpy(joined), prefix_sum(sizes)
    return found
