"""``sega-anchor warmup``: compile all kernels ahead, for images and clusters."""

import time
from typing import Any, get_args

import numpy as np
import torch
from jsonargparse import ArgumentParser, Namespace

from .._kernels import batch, fingerprint, levels, scatter
from .._kernels.source_cache import cache_folders
from ..trees import _kernels as trees
from ..trees.build import TreeMethod, build_coding_tree


def add_arguments(parser: ArgumentParser) -> None:
    """Give the parser the arguments of ``sega-anchor warmup``: none."""


def run(chosen: Namespace) -> dict[str, Any]:
    """Use every kernel once; say how long that took and where they are kept."""
    path = torch.tensor([[0, 1], [1, 2]])
    for method in get_args(TreeMethod):
        begin = time.perf_counter()
        build_coding_tree(path, method=method)
        _say(f"trees, method {method}", begin)
    begin = time.perf_counter()
    _compile_batches()
    _say("batches", begin)
    folders = [str(folder) for folder in cache_folders()]
    if folders:
        print("Compiled kernels are kept in", *folders, sep="\n  ")
    else:
        print("No folder can be written: set NUMBA_CACHE_DIR to one that can")
    return {"folders": folders}


def _say(what: str, begin: float) -> None:
    print(f"{what}: {time.perf_counter() - begin:.1f} s", flush=True)


def _compile_batches() -> None:
    """Use each kernel of batches once, with the types that are common."""
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
    batch.is_numbering(zero, zero)
    batch.first_stray(pair, zero)
    batch.relabel_edges(pair, pair, true, zero)
    batch.keep_between(true, pair, true)
    levels.count_levels(zero, one)
    start, row = np.zeros(3, np.int64), np.zeros((4, 1), np.int64)
    levels.slice_levels(zero, one, start, *row)
    fingerprint.hash_graphs(zero.copy(), pair, zero, one)
    for kind in ("float32", "float64"):
        x, weight = np.zeros((1, 1), kind), np.zeros(1, kind)
        scatter.add_rows(x, x, zero, zero)
        scatter.add_weighted_rows(x, x, zero, zero, weight)
        scatter.dot_rows(weight, x, x, zero, zero)
    trees.tree_arrays(pair)
    trees.symmetric_csr(zero, zero, np.empty(0), 1)
    alone = trees.simple_csr(zero, zero, np.empty(0), 1)
    trees.tree_volumes(alone, np.array([0, 1]), np.array([1, 0]))
