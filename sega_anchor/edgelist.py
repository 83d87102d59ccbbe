"""Edge lists: graphs as text, one edge a line."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor


def read_edge_list(path: str | Path) -> tuple[Tensor, Tensor | None, list[str]]:
    r"""Read ``u v`` or ``u v weight`` lines; names of vertices may be any words.

    Empty lines and lines that begin with # are skipped. Commas count as blanks.

    Args:
        path: a text file.

    Returns:
        edge_index: LongTensor ``(2, num_edges)``.
        weight: ``(num_edges,)``, or None when no line has a third column.
        names: the name of each vertex; integers are sorted by value, otherwise names
            come in order of appearance.

    Raises:
        ValueError: naming the line, for a line of another shape, a weight that is no
            number, or a file without edges.

    Example:
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "graph.txt")
        ...     _ = file.write_text("a b 2.0\nb c 1.0\n")
        ...     edge_index, weight, names = read_edge_list(file)
        >>> edge_index.tolist(), weight.tolist(), names
        ([[0, 1], [1, 2]], [2.0, 1.0], ['a', 'b', 'c'])
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read the edge list {str(path)!r}: {error}") from error
    pairs, weights = _parse(text, str(path))
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    if all(name.isdecimal() for name in names):
        names.sort(key=int)
    index = {name: i for i, name in enumerate(names)}
    edges = torch.tensor([[index[u] for u, _ in pairs], [index[v] for _, v in pairs]])
    weight = torch.tensor(weights, dtype=torch.double) if weights else None
    return edges, weight, names


def _parse(text: str, path: str) -> tuple[list[tuple[str, str]], list[float]]:
    """Return the pairs of names and the weights, as many as pairs or none."""
    pairs: list[tuple[str, str]] = []
    weights: list[float] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.replace(",", " ").split()
        if not words or words[0].startswith("#"):
            continue
        where = f"{path}, line {number}"
        if len(words) not in (2, 3):
            raise ValueError(f"{where}: expected 'u v' or 'u v weight', got {line!r}")
        pairs.append((words[0], words[1]))
        if len(words) == 3:
            weights.append(_number(words[2], where))
        if weights and len(weights) != len(pairs):
            raise ValueError(f"{where}: either all edges have a weight or none")
    if not pairs:
        raise ValueError(f"{path} holds no edges")
    return pairs, weights


def _number(word: str, where: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"{where}: the weight {word!r} is not a number") from None
