"""Picture and its two panels, the graph and the tree."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.collections import (
    EllipseCollection,
    LineCollection,
    PathCollection,
)
from matplotlib.figure import Figure
from matplotlib.path import Path

from ..coding_tree import CodingTree
from ._groups import Floats, Groups, Ints
from ._hulls import hull
from ._layout import place
from ._palette import tree_colours

_STYLE = {"font.size": 7, "pdf.fonttype": 42, "svg.hashsalt": "sega-anchor"}
#: matplotlib has one global style for all threads.
_STYLE_LOCK = threading.Lock()
WIDE, _SIDE, _TREE = 6.75, 2.75, 1.9  # inches: the page, the graph, the tree below it
_ROOT = (0.25, 0.25, 0.25)
_DIAMETER = 0.64  # of a vertex; the nearest one is about 1 away
_TOP = 4.0  # inches: the graph at most, where it is above the tree
_FONT, _LEAST_FONT, _LETTER = 6.5, 4.0, 0.63  # points, and a letter's width per point
_GAP = 0.6  # points between upright names
_LEAST_PITCH = _LEAST_FONT + _GAP


@dataclass(frozen=True, eq=False)
class Picture:
    """What is drawn: the groups of a tree, where they are, colours and names.

    Args:
        groups: the groups of the tree.
        edges: ``(2, num_edges)``, each edge once.
        xy: ``(n, 2)``, positions of the vertices.
        columns: ``(num_tree_nodes,)``, horizontal positions of the tree's nodes.
        colours: ``(num_tree_nodes, 3)``.
        words: name of each vertex, or nothing.
        lowest: the level of the tree that the vertices stand for.
    """

    groups: Groups
    edges: Ints
    xy: Floats
    columns: Floats
    colours: Floats
    words: Sequence[str]
    lowest: int = 0

    @classmethod
    def of(
        cls, tree: CodingTree, edges: Ints, words: Sequence[str], lowest: int, seed: int
    ) -> Picture:
        """Return the picture of a tree over the edges of its graph."""
        groups = Groups.of(tree)
        xy = place(groups, edges, seed)
        columns = groups.columns(xy[:, 0])
        colours = tree_colours(groups, columns)
        return cls(groups, edges, xy, columns, colours, words, lowest)


@contextmanager
def own_style() -> Iterator[None]:
    """Draw in a style of its own, whatever the user has set."""
    with _STYLE_LOCK, style.context(["default", _STYLE]):
        yield


def page(picture: Picture, named: bool) -> tuple[Axes, Axes]:
    """Return axes for the graph and the tree on a page of their own.

    Args:
        picture: what is drawn there.
        named: whether the tree gets the room that names below its leaves need.
    """
    wide, high = np.maximum(np.ptp(picture.xy, axis=0) + 2, 5)
    ratio = float(high / wide)
    beside = WIDE - _SIDE - 0.4
    cramped = named and 72 * beside / _span(picture.columns) < _LEAST_PITCH
    if ratio < 0.4 or cramped:  # a long graph goes above its tree
        top = min(ratio * WIDE, _TOP)
        figure = Figure(figsize=(WIDE, top + _TREE))
        graph = axes_at(figure, 0, _TREE, WIDE, top)
        return graph, axes_at(figure, 0.3, 0.2, WIDE - 0.35, _TREE - 0.3)
    tall = float(np.clip(_SIDE * ratio, 2.0, 2.9))
    figure = Figure(figsize=(WIDE, tall))
    graph = axes_at(figure, 0, 0, _SIDE, tall)
    return graph, axes_at(figure, _SIDE + 0.35, 0.2, beside, tall - 0.25)


def _span(columns: Floats) -> float:
    return float(columns.max()) + 2


def axes_at(figure: Figure, *inches: float) -> Axes:
    """Return new axes: left, bottom, width and height."""
    wide, high = figure.get_size_inches()
    return figure.add_axes(tuple(np.array(inches) / [wide, high, wide, high]))


def paint_graph(axes: Axes, picture: Picture) -> bool:
    """Paint the graph; return whether names fit into the vertices."""
    groups, xy, colours = picture.groups, picture.xy, picture.colours
    unit = frame(axes, xy)
    axes.add_collection(_hulls(groups, xy, colours))
    edges = picture.edges
    axes.add_collection(lines(groups, groups.common(edges), edges, xy, colours))
    axes.add_collection(discs(xy, colours[: len(xy)], axes, unit))
    return _name_vertices(axes, picture, unit)


def frame(axes: Axes, xy: Floats) -> float:
    """Fit the axes around a graph; return the points of a unit."""
    low, high = xy.min(axis=0), xy.max(axis=0)
    half = np.maximum((high - low) / 2 + 1, 2.5)
    (left, right), (bottom, top) = ((low + high) / 2 + [[-1], [1]] * half).T
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    axes.set_axis_off()
    return _points(axes)


def discs(xy: Floats, colours: Floats, axes: Axes, unit: float) -> EllipseCollection:
    """Return the vertices."""
    n = len(xy)
    size = np.full(n, _DIAMETER)
    vertices = EllipseCollection(size, size, np.zeros(n), units="xy", offsets=xy)
    vertices.set(offset_transform=axes.transData, facecolors=colours, zorder=2)
    vertices.set(edgecolors="white", linewidths=min(0.4, 0.05 * unit))
    return vertices


def _name_vertices(axes: Axes, picture: Picture, unit: float) -> bool:
    """Write names into the vertices, if they can be read there."""
    longest = max(map(len, picture.words), default=0)
    font = min(_FONT, _DIAMETER * unit / (_LETTER * longest + 0.3))
    if font < _LEAST_FONT:
        return False
    dark = picture.colours[: len(picture.xy)] @ [0.299, 0.587, 0.114] < 0.45
    for (x, y), word, on_dark in zip(picture.xy, picture.words, dark, strict=False):
        text = axes.text(x, y, word, fontsize=font, parse_math=False, ha="center")
        text.set(va="center_baseline", color="white" if on_dark else "black")
    return True


def _hulls(groups: Groups, xy: Floats, colours: Floats) -> PathCollection:
    """Return shaded hulls of the groups of the first two splits, larger ones below."""
    size, depth = groups.size, groups.depth
    split = np.append(depth[:-1] > depth[groups.above[:-1]], False)
    nodes = np.flatnonzero(split & (size > 1) & (depth <= 2))[::-1]
    return shade(groups, nodes, xy, colours, np.where(depth == 1, 0.85, 0.6)[nodes])


def shade(
    groups: Groups, nodes: Ints, xy: Floats, colours: Floats, reach: Floats
) -> PathCollection:
    """Return shaded hulls of the groups of some nodes of the tree."""
    shapes = []
    for node, far in zip(nodes, reach, strict=True):
        inside = (groups.rows == node).any(axis=0)
        shapes.append(hull(xy[inside], xy[~inside], far))
    soft = PathCollection(shapes, linewidths=0.5, zorder=0)
    soft.set_facecolor([(*colours[node], 0.15) for node in nodes])
    soft.set_edgecolor([(*colours[node], 0.6) for node in nodes])
    return soft


def lines(
    groups: Groups, common: Ints, edges: Ints, xy: Floats, colours: Floats
) -> LineCollection:
    """Return the edges, deeper groups on top; many edges are drawn paler.

    Args:
        groups: the groups of the tree.
        common: ``(num_edges,)``, whose colour each edge has; the root's is grey.
        edges: ``(2, num_edges)``.
        xy: ``(n, 2)``, positions of the vertices.
        colours: ``(num_tree_nodes, 3)``.
    """
    order = np.argsort(groups.depth[common], kind="stable")
    common = common[order]
    between = groups.depth[common] == 0
    pale = min(edges.shape[1] / 4000, 0.5)
    shade = np.where(between[:, None], 0.75, 0.9 * colours[common])
    width = np.where(between, 0.4, 0.7) * np.clip(7.5 / len(xy) ** 0.5, 0.35, 1)
    segments = LineCollection(list(xy[edges.T[order]]), linewidths=width, zorder=1)
    segments.set_color(shade * (1 - pale) + pale)
    return segments


def paint_tree(axes: Axes, picture: Picture) -> bool:
    """Paint the tree; return whether names fit below its leaves."""
    groups, columns, colours = picture.groups, picture.columns, picture.colours
    height, n = groups.rows.shape[0] - 1, groups.rows.shape[1]
    lowest = picture.lowest
    left, right = -1.0, _span(columns) - 1
    axes.set(xlim=(left, right), ylim=(-0.06 * height, 1.05 * height), ylabel="level")
    axes.set_yticks(range(height + 1), [str(lowest + i) for i in range(height + 1)])
    axes.set_xticks([])
    axes.tick_params(length=0, pad=1.5)
    axes.spines[:].set_visible(False)
    axes.hlines(range(height + 1), left, right, color="0.9", linewidth=0.4, zorder=0)
    unit = _points(axes)
    level = np.zeros(len(columns))
    level[groups.rows] = np.arange(height + 1)[:, None]
    branches = PathCollection(_branches(groups, columns, level), facecolors="none")
    branches.set(edgecolors=colours[:-1], linewidths=np.clip(0.3 * unit, 0.25, 0.9))
    axes.add_collection(branches)
    shown = np.bincount(groups.above[:-1], minlength=len(columns)) != 1
    shown[-1] = True
    wide = np.full(len(columns), np.clip(1.6 * unit, 2.0, 5.0))
    wide[:n] = np.clip(0.8 * unit, 0.8, 3.5)
    fill = np.vstack([colours[:-1], _ROOT])[shown]
    axes.scatter(columns[shown], level[shown], wide[shown] ** 2, fill, lw=0, zorder=2)
    return _name_leaves(axes, columns[:n], picture.words, unit)


def _branches(groups: Groups, columns: Floats, level: Floats) -> list[Path]:
    """Return a curve from each node but the root up to its parent."""
    ends = zip(columns[:-1], columns[groups.above[:-1]], level[:-1], strict=True)
    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    return [
        Path([(a, y), (a, y + 0.5), (b, y + 0.5), (b, y + 1)], codes)
        for a, b, y in ends
    ]


def _name_leaves(
    axes: Axes, columns: Floats, words: Sequence[str], unit: float
) -> bool:
    """Write names below the leaves: level, else upright, if they can be read there."""
    longest = max(map(len, words), default=0)
    if not longest:
        return False
    font = (unit - 1) / (_LETTER * longest)
    upright = font < _LEAST_FONT
    font = min(_FONT, unit - _GAP if upright else font)
    if font < _LEAST_FONT:
        return False
    axes.set_xticks(columns, words, fontsize=font, parse_math=False)
    if upright:
        axes.tick_params(axis="x", rotation=90)
        box = axes.get_position()
        more = (longest * _LETTER * font / 72 - 0.1) / _inches(axes)[1]
        if more > 0 and axes.get_subplotspec() is None:  # not placed by the user
            axes.set_position((box.x0, box.y0 + more, box.width, box.height - more))
    return True


def _points(axes: Axes) -> float:
    """Return the length of one unit of the horizontal axis in points."""
    axes.apply_aspect()
    inches = axes.get_position().width * _inches(axes)[0]
    return float(72 * inches / np.ptp(axes.get_xlim()))


def _inches(axes: Axes) -> Floats:
    """Return the width and height of the whole figure."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure.get_size_inches()
