"""Ego-networks cut out of one large graph, many at once."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

_CANDIDATES = 1 << 22  # edges examined at once

Ints = NDArray[np.int64]
_Hashes = NDArray[np.uint64]


class EdgeTable(NamedTuple):
    """An undirected graph, each edge once, from its lower to its higher end."""

    ptr: Ints  # (num_nodes + 1,), where the edges of each lower end begin
    high: Ints  # (num_edges,)
    attr: NDArray[Any]  # (num_edges, channels)
    adjacency: Any  # (num_nodes, num_nodes), sparse, both directions


class EgoBatch(NamedTuple):
    """Some ego-networks, concatenated."""

    node: Ints  # (num_nodes,), node of the large graph
    nodes: Ints  # (num_networks,), number of nodes
    center: Ints  # (num_networks,), numbered within each network
    ends: Ints  # (2, num_edges), numbered within each network
    edge: Ints  # (num_edges,), edge of the large graph
    edges: Ints  # (num_networks,), number of edges


def merge_directions(ends: Ints, attr: NDArray[Any], n: int) -> EdgeTable:
    """Merge the directions and repetitions of each edge, and leave out loops."""
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
    return EdgeTable(np.searchsorted(low, np.arange(n + 1)), high, attr, adjacency)


def extract(
    table: EdgeTable, centers: Ints, hops: int, limit: int, seed: int
) -> EgoBatch:
    """Return the ego-networks of some centres, of at most ``limit`` nodes each."""
    n = len(table.ptr) - 1
    start = np.arange(len(centers)) * n + centers
    keys = np.sort(_grow(table, start, hops, limit, _salt(centers * n, seed)))
    row = keys // n
    nodes = np.bincount(row, minlength=len(centers))
    first = np.cumsum(nodes) - nodes
    source, target, edge = np.concatenate(list(_inner_edges(table, keys)), axis=1)
    owner = row[source]
    return EgoBatch(
        keys % n,
        nodes,
        np.searchsorted(keys, start) - first,
        np.stack([source, target]) - first[owner],
        edge,
        np.bincount(owner, minlength=len(centers)),
    )


def _grow(table: EdgeTable, start: Ints, hops: int, limit: int, salt: _Hashes) -> Ints:
    """Return the nodes of all networks as keys, number of network times n plus node."""
    n, rows = len(table.ptr) - 1, len(start)
    found = frontier = start
    for _ in range(hops):
        reached = _indicator(frontier, rows, n) @ table.adjacency
        row = np.repeat(np.arange(rows), np.diff(reached.indptr))
        new = np.setdiff1d(row * n + reached.indices, found, assume_unique=True)
        room = limit - np.bincount(found // n, minlength=rows)
        new = _draw(new, new // n, room, _hashes(salt, new, n))
        found = np.concatenate([found, new])
        # Full networks do not grow any further.
        full = np.bincount(found // n, minlength=rows) >= limit
        frontier = new[~full[new // n]]
    return found


def _indicator(keys: Ints, rows: int, n: int) -> Any:
    return csr_array((np.ones(len(keys), bool), np.divmod(keys, n)), shape=(rows, n))


def _draw(new: Ints, row: Ints, room: Ints, hashes: _Hashes) -> Ints:
    """Return as many keys of each row as there is room for, by increasing hash."""
    order = np.lexsort((hashes, row))
    row = row[order]
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    return new[order[rank < room[row]]]


def _salt(centers: Ints, seed: int) -> _Hashes:
    return _splitmix64(np.array([seed % 2**64], np.uint64)) + centers.astype(np.uint64)


def _hashes(salt: _Hashes, keys: Ints, n: int) -> _Hashes:
    return _splitmix64(salt[keys // n] + (keys % n).astype(np.uint64))


def _splitmix64(key: _Hashes) -> _Hashes:
    """Return pseudo-random numbers, different ones for different keys."""
    z = key + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _inner_edges(table: EdgeTable, keys: Ints) -> Iterator[Ints]:
    """Yield edges within networks: source and target as positions in keys, and edge."""
    n = len(table.ptr) - 1
    node = keys % n
    degree = table.ptr[node + 1] - table.ptr[node]
    total = np.cumsum(degree)
    bounds = np.searchsorted(total, np.arange(_CANDIDATES, total[-1], _CANDIDATES))
    for part in np.split(np.arange(len(keys)), bounds):
        count = degree[part]
        source = np.repeat(part, count)
        shift = table.ptr[node[part]] - (np.cumsum(count) - count)
        edge = np.arange(len(source)) + np.repeat(shift, count)
        wanted = keys[source] - node[source] + table.high[edge]
        target = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        inside = keys[target] == wanted
        yield np.stack([source[inside], target[inside], edge[inside]])
