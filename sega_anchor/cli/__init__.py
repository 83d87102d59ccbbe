"""The command line: ``sega-anchor run`` and the other commands, a module each."""

import atexit
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, redirect_stdout
from functools import partial
from typing import Any, TextIO

from jsonargparse import ArgumentParser, Namespace

from .. import __version__
from . import _compare, _report, _reproduce, _run, _tree, _tuning, _warmup
from ._parser import Parser, add_common, add_profile, spell

# What only one command needs is imported where it runs, so that the others start soon.


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
    aside = sys.stderr
    if shared and os.environ["RANK"] != "0":  # rank 0 prints for all
        aside = sys.stdout = open(os.devnull, "w", encoding="utf-8")
    try:
        words = spell(words)
        chosen = _parser(words).parse_args(words)
        work = partial(_COMMANDS[chosen.subcommand][2], chosen[chosen.subcommand])
        given = chosen[chosen.subcommand]
        if chosen.subcommand == "run":
            given = given[given.method]
        _perform(work, given.get("json", False), given.get("profile", False), aside)
        sys.stdout.flush()
    except (ValueError, ImportError) as error:  # the latter: an extra is missing
        print(f"sega-anchor: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as head, has seen enough
        _drop_output()
    except OSError as error:  # such as a disk that is full by now
        print(f"sega-anchor: {error}; what was finished is kept", file=sys.stderr)
        try:
            sys.stdout.flush()
        except OSError:
            _drop_output()
        if isinstance(error, ConnectionError):  # at its end torch would abort
            atexit.register(os._exit, 2)
        return 2
    except KeyboardInterrupt:
        print("sega-anchor: interrupted; finished work is kept", file=sys.stderr)
        return 130
    return 0


def _drop_output() -> None:
    """Send what is not written yet nowhere; Python would try it again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _perform(
    work: Callable[[], dict[str, Any]], as_json: bool, profiled: bool, aside: TextIO
) -> None:
    """Run a command; if it is to print JSON, all else goes aside."""
    with redirect_stdout(aside) if as_json else nullcontext():
        result = _measured(work) if profiled else work()
    if as_json:
        print(json.dumps(result, ensure_ascii=False))


def _measured(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run a command; then, or when it is interrupted, say where its time went."""
    from ..profile import Profile

    profile = Profile()
    try:
        with profile:
            return work()
    finally:
        print(f"\nWhere the time went:\n\n{profile}")


def _parser(words: Sequence[str]) -> ArgumentParser:
    """Return the parser; only the commands among the words get their arguments."""
    parser = Parser(
        prog="sega-anchor",
        description="Anchor views for graph contrastive learning, and coding trees.",
        version=__version__,
    )
    commands = parser.add_subcommands()
    for name, (description, add_arguments, _) in _COMMANDS.items():
        one = Parser(description=description)
        commands.add_subcommand(name, one, help=description.split(". ")[0])
        if name in words:
            add_arguments(one)
            if name not in ("run", "warmup"):  # each method of run has them
                add_common(one)
            if name not in ("run", "tree", "report"):
                add_profile(one)
    return parser


#: Each command: what it does, what adds its arguments, what runs it.
_COMMANDS: dict[
    str,
    tuple[
        str,
        Callable[[ArgumentParser], None],
        Callable[[Namespace], dict[str, Any]],
    ],
] = {
    "run": (
        "Train a method without labels and evaluate it.",
        _run.add_arguments,
        _run.run,
    ),
    "compare": (
        "Run methods with and without the anchor and print the layout of the paper's "
        "Table 4. Stop it at any time and start it again: what is on record is not "
        "computed again.",
        _compare.add_arguments,
        _compare.run,
    ),
    "reproduce": (
        "Run what a table or figure of the paper needs and print it, ours beside "
        "theirs. Stop it at any time and start it again, in several processes at once "
        "too.",
        _reproduce.add_arguments,
        _reproduce.run,
    ),
    "semisupervised": (
        "Pre-train on all graphs of a set and fine-tune on a tenth of its labels. Stop "
        "it at any time and start it again.",
        _tuning.add_semisupervised,
        _tuning.semisupervised,
    ),
    "pretrain": (
        "Pre-train an encoder on molecules or proteins without labels. Stop it at any "
        "time and start it again.",
        _tuning.add_pretrain,
        _tuning.pretrain,
    ),
    "finetune": (
        "Fine-tune a pre-trained encoder on a labelled set. Stop it at any time and "
        "start it again.",
        _tuning.add_finetune,
        _tuning.finetune,
    ),
    "tree": (
        "Build the coding tree of one graph.",
        _tree.add_arguments,
        _tree.run,
    ),
    "report": (
        "Put the records of a folder into the paper's tables, beside its values, and "
        "on a page with figures.",
        _report.add_arguments,
        _report.run,
    ),
    "warmup": (
        "Compile all kernels ahead, as for a container image. NUMBA_CACHE_DIR says "
        "where they are kept; by default beside the package.",
        _warmup.add_arguments,
        _warmup.run,
    ),
}
