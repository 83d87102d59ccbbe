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
def relabel_edges(out: Ints, edges: Ints, keep: Flags, label: Ints) -> None:
    """Write the edges ``(2, num_edges)`` that are kept, their vertices relabelled."""
    to = 0
    for i in range(len(keep)):
        if keep[i]:
            out[0, to] = label[edges[0, i]]
            out[1, to] = label[edges[1, i]]
            to += 1


@entry
def keep_between(keep: Flags, edges: Ints, node: Flags) -> None:
    """Strike out the edges whose ends do not both stay."""
    for i in range(len(keep)):
        keep[i] = keep[i] and node[edges[0, i]] and node[edges[1, i]]
