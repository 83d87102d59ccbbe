"""build_coding_trees: the coding trees of a whole data set, on all cores."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import chain, pairwise

import numpy as np
import torch
from joblib import cpu_count
from torch_geometric.data import Data

from ..utils.checks import check_at_least
from ..utils.progress import ProgressCounter, log_shown
from . import build
from ._flatten import Graphs, flatten
from ._kernels import Ints
from .build import TreeMethod, check_build, check_room
from .cache import TreeCache, Trees, content_key
from .coding_tree import CodingTree

Folder = str | os.PathLike[str]
#: Edges and vertices in one kernel call and in one file of the cache, the most that a
#: kill can lose. It must not depend on the number of threads, or files are not found.
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

    Each tree equals that of :func:`build_coding_tree`, for any number of threads.
    Ctrl-C stops after the chunks being built; the cache keeps all finished chunks.

    Args:
        graphs: graphs or a PyG data set, read by indexing, transforms included.
        height: level of the roots, at least 2.
        method: see :func:`build_coding_tree`.
        weight: name of an edge attribute that holds edge weights; default: unweighted.
        threads: default one for each core that this process may use.
        cache: folder that keeps trees, keyed by the content of their graphs; any
            number of processes may share it. Default: none.

    Returns:
        The trees, in the order of the graphs.

    Raises:
        ValueError: before any tree is built, for invalid options, an invalid graph
            (by its number), or a folder that cannot be written.

    Example:
        >>> path = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
        >>> pair = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2)
        >>> build_coding_trees([path, pair], height=2)
        [CodingTree(num_vertices=3, height=2, nodes=[3, 2, 1]),
         CodingTree(num_vertices=2, height=2, nodes=[2, 2, 1])]
    """
    check_build(height, method)
    if threads is not None:
        check_at_least("threads", threads, 1)
    kept = None if cache is None else TreeCache(cache)
    whole = flatten(graphs, weight)
    if not whole.sizes.size:
        return []
    check_room(height, int(whole.sizes.max()))
    with log_shown():
        return _build_chunks(whole, height, method, threads or cpu_count(), kept)


def _build_chunks(
    whole: Graphs,
    height: int,
    method: TreeMethod,
    threads: int,
    cache: TreeCache | None,
) -> list[CodingTree]:
    """Build chunks on a pool of threads; the kernel releases the GIL."""

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
    # Largest first: started last, it would keep one thread busy while others idle.
    order = sorted(range(len(parts)), key=lambda k: -_cost(parts[k]).sum())
    pool = ThreadPoolExecutor(min(threads, len(parts)))
    try:
        futures = {pool.submit(work, parts[k]): k for k in order}
        with ProgressCounter("Building trees", whole.sizes.size) as counter:
            for future in as_completed(futures):
                k = futures.pop(future)  # frees its arrays early
                done[k] = _split(future.result())
                counter.update(len(done[k]))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return list(chain.from_iterable(done))


def _split(trees: Trees) -> list[CodingTree]:
    """Split trees; each owns its memory, so that saving one does not save all."""
    ends = trees.tree_ptr.tolist()
    return [
        CodingTree.trusted(
            torch.from_numpy(trees.parent[begin:end].copy()),
            torch.from_numpy(trees.level[begin:end].copy()),
        )
        for begin, end in pairwise(ends)
    ]


def _cost(graphs: Graphs) -> Ints:
    """Return the number of edges and vertices of each graph."""
    return graphs.sizes + np.diff(graphs.edge_ptr)


def _chunks(whole: Graphs) -> list[tuple[int, int]]:
    """Return begin and end of runs of graphs of about equal cost."""
    cost = _cost(whole)
    number = (np.cumsum(cost) - cost) // CHUNK
    first = np.flatnonzero(np.diff(number, prepend=-1)).tolist()
    return list(pairwise([*first, cost.size]))
