"""The few array functions the kernels need: NumPy's take far longer to compile."""

import numpy as np

from ..._kernels.jit import helper, kernel, loop
from ..._kernels.types import Floats, Ints


@kernel
def filled(n: int, value: int) -> Ints:
    """Return ``n`` integers, all of one value."""
    x = np.empty(n, np.int64)
    for i in range(n):
        x[i] = value
    return x


@kernel
def count_up(n: int) -> Ints:
    """Return 0, 1, ..., ``n - 1``."""
    x = np.empty(n, np.int64)
    for i in range(n):
        x[i] = i
    return x


@helper
def copy_to(to: Ints, x: Ints) -> None:
    """Copy the values of one array into another."""
    for i in range(x.size):
        to[i] = x[i]


@helper
def sum_of(x: Floats) -> float:
    """Add up, one by one."""
    s = 0.0
    for i in range(x.size):
        s += x[i]
    return s


@helper
def mix(x: int) -> int:
    """Scramble an integer, so that a sum of scrambled names identifies a set."""
    x = (x ^ (x >> 31)) * -7046029254386353131
    return x ^ (x >> 29)


@loop
def copy_below(to: Ints, row: int, x: Ints) -> None:
    """Copy a matrix into another from ``row`` on."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            to[row + i, j] = x[i, j]


@loop
def set_logs(x: Floats, n: int, log: Floats) -> None:
    """Set the logarithms of the first ``n`` numbers, 0 where there is none."""
    for i in range(n):
        log[i] = np.log2(x[i]) if x[i] > 0.0 else 0.0


@loop
def put_alone(labels: Ints) -> None:
    """Write partitions in which each vertex is a group of its own."""
    for i in range(labels.shape[0]):
        for v in range(labels.shape[1]):
            labels[i, v] = v


@loop
def order_by(keys: Floats, lists: Ints) -> int:
    """Sort indices by their keys, equal keys in order, by merging ever longer runs.

    Args:
        keys: ``(n,)``.
        lists: ``(2, n)``; one row becomes the order.

    Returns:
        Which row that is.
    """
    n = keys.size
    for x in range(n):
        lists[0, x] = x
    now = 0
    run = 1
    while run < n:  # doubled
        for begin in range(0, n, 2 * run):
            i, j = begin, begin + run
            middle, end = min(j, n), min(j + run, n)
            for at in range(begin, end):
                if j >= end or (
                    i < middle and keys[lists[now, i]] <= keys[lists[now, j]]
                ):
                    lists[1 - now, at] = lists[now, i]
                    i += 1
                else:
                    lists[1 - now, at] = lists[now, j]
                    j += 1
        now = 1 - now
        run *= 2
    return now
