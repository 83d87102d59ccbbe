"""PackedGraphs: many graphs as flat tensors, in memory or mapped from disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

#: What the rows of a field belong to; of any other field each graph has one row.
GROUPS = {
    "x": "node",
    "tree_x": "node",
    "edge_index": "edge",
    "edge_attr": "edge",
    "edge_weight": "edge",
    "tree_level": "tree",
    "tree_parent": "tree",
}


class PackedGraphs:
    """Graphs as one tensor per field, from which batches are cut by gathers.

    A batch costs a few gathers however many graphs it has, where PyG's collation costs
    Python for each. Trees ride along, see :func:`~sega_anchor.levels.tree_levels`.

    Args:
        fields: by name, the rows of all graphs one behind the other; ``edge_index`` as
            ``(num_edges, 2)``, numbered within each graph.
        ptr: for "node", "edge" and perhaps "tree" the first row of each graph, and the
            end, ``(num_graphs + 1,)``.
        dtypes: what batches get, where it is not what ``fields`` hold.

    Example:
        >>> pair = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))
        >>> graphs = PackedGraphs.of([pair, pair, pair])
        >>> graphs.batch([0, 2]).edge_index
        tensor([[0, 2],
                [1, 3]])
    """

    def __init__(
        self,
        fields: Mapping[str, Tensor],
        ptr: Mapping[str, Tensor],
        dtypes: Mapping[str, torch.dtype] | None = None,
    ) -> None:
        self.fields = dict(fields)
        self.ptr = dict(ptr)
        kept = {name: field.dtype for name, field in self.fields.items()}
        self.dtypes = {**kept, **(dtypes or {})}

    @classmethod
    def of(cls, graphs: Sequence[Data]) -> PackedGraphs:
        """Pack graphs; all attributes that are tensors come along.

        Raises:
            ValueError: without graphs, or for the first graph whose attributes, their
                types or widths differ from those of graph 0, whose rows are not those
                of its nodes or edges, or which PyG would renumber in a batch.
        """
        if not len(graphs):
            raise ValueError("there are no graphs to pack")
        listed = list(graphs)
        first = _rows(listed[0])
        columns: dict[str, list[Tensor]] = {name: [] for name in first}
        sizes: dict[str, list[int]] = {"node": [], "edge": []}
        if "tree_level" in first:
            sizes["tree"] = []
        for i, data in enumerate(listed):
            rows = first if i == 0 else _rows(data)
            _check_alike(i, rows, first)
            _check_rows(i, data, rows)
            for name, values in rows.items():
                columns[name].append(values)
            sizes["node"].append(int(data.num_nodes or 0))
            sizes["edge"].append(len(rows["edge_index"]))
            if "tree" in sizes:
                sizes["tree"].append(len(rows["tree_level"]))
        fields = {name: torch.cat(values) for name, values in columns.items()}
        return cls(fields, {k: _prefix_sum(torch.tensor(v)) for k, v in sizes.items()})

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self.ptr["node"]) - 1

    def __getitem__(self, i: int) -> Data:
        """Return one graph."""
        if not -len(self) <= i < len(self):
            raise IndexError(f"there are {len(self)} graphs, got index {i}")
        batch = self.batch([i % len(self)])
        data = Data(**{name: batch[name] for name in self.fields})
        if "x" not in self.fields:
            data.num_nodes = batch.num_nodes
        return data

    @property
    def sizes(self) -> Tensor:
        """Number of nodes of each graph, ``(num_graphs,)``."""
        return self.ptr["node"].diff()

    def to(self, device: str | torch.device) -> PackedGraphs:
        """Return the graphs on another device, batches included."""
        fields = {name: field.to(device) for name, field in self.fields.items()}
        ptr = {group: values.to(device) for group, values in self.ptr.items()}
        return PackedGraphs(fields, ptr, self.dtypes)

    def batch(self, index: Tensor | Sequence[int]) -> Batch:
        """Return the batch of some graphs, equal to PyG's collation of them.

        Args:
            index: numbers of the graphs, from 0, in the order wanted.

        Raises:
            IndexError: for what is no list of such numbers, such as a mask.
        """
        index = self._numbers(index)
        begin = {group: values[index] for group, values in self.ptr.items()}
        size = {g: values[index + 1] - begin[g] for g, values in self.ptr.items()}
        rows = {group: _ranges(begin[group], size[group]) for group in size}
        cut: dict[str, Any] = {}
        for name, field in self.fields.items():
            at = rows.get(GROUPS.get(name, ""), index)
            cut[name] = field[at].to(self.dtypes[name])
        ptr = _prefix_sum(size["node"])
        shift = ptr[:-1].repeat_interleave(size["edge"]).unsqueeze(1)
        cut["edge_index"] += shift
        cut["edge_index"] = cut["edge_index"].t().contiguous()
        graph = torch.arange(len(index), device=index.device)
        cut["batch"] = graph.repeat_interleave(size["node"])
        batch = Batch(**cut)
        batch.ptr = ptr
        if "x" not in cut:
            batch.num_nodes = len(cut["batch"])
        return batch

    def _numbers(self, index: Tensor | Sequence[int]) -> Tensor:
        device = self.ptr["node"].device
        if not len(index):
            return torch.empty(0, dtype=torch.long, device=device)
        index = torch.as_tensor(index)
        if index.dim() != 1 or index.is_floating_point() or index.dtype == torch.bool:
            raise IndexError(
                f"index must be a list of graph numbers, got {index.dtype} of shape "
                f"{tuple(index.shape)}: for a mask, pass mask.nonzero().view(-1)"
            )
        least, most = int(index.min()), int(index.max())
        if least < 0 or most >= len(self):
            wrong = least if least < 0 else most
            raise IndexError(f"there are {len(self)} graphs, got index {wrong}")
        return index.to(device, torch.long)


def _rows(data: Data) -> dict[str, Tensor]:
    """Return the tensors of a graph with their rows first."""
    shape = None if data.edge_index is None else tuple(data.edge_index.shape)
    if shape is None or len(shape) != 2 or shape[0] != 2:
        raise ValueError(
            f"edge_index must have shape (2, num_edges), got {shape}; without edges, "
            "give (2, 0)"
        )
    found = {k: v for k, v in data.to_dict().items() if isinstance(v, Tensor)}
    found["edge_index"] = found["edge_index"].t()
    return {k: v.view(1) if v.dim() == 0 else v for k, v in found.items()}


def _check_alike(i: int, rows: dict[str, Tensor], first: dict[str, Tensor]) -> None:
    if rows.keys() != first.keys():
        differing = sorted(rows.keys() ^ first.keys())
        raise ValueError(
            f"graph {i} and graph 0 differ in their attributes {differing}: give all "
            "graphs the same"
        )
    for name, values in rows.items():
        wanted = first[name]
        if values.dtype != wanted.dtype or values.shape[1:] != wanted.shape[1:]:
            raise ValueError(
                f"{name} of graph {i} is {values.dtype} {tuple(values.shape)}, of "
                f"graph 0 {wanted.dtype} {tuple(wanted.shape)}: rows must be alike"
            )


def _check_rows(i: int, data: Data, rows: dict[str, Tensor]) -> None:
    """Refuse what would make batches wrong without a word."""
    wanted = {"node": data.num_nodes, "edge": len(rows["edge_index"])}
    if "tree_level" in rows:
        wanted["tree"] = len(rows["tree_level"])
    for name, values in rows.items():
        group = GROUPS.get(name)
        if group is None and len(values) != 1:
            raise ValueError(
                f"{name} of graph {i} has {len(values)} rows: what belongs to the "
                "whole graph needs exactly one"
            )
        if group is not None and len(values) != wanted.get(group):
            raise ValueError(
                f"{name} of graph {i} has {len(values)} rows, its graph has "
                f"{wanted.get(group, 'no tree_level')} ({group}): give one row for each"
            )
        if name not in GROUPS and bool(data.__inc__(name, values)):
            raise ValueError(
                f"{name} of graph {i} would be renumbered by PyG in a batch, which "
                "is done here for edge_index alone: give it a name without 'index', "
                "'batch' or 'face'"
            )


def _prefix_sum(sizes: Tensor) -> Tensor:
    return torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])


def _ranges(begin: Tensor, size: Tensor) -> Tensor:
    """Return the numbers begin[i], ..., begin[i] + size[i] - 1 for all i.

    Example:
        >>> _ranges(torch.tensor([5, 0]), torch.tensor([2, 3]))
        tensor([5, 6, 0, 1, 2])
    """
    before = size.cumsum(0) - size
    total = int(size.sum())
    shift = (begin - before).repeat_interleave(size, output_size=total)
    return torch.arange(total, device=begin.device) + shift
