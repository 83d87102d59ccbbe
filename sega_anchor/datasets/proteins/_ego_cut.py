"""Vectorised growth of ego-networks over compressed rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

_CANDIDATES = 1 << 22  # edges looked at, at once

Ints = NDArray[np.int64]
_Lots = NDArray[np.uint64]


class Graph(NamedTuple):
    """An undirected graph, each edge once, from its lower to its higher end."""

    ptr: Ints  # (n + 1,), where the edges of each lower end begin
    high: Ints  # (m,)
    attr: NDArray[Any]  # (m, channels)
    adjacency: Any  # (n, n), sparse, both directions


class Cut(NamedTuple):
    """Some networks, one behind the other."""

    node: Ints  # of the large graph
    nodes: Ints  # how many each network has
    center: Ints
    ends: Ints  # (2, edges), numbered within each network
    edge: Ints  # of the large graph
    edges: Ints  # how many each network has


def undirected(ends: Ints, attr: NDArray[Any], n: int) -> Graph:
    """Merge both directions of edges, and repetitions, and leave loops out."""
    low, high = np.sort(ends, axis=0)
    proper = low != high
    key, attr = (low * n + high)[proper], attr[proper]
    order = np.argsort(key, kind="stable")
    key, first = np.unique(key[order], return_index=True)
    low, high = np.divmod(key, max(n, 1))
    if first.size:
        attr = np.maximum.reduceat(attr[order], first, axis=0)
    both = np.concatenate([low, high]), np.concatenate([high, low])
    adjacency = csr_array((np.ones(2 * len(key), bool), both), shape=(n, n))
    return Graph(np.searchsorted(low, np.arange(n + 1)), high, attr, adjacency)


def cut(graph: Graph, centers: Ints, hops: int, limit: int, seed: int) -> Cut:
    """Cut out the networks of some centres, of at most ``limit`` nodes each."""
    n = len(graph.ptr) - 1
    start = np.arange(len(centers)) * n + centers
    keys = np.sort(_grown(graph, start, hops, limit, _salt(centers * n, seed)))
    row = keys // n
    nodes = np.bincount(row, minlength=len(centers))
    first = np.cumsum(nodes) - nodes
    source, target, edge = np.concatenate(list(_inner(graph, keys)), axis=1)
    owner = row[source]
    return Cut(
        keys % n,
        nodes,
        np.searchsorted(keys, start) - first,
        np.stack([source, target]) - first[owner],
        edge,
        np.bincount(owner, minlength=len(centers)),
    )


def _grown(graph: Graph, start: Ints, hops: int, limit: int, salt: _Lots) -> Ints:
    """Return all nodes of networks as keys, number of network times n plus node."""
    n, rows = len(graph.ptr) - 1, len(start)
    found = frontier = start
    for _ in range(hops):
        near = _sparse(frontier, rows, n) @ graph.adjacency
        row = np.repeat(np.arange(rows), np.diff(near.indptr))
        new = np.setdiff1d(row * n + near.indices, found, assume_unique=True)
        room = limit - np.bincount(found // n, minlength=rows)
        new = _drawn(new, new // n, room, _lots(salt, new, n))
        found = np.concatenate([found, new])
        # Networks that are full need no further look at their neighbours.
        full = np.bincount(found // n, minlength=rows) >= limit
        frontier = new[~full[new // n]]
    return found


def _sparse(keys: Ints, rows: int, n: int) -> Any:
    return csr_array((np.ones(len(keys), bool), np.divmod(keys, n)), shape=(rows, n))


def _drawn(new: Ints, row: Ints, room: Ints, lot: _Lots) -> Ints:
    """Return, of each row, as many as there is room for, in the order of their lots."""
    order = np.lexsort((lot, row))
    row = row[order]
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    return new[order[rank < room[row]]]


def _salt(centers: Ints, seed: int) -> _Lots:
    return _scrambled(np.array([seed % 2**64], np.uint64)) + centers.astype(np.uint64)


def _lots(salt: _Lots, keys: Ints, n: int) -> _Lots:
    return _scrambled(salt[keys // n] + (keys % n).astype(np.uint64))


def _scrambled(key: _Lots) -> _Lots:
    """Return numbers as if at random, other ones for other keys (splitmix64)."""
    z = key + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _inner(graph: Graph, keys: Ints) -> Iterator[Ints]:
    """Yield source, target, both places in keys, and number of the inner edges."""
    n = len(graph.ptr) - 1
    node = keys % n
    degree = graph.ptr[node + 1] - graph.ptr[node]
    total = np.cumsum(degree)
    bounds = np.searchsorted(total, np.arange(_CANDIDATES, total[-1], _CANDIDATES))
    for part in np.split(np.arange(len(keys)), bounds):
        count = degree[part]
        source = np.repeat(part, count)
        shift = graph.ptr[node[part]] - (np.cumsum(count) - count)
        edge = np.arange(len(source)) + np.repeat(shift, count)
        wanted = keys[source] - node[source] + graph.high[edge]
        target = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        inside = keys[target] == wanted
        yield np.stack([source[inside], target[inside], edge[inside]])
