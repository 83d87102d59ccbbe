"""Our own method: climb and squeeze in turns until the entropy stops falling."""

import numpy as np

from ..._kernels.jit import loop, phase
from ..._kernels.types import Floats, Ints
from .agglomerate import HUB, agglomerate
from .arrays import copy_below, count_up, mix, put_alone, set_logs, sum_of
from .authors import authors
from .csr import quotient
from .exact import TINY, exact
from .move import move
from .paper import paper
from .partitions import (
    compress,
    fill_levels,
    lower,
    new_levels,
    number_groups,
    read_labels,
)
from .rules import MERGE
from .squeeze import squeeze
from .types import CSR, Dendrogram, Levels, new_dendrogram

TURNS = np.int64(5)
DEEP = 32  # levels; higher trees are of that height, with chains below
LARGE = 100_000  # edges; in graphs of more a turn has to gain LEAST of the cost
LEAST = 1e-3
SMALL = 512  # edges; in graphs of no more the authors' tree is a second start,
FEW = 100  # vertices; and of no more if it costs less. The paper's is a third start
# in graphs of no more, and no more than 4 ** (height - 1), if it costs less


@phase
def refined(graph: CSR, degree: Floats, labels: Ints) -> None:
    """Fill ``labels``, the nested partitions of levels 1 to height - 1.

    Near the height of a binary tree of the vertices, one more level hardly lowers the
    entropy, and a local search may end worse than one with fewer levels. So with
    2 ** (2 * height - 3) vertices or fewer the lower heights are tried too.
    """
    n = degree.size
    put_alone(labels)
    labels = labels[max(labels.shape[0] + 1 - DEEP, 0) :]
    rows = labels.shape[0]
    if n <= TINY:
        exact(graph, degree, labels)
        return
    tree = new_levels(rows + 1, n)
    row = 0  # rows before it hold chains: the tree is lower than asked for
    while row < rows - 1 and 1 << (2 * (rows - row) - 1) >= n:  # row goes up
        row += 1
    best = np.inf
    for first in range(row, -1, -1):
        best = start(graph, degree, labels, first, tree, best)


@phase
def start(
    graph: CSR, degree: Floats, labels: Ints, row: int, tree: Levels, best: float
) -> float:
    """Search among trees of the lower height; keep what costs less than ``best``.

    From single vertices, and in small graphs from the authors' tree if that is better;
    at height 2, where few edges make it cheap, in any case. Last from the paper's tree,
    if it is better: with few vertices for the height pairs are what counts, and it is
    made of pairs.
    """
    n = degree.size
    now = lower(tree, labels.shape[0] - row + 1)
    found = np.empty((labels.shape[0] - row, n), np.int64)
    small = graph.indices.size <= 2 * SMALL
    few = n <= FEW and n <= 1 << (2 * labels.shape[0])
    for source in range(3):
        if source == 0:
            put_alone(found)
        elif source == 1:
            if not small and n > FEW:
                continue
            authors(graph, degree, found)
            wanted = small and found.shape[0] == 1
            if not wanted and fill_levels(graph, degree, found, now) >= best:
                continue
        else:
            if row > 0 or not few:
                continue
            paper(graph, degree, found)
            number_groups(found)
            least = best - 1e-10 * abs(best)  # no other tree for rounding alone
            if fill_levels(graph, degree, found, now) >= least:
                continue
        cost = improve(graph, degree, found, now, source == 0)
        if cost < best:
            best = cost
            copy_below(labels, row, found)
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
    while room < 4 * n:  # doubled
        room *= 2
    known = np.zeros(room, np.int64)
    log = np.empty(2 * n)
    slack = LEAST if graph.indices.size > 2 * LARGE else 0.0
    best = np.inf
    for turn in range(TURNS):  # not until the cost stays: rounding could move it
        # All levels of a tree of chains are alike: one is enough.
        now = lower(tree, 2) if turn == 0 and chains else tree
        cost = fill_levels(graph, degree, labels, now)
        if turn == 0 and not chains:
            best = cost
        out = new_dendrogram(degree)
        climb(graph, degree, now, known, number, out)
        count = out.made[0]
        set_logs(out.volume, count, log)
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
    vol, inside, node = degree, np.zeros(n), count_up(n)
    title = np.empty(n, np.int64)
    give_titles(title)
    for i in range(height):
        top = i == height - 1
        groups = 1
        if not top:
            move(graph, vol, i, tree, total)
            groups = compress(tree, i, vol.size, number)
        group, members = np.empty(vol.size, np.int64), np.zeros(groups, np.int64)
        group_vol, new_title = np.empty(groups), np.zeros(groups, np.int64)
        rest, new_inside = np.zeros(groups), np.zeros(groups)
        for x in range(vol.size):
            group[x] = tree.up[i, x]
        for g in range(groups):
            group_vol[g] = total if top else tree.vol[i + 1, g]
        sum_groups(
            graph, group, inside, title, known, members, rest, new_inside, new_title
        )
        agglomerate(graph, vol, inside, group, group_vol, MERGE, HUB, node, rest, out)
        if not top:
            graph = quotient(graph, group, groups)
            inside, vol, title = new_inside, group_vol, new_title


@loop
def sum_groups(
    graph: CSR,
    group: Ints,
    inside: Floats,
    title: Ints,
    known: Ints,
    members: Ints,
    rest: Floats,
    new_inside: Floats,
    new_title: Ints,
) -> None:
    """Sum over each group, into zeros; ``rest`` is what agglomerate takes."""
    for x in range(group.size):
        g = group[x]
        members[g] += 1
        new_title[g] += mix(title[x])
        new_inside[g] += inside[x]
        for e in range(graph.indptr[x], graph.indptr[x + 1]):
            if group[graph.indices[e]] == g:
                rest[g] += graph.weight[e]
    for x in range(group.size):
        if members[group[x]] == 1:
            new_title[group[x]] = title[x]
    for g in range(members.size):
        new_inside[g] += rest[g]
        if members[g] > 1 and _remember(known, new_title[g]):
            rest[g] = -0.5 * rest[g]
        else:
            rest[g] = 0.0


@loop
def give_titles(title: Ints) -> None:
    """Name the vertices."""
    for v in range(title.size):
        title[v] = mix(v + 1)


@loop
def _remember(known: Ints, title: int) -> bool:
    """Return whether a name was seen before, and remember it if there is room."""
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
