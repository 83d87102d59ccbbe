"""build_coding_trees: the coding trees of a whole data set, on all cores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import chain, pairwise

import numpy as np
import torch
from torch_geometric.data import Data
from tqdm import tqdm

from . import build
from ._flatten import Graphs, flatten
from ._kernels import Ints
from .build import TreeMethod, check_build
from .cache import TreeCache, Trees, content_key
from .coding_tree import CodingTree

Folder = str | os.PathLike[str]
#: Edges and vertices that one call of the kernel takes, and one file of the cache
#: keeps: a kill loses no more. It may not depend on the threads, or no file is found.
CHUNK = 1 << 15


def build_coding_trees(
    graphs: Sequence[Data],
    height: int = 3,
    *,
    method: TreeMethod = "refined",
    weight: str | None = None,
    threads: int | None = None,
    cache: Folder | None = None,
) -> list[CodingTree]:
    """Build the coding tree of every graph of a data set, on all cores.

    Each tree is the one that :func:`build_coding_tree` gives, whatever the number of
    threads. Ctrl-C stops after the graphs in work, and the cache keeps what is done.

    Args:
        graphs: graphs or a PyG data set, read as indexing shows them.
        height: level of the roots, at least 2.
        method: see :func:`build_coding_tree`.
        weight: name of an edge attribute that holds edge weights; default: unweighted.
        threads: default one for each core that this process may use.
        cache: folder in which trees are kept and found again by the content of their
            graphs; any number of processes may share it. Default: none.

    Returns:
        The trees, in the order of the graphs.

    Raises:
        ValueError: before any tree is built, for options or graphs that cannot be
            used, naming the graph, and for a folder that cannot be written.

    Example:
        >>> path = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
        >>> pair = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2)
        >>> build_coding_trees([path, pair], height=2)
        [CodingTree(num_vertices=3, height=2, nodes=[3, 2, 1]),
         CodingTree(num_vertices=2, height=2, nodes=[2, 2, 1])]
    """
    check_build(height, method)
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads!r}")
    kept = None if cache is None else TreeCache(cache)
    whole = flatten(graphs, weight)
    if not whole.sizes.size:
        return []
    return _build(whole, height, method, threads or _cores(), kept)


def _build(
    whole: Graphs,
    height: int,
    method: TreeMethod,
    threads: int,
    cache: TreeCache | None,
) -> list[CodingTree]:
    """Build chunk after chunk in a pool of threads; the kernel releases the lock."""

    def work(part: Graphs) -> Trees:
        key = content_key(part, height, method) if cache else ""
        trees = cache.load(key, part.sizes, height) if cache else None
        if trees is None:
            trees = Trees(*build.build_arrays(*part, height=height, method=method))
            if cache:
                cache.store(key, trees)
        return trees

    parts = [whole.part(*bounds) for bounds in _chunks(whole)]
    done: list[list[CodingTree]] = [[] for _ in parts]
    # The largest first, so that no thread is left alone with it at the end.
    order = sorted(range(len(parts)), key=lambda k: -_cost(parts[k]).sum())
    pool = ThreadPoolExecutor(min(threads, len(parts)))
    try:
        futures = {pool.submit(work, parts[k]): k for k in order}
        total = whole.sizes.size
        with tqdm(total=total, desc="Building trees", disable=None, leave=False) as bar:
            for future in as_completed(futures):
                k = futures.pop(future)  # its arrays need not outlive it
                done[k] = _split(future.result())
                bar.update(len(done[k]))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return list(chain.from_iterable(done))


def _split(trees: Trees) -> list[CodingTree]:
    """Take trees apart; each owns its memory, so that one can be saved alone."""
    ends = trees.tree_ptr.tolist()
    return [
        CodingTree.trusted(
            torch.from_numpy(trees.parent[begin:end].copy()),
            torch.from_numpy(trees.level[begin:end].copy()),
        )
        for begin, end in pairwise(ends)
    ]


def _cost(graphs: Graphs) -> Ints:
    """Edges and vertices of each graph."""
    return graphs.sizes + np.diff(graphs.edge_ptr)


def _chunks(whole: Graphs) -> list[tuple[int, int]]:
    """Cut the data set into runs of graphs of about equal cost."""
    cost = _cost(whole)
    number = (np.cumsum(cost) - cost) // CHUNK
    first = np.flatnonzero(np.diff(number, prepend=-1)).tolist()
    return list(pairwise([*first, cost.size]))


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
