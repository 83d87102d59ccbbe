"""A picture of a graph beside its coding tree (needs the ``plot`` extra)."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from typing import Any

import networkx
import numpy as np
from torch import Tensor

from ..tree import CodingTree


def draw(tree: CodingTree, edge_index: Tensor, path: str | Path) -> None:
    """Draw the graph, coloured by the tree's groups, beside the tree.

    A vertex and everything above it up to the root's child share a colour. Unary
    chains, which only lengthen a branch, are drawn as the branch they are.

    Args:
        tree: the coding tree.
        edge_index: LongTensor ``(2, num_edges)`` of the graph.
        path: image file; its ending (.png, .pdf, .svg) decides the format.

    Raises:
        ValueError: if matplotlib is missing; install ``sega-anchor[plot]``.
    """
    check_drawing()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    leaves = _leaf_order(tree)
    colours = _colours(tree, leaves)
    width = max(5.0, min(0.22 * len(leaves), 15.0))
    figure = Figure(figsize=(5.0 + width, 5.0), layout="constrained")
    FigureCanvasAgg(figure)
    graph_axes, tree_axes = figure.subplots(1, 2, width_ratios=[5.0, width])
    _draw_graph(graph_axes, tree, edge_index, colours)
    _draw_tree(tree_axes, tree, leaves, colours)
    figure.savefig(path, dpi=150)


def check_drawing() -> None:
    """Raise ValueError if matplotlib is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ValueError("drawing needs matplotlib: pip install 'sega-anchor[plot]'")


def _leaf_order(tree: CodingTree) -> list[int]:
    """Return the vertices from left to right, so that no branches cross."""
    ancestors = tree.ancestors().numpy()
    return [int(v) for v in np.lexsort(ancestors)]


def _colours(tree: CodingTree, leaves: list[int]) -> list[Any]:
    """Return one colour per tree node: that of its ancestor below the root.

    A vertex that hangs below the root alone is grey, so that groups stand out.
    """
    from matplotlib import colormaps

    top = tree.ancestors()[-2].tolist()
    size = Counter(top)
    order = [node for node in dict.fromkeys(top[v] for v in leaves) if size[node] > 1]
    palette = colormaps["tab20" if len(order) > 10 else "tab10"]
    shade = {node: palette(i % palette.N) for i, node in enumerate(order)}
    colours: list[Any] = [(0.2, 0.2, 0.2, 1.0)] * tree.parent.numel()
    for column in tree.ancestors()[:-1].t().tolist():
        for node in column:
            colours[node] = shade.get(column[-1], (0.6, 0.6, 0.6, 1.0))
    return colours


def _draw_graph(
    axes: Any, tree: CodingTree, edge_index: Tensor, colours: list[Any]
) -> None:
    n = tree.num_vertices
    graph = networkx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from((u, v) for u, v in edge_index.t().tolist() if u != v)
    place = networkx.spring_layout(graph, seed=0)
    size = float(np.clip(6000 / n, 15, 300))
    networkx.draw_networkx_edges(graph, place, ax=axes, edge_color="0.7")
    networkx.draw_networkx_nodes(
        graph, place, ax=axes, node_size=size, node_color=colours[:n]
    )
    if n <= 60:
        networkx.draw_networkx_labels(graph, place, ax=axes, font_size=7)
    axes.set_axis_off()


def _draw_tree(
    axes: Any, tree: CodingTree, leaves: list[int], colours: list[Any]
) -> None:
    parent, level = tree.parent.tolist(), tree.level.tolist()
    x = np.zeros(len(parent))
    x[leaves] = np.arange(len(leaves))
    children: dict[int, list[int]] = {}
    for node, above in enumerate(parent[:-1]):
        children.setdefault(above, []).append(node)
    for node in range(tree.num_vertices, len(parent)):
        below = x[children[node]]
        x[node] = (below.min() + below.max()) / 2
    for node, above in enumerate(parent[:-1]):
        axes.plot(
            [x[node], x[node], x[above]],
            [level[node], level[above], level[above]],
            color=colours[node],
            linewidth=1.2 if len(leaves) <= 120 else 0.4,
        )
    real = [n for n in range(len(parent)) if len(children.get(n, [])) != 1]
    axes.scatter(
        x[real],
        [level[n] for n in real],
        s=14 if len(leaves) <= 120 else 2,
        c=[colours[n] for n in real],
        zorder=3,
    )
    if len(leaves) <= 120:
        axes.set_xticks(range(len(leaves)), [str(v) for v in leaves], fontsize=7)
        axes.tick_params(axis="x", length=0, rotation=90 if len(leaves) > 40 else 0)
    else:
        axes.set_xticks([])
    axes.set_yticks(range(tree.height + 1))
    axes.set_ylabel("level")
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
