"""pendants: leaves of a star that are merged one after the other."""

import math

import numpy as np

from ..._kernels.jit import kernel
from ..._kernels.types import Flags, Floats, Ints
from .arrays import filled, mix
from .types import CSR


@kernel
def pendants(
    graph: CSR, vol: Floats, inside: Floats, group: Ints, length: Ints
) -> tuple[Ints, Flags, Floats]:
    """Chain pendant items that no rule can tell apart: one neighbour, equal numbers.

    All but the first of a chain sleep until the one before is merged: a star is then
    merged in linear time, and in the same order as by looking at all of it each time.

    ``length`` is the number of neighbours in the same group; the rest is as in
    :func:`~.agglomerate.agglomerate`.

    Returns:
        twin: who wakes when an item is merged, or -1.
        asleep: who sleeps.
        bond: the weight of the edge of each pendant item.
    """
    n = vol.size
    twin = filled(n, -1)
    asleep = np.zeros(n, np.bool_)
    bond = np.empty(n)
    pendants = 0
    for u in range(n):
        if length[u] == 1:
            pendants += 1
    if pendants < 2:
        return twin, asleep, bond
    room = 4
    while room < 2 * pendants:  # doubled
        room *= 2
    last = filled(room, -1)
    hub = np.empty(n, np.int64)
    for u in range(n):
        if length[u] != 1:
            continue
        e = graph.indptr[u]
        while group[graph.indices[e]] != group[u]:  # it has one such neighbour
            e += 1
        v = graph.indices[e]
        if length[v] == 1:
            continue
        hub[u] = v
        bond[u] = graph.weight[e]
        digits = np.int64(math.frexp(bond[u])[0] * 2.0**53)  # whatever the scale
        at = mix(digits + mix(v)) & (room - 1)
        while last[at] >= 0:  # half of the room stays free
            t = last[at]
            if (
                hub[t] == v
                and bond[t] == bond[u]
                and vol[t] == vol[u]
                and inside[t] == inside[u]
            ):
                twin[t] = u
                asleep[u] = True
                break
            at = (at + 1) & (room - 1)
        last[at] = u
    return twin, asleep, bond
