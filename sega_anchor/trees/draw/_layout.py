"""place: a layout of a graph that shows the groups of its tree."""

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
    r"""Return positions of the vertices, by stress majorisation.

    .. math::
        \sum_{i<j} (\|x_i - x_j\| - d_{ij})^2 / d_{ij}^2 \to \min, \qquad
        d_{ij} = \max(path_{ij}, 0.6 \sqrt{m_{ij}}) + 0.4 \sqrt{m_{ij}} [divided]

    with :math:`m_{ij}` the size of the smallest group that holds both vertices,
    :math:`path_{ij}` the shortest path between them where an edge has length
    :math:`m^{1/4}`, and :math:`[divided]` 1 if that group holds smaller groups. A disc
    of :math:`m` vertices is about :math:`\sqrt{m}` wide, so groups stay apart even
    where the graph alone would not separate them. Components are laid out one by one
    and arranged in rows.

    Args:
        groups: the groups of the coding tree.
        edges: ``(2, num_edges)``, each edge once, no self-loops.
        seed: seed of the jitter that separates equal vertices.

    Returns:
        ``(n, 2)``, in units of the median distance to the nearest vertex.

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
            wanted = _distances(groups, piece, path)
            xy[piece] = _rotate(_spread(_stress(wanted, rng), rng))
    _arrange(xy, sorted(pieces, key=len, reverse=True))
    return xy


def _distances(groups: Groups, piece: Ints, path: Floats) -> Floats:
    """Return the wanted distances between the vertices of a component."""
    reach = groups.size**0.5
    least, more = np.empty_like(path), np.empty_like(path)
    for row in groups.rows[::-1, piece]:
        together = row[:, None] == row
        np.copyto(least, _LEAST * reach[row], where=together)
        np.copyto(more, _MORE * (reach * groups.divided)[row], where=together)
    return np.maximum(path, least) + more


def _stress(distance: Floats, rng: np.random.Generator) -> Floats:
    """Return positions, ``(n, 2)``, whose distances approximate the given ones."""
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
    """Return start positions: classical scaling, with jitter for equal vertices."""
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


def _spread(xy: Floats, rng: np.random.Generator) -> Floats:
    """Scale the median nearest distance to 1, then push close vertices apart."""
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


def _rotate(xy: Floats) -> Floats:
    """Rotate the long axis to horizontal, with the first vertex at the top left."""
    xy = xy - xy.mean(axis=0)
    turned: Floats = xy @ np.linalg.svd(xy, full_matrices=False)[2].T
    turned[:, 0] *= -1 if turned[0, 0] > 0 else 1
    turned[:, 1] *= -1 if turned[0, 1] < 0 else 1
    return turned


def _arrange(xy: Floats, pieces: list[Ints]) -> None:
    """Arrange components in rows, largest first."""
    boxes = [np.ptp(xy[piece], axis=0) + 2 for piece in pieces]
    area = sum(float(box.prod()) for box in boxes)
    width = max(boxes[0][0], 1.2 * area**0.5)
    x = y = deep = 0.0
    for piece, box in zip(pieces, boxes, strict=True):
        if x and x + box[0] > width:
            x, y, deep = 0.0, y - deep, 0.0
        xy[piece] += np.array([x, y]) - [xy[piece, 0].min(), xy[piece, 1].max()]
        x, deep = x + box[0], max(deep, box[1])
