"""Trees are dictionaries on a graph, and a field for each part in packed graphs."""

from collections.abc import Iterator, Mapping
from typing import Any

from torch_geometric.data import Data

from ..trees.levels import TREE


def flat(data: Data) -> Iterator[tuple[str, str, Any]]:
    """Return name, name to PyG, and value of all attributes, a tree's parts apart."""
    for name, value in data.to_dict().items():
        if name == TREE and isinstance(value, Mapping):
            yield from ((f"{TREE}__{key}", key, part) for key, part in value.items())
        else:
            yield name, name, value


def nest(found: dict[str, Any]) -> dict[str, Any]:
    """Return attributes by name, the parts of trees in a dictionary again.

    Example:
        >>> nest({"x": 1, "coding_tree__parent": 2, "coding_tree__level": 3})
        {'x': 1, 'coding_tree': {'parent': 2, 'level': 3}}
    """
    nested: dict[str, Any] = {}
    for name, value in found.items():
        owner, _, part = name.partition("__")
        if owner == TREE and part:
            nested.setdefault(TREE, {})[part] = value
        else:
            nested[name] = value
    return nested
