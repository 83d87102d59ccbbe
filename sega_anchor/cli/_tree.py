"""``sega-anchor tree``: the coding tree of one graph, as a report, file and picture."""

import csv
import inspect
import io
import json
import warnings
from pathlib import Path
from typing import Any

import torch
from jsonargparse import ArgumentParser, Namespace

from ..trees.build import TreeMethod, build_coding_tree, check_build, read_csr
from ..trees.coding_tree import CodingTree
from ..trees.edge_list import read_edge_list
from ..trees.entropy import structural_entropy
from ..utils.files import check_writable, write_atomically
from ..utils.texts import escape

#: Of more vertices than this the groups are not printed.
_LISTED = 100


def add_arguments(parser: ArgumentParser) -> None:
    """Give the parser the arguments of ``sega-anchor tree``."""
    default = inspect.signature(build_coding_tree).parameters
    parser.add_argument(
        "file",
        type=str,
        help="lines 'u v' or 'u v weight', or CSV; plain or gzip; - is standard input",
    )
    parser.add_argument(
        "--height", type=int, default=default["height"].default, help="of the root"
    )
    parser.add_argument(
        "--tree", type=TreeMethod, default=default["method"].default, help="builder"
    )
    parser.add_argument(
        "--output",
        type=str,
        default=None,
        help="file for the tree: .tsv, the groups of each vertex, or .json",
    )
    parser.add_argument(
        "--plot", type=str, default=None, help="picture to draw: .pdf, .png or .svg"
    )


def run(chosen: Namespace) -> dict[str, Any]:
    """Read, build, write, draw and print; what cannot be used is refused first.

    Returns:
        The tree and what was measured, as JSON knows them.

    Raises:
        ValueError: saying what cannot be read, built, written or drawn.
    """
    check_build(chosen.height, chosen.tree)
    if chosen.output:
        _check_output(chosen.output, chosen.file)
    if chosen.plot:
        from ..trees.draw import check_drawing, draw

        check_drawing(chosen.plot)
    edge_index, weight, names = read_edge_list(chosen.file)
    n = len(names)
    tree = build_coding_tree(
        edge_index, n, weight, height=chosen.height, method=chosen.tree
    )
    flat = CodingTree(torch.tensor([n] * n + [-1]), torch.tensor([0] * n + [1]))
    facts = {
        "vertices": n,
        "edges": read_csr(edge_index, n, weight)[1].size // 2,
        "height": tree.height,
        "method": chosen.tree,
        "entropy": structural_entropy(tree, edge_index, weight),
        "flat_entropy": structural_entropy(flat, edge_index, weight),
    }
    # Before any output, whose reader may stop early.
    if chosen.output:
        _write_tree(Path(chosen.output), tree, names, facts)
    with warnings.catch_warnings(record=True, action="always") as left_out:
        if chosen.plot:
            draw(tree, edge_index, chosen.plot, names=names)
    print(_summary(tree, facts))
    if n <= _LISTED:
        print("", *_outline(tree, names), sep="\n")
    elif not chosen.output:
        print(f"\nMore than {_LISTED} vertices: --output FILE.tsv writes their groups.")
    if chosen.output:
        print(f"tree: {escape(chosen.output)}")
    if chosen.plot:
        remarks = [str(warning.message) for warning in left_out]
        print("; ".join([f"picture: {escape(chosen.plot)}", *remarks]))
    files = {"output": chosen.output, "plot": chosen.plot}
    return {**_plain(tree, names, facts), **files}


def _summary(tree: CodingTree, facts: dict[str, Any]) -> str:
    """Return how many bits the tree saves and how large the groups are."""
    from ..report import table

    saved = 1 - facts["entropy"] / facts["flat_entropy"] if facts["edges"] else 0.0
    text = (
        "{vertices} vertices, {edges} edges, height {height}, method {method}\n"
        "structural entropy: {entropy:.6f} bits\n"
        "without groups: {flat_entropy:.6f} bits; the tree saves {saved:.1%}\n\n"
    )
    rows = []
    for level in reversed(range(tree.height + 1)):
        size = torch.bincount(tree.partition(level))
        least, middle, most = int(size.min()), int(size.median()), int(size.max())
        sizes = f"{least} to {most}, median {middle}" if least < most else f"{least}"
        rows.append([str(level), str(size.numel()), sizes])
    header = ["level", "groups", "vertices in each"]
    return text.format(**facts, saved=saved) + table(header, rows)


def _outline(tree: CodingTree, names: list[str]) -> list[str]:
    """Return the tree as indented lines, one for each node right above vertices."""
    lines = []
    stack: list[tuple[list[Any], int]] = [(tree.nested(names), 0)]
    while stack:
        node, depth = stack.pop()
        if not isinstance(node[0], list):
            lines.append("  " * depth + " ".join(map(escape, node)))
        elif len(node) == 1:  # a unary node only lengthens the branch
            stack.append((node[0], depth))
        else:
            lines.append("  " * depth + "+")
            stack.extend((child, depth + 1) for child in reversed(node))
    return lines


def _check_output(output: str, source: str) -> None:
    path = Path(output)
    if path.suffix.lower() not in (".json", ".tsv"):
        raise ValueError(f"a tree is written as .json or .tsv, got {output!r}")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {str(path.parent)!r}: make it first")
    if path.is_dir():
        raise ValueError(f"{output!r} is a folder: give the name of a file")
    if path.resolve() == Path(source).resolve():
        raise ValueError(f"{output!r} is the graph itself: give another name")
    check_writable(path.parent)


def _write_tree(
    path: Path, tree: CodingTree, names: list[str], facts: dict[str, Any]
) -> None:
    if path.suffix.lower() == ".tsv":
        text = _groups(tree, names)
    else:
        text = json.dumps(_plain(tree, names, facts), ensure_ascii=False)
    write_atomically(path, text.encode())


def _plain(tree: CodingTree, names: list[str], facts: dict[str, Any]) -> dict[str, Any]:
    """Return the tree and what was measured, as JSON knows them."""
    arrays = {"parent": tree.parent.tolist(), "level": tree.level.tolist()}
    return {**facts, "names": names, **arrays}


def _groups(tree: CodingTree, names: list[str]) -> str:
    """Return a line for each vertex: its name, its group at levels 1 to height - 1."""
    levels = range(1, tree.height)
    text = io.StringIO()
    writer = csv.writer(text, "excel-tab", lineterminator="\n")
    writer.writerow(["vertex", *(f"level_{level}" for level in levels)])
    columns = (tree.partition(level).tolist() for level in levels)
    writer.writerows(zip(names, *columns, strict=True))
    return text.getvalue()
