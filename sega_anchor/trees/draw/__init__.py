"""Pictures of a graph, coloured by its coding tree: beside it, or level by level."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ...utils.checks import warn_caller
from ...utils.files import check_writable, write_atomically
from .._as_edges import as_edges
from ..build import read_csr
from ..coding_tree import CodingTree
from ._groups import Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .._as_edges import GraphLike
    from ._panels import Picture

#: Above this number of vertices, groups are drawn instead.
MOST_VERTICES = 2000
_METADATA = {
    ".pdf": {"CreationDate": None},
    ".png": {"Software": None},
    ".svg": {"Date": None},
}


def draw(
    tree: CodingTree,
    graph: GraphLike,
    path: str | Path | None = None,
    *,
    names: Sequence[object] | None = None,
    ax: Axes | Sequence[Axes] | None = None,
    seed: int = 0,
) -> Figure:
    """Draw the graph, coloured by the groups of the tree, beside or above the tree.

    Groups divide the hue range of their parent group; a vertex whose smallest group is
    the whole graph is grey. An edge has the colour of the smallest group that holds
    both ends. Groups of the first two splits are shaded. The leaves of the tree follow
    the horizontal order of the groups in the graph, and unary nodes are drawn as part
    of a branch. The picture fills the page width of a two-column paper. In place of
    more than 2000 vertices the smallest groups are drawn.

    Args:
        tree: the coding tree.
        graph: its graph: an edge_index ``(2, num_edges)``, a networkx graph or a scipy
            sparse matrix.
        path: a .pdf, .svg or .png file (300 dpi) in an existing folder. It is written
            atomically, and the same input gives the same bytes. By default none is.
        names: name of each vertex, cut to 12 characters; default the nodes of a
            networkx graph, else numbers, which are left out where they do not fit.
        ax: where to draw in a figure of your own: axes for the graph alone, or two, for
            the graph and the tree.
        seed: seed of the layout; try another one if edges are tangled.

    Returns:
        The figure, to look at, to change or to save.

    Raises:
        ValueError: before any work, if matplotlib is missing (install
            ``sega-anchor[plot]``), the file cannot be written, the tree or the names
            do not fit the graph, ``ax`` is neither axes nor two of them, or more than
            2000 groups would have to be drawn.

    Warns:
        UserWarning: if names find no room, neither in vertices nor below leaves.

    Example:
        >>> import networkx
        >>> from sega_anchor import build_coding_tree
        >>> graph = networkx.Graph(["ab", "bc", "ca", "de", "ef", "fd", "cd"])
        >>> figure = draw(build_coding_tree(graph, height=2, method="paper"), graph)
        >>> [label.get_text() for label in figure.axes[1].get_xticklabels()]
        ['a', 'b', 'c', 'd', 'e', 'f']
    """
    check_drawing(path)
    from ._panels import own_style, page, paint_graph, paint_tree

    axes = check_axes(ax, (1, 2))
    picture, named = read_picture(tree, graph, names, seed)
    with own_style():
        axes = axes or page(picture, named)
        shown = paint_graph(axes[0], picture)
        if len(axes) > 1:
            shown |= paint_tree(axes[1], picture)
        figure = finish(axes[0], path)
    if named and not shown:
        warn_caller(
            f"the names of {tree.num_vertices} vertices find no room and are left out: "
            "draw a part of the graph, or on larger axes with ax="
        )
    return figure


def plot_levels(
    tree: CodingTree,
    graph: GraphLike,
    path: str | Path | None = None,
    *,
    ax: Axes | Sequence[Axes] | None = None,
    seed: int = 0,
) -> Figure:
    """Draw what each level of the tree groups: the graph once a level, coarsest first.

    Positions and colours are those of :func:`draw`. Every group of two vertices or more
    is shaded, and edges between groups are grey.

    Args:
        tree: the coding tree.
        graph: its graph, as for :func:`draw`.
        path: a .pdf, .svg or .png file, as for :func:`draw`.
        ax: axes of your own, one for each level between leaves and root.
        seed: seed of the layout.

    Returns:
        The figure.

    Raises:
        ValueError: as of :func:`draw`.

    Example:
        >>> import networkx
        >>> from sega_anchor import build_coding_tree
        >>> graph = networkx.Graph(["ab", "bc", "ca", "de", "ef", "fd", "cd"])
        >>> figure = plot_levels(build_coding_tree(graph, method="paper"), graph)
        >>> [axes.get_title() for axes in figure.axes]
        ['level 2: 2 groups', 'level 1: 4 groups']
    """
    check_drawing(path)
    from ._levels import level_page, levels_of, paint_level
    from ._panels import own_style

    picture, _ = read_picture(tree, graph, None, seed)
    levels = levels_of(picture)
    axes = check_axes(ax, (len(levels),))
    with own_style():
        axes = axes or level_page(picture, len(levels))
        for one, level in zip(axes, levels, strict=True):
            paint_level(one, picture, level)
        return finish(axes[0], path)


def read_picture(
    tree: CodingTree, graph: GraphLike, names: Sequence[object] | None, seed: int
) -> tuple[Picture, bool]:
    """Return what is drawn, and whether its vertices have names beside numbers."""
    from ._panels import Picture

    if names is None and hasattr(graph, "nodes"):
        names = list(graph)
    edges = _edges(tree, graph)
    words = _words(tree, names)
    lowest = _lowest_level(tree)
    if lowest:
        tree, edges = _collapse(tree, edges, lowest)
        words = []
    return Picture.of(tree, edges, words, lowest, seed), names is not None


def finish(axes: Axes, path: str | Path | None) -> Figure:
    """Return the figure of the axes, which is written if there is a path."""
    figure = figure_of(axes)
    if path is not None:
        content, ending = io.BytesIO(), Path(path).suffix.lower()
        metadata = _METADATA[ending]
        figure.savefig(content, format=ending[1:], dpi=300, metadata=metadata)
        write_atomically(Path(path), content.getvalue())
    return figure


def check_axes(ax: Any, counts: Collection[int]) -> Sequence[Axes]:
    """Return the given axes one by one, or none.

    Raises:
        ValueError: for something else, or another number of them.
    """
    from matplotlib.axes import Axes

    if ax is None:
        return []
    given = [ax] if isinstance(ax, Axes) else list(np.ravel(np.array(ax, object)))
    if not all(isinstance(one, Axes) for one in given) or len(given) not in counts:
        wanted = " or ".join(map(str, counts))
        raise ValueError(
            f"ax must be {wanted} axes of matplotlib, got {ax!r}: "
            "pass what plt.subplots() returns beside the figure"
        )
    figure_of(given[0]).draw_without_rendering()  # a layout places axes only then
    return given


def figure_of(axes: Axes) -> Figure:
    """Return the whole figure that axes are part of."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def check_drawing(path: str | Path | None = None) -> None:
    """Raise ValueError if matplotlib is missing or the picture cannot go to ``path``.

    Example:
        >>> check_drawing("tree.jpg")
        Traceback (most recent call last):
        ...
        ValueError: a picture must end in .pdf, .png or .svg, got 'tree.jpg'
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise ValueError("drawing needs matplotlib: pip install 'sega-anchor[plot]'")
    if path is None:
        return
    path = Path(path)
    if path.suffix.lower() not in _METADATA:
        raise ValueError(f"a picture must end in .pdf, .png or .svg, got {str(path)!r}")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {str(path.parent)!r}: make it first")
    if path.is_dir():
        raise ValueError(f"{str(path)!r} is a folder: give the name of a file")
    check_writable(path.parent)


def _edges(tree: CodingTree, graph: GraphLike) -> Ints:
    """Return each edge of the simple graph once, ``(2, num_edges)``."""
    n = tree.num_vertices
    edge_index, given, _ = as_edges(graph, None, None)
    if given not in (n, None):
        raise ValueError(
            f"the tree has {n} leaves, but the graph {given} vertices: build the tree "
            "from this graph"
        )
    if edge_index.numel() and int(edge_index.max()) >= n:
        raise ValueError(
            f"the tree has {n} leaves, but edge_index names vertex "
            f"{int(edge_index.max())}: build the tree from this graph"
        )
    indptr, column, _ = read_csr(edge_index, n, None)
    row = np.repeat(np.arange(n), np.diff(indptr))
    return np.stack([row, column])[:, row < column]


def _words(tree: CodingTree, names: Sequence[object] | None) -> list[str]:
    if names is None:
        return [str(v) for v in range(tree.num_vertices)]
    if len(names) != tree.num_vertices:
        raise ValueError(
            f"names must hold one name for each of the {tree.num_vertices} vertices, "
            f"got {len(names)}"
        )
    words = [str(name) for name in names]
    return [word if len(word) <= 12 else word[:11] + "…" for word in words]


def _lowest_level(tree: CodingTree) -> int:
    """Return the lowest level that has few enough nodes to draw."""
    count = torch.bincount(tree.level)
    lowest = int((count <= MOST_VERTICES).nonzero()[0])
    if lowest == tree.height:
        raise ValueError(
            f"at most {MOST_VERTICES} vertices or groups can be drawn, but the tree "
            f"has {count.tolist()} nodes from level 0 up: draw a part of the graph"
        )
    return lowest


def _collapse(tree: CodingTree, edges: Ints, lowest: int) -> tuple[CodingTree, Ints]:
    """Return the tree above a level, and the edges between the groups at that level."""
    first = int((tree.level < lowest).sum())
    parent = tree.parent[first:] - first
    parent[-1] = -1
    ends = np.sort(tree.ancestors().numpy()[lowest][edges] - first, axis=0)
    ends = np.unique(ends[:, ends[0] < ends[1]], axis=1)
    return CodingTree(parent, tree.level[first:] - lowest), ends
