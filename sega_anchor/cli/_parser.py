"""Parser: options as people write them, help as people read it."""

import difflib
import json
import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NoReturn

from jsonargparse import ArgumentParser
from typing_extensions import override

#: Options that take several words, and what a word of each looks like.
_SEVERAL: dict[str, tuple[str, Callable[[str], Any]]] = {
    "--evaluate_at": (r"\d+", int),
    "--checkpoints": (r"\d+", int),
    "--tasks": (r"[^-\[].*", str),
}
#: Options that are true or false; alone they mean true.
_TRUE_OR_FALSE = {"--quantities", "--distinct", "--symmetric", "--mask"}
_TRUTHS = [["true"], ["false"], ["True"], ["False"], ["yes"], ["no"]]


class Parser(ArgumentParser):
    """A parser that takes no shortened options and guesses what was meant."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    @override
    def format_help(self, *args: Any, **options: Any) -> str:
        return _plain(super().format_help(*args, **options))

    @override
    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        found = re.search(r"nrecognized arguments: .*?(--\w+)", message)
        if found:
            known = list(self._option_string_actions)
            near = difflib.get_close_matches(found[1], known, n=1)
            message += f"; did you mean {near[0]}?" if near else ""
        super().error(message, ex)


def add_common(parser: ArgumentParser) -> None:
    """Add what all commands with a result take: ``--config`` and ``--json``."""
    parser.add_argument(
        "--config",
        action="config",
        help="YAML file of arguments; those given as words win",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the result as one JSON object, and all else to standard error",
    )


def add_profile(parser: ArgumentParser) -> None:
    """Add ``--profile``."""
    parser.add_argument(
        "--profile", action="store_true", help="say at the end where the time went"
    )


def spell(words: Sequence[str]) -> list[str]:
    """Return words as the parser knows them: underscores, lists in brackets, truths.

    Example:
        >>> spell(["run", "--batch-size", "8", "--evaluate-at", "2", "4", "--anchor"])
        ['run', '--batch_size', '8', '--evaluate_at', '[2, 4]', '--anchor']
        >>> spell(["run", "--quantities", "--distinct", "false"])
        ['run', '--quantities', 'true', '--distinct', 'false']
    """
    spelt: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            word = "--" + name[2:].replace("-", "_")
            if equals and word in _SEVERAL:
                rest.insert(0, value)
            else:
                word += equals + value
        spelt.append(word)
        if word in _TRUE_OR_FALSE and rest[:1] not in _TRUTHS:
            spelt.append("true")
        if word in _SEVERAL:
            pattern, kind = _SEVERAL[word]
            several = []
            while rest and re.fullmatch(pattern, rest[0]):
                several.append(kind(rest.pop(0)))
            spelt += [json.dumps(several)] if several else []
    return _configs_first(spelt)


def _configs_first(words: list[str]) -> list[str]:
    """Move configuration files before all else, which wins wherever it stands."""
    configs, others = [], []
    rest = iter(words)
    for word in rest:
        if word.startswith("--config="):
            configs.append(word)
        elif word == "--config":
            configs += [word, *islice(rest, 1)]
        else:
            others.append(word)
    place = 2 if others[:1] == ["run"] else 1  # behind the command, and the method
    return others[:place] + configs + others[place:]


def _plain(text: str) -> str:
    """Return help without the marks of docstrings."""
    text = re.sub(r":\w+:`[~.]?(?:\w+\.)*(\w+)`", r"\1", text)
    text = re.sub(r", --\w+\+ \w+", "", text)  # appending to a list
    return text.replace("``", "")
