"""PackedGraphs: many graphs as flat tensors, in memory, on a GPU or on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset, Subset
from torch_geometric.data import Batch, Data
from typing_extensions import override

from .. import _kernels
from ._cut import Cut
from ._nested import nest
from ._pack import Column as Column
from ._pack import pack

_COMPRESSIBLE = {
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.float32,
    torch.float64,
}


class PackedGraphs(Dataset[Data]):
    """Graphs as one tensor per field, from which batches are cut.

    A batch costs a few copies however many graphs it has, where PyG's collation costs
    Python for each. Trees ride along, see
    :func:`~sega_anchor.trees.levels.tree_levels`.

    Args:
        fields: by name, the rows of all graphs one behind the other; ``edge_index`` as
            ``(num_edges, 2)``, numbered within each graph.
        ptr: for "node", "edge" and whatever else the columns name the first row of each
            graph, and the end, ``(num_graphs + 1,)``; on the CPU, wherever the fields
            are.
        columns: how batches are made of each field; default what PyG does with an
            attribute of its name.
        values: by name, what each graph has that is no tensor, such as strings.
        kind: the class of the graphs.

    Raises:
        ValueError: for pointers that do not fit the fields.

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
        columns: Mapping[str, Column] | None = None,
        values: Mapping[str, Sequence[Any]] | None = None,
        kind: type[Data] = Data,
    ) -> None:
        self.fields = {name: field.detach() for name, field in fields.items()}
        self.ptr = dict(ptr)
        usual = {n: Column.usual(n, field.dtype) for n, field in self.fields.items()}
        self.columns = {**usual, **(columns or {})}
        self.values = dict(values or {})
        self.kind = kind
        self._check_ptr()
        # Whose edges nobody has looked at. They are looked at when a graph is first in
        # a batch: all at once would read a mapped file of any size from end to end.
        self._unchecked: Tensor | None = torch.ones(len(self), dtype=torch.bool)

    @classmethod
    def of(cls, graphs: Sequence[Data]) -> PackedGraphs:
        """Pack graphs; batches have all their attributes, as PyG would collate them.

        Raises:
            ValueError: without graphs, or for the first graph whose attributes, their
                types or widths differ from those of graph 0, whose edges name nodes
                that it does not have, or with what does not pack: sparse or nested
                tensors, dictionaries other than trees, numbers that PyG's ``__inc__``
                would not keep whole, graphs of several node types.
        """
        if not len(graphs):
            raise ValueError("there are no graphs to pack")
        listed = list(graphs)
        packed = cls(*pack(listed), kind=type(listed[0]))
        packed._check_edges(torch.arange(len(packed)))
        return packed

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self.ptr["node"]) - 1

    @override
    def __getitem__(self, i: int) -> Data:
        """Return one graph."""
        if not -len(self) <= i < len(self):
            raise IndexError(f"there are {len(self)} graphs, got index {i}")
        batch = self.batch([i % len(self)])
        data: Data = batch.get_example(0)
        return data

    def __getitems__(self, index: list[int]) -> Subset[Data]:
        """Return some graphs, for loaders; see :func:`batch_of`."""
        return Subset(self, index)

    @property
    def sizes(self) -> Tensor:
        """Number of nodes of each graph, ``(num_graphs,)``."""
        return self.ptr["node"].diff()

    @property
    def nbytes(self) -> int:
        """Memory that the fields take."""
        return sum(field.nbytes for field in self.fields.values())

    @property
    def device(self) -> torch.device:
        """Where the fields are."""
        return self.fields["edge_index"].device

    def to(self, device: str | torch.device) -> PackedGraphs:
        """Return the graphs on another device, batches included."""
        if torch.device(device).type != "cpu" and self.device.type == "cpu":
            self._check_edges(torch.arange(len(self)))
        return self._with({name: f.to(device) for name, f in self.fields.items()})

    def compact(self) -> PackedGraphs:
        """Return the same graphs in the smallest types that hold their values.

        One-hot features take a quarter, edges a quarter to an eighth; batches are the
        same.
        """
        return self._with({name: _smallest(f) for name, f in self.fields.items()})

    def with_labels(self, y: Tensor) -> PackedGraphs:
        """Return the graphs with one row of ``y`` for each.

        Args:
            y: ``(num_graphs, ...)``.
        """
        if len(y) != len(self):
            raise ValueError(f"there are {len(self)} graphs, got {len(y)} labels")
        labelled = self._with({**self.fields, "y": y.to(self.device)})
        labelled.columns["y"] = Column.usual("y", y.dtype)
        labelled.values.pop("y", None)
        return labelled

    def _with(self, fields: dict[str, Tensor]) -> PackedGraphs:
        found = PackedGraphs(fields, self.ptr, self.columns, self.values, self.kind)
        found._unchecked = self._unchecked
        return found

    def batch(self, index: Tensor | Sequence[int]) -> Batch:
        """Return the batch of some graphs, equal to PyG's collation of them.

        Args:
            index: numbers of the graphs, from 0, in the order wanted.

        Raises:
            IndexError: for what is no list of such numbers, such as a mask.
        """
        index = self._numbers(index)
        cuts = {"graph": Cut(index, torch.ones_like(index), self.device)}
        for group, ptr in self.ptr.items():
            begin = ptr[index]
            cuts[group] = Cut(begin, ptr[index + 1] - begin, self.device)
        nodes, unshifted = cuts["node"], torch.zeros_like(index)
        batch = Batch(_base_cls=self.kind)
        found: dict[str, Any] = {}
        slices: dict[str, Tensor] = {}
        shifts: dict[str, Tensor | None] = {}
        for name, field in self.fields.items():
            if name == "num_nodes":  # PyG adds these up
                batch.num_nodes = nodes.total
                batch._store._num_nodes = nodes.size.tolist()
                continue
            column = self.columns[name]
            cut = cuts[column.rows]
            shift = cuts[column.shift].ptr[:-1] if column.shift else unshifted
            slices[name], shifts[name] = cut.ptr, shift
            if name == "edge_index":
                self._check_edges(index)
                found[name] = cut.edges(field, column.dtype, shift)
                continue
            rows = cut.rows(field, column.dtype)
            if column.shift is not None:
                rows += cut.column(shift, rows)
            found[name] = rows.movedim(0, column.dim).contiguous()
        for name, values in self.values.items():
            found[name] = [values[i] for i in index.tolist()]
            slices[name], shifts[name] = cuts["graph"].ptr, None
        for name, value in nest(found).items():
            batch[name] = value
        batch.batch = nodes.graphs()
        batch.ptr = nodes.ptr.to(self.device, non_blocking=True)
        # What PyG needs to take a batch apart again, and to know its size.
        batch._num_graphs = len(index)
        batch._slice_dict, batch._inc_dict = nest(slices), nest(shifts)
        return batch

    def _check_edges(self, index: Tensor) -> None:
        """Refuse edges that name nodes of other graphs, which no kernel looks at."""
        if self._unchecked is None:
            return
        index = index[self._unchecked[index]]
        edges, nodes = self.ptr["edge"], self.sizes[index]
        wrong = _kernels.find_bad_edge(
            self.fields["edge_index"].cpu().numpy(),
            edges[index].numpy(),
            (edges[index + 1] - edges[index]).numpy(),
            nodes.numpy(),
        )
        if wrong >= 0:
            raise ValueError(
                f"edge_index of graph {int(index[wrong])} names a node outside its "
                f"graph, which has {int(nodes[wrong])}: number the nodes of each graph "
                "from 0; if the graphs come from a packed folder it is damaged: delete "
                "it and write it again"
            )
        self._unchecked[index] = False
        if not self._unchecked.any():
            self._unchecked = None

    def _check_ptr(self) -> None:
        """Refuse pointers that lead out of the fields, which no kernel looks at."""
        many = len(self)
        for group, ptr in self.ptr.items():
            wrong = ptr.shape != (many + 1,) or ptr.dtype != torch.long or ptr[0] != 0
            if wrong or bool((ptr.diff() < 0).any()):
                raise ValueError(
                    f"ptr[{group!r}] must ascend from 0, one entry for each graph and "
                    "one for the end"
                )
        for name, field in self.fields.items():
            group = self.columns[name].rows
            rows = many if group == "graph" else int(self.ptr[group][-1])
            if len(field) != rows:
                raise ValueError(f"{name} has {len(field)} rows, ptr says {rows}")

    def _numbers(self, index: Tensor | Sequence[int]) -> Tensor:
        if not len(index):
            return torch.empty(0, dtype=torch.long)
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
        return index.to("cpu", torch.long)


def _smallest(field: Tensor) -> Tensor:
    """Return the values in the smallest type that holds them exactly."""
    if not field.numel() or field.dtype not in _COMPRESSIBLE:
        return field
    if field.is_floating_point() and bool(((field == 0) & field.signbit()).any()):
        return field  # -0.0 is no integer
    least, most = field.min(), field.max()
    for dtype in (torch.uint8, torch.int16, torch.int32):
        if dtype.itemsize >= field.dtype.itemsize:
            break
        known = torch.iinfo(dtype)
        if known.min <= least and most <= known.max:
            if not field.is_floating_point() or bool((field == field.to(dtype)).all()):
                return field.to(dtype)
    return field


def batch_of(chosen: Any) -> Batch:
    """Return the batch of what ``PackedGraphs.__getitems__`` gives to a loader."""
    graphs: PackedGraphs = chosen.dataset
    return graphs.batch(chosen.indices)
