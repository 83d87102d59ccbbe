"""read_edge_list: a graph from a text file, one edge a line."""

import gzip
import io
import math
import re
import sys
import warnings
import zlib
from array import array
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ..utils.texts import escape

EdgeList = tuple[Tensor, Tensor | None, list[str]]

#: From a word that begins with # or % to the end of the line.
_COMMENT = re.compile(rb"[#%](?<![^\s,].)[^\n\r]*")
#: A comma with no word before it, or none behind it, on its line.
_EMPTY = re.compile(rb"(?:\A|[\n\r])[ \t]*,|,[ \t]*(?=[,\n\r]|\Z)")
#: Integers that Python would print differently, such as 007, +7, -0.
_UNUSUAL = re.compile(rb"\s(?:\+|-?0[0-9]|-0)")
#: The first line that is neither empty nor a comment.
_FIRST = re.compile(rb"\s*(?:[#%][^\n\r]*\s*)*([^\n\r]*)")
#: What the columns of CSV files are called.
_ENDS = re.compile(
    rb"(?:source|src|from|start|head|node_?1|id_?1|from_?node(?:_?id)?)[,\t]"
    rb"(?:target|tgt|dst|to|end|tail|node_?2|id_?2|to_?node(?:_?id)?)(?:[,\t][^,\t]+)?"
)
_WEIGHTED = re.compile(
    rb"[^,\t]+[,\t][^,\t]+[,\t](?:weights?|edge_?weight|value|score)"
)
_INTEGER = re.compile("-?[0-9]{1,1000}")


def read_edge_list(path: str | Path) -> EdgeList:
    r"""Read ``u v`` or ``u v weight`` lines; names of vertices may be any words.

    Empty lines are skipped. A word that begins with # or % starts a comment, up to the
    end of the line. Commas count as spaces, but no field between them may be empty. The
    header of a CSV file, columns separated by commas or tabs, is known by usual names
    of its columns, such as ``source,target,weight``, and passed over.

    Args:
        path: a text file in UTF-8, gzipped or not; ``"-"`` is standard input.

    Returns:
        edge_index: LongTensor ``(2, num_edges)``.
        weight: ``(num_edges,)``, or None when no line has a third column.
        names: the name of each vertex; sorted by value if all are integers, else in
            order of appearance.

    Raises:
        ValueError: naming the line, for a malformed line or a weight that is negative
            or not finite; for a file that cannot be read or holds no edges.

    Example:
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "graph.txt")
        ...     _ = file.write_text("a b 2.0\nb c 1.0\n")
        ...     edge_index, weight, names = read_edge_list(file)
        >>> edge_index.tolist(), weight.tolist(), names
        ([[0, 1], [1, 2]], [2.0, 1.0], ['a', 'b', 'c'])
    """
    where = "standard input" if str(path) == "-" else escape(str(path))
    content = _content(path, where)
    if content.startswith(b"%%MatrixMarket"):
        raise ValueError(
            f"{where} is a Matrix Market file: read it with scipy.io.mmread and give "
            "the matrix to build_coding_tree"
        )
    content = _COMMENT.sub(b"", _without_header(content))
    _check_fields(content, where)
    content = content.replace(b",", b" ")
    return _parse_integers(content) or _parse_lines(content, where)


def _content(path: str | Path, where: str) -> bytes:
    try:
        standard = str(path) == "-"
        content = sys.stdin.buffer.read() if standard else Path(path).read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(
            f"cannot read the edge list '{where}': {escape(str(error))}"
        ) from error
    return content.removeprefix(b"\xef\xbb\xbf")


def _without_header(content: bytes) -> bytes:
    """Return the content with the header of a CSV file left empty."""
    first = _FIRST.match(content)
    assert first is not None  # it matches anything
    line = re.sub(rb'["\s]*([,\t])["\s]*', rb"\1", first[1].strip(b' "\t')).lower()
    if _ENDS.fullmatch(line) or _WEIGHTED.fullmatch(line):
        return content[: first.start(1)] + content[first.end(1) :]
    return content


def _check_fields(content: bytes, where: str) -> None:
    """Refuse a line with nothing between two commas, or beside one."""
    empty = _EMPTY.search(content)
    if empty:
        at = content.index(b",", empty.start())
        number = len((content[:at] + b",").splitlines())
        raise ValueError(
            f"{where}, line {number}: a field is empty: fill it, or leave the line out"
        )


def _parse_integers(content: bytes) -> EdgeList | None:
    """Parse a file of plain integers, fast; return None for any other file."""
    first = re.search(rb"\S[^\n\r]*", content)
    if not first or _UNUSUAL.search(b" " + first.group()) or _UNUSUAL.search(content):
        return None
    width = len(first.group().split())
    if width not in (2, 3):
        return None
    columns = [("u", np.int64), ("v", np.int64), ("weight", np.float64)][:width]
    try:
        with warnings.catch_warnings():  # older NumPy only warns about 1.0 for 1
            warnings.simplefilter("error", DeprecationWarning)
            rows = np.loadtxt(_lines(content), columns, comments=None, ndmin=1)
    except (ValueError, DeprecationWarning):
        return None
    weight = rows["weight"].copy() if width == 3 else None
    if weight is not None and not (np.isfinite(weight) & (weight >= 0)).all():
        return None
    ends = torch.from_numpy(np.stack([rows["u"], rows["v"]]))
    ids, edge_index = torch.unique(ends, return_inverse=True)
    names = list(map(str, ids.tolist()))
    return edge_index, None if weight is None else torch.from_numpy(weight), names


def _parse_lines(content: bytes, where: str) -> EdgeList:
    """Parse any file line by line; errors name the line."""
    index: dict[str, int] = {}
    ends, weights, width = array("q"), array("d"), 0
    try:
        for number, line in enumerate(_lines(content), 1):
            words = line.split()
            if not words:
                continue
            width = width or len(words)
            if len(words) != width or not 2 <= width <= 3:
                raise ValueError(f"{where}, line {number}: {_malformed(words)}")
            ends.append(index.setdefault(words[0], len(index)))
            ends.append(index.setdefault(words[1], len(index)))
            if width == 3:
                weights.append(_weight(words[2], f"{where}, line {number}"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{where} is not text in UTF-8: {error}") from error
    if not ends:
        raise ValueError(f"{where} holds no edges")
    names = list(index)
    if all(map(_INTEGER.fullmatch, names)):
        names.sort(key=int)
    rank = {name: i for i, name in enumerate(names)}
    place = torch.tensor([rank[name] for name in index])
    edge_index = place[torch.from_numpy(np.array(ends).reshape(-1, 2).T)]
    weight = torch.from_numpy(np.array(weights)) if weights else None
    return edge_index, weight, names


def _lines(content: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")


def _malformed(words: list[str]) -> str:
    if len(words) in (2, 3):
        return "either all edges have a weight or none"
    return f"expected 'u v' or 'u v weight', got {' '.join(words)[:60]!r}"


def _weight(word: str, where: str) -> float:
    try:
        weight = float(word)
    except ValueError:
        raise ValueError(f"{where}: the weight {word!r} is not a number") from None
    if not (math.isfinite(weight) and weight >= 0):
        raise ValueError(
            f"{where}: the weight must be finite and not negative, got {word}"
        )
    return weight
