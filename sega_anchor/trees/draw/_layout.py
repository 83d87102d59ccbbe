"""Where the vertices of a graph stand, so that the groups of its tree show."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from ._groups import Floats, Groups, Ints

_LEAST, _MORE = 0.6, 0.4
_CLOSEST = 0.8


def place(groups: Groups, edges: Ints, seed: int = 0) -> Floats:
    r"""Return the places of the vertices, by stress majorisation.

    .. math::
        \sum_{i<j} (\|x_i - x_j\| - d_{ij})^2 / d_{ij}^2 \to \min, \qquad
        d_{ij} = \max(path_{ij}, 0.6 \sqrt{m_{ij}}) + 0.4 \sqrt{m_{ij}} [divided]

    with :math:`m_{ij}` the size of the smallest group that holds both, and path the
    shortest one when an edge is :math:`m^{1/4}` long. A disc of :math:`m` vertices is
    about :math:`\sqrt{m}` wide, so the tree keeps groups apart where the graph alone
    would not. Components are laid out one by one and set in rows.

    Args:
        groups: the groups of the coding tree.
        edges: ``(2, num_edges)``, each edge once, no self-loops.
        seed: of the directions in which equal vertices part.

    Returns:
        ``(n, 2)``, in units of the usual distance to the nearest vertex.

    Source: Gansner, Koren, North, "Graph drawing by stress majorization", 2004.
    """
    n = groups.rows.shape[1]
    length = groups.size[groups.common(edges)] ** 0.25
    graph = coo_array((length, edges), shape=(n, n)).tocsr()
    _, part = connected_components(graph, directed=False)
    order = np.argsort(part, kind="stable")
    pieces = np.split(order, np.flatnonzero(np.diff(part[order])) + 1)
    rng = np.random.default_rng(seed)
    xy = np.zeros((n, 2))
    for piece in pieces:
        if len(piece) > 1:
            path = shortest_path(graph[piece][:, piece], directed=False)
            apart = _apart(groups, piece, path)
            xy[piece] = _upright(_part_close_ones(_stress(apart, rng), rng))
    _set_in_rows(xy, sorted(pieces, key=len, reverse=True))
    return xy


def _apart(groups: Groups, piece: Ints, path: Floats) -> Floats:
    """Return how far apart the vertices of a component should be."""
    reach = groups.size**0.5
    least, more = np.empty_like(path), np.empty_like(path)
    for row in groups.rows[::-1, piece]:
        together = row[:, None] == row
        np.copyto(least, _LEAST * reach[row], where=together)
        np.copyto(more, _MORE * (reach * groups.divided)[row], where=together)
    return np.maximum(path, least) + more


def _stress(distance: Floats, rng: np.random.Generator) -> Floats:
    """Return places, ``(n, 2)``, whose distances are near the given ones."""
    n = len(distance)
    np.fill_diagonal(distance, np.inf)
    pull = 1 / distance
    weight = pull**2
    laplacian = np.diag(weight.sum(axis=1)) - weight
    factor = cho_factor(laplacian + 1 / n, overwrite_a=True, check_finite=False)
    np.fill_diagonal(distance, 0)
    xy = _scaling(distance, rng)
    for _ in range(int(np.clip(1e8 / n**2, 20, 300))):
        apart = cdist(xy, xy)
        np.divide(pull, apart, out=apart, where=apart > 1e-9)
        step = apart.sum(axis=1)[:, None] * xy - apart @ xy
        xy = cho_solve(factor, step, check_finite=False)
    return xy


def _scaling(distance: Floats, rng: np.random.Generator) -> Floats:
    """Return the start: classical scaling, jittered so that equal vertices part."""
    square = distance**2
    mean = square.mean(axis=0)
    gram = (mean[:, None] + mean - square - mean.mean()) / 2
    axes = rng.standard_normal((len(gram), 2))
    for _ in range(30):
        axes, _ = np.linalg.qr(gram @ axes)
    spread = gram @ axes
    spread /= np.sqrt(np.linalg.norm(spread, axis=0)) + 1e-9
    jitter = 0.1 * distance.mean() * rng.standard_normal(axes.shape)
    start: Floats = spread + jitter
    return start


def _part_close_ones(xy: Floats, rng: np.random.Generator) -> Floats:
    """Scale so that nearest vertices are usually 1 apart; push the closest apart."""
    nearest = KDTree(xy).query(xy, k=2)[0][:, 1]
    xy = xy / max(float(np.median(nearest)), 1e-9)
    for _ in range(50):
        pairs = KDTree(xy).query_pairs(_CLOSEST, output_type="ndarray").T
        if not pairs.size:
            break
        gap = xy[pairs[0]] - xy[pairs[1]]
        gap += 1e-6 * rng.standard_normal(gap.shape)
        far = np.linalg.norm(gap, axis=1, keepdims=True)
        push = gap / far * np.maximum(_CLOSEST - far, 0) / 3
        np.add.at(xy, pairs[0], push)
        np.subtract.at(xy, pairs[1], push)
    return xy


def _upright(xy: Floats) -> Floats:
    """Turn the long axis level, the first vertex to the left and to the top."""
    xy = xy - xy.mean(axis=0)
    turned: Floats = xy @ np.linalg.svd(xy, full_matrices=False)[2].T
    turned[:, 0] *= -1 if turned[0, 0] > 0 else 1
    turned[:, 1] *= -1 if turned[0, 1] < 0 else 1
    return turned


def _set_in_rows(xy: Floats, pieces: list[Ints]) -> None:
    """Move components, largest first, beside and below each other."""
    boxes = [np.ptp(xy[piece], axis=0) + 2 for piece in pieces]
    area = sum(float(box.prod()) for box in boxes)
    width = max(boxes[0][0], 1.2 * area**0.5)
    x = y = deep = 0.0
    for piece, box in zip(pieces, boxes, strict=True):
        if x and x + box[0] > width:
            x, y, deep = 0.0, y - deep, 0.0
        xy[piece] += np.array([x, y]) - [xy[piece, 0].min(), xy[piece, 1].max()]
        x, deep = x + box[0], max(deep, box[1])
