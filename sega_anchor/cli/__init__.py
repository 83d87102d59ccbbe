"""The command line: ``sega-anchor run`` and the other commands."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

from jsonargparse import ArgumentParser, Namespace

from .. import __version__
from . import _tree as _tree_command
from . import _tuning as _tuning_commands
from . import _warmup as _warmup_command

# What only one command needs is imported there, so that the others start soon.
if TYPE_CHECKING:
    from ..report import Pair

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
    words = sys.argv[1:] if arguments is None else list(arguments)
    shared = "TORCHELASTIC_RUN_ID" in os.environ  # started by torchrun
    if shared and os.environ["RANK"] != "0":  # rank 0 speaks for all
        sys.stdout = open(os.devnull, "w", encoding="utf-8")
    try:
        chosen = _parser(words).parse_args(words)
        work = _COMMANDS[chosen.subcommand][2]
        _measured(work, chosen[chosen.subcommand], "--profile" in words)
        sys.stdout.flush()
    except (ValueError, ImportError) as error:  # the latter: an extra is missing
        print(f"sega-anchor: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("sega-anchor: interrupted; finished work is kept", file=sys.stderr)
        return 130
    return 0


def _measured(work: Callable[[Any], None], chosen: Any, profiled: bool) -> None:
    """Run a command; then, or when it is interrupted, say where its time went."""
    if not profiled:
        return work(chosen)
    from ..profile import Profile

    profile = Profile()
    try:
        with profile:
            work(chosen)
    finally:
        print(f"\nWhere the time went:\n\n{profile}")


def _add_profile(parser: ArgumentParser) -> None:
    """Add ``--profile``."""
    parser.add_argument(
        "--profile", action="store_true", help="say at the end where the time went"
    )


def _parser(words: Sequence[str]) -> ArgumentParser:
    """Return the parser; only the commands among the words get their arguments."""
    parser = ArgumentParser(
        prog="sega-anchor",
        description="Anchor views for graph contrastive learning, and coding trees.",
        version=__version__,
    )
    commands = parser.add_subcommands()
    for name, (description, add_arguments, _) in _COMMANDS.items():
        one = ArgumentParser(description=description)
        commands.add_subcommand(name, one, help=description.split(". ")[0])
        if name in words:
            add_arguments(one)
            if name not in ("run", "tree"):  # each method of run has it
                _add_profile(one)
    return parser


def _add_run(parser: ArgumentParser) -> None:
    from ..protocols import Settings

    chooser = parser.add_subcommands(dest="method")
    for name in METHODS:
        module = importlib.import_module(f"adapters.{name}")
        title = (module.__doc__ or "").split("\n")[0]
        one = ArgumentParser(description=title)
        one.add_argument("dataset", type=str, help="TU set by name, or 'synthetic'")
        one.add_argument(
            "--anchor", action="store_true", help="put the anchor view in (SEGA)"
        )
        one.add_class_arguments(module.Config)
        one.add_class_arguments(Settings)
        one.set_defaults({"results": "results"})
        _add_profile(one)
        chooser.add_subcommand(name, one, help=title)


def _add_compare(parser: ArgumentParser) -> None:
    from ..protocols import Settings

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


def run_pair(dataset: str, name: str, height: int = 5, **options: Any) -> Pair:
    """Run one of COMPARED with and without the anchor, saying what comes out.

    Args:
        dataset: name of a data set.
        name: key of COMPARED.
        height: height of the coding trees.
        options: fields of :class:`~sega_anchor.protocols.Settings`.
    """
    from ..report import Pair

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
    from ..datasets import load
    from ..protocols import Settings
    from ..report import comparison_table, result_table

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


def _run(chosen: Namespace) -> None:
    from ..protocols import Settings
    from ..report import result_table

    module = importlib.import_module(f"adapters.{chosen.method}")
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


#: Each command: what it does, what adds its arguments, what runs it.
_COMMANDS: dict[
    str,
    tuple[str, Callable[[ArgumentParser], None], Callable[[Namespace], None]],
] = {
    "run": ("Train a method without labels and evaluate it.", _add_run, _run),
    "compare": (
        "Run methods with and without the anchor and print the layout of the paper's "
        "Table 4. Stop it at any time and start it again: what is on record is not "
        "computed again.",
        _add_compare,
        _compare,
    ),
    "semisupervised": (
        "Pre-train on all graphs of a set and fine-tune on a tenth of its labels. Stop "
        "it at any time and start it again.",
        _tuning_commands.add_semisupervised,
        _tuning_commands.semisupervised,
    ),
    "pretrain": (
        "Pre-train an encoder on molecules or proteins without labels. Stop it at any "
        "time and start it again.",
        _tuning_commands.add_pretrain,
        _tuning_commands.pretrain,
    ),
    "finetune": (
        "Fine-tune a pre-trained encoder on a labelled set. Stop it at any time and "
        "start it again.",
        _tuning_commands.add_finetune,
        _tuning_commands.finetune,
    ),
    "tree": (
        "Build the coding tree of one graph.",
        _tree_command.add_arguments,
        _tree_command.run,
    ),
    "warmup": (
        "Compile all kernels ahead, as for a container image. NUMBA_CACHE_DIR says "
        "where they are kept; by default beside the package.",
        _warmup_command.add_arguments,
        _warmup_command.run,
    ),
}


if __name__ == "__main__":
    sys.exit(main())
