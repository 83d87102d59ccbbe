"""Batches on a CPU: graphs cut out of a packed set, trees sliced by level."""

from typing import Any

import numpy.typing as npt

from .jit import entry
from .types import Flags, Ints

Table = npt.NDArray[Any]


@entry
def cut_rows(out: Table, rows: Table, begin: Ints, size: Ints) -> None:
    """Copy rows ``begin[g] .. begin[g] + size[g] - 1`` for all g, one behind the other.

    Numbers become those of the type of ``out``.
    """
    to = 0
    for g in range(len(begin)):
        for row in range(begin[g], begin[g] + size[g]):
            for c in range(rows.shape[1]):
                out[to, c] = rows[row, c]
            to += 1


@entry
def cut_edges(out: Ints, rows: Table, begin: Ints, size: Ints, shift: Ints) -> None:
    """Like ``cut_rows`` for edges ``(num_edges, 2)``, turned and renumbered."""
    to = 0
    for g in range(len(begin)):
        for row in range(begin[g], begin[g] + size[g]):
            out[0, to] = rows[row, 0] + shift[g]
            out[1, to] = rows[row, 1] + shift[g]
            to += 1


@entry
def find_bad_edge(rows: Table, begin: Ints, size: Ints, nodes: Ints) -> int:
    """Return the first g with an edge that names none of its ``nodes[g]``, or -1."""
    for g in range(len(begin)):
        for row in range(begin[g], begin[g] + size[g]):
            for c in range(2):
                if rows[row, c] < 0 or rows[row, c] >= nodes[g]:
                    return g
    return -1


@entry
def number_groups(out: Ints, size: Ints) -> None:
    """Write g ``size[g]`` times, for all g."""
    to = 0
    for g in range(len(size)):
        out[to : to + size[g]] = g
        to += size[g]


@entry
def is_numbering(graph: Ints, ptr: Ints) -> bool:
    """Return whether ``graph`` is g from ``ptr[g]`` up to ``ptr[g + 1]``, for all g."""
    if len(ptr) == 0 or ptr[0] != 0 or ptr[-1] != len(graph):
        return False
    for g in range(len(ptr) - 1):
        if not ptr[g] <= ptr[g + 1] <= len(graph):
            return False
        for i in range(ptr[g], ptr[g + 1]):
            if graph[i] != g:
                return False
    return True


@entry
def first_stray(edges: Ints, graph: Ints) -> int:
    """Return the first edge that does not join two nodes of one graph, or -1."""
    nodes = len(graph)
    for i in range(edges.shape[1]):
        u, v = edges[0, i], edges[1, i]
        if not (0 <= u < nodes and 0 <= v < nodes) or graph[u] != graph[v]:
            return i
    return -1


@entry
def relabel_edges(out: Ints, edges: Ints, keep: Flags, label: Ints) -> int:
    """Write the edges ``(2, num_edges)`` that are kept, their vertices relabelled.

    Returns:
        The first of them that joins no two nodes, where it stops, or -1.
    """
    to, nodes = 0, len(label)
    for i in range(len(keep)):
        if keep[i]:
            u, v = edges[0, i], edges[1, i]
            if not (0 <= u < nodes and 0 <= v < nodes):
                return i
            out[0, to] = label[u]
            out[1, to] = label[v]
            to += 1
    return -1


@entry
def keep_between(keep: Flags, edges: Ints, node: Flags) -> int:
    """Strike out the edges whose ends do not both stay.

    Returns:
        The first edge that joins no two nodes, where it stops, or -1.
    """
    nodes = len(node)
    for i in range(len(keep)):
        u, v = edges[0, i], edges[1, i]
        if not (0 <= u < nodes and 0 <= v < nodes):
            return i
        keep[i] = keep[i] and node[u] and node[v]
    return -1
