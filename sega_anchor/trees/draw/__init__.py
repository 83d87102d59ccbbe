"""draw: a picture of a graph, coloured by its coding tree, and of the tree itself."""

import importlib.util
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ...utils.files import check_writable, write_atomically
from ..build import read_csr
from ..coding_tree import CodingTree
from ._groups import Groups, Ints
from ._layout import place
from ._palette import tree_colours

#: Above this number of vertices, groups are drawn instead.
MOST_VERTICES = 2000
_METADATA = {
    ".pdf": {"CreationDate": None},
    ".png": {"Software": None},
    ".svg": {"Date": None},
}


def draw(
    tree: CodingTree,
    edge_index: Tensor,
    path: str | Path,
    *,
    names: Sequence[str] | None = None,
    seed: int = 0,
) -> None:
    """Draw the graph, coloured by the groups of the tree, beside or above the tree.

    Groups divide the hue range of their parent group; a vertex whose smallest group is
    the whole graph is grey. An edge has the colour of the smallest group that holds
    both ends. Groups of the first two splits are shaded unless the shade would cover
    another vertex. The leaves of the tree follow the horizontal order of the groups in
    the graph, and unary nodes are drawn as part of a branch. The picture fills the page
    width of a two-column paper; names that do not fit are left out. In place of more
    than 2000 vertices the smallest groups are drawn.

    Args:
        tree: the coding tree.
        edge_index: LongTensor ``(2, num_edges)`` of the graph.
        path: a .pdf, .svg or .png file (300 dpi) in an existing folder. It is written
            atomically, and the same input gives the same bytes.
        names: name of each vertex, cut to 12 characters; default its number.
        seed: seed of the layout; try another one if edges are tangled.

    Raises:
        ValueError: before any work, if matplotlib is missing (install
            ``sega-anchor[plot]``), the file cannot be written, the tree or the names
            do not fit the graph, or more than 2000 groups would have to be drawn.

    Example:
        >>> import tempfile
        >>> from sega_anchor import build_coding_tree
        >>> triangles = torch.tensor([[0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3]])
        >>> tree = build_coding_tree(triangles, height=2, method="paper")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     draw(tree, triangles, Path(folder, "tree.svg"), names="abcdef")
        ...     [file.name for file in Path(folder).iterdir()]
        ['tree.svg']
    """
    path = Path(path)
    check_drawing(path)
    edges = _edges(tree, edge_index)
    words = _words(tree, names)
    lowest = _lowest_level(tree)
    if lowest:
        tree, edges = _collapse(tree, edges, lowest)
        words = []
    from ._panels import paint

    groups = Groups.of(tree)
    xy = place(groups, edges, seed)
    columns = groups.columns(xy[:, 0])
    colours = tree_colours(groups, columns)
    content = io.BytesIO()
    with paint(groups, edges, xy, columns, colours, words, lowest) as figure:
        ending = path.suffix.lower()
        metadata = _METADATA[ending]
        figure.savefig(content, format=ending[1:], dpi=300, metadata=metadata)
    write_atomically(path, content.getvalue())


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


def _edges(tree: CodingTree, edge_index: Tensor) -> Ints:
    """Return each edge of the simple graph once, ``(2, num_edges)``."""
    n = tree.num_vertices
    if edge_index.numel() and int(edge_index.max()) >= n:
        raise ValueError(
            f"the tree has {n} leaves, but edge_index names vertex "
            f"{int(edge_index.max())}: build the tree from this graph"
        )
    indptr, column, _ = read_csr(edge_index, n, None)
    row = np.repeat(np.arange(n), np.diff(indptr))
    return np.stack([row, column])[:, row < column]


def _words(tree: CodingTree, names: Sequence[str] | None) -> list[str]:
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
