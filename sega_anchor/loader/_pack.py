"""From PyG's graphs to flat tensors: what each attribute is, and what does not pack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.typing import TensorFrame
from torch_geometric.utils import is_sparse

from ..trees.levels import TREE
from ..utils.scatter import prefix_sum
from ._nested import flat

_LEVEL = f"{TREE}__level"

#: What the rows of well-known attributes must belong to.
GROUPS = {
    "x": "node",
    "tree_x": "node",
    "edge_index": "edge",
    "edge_attr": "edge",
    "edge_weight": "edge",
    f"{TREE}__level": "tree",
    f"{TREE}__parent": "tree",
}
_INTEGERS = {torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
#: Instead of packing, for what does not pack.
PYG = "or use torch_geometric.loader.DataLoader"


@dataclass(frozen=True)
class Column:
    """How a batch is made of the rows of a field.

    Args:
        dtype: what batches get.
        rows: which pointer names the rows of each graph; "graph" is one for each.
        dim: along which PyG concatenates; rows come first in the field.
        shift: which pointer is added to the values, such as "node" for ``edge_index``;
            None for none.
    """

    dtype: torch.dtype
    rows: str = "graph"
    dim: int = 0
    shift: str | None = None

    @classmethod
    def usual(cls, name: str, dtype: torch.dtype) -> Column:
        """Return what PyG makes of an attribute of this name."""
        if name == "edge_index":
            return cls(dtype, "edge", 1, "node")
        return cls(dtype, GROUPS.get(name, "graph"))


class Parts(NamedTuple):
    """What :class:`PackedGraphs` is made of; see there."""

    fields: dict[str, Tensor]
    ptr: dict[str, Tensor]
    columns: dict[str, Column]
    values: dict[str, Sequence[Any]]


class _Attribute(NamedTuple):
    """An attribute of one graph, and what must be the same for all graphs."""

    value: Any  # of a tensor the rows
    like: tuple[Any, ...]
    dim: int = 0
    shift: int = 0


def pack(graphs: Sequence[Data]) -> Parts:
    """Concatenate all attributes; see :meth:`PackedGraphs.of` for what is refused."""
    described: list[dict[str, _Attribute]] = []
    nodes: list[int] = []
    for i, data in enumerate(graphs):
        found = _describe(i, data, type(graphs[0]))
        described.append(found)
        nodes.append(int(data.num_nodes or 0))
        _check_alike(i, found, described[0])
        _check_rows(i, found, nodes[i])
    sizes = {
        "node": nodes,
        "edge": [len(found["edge_index"].value) for found in described],
    }
    if isinstance(_value(described[0], _LEVEL), Tensor):
        sizes["tree"] = [len(found[_LEVEL].value) for found in described]
    shared = {**sizes, "graph": [1] * len(described)}
    parts = Parts({}, {}, {}, {})
    for name, first in described[0].items():
        column = [each[name] for each in described]
        values = [attribute.value for attribute in column]
        if first.like[0] == "value":
            parts.values[name] = values
            continue
        if first.like[0] == "rows":
            field, counts = torch.cat(values), [len(rows) for rows in values]
        else:
            field, counts = _numbers(name, values), shared["graph"]
        shifts = [attribute.shift for attribute in column]
        rows = _named(counts, shared, GROUPS.get(name, "graph"))
        if rows is None:
            sizes[rows := f"{name}.rows"] = counts
        shift = _named(shifts, shared, "node") if any(shifts) else None
        if any(shifts) and shift is None:
            sizes[shift := f"{name}.shift"] = shifts
        parts.fields[name] = field
        parts.columns[name] = Column(field.dtype, rows, first.dim, shift)
    edges = parts.fields["edge_index"]
    parts.columns["edge_index"] = Column.usual("edge_index", edges.dtype)
    parts.ptr.update({k: prefix_sum(torch.tensor(v)) for k, v in sizes.items()})
    return parts


def _describe(i: int, data: Data, kind: type) -> dict[str, _Attribute]:
    """Return all attributes of a graph as PyG would take them into a batch."""
    own: Any = type(data)
    if not issubclass(own, Data) or issubclass(own, Batch):
        raise ValueError(
            f"graph {i} is a {own.__name__}, which does not pack: give single "
            f"graphs of type Data, {PYG}"
        )
    if own is not kind:
        raise ValueError(
            f"graph {i} is a {own.__name__}, graph 0 a {kind.__name__}: give "
            "all graphs the same type"
        )
    _check_edge_index(data.edge_index)
    found = {}
    for name, key, value in flat(data):
        problem = _problem(name, value)
        if problem:
            raise ValueError(f"{name} of graph {i} {problem}, {PYG}")
        try:
            found[name] = _attribute(data, key, value)
        except (IndexError, RuntimeError, TypeError) as error:
            raise ValueError(
                f"PyG cannot batch {name} of graph {i} ({error}): give it what "
                "__cat_dim__ and __inc__ of the graph expect"
            ) from error
    return found


def _check_edge_index(edge_index: Any) -> None:
    shape = tuple(edge_index.shape) if isinstance(edge_index, Tensor) else edge_index
    if not isinstance(shape, tuple) or len(shape) != 2 or shape[0] != 2:
        raise ValueError(
            f"edge_index must have shape (2, num_edges), got {shape}; without edges, "
            "give (2, 0)"
        )
    if edge_index.dtype not in _INTEGERS:
        raise ValueError(f"edge_index must hold integers, got {edge_index.dtype}")


def _problem(name: str, value: Any) -> str | None:
    """Say why an attribute does not pack, if so."""
    if name in ("batch", "ptr"):
        return "is what a batch itself calls so: give it another name"
    if name == "num_nodes" and type(value) is not int:
        return f"is a {type(value).__name__}: give a Python integer"
    if type(value) is Tensor and value.layout is torch.strided:
        if value.is_nested or value.is_quantized:
            return "is no plain tensor: give one"
        if value.requires_grad:
            return "requires a gradient, which packing would cut: detach it"
        return None
    kind = type(value).__name__
    if is_sparse(value) or isinstance(value, TensorFrame | Mapping):
        return f"is a {kind}, which does not pack: leave it out"
    if isinstance(value, Tensor):
        return f"is a {kind}: give a plain tensor"
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value):
        if isinstance(value[0], Tensor | Mapping):
            return f"is a {kind} of {type(value[0]).__name__}: give one tensor for each"
    return None


def _attribute(data: Data, name: str, value: Any) -> _Attribute:
    """Ask a graph how PyG takes an attribute into a batch."""
    if isinstance(value, int | float):
        shift = 0 if name == "num_nodes" else _shift(data, name, value)
        found = _Attribute(value, ("number", type(value)), 0, shift)
    elif isinstance(value, Tensor):
        dim = data.__cat_dim__(name, value, data._store)
        if dim is None or value.dim() == 0:
            value, rows, where = value.unsqueeze(0), value.unsqueeze(0), 0
            shape = "stacked"
        else:
            where = dim % value.dim()
            rows = value.movedim(dim, 0) if where else value
            shape = "joined"
        like = ("rows", value.dtype, rows.shape[1:], shape, dim, value.device)
        found = _Attribute(rows, like, where, _shift(data, name, value))
    else:
        return _Attribute(value, ("value",))
    if found.shift and found.like[1] not in _INTEGERS | {int}:
        raise TypeError(
            f"it would add {found.shift} to {found.like[1]}: a name without 'index' or "
            "'batch' keeps it as it is"
        )
    return found


def _shift(data: Data, name: str, value: Any) -> int:
    """Return what PyG adds to an attribute of the graphs that follow in a batch."""
    shift = data.__inc__(name, value, data._store)
    if type(shift) is not int:
        given = torch.as_tensor(shift)
        if given.dim() or given.is_floating_point():
            raise TypeError(f"__inc__ must be a single integer, got {shift!r}")
        shift = int(given)
    if shift < 0:
        raise TypeError(f"__inc__ must not be negative, got {shift}")
    return shift


def _numbers(name: str, values: list[Any]) -> Tensor:
    try:
        return torch.tensor(values)
    except (OverflowError, RuntimeError, ValueError) as error:
        raise ValueError(f"{name} has numbers that no tensor holds: {error}") from error


def _named(counts: list[int], shared: dict[str, list[int]], first: str) -> str | None:
    """Return which of the shared pointers has these counts."""
    for group in (first, *shared):
        if shared.get(group) == counts:
            return group
    return None


def _value(found: dict[str, _Attribute], name: str) -> Any:
    return found[name].value if name in found else None


def _check_alike(
    i: int, found: dict[str, _Attribute], first: dict[str, _Attribute]
) -> None:
    if found.keys() != first.keys():
        differing = sorted(found.keys() ^ first.keys())
        raise ValueError(
            f"graph {i} and graph 0 differ in their attributes {differing}: give all "
            "graphs the same"
        )
    for name, attribute in found.items():
        if attribute.like != first[name].like:
            both = attribute, first[name]
            here, there = map(_words, both)
            if here == there:  # of another device, or a row instead of a number
                here, there = (f"{_words(each)} {each.like[3:]}" for each in both)
            raise ValueError(
                f"{name} of graph {i} is {here}, of graph 0 {there}: rows must be alike"
            )


def _words(attribute: _Attribute) -> str:
    what, *rest = attribute.like
    if what == "rows":
        return f"{rest[0]} {tuple(attribute.value.shape)}"
    return rest[0].__name__ if rest else type(attribute.value).__name__


def _check_rows(i: int, found: dict[str, _Attribute], nodes: int) -> None:
    """Refuse rows that in a batch would silently go to other graphs."""
    edges = found["edge_index"]
    if edges.dim != 1 or edges.shift != nodes:
        raise ValueError(
            f"edge_index of graph {i} is not numbered by num_nodes in a batch: leave "
            f"__cat_dim__ and __inc__ of edge_index as they are, {PYG}"
        )
    wanted = {"node": nodes, "edge": len(edges.value)}
    level = _value(found, _LEVEL)
    if isinstance(level, Tensor):
        wanted["tree"] = len(level)
    for name, attribute in found.items():
        group, rows = GROUPS.get(name), attribute.value
        if group and isinstance(rows, Tensor) and len(rows) != wanted.get(group):
            raise ValueError(
                f"{name} of graph {i} has {len(rows)} rows, its graph has "
                f"{wanted.get(group, f'no {_LEVEL}')} ({group}): give one row for each"
            )
        if isinstance(rows, Tensor) and rows.device != edges.value.device:
            raise ValueError(
                f"{name} of graph {i} is on {rows.device}, its edge_index on "
                f"{edges.value.device}: move both to one device"
            )
