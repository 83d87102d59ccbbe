"""The panels of plot_levels: a graph with the groups of one level of its tree."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ._panels import WIDE, Picture, axes_at, discs, frame, lines, shade

_MOST = 3  # panels in a row
_TITLE = 0.2  # inches


def levels_of(picture: Picture) -> Sequence[int]:
    """Return the levels between leaves and root, coarsest first, or the root."""
    return range(max(len(picture.groups.rows) - 2, 1), 0, -1)


def level_page(picture: Picture, count: int) -> list[Axes]:
    """Return axes for some levels on a page of their own."""
    across, rows = min(count, _MOST), -(-count // _MOST)
    wide, high = np.maximum(np.ptp(picture.xy, axis=0) + 2, 5)
    side = WIDE / max(across, 2)
    tall = side * float(np.clip(high / wide, 0.3, 1.3))
    figure = Figure(figsize=(across * side, rows * (tall + _TITLE)))
    places = [divmod(i, across) for i in range(count)]
    return [
        axes_at(figure, x * side, (rows - 1 - y) * (tall + _TITLE), side, tall)
        for y, x in places
    ]


def paint_level(axes: Axes, picture: Picture, level: int) -> None:
    """Paint the graph with the groups of a level."""
    groups, xy, colours = picture.groups, picture.xy, picture.colours
    unit = frame(axes, xy)
    group = groups.rows[level]
    nodes = np.unique(group)
    start, end = group[picture.edges]
    common = np.where(start == end, start, len(groups.above) - 1)
    drawn = nodes[(groups.size[nodes] > 1) & (nodes < len(groups.above) - 1)]
    axes.add_collection(shade(groups, drawn, xy, colours, np.full(len(drawn), 0.6)))
    axes.add_collection(lines(groups, common, picture.edges, xy, colours))
    axes.add_collection(discs(xy, colours[group], axes, unit))
    plural = "group" if len(nodes) == 1 else "groups"
    title = f"level {picture.lowest + level}: {len(nodes)} {plural}"
    axes.set_title(title, fontsize=7, pad=3)
