"""Trees in the words of other libraries: SciPy's linkage and Newick, and back."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ._kernels import Floats, Ints, tree_arrays

#: Levels of a tree made of a linkage matrix.
HIGHEST = 1000
#: What may not stand in a label of Newick without quotes.
_SPECIAL = set("()[]{}:;,'_ \t\n\r\"")


def linkage(parent: Ints, level: Ints) -> Floats:
    """Return SciPy's linkage matrix of a tree, see ``CodingTree.to_linkage``."""
    n = int((level == 0).sum())
    name = np.arange(level.size)  # of each node in the matrix
    count = np.ones(level.size, np.int64)
    rows: list[Floats] = []
    end = n
    starts = np.append(0, np.bincount(level).cumsum())
    for height in range(1, starts.size - 1):
        # Children by parent; neighbours are merged in rounds, so that no branch of
        # the matrix is longer than it must be.
        nodes = np.arange(starts[height - 1], starts[height])
        nodes = nodes[np.argsort(parent[nodes], kind="stable")]
        above, ids, sizes = parent[nodes], name[nodes], count[nodes]
        while (same := above[1:] == above[:-1]).any():
            place = _places(above)
            first = np.flatnonzero(np.append(same, False) & (place % 2 == 0))
            new = np.arange(end, end + first.size)
            end += first.size
            pair = np.sort(np.stack([ids[first], ids[first + 1]]), axis=0)
            ids[first] = new
            sizes[first] += sizes[first + 1]
            distance = np.full(first.size, float(height))
            rows.append(np.stack([*pair.astype(float), distance, sizes[first]], axis=1))
            keep = np.ones(above.size, np.bool_)
            keep[first + 1] = False
            above, ids, sizes = above[keep], ids[keep], sizes[keep]
        name[above], count[above] = ids, sizes
    return np.concatenate([np.empty((0, 4)), *rows])


def _places(above: Ints) -> Ints:
    """Return the place of each node among its siblings, which stand together."""
    begins = np.flatnonzero(np.append(True, above[1:] != above[:-1]))
    sizes = np.diff(np.append(begins, above.size))
    return np.arange(above.size) - np.repeat(begins, sizes)


def of_linkage(matrix: Any, height: int | None) -> tuple[Ints, Ints]:
    """Return parent and level of a tree, see ``CodingTree.from_linkage``.

    Raises:
        ValueError: for no linkage matrix, distances that are no levels, or a height
            below them.
    """
    from scipy.cluster.hierarchy import fcluster

    matrix = np.asarray(matrix, np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != 4:
        raise ValueError(
            f"a linkage matrix has shape (num_vertices - 1, 4), got {matrix.shape}"
        )
    distance = matrix[:, 2]
    bad = (distance != np.rint(distance)) | (distance < 1) | (distance > HIGHEST)
    if bad.any():
        raise ValueError(
            f"distances must be levels, whole numbers from 1 to {HIGHEST}, got "
            f"{distance[bad][0]}: pass scipy.stats.rankdata(Z[:, 2], 'dense') as "
            "Z[:, 2]"
        )
    merged, made = matrix[:, :2], np.arange(len(matrix))
    once = np.sort(merged, axis=None) == np.arange(merged.size)
    if not (once.all() and (merged.T <= len(matrix) + made).all()):
        raise ValueError(
            "each row of the linkage must merge two clusters that are there, and each "
            f"cluster is merged once, got {merged}"
        )
    highest = int(distance.max(initial=1))
    if height is None:
        height = highest
    if not isinstance(height, int) or height < highest:
        raise ValueError(
            f"height must be an integer of at least {highest}, the largest distance, "
            f"got {height!r}"
        )
    labels = np.zeros((height - 1, len(matrix) + 1), np.int64)
    for j in range(1, highest):
        labels[j - 1] = by_first_vertex(fcluster(matrix, j, "distance"))
    built: tuple[Ints, Ints] = tree_arrays(labels)
    return built


def of_partitions(partitions: Any) -> tuple[Ints, Ints]:
    """Return parent and level of a tree, see ``CodingTree.from_partitions``.

    Raises:
        ValueError: for what is no matrix, or partitions that are not nested.
    """
    labels = np.asarray(partitions)
    if labels.ndim != 2 or not labels.size:
        raise ValueError(
            "partitions must have shape (height - 1, num_vertices), got "
            f"{labels.shape}: pass [groups] for a single one"
        )
    labels = np.stack([by_first_vertex(row) for row in labels])
    for j, (finer, coarser) in enumerate(pairwise(labels)):
        above = np.empty(int(finer.max()) + 1, np.int64)
        above[finer] = coarser
        torn = np.flatnonzero(above[finer] != coarser)
        if torn.size:
            raise ValueError(
                f"partition {j} must refine partition {j + 1}, which tears the group "
                f"of vertex {torn[0]}: pass the finest partition first"
            )
    built: tuple[Ints, Ints] = tree_arrays(labels)
    return built


def by_first_vertex(group: Any) -> Ints:
    """Number groups 0, 1, ... in the order of their first vertices.

    Example:
        >>> by_first_vertex(["b", "a", "b"])
        array([0, 1, 0])
    """
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    rank: Ints = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]


def newick(parent: Ints, level: Ints, names: Sequence[Any]) -> str:
    """Return a tree in Newick format, see ``CodingTree.to_newick``."""
    n = len(names)
    root = level.size - 1
    above = parent.tolist()
    content: list[list[str]] = [[] for _ in range(level.size)]
    for node in range(root):  # children come before parents
        label = quoted(str(names[node])) if node < n else ""
        below = content[node]
        # A node with one child adds nothing but its length.
        if len(below) == 1:
            text, _, length = below[0].rpartition(":")
            content[above[node]].append(f"{text}:{int(length) + 1}")
        else:
            inner = f"({','.join(below)})" if below else label
            content[above[node]].append(f"{inner}:1")
        content[node] = []
    return f"({','.join(content[root])});"


def quoted(label: str) -> str:
    """Return a label as Newick has it, in quotes where it needs them.

    Example:
        >>> quoted("Beak"), quoted("Mr. Hi's")
        ('Beak', "'Mr. Hi''s'")
    """
    if label and not _SPECIAL & set(label):
        return label
    return "'" + label.replace("'", "''") + "'"
