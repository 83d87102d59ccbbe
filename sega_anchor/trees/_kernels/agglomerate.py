"""agglomerate: merge neighbours greedily, inside each group, into binary trees."""

from __future__ import annotations

import numpy as np
from numba import njit

from .heap import pop, push
from .pendants import pendants
from .rules import AUTHORS, MERGE, score
from .types import CSR, Dendrogram, Floats, Ints, Whole

HUB = np.int64(16)  # neighbours
EXACT = np.int64(1 << 60)  # as ``hub``: always look at all neighbours again


@njit(inline="always")
def _ticket(name: Ints, a: int, b: int) -> int:
    """Return the heap's tie-break: smaller name, larger name, and which is a."""
    if name[a] < name[b]:
        return (name[a] << 32) | (name[b] << 1)
    return (name[b] << 32) | (name[a] << 1) | 1


@njit(inline="always")
def _append(
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


@njit(cache=True, nogil=True)
def agglomerate(
    graph: CSR,
    vol: Floats,
    inside: Floats,
    group: Ints,
    totals: Floats,
    rule: Whole,
    hub: Whole,
    node: Ints,
    rest: Floats,
    out: Dendrogram,
) -> None:
    """Merge adjacent items of each group greedily to binary trees.

    Each pair is owned by the two lists of its ends; each item knows its best partner
    and a heap holds the items by their best score. A merge looks at all neighbours
    again, unless one of the two has more than ``hub`` of them; then scores that have
    grown old are brought up to date when they are drawn, and accepted if they have
    become only a little worse.

    Args:
        graph: the items and the edges between them.
        vol: volume of each item.
        inside: twice the weight within each item.
        group: the group of each item; edges between groups do not count, and groups
            with a negative ``rest`` stay as they are.
        totals: the volume that stands for the whole in each group.
        rule: COMBINE, AUTHORS or MERGE.
        hub: see above; EXACT for none.
        node: the id of each item in ``out``; afterwards, that of each group.
        rest: for groups that stay as they are, minus the weight inside, else 0.
        out: the dendrogram that grows. Items of a group that no edge joins become
            children of one node.
    """
    n = vol.size
    m = 0
    ints = np.zeros((9, n), np.int64)
    head, length, version, partner = ints[0], ints[2], ints[3], ints[4]
    name, mark, own_node = ints[6], ints[7], ints[8]
    for u in range(n):
        g = group[u]
        name[u] = u
        own_node[u] = node[u]
        head[u] = -1
        partner[u] = -1
        mark[u] = -1
        if rest[g] == 0.0:
            for e in range(graph.indptr[u], graph.indptr[u + 1]):
                if group[graph.indices[e]] == g:
                    length[u] += 1
            m += length[u]
    m //= 2
    if m > 0:
        _merge(graph, vol, inside, group, totals, rule, hub, m, ints, out)
    groups = totals.size
    first = np.full(groups, -1, np.int64)
    for u in range(n):
        if version[u] < 0:
            continue
        g = group[u]
        if first[g] == -1:
            first[g] = own_node[u]
        elif first[g] >= 0:
            c = out.made[0]
            out.made[0] += 1
            out.parent[first[g]] = c
            out.parent[own_node[u]] = c
            out.inner[c] = -rest[g]
            out.volume[c] = totals[g]
            first[g] = -2 - c
        else:
            out.parent[own_node[u]] = -2 - first[g]
    for g in range(groups):
        node[g] = first[g] if first[g] >= 0 else -2 - first[g]


@njit(cache=True, nogil=True)
def _merge(
    graph: CSR,
    vol: Floats,
    inside: Floats,
    group: Ints,
    totals: Floats,
    rule: Whole,
    hub: Whole,
    m: int,
    ints: Ints,
    out: Dendrogram,
) -> None:
    """Merge while any pair is left; ``ints`` holds what :func:`agglomerate` set up."""
    n = vol.size
    head, tail, length, version, partner = ints[0], ints[1], ints[2], ints[3], ints[4]
    seen, name, mark, own_node = ints[5], ints[6], ints[7], ints[8]
    twin, asleep, bond = pendants(graph, vol, inside, group, length)
    floats = np.empty((4, n))
    own_vol, own_in, own_log, best = floats[0], floats[1], floats[2], floats[3]
    owner = np.empty(2 * m, np.int64)
    following = np.empty(2 * m, np.int64)
    between = np.empty(m)
    dead = np.zeros(m, np.bool_)
    holder = np.arange(2 * n if rule == AUTHORS else n)
    names = n
    log_totals = totals
    if rule == MERGE:
        log_totals = np.log2(totals)
    for u in range(n):
        own_vol[u] = vol[u]
        own_in[u] = inside[u]
        best[u] = np.inf
        if rule == MERGE:
            own_log[u] = np.log2(vol[u])
    p = 0
    for u in range(n):
        if length[u] == 0:
            continue
        g = group[u]
        for e in range(graph.indptr[u], graph.indptr[u + 1]):
            v = graph.indices[e]
            if v > u and group[v] == g and not asleep[u] and not asleep[v]:
                w = graph.weight[e]
                between[p] = w
                _append(owner, following, head, tail, mark, 2 * p, u)
                _append(owner, following, head, tail, mark, 2 * p + 1, v)
                s = score(
                    rule,
                    own_vol[u],
                    own_in[u],
                    own_log[u],
                    own_vol[v],
                    own_in[v],
                    own_log[v],
                    w,
                    totals[g],
                    log_totals[g],
                )
                if s < best[u] or (s == best[u] and v < partner[u]):
                    best[u] = s
                    partner[u] = v
                if s < best[v] or (s == best[v] and u < partner[v]):
                    best[v] = s
                    partner[v] = u
                p += 1
    for u in range(n):  # mark has counted the entries that are awake
        length[u] = mark[u] + 1
        mark[u] = -1
    keys = np.empty(4 * n + 16)
    values = np.empty(4 * n + 16, np.int64)
    size = 0
    for u in range(n):
        if partner[u] >= 0:
            size = push(keys, values, size, best[u], _ticket(name, u, partner[u]))
    live = p
    pair_weight = 0.0
    while live > 0:
        if size + 2 * n > keys.size:  # mostly tickets that have grown old
            size = 0
            for a in range(n):
                if version[a] >= 0 and partner[a] >= 0:
                    size = push(
                        keys, values, size, best[a], _ticket(name, a, partner[a])
                    )
        if size == 0:
            # Only pairs of hubs are left, which own no pair: look at them again.
            for a in range(n):
                i = head[a] if version[a] >= 0 else -1
                while i >= 0 and dead[i >> 1]:
                    i = following[i]
                if i >= 0:
                    best[a] = -np.inf
                    partner[a] = owner[i ^ 1]
                    seen[a] = -2
                    size = push(
                        keys, values, size, best[a], _ticket(name, a, partner[a])
                    )
        s = keys[0]
        ticket = values[0]
        size = pop(keys, values, size)
        a = holder[((ticket & 0xFFFFFFFF) >> 1) if ticket & 1 else (ticket >> 32)]
        b = partner[a]
        if version[a] < 0 or s != best[a] or b < 0:
            continue
        g = group[a]
        if seen[a] != version[b]:
            # The partner has changed: look for the best again.
            best[a] = np.inf
            partner[a] = -1
            previous = -1
            i = head[a]
            while i >= 0:
                if dead[i >> 1]:
                    if previous < 0:
                        head[a] = following[i]
                    else:
                        following[previous] = following[i]
                    i = following[i]
                    continue
                t = owner[i ^ 1]
                w = between[i >> 1]
                worth = score(
                    rule,
                    own_vol[a],
                    own_in[a],
                    own_log[a],
                    own_vol[t],
                    own_in[t],
                    own_log[t],
                    w,
                    totals[g],
                    log_totals[g],
                )
                if worth < best[a] or (worth == best[a] and name[t] < name[partner[a]]):
                    best[a] = worth
                    partner[a] = t
                    pair_weight = w
                previous = i
                i = following[i]
            tail[a] = previous
            b = partner[a]
            if b < 0:
                continue
            seen[a] = version[b]
            if length[b] <= hub or best[a] > s + 0.1 * (
                abs(best[a]) + 2.0 * pair_weight
            ):
                size = push(keys, values, size, best[a], _ticket(name, a, b))
                continue
        elif ticket != _ticket(name, a, b):
            continue  # an old ticket of the same score
        if length[a] < length[b]:
            a, b = b, a
        full = length[a] <= hub or length[b] * 8 > length[a]
        if not full:
            # Looking up b's neighbours one by one may cost more than looking at all.
            work = 0
            i = head[b]
            while i >= 0:
                if not dead[i >> 1]:
                    work += min(length[owner[i ^ 1]], length[a])
                i = following[i]
            full = work > 4 * length[a]
        woken = max(twin[a], twin[b])  # at most one of the two is pendant
        twin[a] = -1
        if full:
            previous = -1
            i = head[a]
            while i >= 0:
                if dead[i >> 1]:
                    if previous < 0:
                        head[a] = following[i]
                    else:
                        following[previous] = following[i]
                    i = following[i]
                    continue
                mark[owner[i ^ 1]] = i
                previous = i
                i = following[i]
            tail[a] = previous
            w = between[mark[b] >> 1]
            mark[b] = -1
        else:
            i = head[b]
            while dead[i >> 1] or owner[i ^ 1] != a:
                i = following[i]
            w = between[i >> 1]
        c = out.made[0]
        out.made[0] += 1
        out.parent[own_node[a]] = c
        out.parent[own_node[b]] = c
        own_node[a] = c
        out.inner[c] = w
        own_vol[a] += own_vol[b]
        own_in[a] += own_in[b] + 2.0 * w
        out.volume[c] = own_vol[a]
        if rule == MERGE:
            own_log[a] = np.log2(own_vol[a])
        elif rule == AUTHORS:
            name[a] = names
            holder[names] = a
            names += 1
        else:
            name[a] = min(name[a], name[b])
            holder[name[a]] = a
        version[a] += 1
        version[b] = -1
        best[a] = np.inf
        partner[a] = -1
        i = head[b]
        while i >= 0:
            after = following[i]
            q = i >> 1
            t = owner[i ^ 1]
            if dead[q]:
                i = after
                continue
            if t == a:
                dead[q] = True
                length[a] -= 1
                live -= 1
                i = after
                continue
            j = -1  # the entry in a's list that leads to t, if there is one
            if full:
                j = mark[t]
            elif length[t] <= length[a]:
                j = head[t]
                while j >= 0 and (dead[j >> 1] or owner[j ^ 1] != a):
                    j = following[j]
            else:
                j = head[a]
                while j >= 0 and (dead[j >> 1] or owner[j ^ 1] != t):
                    j = following[j]
            if j >= 0:
                between[j >> 1] += between[q]
                dead[q] = True
                length[t] -= 1
                live -= 1
            else:
                _append(owner, following, head, tail, length, i, a)
                j = i
            if not full:
                worth = score(
                    rule,
                    own_vol[a],
                    own_in[a],
                    own_log[a],
                    own_vol[t],
                    own_in[t],
                    own_log[t],
                    between[j >> 1],
                    totals[g],
                    log_totals[g],
                )
                if worth < best[t]:
                    best[t] = worth
                    partner[t] = a
                    seen[t] = version[a]
                    size = push(keys, values, size, worth, _ticket(name, t, a))
            i = after
        if woken >= 0:
            between[p] = bond[woken]
            _append(owner, following, head, tail, length, 2 * p, a)
            _append(owner, following, head, tail, length, 2 * p + 1, woken)
            if not full:
                best[woken] = score(
                    rule,
                    own_vol[a],
                    own_in[a],
                    own_log[a],
                    own_vol[woken],
                    own_in[woken],
                    own_log[woken],
                    bond[woken],
                    totals[g],
                    log_totals[g],
                )
                partner[woken] = a
                seen[woken] = version[a]
                size = push(keys, values, size, best[woken], _ticket(name, woken, a))
            p += 1
            live += 1
        if not full:
            continue
        i = head[a]
        previous = -1
        while i >= 0:
            if dead[i >> 1]:
                if previous < 0:
                    head[a] = following[i]
                else:
                    following[previous] = following[i]
                i = following[i]
                continue
            t = owner[i ^ 1]
            mark[t] = -1
            worth = score(
                rule,
                own_vol[a],
                own_in[a],
                own_log[a],
                own_vol[t],
                own_in[t],
                own_log[t],
                between[i >> 1],
                totals[g],
                log_totals[g],
            )
            if worth < best[a] or (worth == best[a] and name[t] < name[partner[a]]):
                best[a] = worth
                partner[a] = t
                seen[a] = version[t]
            if worth < best[t] or (worth == best[t] and name[a] < name[partner[t]]):
                best[t] = worth
                partner[t] = a
                seen[t] = version[a]
                size = push(keys, values, size, worth, _ticket(name, t, a))
            previous = i
            i = following[i]
        tail[a] = previous
        if partner[a] >= 0:
            size = push(keys, values, size, best[a], _ticket(name, a, partner[a]))
