"""The command line: ``sega-anchor run`` and ``sega-anchor tree``."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from jsonargparse import ArgumentParser, Namespace

from . import __version__
from .edgelist import read_edge_list
from .entropy import structural_entropy
from .minimise import Method, build_coding_tree
from .protocols import Settings
from .report import result_table, table
from .report.draw import check_drawing, draw
from .tree import CodingTree

METHODS = ("graphcl",)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status.

    Args:
        arguments: the words behind the command's name; default those of the process.

    Returns:
        0, or 2 after a message about input that cannot be used, or 130 after Ctrl-C.

    Example:
        >>> main(["tree", "no-such-file"])  # and says why on standard error
        2
    """
    parser, methods = _parser()
    chosen = parser.parse_args(None if arguments is None else list(arguments))
    try:
        if chosen.subcommand == "tree":
            _tree(chosen.tree)
        else:
            _run(chosen.run, methods)
        sys.stdout.flush()
    except ValueError as error:
        print(f"sega-anchor: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("sega-anchor: interrupted; finished work is kept", file=sys.stderr)
        return 130
    return 0


def _parser() -> tuple[ArgumentParser, dict[str, Any]]:
    parser = ArgumentParser(
        prog="sega-anchor",
        description="Anchor views for graph contrastive learning.",
        version=__version__,
    )
    commands = parser.add_subcommands()
    run = ArgumentParser(description="Train a method without labels and evaluate it.")
    commands.add_subcommand("run", run)
    chooser = run.add_subcommands(dest="method")
    methods = {name: importlib.import_module(f"adapters.{name}") for name in METHODS}
    for name, module in methods.items():
        one = ArgumentParser(description=(module.__doc__ or "").split("\n")[0])
        one.add_argument("dataset", type=str, help="TU set by name, or 'synthetic'")
        one.add_argument(
            "--anchor", action="store_true", help="put the anchor view in (SEGA)"
        )
        one.add_class_arguments(module.Config)
        one.add_class_arguments(Settings)
        one.set_defaults({"results": "results"})
        chooser.add_subcommand(name, one)
    tree = ArgumentParser(description="Build the coding tree of one edge list.")
    tree.add_argument("file", type=str, help="lines 'u v' or 'u v weight'")
    tree.add_argument("--height", type=int, default=3, help="level of the root")
    tree.add_argument("--method", type=Method, default="authors", help="builder")
    tree.add_argument("--plot", type=str, default=None, help="image file to write")
    commands.add_subcommand("tree", tree)
    return parser, methods


def _run(chosen: Namespace, methods: dict[str, Any]) -> None:
    module = methods[chosen.method]
    given = chosen[chosen.method]
    config = module.Config(**{f.name: given[f.name] for f in fields(module.Config)})
    options = {f.name: given[f.name] for f in fields(Settings)}
    result = module.run(given.dataset, anchor=given.anchor, config=config, **options)
    if result.evaluations:
        print(result_table([result]))
        print(
            "\nAccuracy in per cent, mean ± standard deviation over seeds of the mean "
            "over 10 folds."
        )
    if given.results:
        print(f"Record: {result.record}")


def _tree(chosen: Namespace) -> None:
    if chosen.plot:
        check_drawing()
    edge_index, weight, names = read_edge_list(chosen.file)
    tree = build_coding_tree(
        edge_index, len(names), weight, height=chosen.height, method=chosen.method
    )
    entropy = structural_entropy(tree, edge_index, weight)
    if chosen.plot:
        draw(tree, edge_index, chosen.plot)
        print(f"picture: {chosen.plot}")
    print(
        f"{len(names)} vertices, {edge_index.size(1)} edges, height {tree.height}, "
        f"method {chosen.method}"
    )
    print(f"structural entropy: {entropy:.6f} bits")
    counts = [int((tree.level == level).sum()) for level in range(tree.height + 1)]
    rows = [[str(level), str(count)] for level, count in enumerate(counts)]
    print(table(["level", "nodes"], rows[::-1]))
    print("\n".join(_outline(tree, names)))


def _outline(tree: CodingTree, names: list[str]) -> list[str]:
    """Return the tree as indented lines, one for each node right above vertices."""
    lines = []
    stack: list[tuple[Any, int]] = [(tree.nested(), 0)]
    while stack:
        node, depth = stack.pop()
        if all(isinstance(child, int) for child in node):
            lines.append("  " * depth + " ".join(names[v] for v in node))
        elif len(node) == 1:  # a unary node only lengthens the branch
            stack.append((node[0], depth))
        else:
            lines.append("  " * depth + "+")
            stack.extend((child, depth + 1) for child in reversed(node))
    return lines


if __name__ == "__main__":
    sys.exit(main())
