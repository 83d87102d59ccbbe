"""Sums over rows of matrices, as message passing and pooling need them on a CPU."""

import numpy as np
import numpy.typing as npt

from .jit import entry
from .types import Ints

Rows = npt.NDArray[np.float32] | npt.NDArray[np.float64]


@entry
def add_rows(out: Rows, x: Rows, to: Ints, of: Ints) -> int:
    """Add row ``of[i]`` of x to row ``to[i]`` of out, in order.

    Returns:
        The first i that names no row, where it stops, or -1.
    """
    for i in range(len(to)):
        a, b = to[i], of[i]
        if not (0 <= a < out.shape[0] and 0 <= b < x.shape[0]):
            return i
        for c in range(x.shape[1]):
            out[a, c] += x[b, c]
    return -1


@entry
def add_weighted_rows(out: Rows, x: Rows, to: Ints, of: Ints, weight: Rows) -> int:
    """Like ``add_rows``, each row times ``weight[i]``."""
    for i in range(len(to)):
        a, b, w = to[i], of[i], weight[i]
        if not (0 <= a < out.shape[0] and 0 <= b < x.shape[0]):
            return i
        for c in range(x.shape[1]):
            out[a, c] += x[b, c] * w
    return -1


@entry
def dot_rows(out: Rows, x: Rows, y: Rows, of_x: Ints, of_y: Ints) -> int:
    """Set ``out[i]``, a zero, to row ``of_x[i]`` of x times row ``of_y[i]`` of y."""
    for i in range(len(of_x)):
        a, b = of_x[i], of_y[i]
        if not (0 <= a < x.shape[0] and 0 <= b < y.shape[0]):
            return i
        if x.shape[1] == 0:
            continue
        total = x[a, 0] * y[b, 0]
        for c in range(1, x.shape[1]):
            total += x[a, c] * y[b, c]
        out[i] = total
    return -1
