"""A binary heap of (key, value) pairs in two flat arrays, smallest key first."""

from ..._kernels.jit import loop
from ..._kernels.types import Floats, Ints


@loop
def push(keys: Floats, values: Ints, size: int, key: float, value: int) -> int:
    """Insert a pair; return the new size. Equal keys: smaller value first."""
    i = size
    while i > 0:  # up the heap
        up = (i - 1) >> 1
        if keys[up] < key or (keys[up] == key and values[up] <= value):
            break
        keys[i] = keys[up]
        values[i] = values[up]
        i = up
    keys[i] = key
    values[i] = value
    return size + 1


@loop
def pop(keys: Floats, values: Ints, size: int) -> int:
    """Remove the first pair, which the caller has read; return the new size."""
    size -= 1
    key = keys[size]
    value = values[size]
    i = 0
    while True:  # down the heap
        child = 2 * i + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            keys[right] < keys[child]
            or (keys[right] == keys[child] and values[right] < values[child])
        ):
            child = right
        if key < keys[child] or (key == keys[child] and value <= values[child]):
            break
        keys[i] = keys[child]
        values[i] = values[child]
        i = child
    keys[i] = key
    values[i] = value
    return size
