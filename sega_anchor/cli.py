"""The command line: ``sega-anchor run``, ``compare`` and ``tree``."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Literal

from jsonargparse import ArgumentParser, Namespace

from . import __version__
from .datasets import load
from .edgelist import read_edge_list
from .entropy import structural_entropy
from .minimise import Method, build_coding_tree
from .protocols import Settings
from .report import Pair, comparison_table, result_table, table
from .report.draw import check_drawing, draw
from .tree import CodingTree

METHODS = ("adgcl", "autogcl", "graphcl", "joao", "rgcl")
#: What ``compare`` compares: a name, the adapter, what its Config is given.
COMPARED: dict[str, tuple[str, dict[str, Any]]] = {
    "adgcl": ("adgcl", {}),
    "joao": ("joao", {}),
    "joaov2": ("joao", {"version": 2}),
    "autogcl": ("autogcl", {}),
    "rgcl": ("rgcl", {}),
    "graphcl": ("graphcl", {}),
}


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
        elif chosen.subcommand == "compare":
            _compare(chosen.compare)
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
    commands.add_subcommand("compare", _compare_parser())
    tree = ArgumentParser(description="Build the coding tree of one edge list.")
    tree.add_argument("file", type=str, help="lines 'u v' or 'u v weight'")
    tree.add_argument("--height", type=int, default=3, help="level of the root")
    tree.add_argument("--method", type=Method, default="authors", help="builder")
    tree.add_argument("--plot", type=str, default=None, help="image file to write")
    commands.add_subcommand("tree", tree)
    return parser, methods


def _compare_parser() -> ArgumentParser:
    parser = ArgumentParser(
        description="Run methods with and without the anchor and print the layout of "
        "the paper's Table 4. Stop it at any time and start it again: what is on "
        "record is not computed again."
    )
    parser.add_argument("datasets", type=str, nargs="+", help="TU sets by name")
    parser.add_argument(
        "--methods",
        type=Literal[tuple(COMPARED)],
        nargs="+",
        default=[name for name in COMPARED if name != "graphcl"],
        help="what to compare",
    )
    parser.add_argument("--height", type=int, default=5, help="of the coding trees")
    parser.add_class_arguments(Settings)
    parser.set_defaults({"results": "results", "seeds": 3})
    return parser


def run_pair(dataset: str, name: str, height: int = 5, **options: Any) -> Pair:
    """Run one of COMPARED with and without the anchor, saying what comes out.

    Args:
        dataset: name of a data set.
        name: key of COMPARED.
        height: height of the coding trees.
        options: fields of :class:`~sega_anchor.protocols.Settings`.
    """
    adapter, given = COMPARED[name]
    module = importlib.import_module(f"adapters.{adapter}")
    config = module.Config(height=height, **given)
    results = []
    for anchor in (None, True):
        result = module.run(dataset, anchor=anchor, config=config, **options)
        print(f"{result.config['label']}, {dataset}: {result.accuracy}", flush=True)
        results.append(result)
    return Pair(*results)


def _compare(chosen: Namespace) -> None:
    options = {f.name: chosen[f.name] for f in fields(Settings)}
    settings = Settings(**options)
    if settings.evaluate_at == ():
        raise ValueError("evaluate_at is empty: compare needs epochs to evaluate")
    if settings.evaluate_at and settings.epochs is None:
        raise ValueError(
            "evaluate_at is given without epochs, but the methods train for different "
            "numbers of epochs: give both, or neither for what was published"
        )
    for dataset in chosen.datasets:  # refuse what is missing before any training
        load(dataset, root=settings.root, archives=settings.archives)
    pairs = [
        run_pair(dataset, name, chosen.height, **options)
        for name in chosen.methods
        for dataset in chosen.datasets
    ]
    print("\nEpoch and embedding chosen on validation folds:\n")
    print(comparison_table(pairs))
    print("\nThe graph encoder's embedding alone (G), epoch chosen likewise:\n")
    print(comparison_table(pairs, embedding="G"))
    print("\nChosen on test folds, as the field reports:\n")
    print(comparison_table(pairs, choice="test"))
    print("\nEverything that was compared:\n")
    print(result_table([result for p in pairs for result in (p.baseline, p.anchored)]))
    print(
        f"\nAccuracy in per cent, mean ± standard deviation over {settings.seeds} "
        "seeds of the mean over 10 folds; p of a two-sided paired t-test over seeds."
    )


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
