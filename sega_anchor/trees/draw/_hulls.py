"""hull: the outline of a group of vertices that leaves all others outside."""

from typing import Any

import numpy as np
from contourpy import FillType, contour_generator
from matplotlib.path import Path
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import ConvexHull, KDTree
from scipy.spatial.distance import cdist

from ._groups import Floats

_ANGLE = np.linspace(0, 2 * np.pi, 32, endpoint=False)
_CIRCLE = np.stack([np.cos(_ANGLE), np.sin(_ANGLE)], axis=1)
_CLEAR = 0.44  # around vertices of other groups; the nearest one is about 0.8 away
_STEP = 0.1  # of the grid on which an outline is found, and of the points along links


def hull(inside: Floats, outside: Floats, reach: float) -> Path:
    """Return the outline of some vertices, at a distance of ``reach``.

    It is convex where that leaves all other vertices outside, if need be closer to its
    own. Elsewhere it is drawn around the vertices and the shortest links that join them
    all, and passes by the others at a distance.

    Args:
        inside: ``(m, 2)``, the vertices of the group.
        outside: ``(n, 2)``, all others.
        reach: distance from the vertices to the outline.

    Example:
        >>> corners = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0]])
        >>> centre = np.array([[2.0, 2.0]])
        >>> hull(corners, centre + 9, 0.6).contains_points(centre)
        array([ True])
        >>> hull(corners, centre, 0.6).contains_points(centre)
        array([False])
    """
    for tight in (reach, _CLEAR):
        around = (inside[:, None] + tight * _CIRCLE).reshape(-1, 2)
        convex = ConvexHull(around)
        ahead = np.column_stack([outside, np.ones(len(outside))])
        if (convex.equations @ ahead.T > 0).any(axis=0).all():
            return Path(around[np.append(convex.vertices, convex.vertices[0])])
    return _winding(inside, outside, reach)


def _winding(inside: Floats, outside: Floats, reach: float) -> Path:
    low, high = inside.min(axis=0) - reach, inside.max(axis=0) + reach
    across = np.arange(low[0] - _STEP, high[0] + 2 * _STEP, _STEP)
    up = np.arange(low[1] - _STEP, high[1] + 2 * _STEP, _STEP)
    grid = np.stack(np.meshgrid(across, up), axis=-1)
    far = KDTree(_links(inside)).query(grid)[0] - reach
    near = _CLEAR - KDTree(outside).query(grid)[0]
    lines: Any = contour_generator(
        across, up, np.maximum(far, near), fill_type=FillType.OuterCode
    )
    points, codes = lines.filled(-np.inf, 0.0)
    return Path(np.concatenate(points), np.concatenate(codes))


def _links(vertices: Floats) -> Floats:
    """Return points along the links of a minimum spanning tree, ends included."""
    links = minimum_spanning_tree(cdist(vertices, vertices)).tocoo()
    part = np.linspace(0, 1, 1 + int(np.ceil(links.data.max() / _STEP)))[:, None, None]
    start, end = vertices[links.row], vertices[links.col]
    points: Floats = ((1 - part) * start + part * end).reshape(-1, 2)
    return points
