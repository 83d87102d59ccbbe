"""Trees of a batch, sliced by level on a CPU."""

from .jit import entry
from .types import Ints


@entry
def count_levels(level: Ints, count: Ints) -> bool:
    """Count the nodes at each level; False if one has a level beyond ``count``."""
    for a in level:
        if not 0 <= a < len(count):
            return False
        count[a] += 1
    return True


@entry
def slice_levels(
    level: Ints,
    offset: Ints,
    start: Ints,
    order: Ints,
    position: Ints,
    parent: Ints,
    graph: Ints,
) -> bool:
    """Sort trees by level, see :func:`~sega_anchor.trees.levels.tree_levels`.

    Args:
        level: of each node; each tree ends with its root.
        offset: how many places behind a node its parent stands.
        start: where each level begins in what follows, and the end.
        order: gets the nodes level by level.
        position: gets the place of each node in its level.
        parent: gets for each node the place of its parent in the level above.
        graph: gets for each node its tree.

    Returns:
        Whether every node has a parent one level up in the same tree.
    """
    top = len(start) - 2
    seen = start[:-1].copy()
    tree = 0
    for i in range(len(level)):
        a = level[i]
        position[i] = seen[a] - start[a]
        order[seen[a]] = i
        graph[seen[a]] = tree
        seen[a] += 1
        tree += a == top
    if len(level) and level[-1] != top:
        return False
    for i in range(len(level)):
        a = level[i]
        if a == top:
            continue
        up = i + offset[i]
        if not 0 <= up < len(level) or level[up] != a + 1:
            return False
        own = start[a] + position[i]
        if graph[start[a + 1] + position[up]] != graph[own]:
            return False
        parent[own] = position[up]
    return True
