"""use_all: compile the kernels of batches for the types that are common."""

from __future__ import annotations

import numpy as np

from ..trees import _kernels as trees
from . import batch, levels, scatter


def use_all() -> None:
    """Use each kernel once, so that it is compiled and cached."""
    one, zero = np.ones(1, np.int64), np.zeros(1, np.int64)
    pair, true = np.zeros((2, 1), np.int64), np.ones(1, np.bool_)
    # As packed data sets keep numbers, and as batches want them.
    for kept in ("uint8", "int16", "int32", "int64", "float32"):
        for wanted in ("int64", "float32"):
            table, out = np.zeros((1, 1), kept), np.zeros((1, 1), wanted)
            batch.cut_rows(out, table, zero, one)
        if kept != "float32":
            batch.cut_edges(pair, np.zeros((1, 2), kept), zero, one, zero)
    batch.number_groups(zero, one)
    batch.relabel_edges(pair, pair, true, zero)
    batch.keep_between(true, pair, true)
    levels.count_levels(zero, one)
    start, row = np.zeros(3, np.int64), np.zeros((3, 1), np.int64)
    levels.slice_levels(zero, one, start, *row)
    for kind in ("float32", "float64"):
        x, weight = np.zeros((1, 1), kind), np.zeros(1, kind)
        scatter.add_rows(x, x, zero, zero)
        scatter.add_weighted_rows(x, x, zero, zero, weight)
        scatter.dot_rows(weight, x, x, zero, zero)
    trees.tree_arrays(pair)
    trees.symmetric_csr(zero, zero, np.empty(0), 1)
