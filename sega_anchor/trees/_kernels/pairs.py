"""The pairs of adjacent items that may be merged, and the partner each item prefers."""

from typing import NamedTuple

from ..._kernels.jit import helper
from ..._kernels.types import Flags, Floats, Ints
from .heap import push
from .rules import score
from .types import Whole


class Items(NamedTuple):
    """The items as they grow; a merged pair keeps the id of one of the two."""

    group: Ints
    vol: Floats
    inside: Floats  # twice the weight within
    log: Floats  # of the volume, where the rule needs it
    name: Ints  # decides ties
    holder: Ints  # the item that has a name
    node: Ints  # id in the dendrogram
    version: Ints  # how many merges ago the item began, -1 once it is merged away


class Pairs(NamedTuple):
    """Linked lists of neighbours.

    Pair q has two entries, 2q and 2q + 1, one in the list of either end; entry i ^ 1 is
    the other end of entry i. A pair that is merged is only marked as dead, and unlinked
    by whoever comes past. Entries leave a list or join its end, and none joins while
    the list is followed: such loops end.
    """

    head: Ints  # first entry of each item, -1 if none
    tail: Ints
    length: Ints  # of each item's list, without the dead
    owner: Ints  # item in whose list an entry is
    following: Ints  # next entry, -1 at the end
    weight: Floats  # of each pair
    dead: Flags


class Partners(NamedTuple):
    """The best partner that each item knows of, and a heap of items by that score."""

    best: Floats
    partner: Ints
    seen: Ints  # version of the partner when the score was computed
    keys: Floats
    values: Ints


# The helpers take arrays, not the tuples above: in the innermost loops numba would
# count references for each field of a tuple.


@helper
def append(
    owner: Ints, following: Ints, head: Ints, tail: Ints, length: Ints, i: int, a: int
) -> None:
    """Put entry i at the end of the list of a."""
    owner[i] = a
    following[i] = -1
    if head[a] < 0:
        head[a] = i
    else:
        following[tail[a]] = i
    tail[a] = i
    length[a] += 1


@helper
def unlink(head: Ints, following: Ints, a: int, previous: int, i: int) -> int:
    """Take entry i, behind ``previous``, out of the list of a; return the next one."""
    after: int = following[i]
    if previous < 0:
        head[a] = after
    else:
        following[previous] = after
    return after


@helper
def find(head: Ints, following: Ints, owner: Ints, dead: Flags, a: int, b: int) -> int:
    """Return the entry in the list of a that leads to b, or -1."""
    i: int = head[a]  # and down the list
    while i >= 0 and (dead[i >> 1] or owner[i ^ 1] != b):
        i = following[i]
    return i


@helper
def worth(
    rule: Whole,
    vol: Floats,
    inside: Floats,
    log: Floats,
    a: int,
    b: int,
    between: float,
    total: float,
    log_total: float,
) -> float:
    """Return the score of merging a and b, lower first."""
    s: float = score(
        rule,
        vol[a],
        inside[a],
        log[a],
        vol[b],
        inside[b],
        log[b],
        between,
        total,
        log_total,
    )
    return s


@helper
def prefer(
    best: Floats, partner: Ints, seen: Ints, version: Ints, a: int, b: int, s: float
) -> None:
    """Make b the partner of a."""
    best[a] = s
    partner[a] = b
    seen[a] = version[b]


@helper
def better(best: Floats, partner: Ints, name: Ints, a: int, b: int, s: float) -> bool:
    """Return whether b, at score s, beats the partner of a; ties by name."""
    return s < best[a] or (s == best[a] and name[b] < name[partner[a]])


@helper
def ticket(name: Ints, a: int, b: int) -> int:
    """Return the heap's tie-break: smaller name, larger name, and which is a."""
    if name[a] < name[b]:
        return (name[a] << 32) | (name[b] << 1)
    return (name[b] << 32) | (name[a] << 1) | 1


@helper
def enqueue(
    keys: Floats,
    values: Ints,
    size: int,
    best: Floats,
    partner: Ints,
    name: Ints,
    a: int,
) -> int:
    """Put item a into the heap at its present score; return the heap's new size."""
    new: int = push(keys, values, size, best[a], ticket(name, a, partner[a]))
    return new
