"""Our own method: climb and squeeze in turns until the entropy falls no more."""

from __future__ import annotations

import numpy as np

from .agglomerate import HUB, agglomerate
from .arrays import copy_to, count_up, sum_of
from .authors import authors
from .csr import quotient
from .exact import TINY, exact
from .jit import helper, loop, phase
from .move import move
from .partitions import compress, fill_levels, lower, new_levels, read_labels
from .rules import MERGE
from .squeeze import squeeze
from .types import CSR, Dendrogram, Floats, Ints, Levels, new_dendrogram

TURNS = np.int64(5)
LARGE = 100_000  # edges; in graphs of more a turn has to gain LEAST of the cost
LEAST = 1e-3
SMALL = 512  # edges; in graphs of no more the authors' tree is a second start,
FEW = 100  # vertices; and of no more if it costs less


@phase
def refined(graph: CSR, degree: Floats, labels: Ints) -> None:
    """Fill ``labels``, the nested partitions of levels 1 to height - 1.

    Where the height is near what a binary tree of the vertices needs, entropy hardly
    falls with the height any more, and a search may end above that for a lower tree.
    So with 2 ** (2 * height - 3) vertices or fewer the lower heights are tried too.
    """
    n = degree.size
    rows = labels.shape[0]
    if n <= TINY:
        exact(graph, degree, labels)
        return
    tree = new_levels(rows + 1, n)
    row = 0  # rows before it hold chains: the tree is lower than asked for
    while row < rows - 1 and 1 << (2 * (rows - row) - 1) >= n:
        row += 1
    for v in range(n):
        labels[:, v] = v
    best = np.inf
    for first in range(row, -1, -1):
        best = start(graph, degree, labels, first, tree, best)


@phase
def start(
    graph: CSR, degree: Floats, labels: Ints, row: int, tree: Levels, best: float
) -> float:
    """Search among trees of the lower height; keep what costs less than ``best``.

    From single vertices, and in small graphs from the authors' tree if that is better;
    at height 2, where few edges make it cheap, in any case.
    """
    n = degree.size
    now = lower(tree, labels.shape[0] - row + 1)
    found = np.empty((labels.shape[0] - row, n), np.int64)
    small = graph.indices.size <= 2 * SMALL
    for source in range(2 if small or n <= FEW else 1):
        if source == 0:
            for v in range(n):
                found[:, v] = v
        else:
            authors(graph, degree, found)
            wanted = small and found.shape[0] == 1
            if not wanted and fill_levels(graph, degree, found, now) >= best:
                break
        cost = improve(graph, degree, found, now, source == 0)
        if cost < best:
            best = cost
            for i in range(found.shape[0]):
                copy_to(labels[row + i], found[i])
    return best


@phase
def improve(
    graph: CSR, degree: Floats, labels: Ints, tree: Levels, chains: bool
) -> float:
    """Climb and squeeze in turns, in place; return the cost.

    The cost of a tree is sum of cross * log(vol) over its nodes, an increasing function
    of the structural entropy. It never rises: moves lower it, and the dendrogram that
    a climb leaves holds the nodes of the present tree.
    """
    n = degree.size
    height = labels.shape[0] + 1
    number = np.empty(n, np.int64)
    room = 16
    while room < 4 * n:
        room *= 2
    known = np.zeros(room, np.int64)
    log = np.empty(2 * n)
    slack = LEAST if graph.indices.size > 2 * LARGE else 0.0
    best = np.inf
    for turn in range(TURNS):
        # Of a tree of chains one level tells all.
        now = lower(tree, 2) if turn == 0 and chains else tree
        cost = fill_levels(graph, degree, labels, now)
        if turn == 0 and not chains:
            best = cost
        out = new_dendrogram(degree)
        climb(graph, degree, now, known, number, out)
        count = out.made[0]
        for a in range(count):
            log[a] = np.log2(out.volume[a]) if out.volume[a] > 0.0 else 0.0
        parent = out.parent[:count]
        above, left, cost = squeeze(parent, log, out.inner[:count], n, height)
        if cost >= best - 1e-10 * abs(best):
            break
        enough = cost >= best - slack * abs(best)
        best = cost
        read_labels(parent, above, left, n, labels)
        if enough:
            break
    return best


@phase
def climb(
    graph: CSR,
    degree: Floats,
    tree: Levels,
    known: Ints,
    number: Ints,
    out: Dendrogram,
) -> None:
    """Go up the levels once: move the nodes of each, then merge them in each parent.

    What comes out is a dendrogram in which every node of the moved tree has a place and
    is resolved into binary merges. Groups whose content was merged in an earlier turn,
    by the names in ``known``, are left as they are: the squeeze has seen them.
    """
    n = degree.size
    height = tree.size.size - 1
    total = sum_of(degree)
    vol = degree
    inside = np.zeros(n)
    node = count_up(n)
    title = np.empty(n, np.int64)
    for v in range(n):
        title[v] = _mix(v + 1)
    for i in range(height):
        items = vol.size
        groups = 1
        if i < height - 1:
            move(graph, vol, i, tree, total)
            groups = compress(tree, i, items, number)
        group_vol = np.empty(groups)
        for g in range(groups):
            group_vol[g] = tree.vol[i + 1, g] if i < height - 1 else total
        group = np.empty(items, np.int64)
        copy_to(group, tree.up[i, :items])
        rest = np.zeros(groups)
        new_inside = np.zeros(groups)
        new_title = np.zeros(groups, np.int64)
        members = np.zeros(groups, np.int64)
        for x in range(items):
            g = group[x]
            members[g] += 1
            new_title[g] += _mix(title[x])
            new_inside[g] += inside[x]
            for e in range(graph.indptr[x], graph.indptr[x + 1]):
                if group[graph.indices[e]] == g:
                    rest[g] += graph.weight[e]
        for x in range(items):
            if members[group[x]] == 1:
                new_title[group[x]] = title[x]
        for g in range(groups):
            new_inside[g] += rest[g]
            if members[g] > 1 and _remember(known, new_title[g]):
                rest[g] = -0.5 * rest[g]
            else:
                rest[g] = 0.0
        agglomerate(graph, vol, inside, group, group_vol, MERGE, HUB, node, rest, out)
        if i < height - 1:
            graph = quotient(graph, group, groups)
            inside, vol, title = new_inside, group_vol, new_title


@helper
def _mix(x: int) -> int:
    """Scramble an integer, so that sums of scrambled names name sets."""
    x = (x ^ (x >> 31)) * -7046029254386353131
    return x ^ (x >> 29)


@loop
def _remember(known: Ints, title: int) -> bool:
    """Return whether a name is known; from now on it is, if there is room."""
    mask = known.size - 1
    at = title & mask
    for _ in range(8):
        if known[at] == title:
            return True
        if known[at] == 0:
            known[at] = title
            return False
        at = (at + 1) & mask
    return False
