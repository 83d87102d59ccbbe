"""tree_colours: colours for a hierarchy; subgroups divide the hue range of a group."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ._groups import Floats, Groups

GREY = 0.62
_TO_LMS = np.array(
    [
        [0.3963377774, 0.2158037573],
        [-0.1055613458, -0.0638541728],
        [-0.0894841775, -1.2914855480],
    ]
)
_TO_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


def tree_colours(groups: Groups, columns: Floats) -> Floats:
    """Return one colour for each tree node, ``(num_tree_nodes, 3)``, red green blue.

    The children of a node divide its hue range, so that related groups have similar
    hues; siblings also differ in lightness, which is visible in print and to the colour
    blind. A single vertex has the colour of the smallest group that holds it, grey if
    that is the whole graph.

    Args:
        groups: the groups of the coding tree.
        columns: ``(num_tree_nodes,)``; siblings take hues in this order.

    Source: after Tennekes and de Jonge, "Tree Colors: color schemes for
    tree-structured data", 2014.
    """
    above, size = groups.above, groups.size
    below = defaultdict(list)
    for node in np.argsort(columns, kind="stable").tolist():
        if size[node] > 1:
            below[int(above[node])].append(node)
    colours = np.full((len(above), 3), GREY)
    ranges = {len(above) - 1: _Range()}
    for node in range(len(above) - 1, -1, -1):
        if size[node] == 1:
            colours[node] = colours[above[node]]
            continue
        own, kids = ranges[node], below[node]
        if own.depth:
            colours[node] = own.colour(vivid=not groups.divided[node])
        same = len(kids) == 1 and size[kids[0]] == size[node]
        ranges.update(zip(kids, [own] if same else own.split(len(kids)), strict=True))
    return colours


def oklch(lightness: float, chroma: float, hue: float) -> Floats:
    """Return the red, green, blue of an OKLCh colour, clipped to sRGB.

    Source: Ottosson, "A perceptual color space for image processing", 2020.

    Example:
        >>> oklch(1.0, 0.0, 0.0).round(3).tolist()
        [1.0, 1.0, 1.0]
    """
    angle = np.radians(hue)
    cones = lightness + _TO_LMS @ (chroma * np.array([np.cos(angle), np.sin(angle)]))
    linear = (_TO_RGB @ cones**3).clip(0, 1)
    bright = 1.055 * linear ** (1 / 2.4) - 0.055
    colour: Floats = np.where(linear <= 0.0031308, 12.92 * linear, bright)
    return colour


@dataclass(frozen=True)
class _Range:
    """The hue range of a group, in degrees, and its shift in lightness."""

    hue: float = 250.0  # the first group is blue; a second of two is orange
    width: float = 360.0
    shift: float = 0.0
    depth: int = 0

    def split(self, count: int) -> list[_Range]:
        """Return equal parts with gaps between them, alternately darker and lighter."""
        if not count:
            return []
        share = self.width / count
        first = self.hue - (share * (count - 1) / 2 if self.depth else 0)
        width, step = min(0.8 * share, 60.0), 0.08 if self.depth else 0.04
        shifts = [self.shift - step, self.shift + step]
        return [
            _Range(first + i * share, width, shifts[i % 2], self.depth + 1)
            for i in range(count)
        ]

    def colour(self, vivid: bool) -> Floats:
        """Return red, green, blue; greens are lighter than reds and blues."""
        lightness = 0.68 + 0.08 * np.cos(np.radians(self.hue - 130)) + self.shift
        return oklch(min(lightness, 0.86), 0.14 if vivid else 0.09, self.hue)
