"""The code blocks and commands of the documentation."""

import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .paths import ROOT

PAGES = ("README.md", "CONTRIBUTING.md", "docs/guide.md", "docs/results.md")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Snippet(NamedTuple):
    """A piece of a page."""

    page: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(language: str) -> list[Snippet]:
    """Every block in a language, such as "python"."""
    found = []
    for page in map(ROOT.joinpath, PAGES):
        whole = page.read_text(encoding="utf-8")
        for block in _BLOCK.finditer(whole):
            if block[1] == language:
                line = whole.count("\n", 0, block.start(2)) + 1
                found.append(Snippet(page, line, textwrap.dedent(block[2])))
    return found


def commands() -> list[Snippet]:
    """The words behind ``sega-anchor``, wherever a line of a page is a command."""
    return [
        Snippet(page, number, words)
        for page in map(ROOT.joinpath, PAGES)
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1)
        for words in _words_of(line)
    ]


def _words_of(line: str) -> Iterator[str]:
    if line.startswith(("    ", "$ ")):
        for part in line.split("|"):
            words = shlex.split(part, comments=True)
            for name in ("sega-anchor", "sega_anchor"):
                if name in words:
                    yield shlex.join(words[words.index(name) + 1 :])
