"""PackedGraphs: many graphs as flat tensors, in memory, on a GPU or on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from ..utils.checks import check_indices
from ..utils.scatter import prefix_sum
from ._check_graphs import GROUPS, check_alike, check_edges, check_rows, check_tables
from ._cut import Cut

_COMPRESSIBLE = {
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.float32,
    torch.float64,
}


class PackedGraphs:
    """Graphs as one tensor per field, from which batches are cut.

    A batch costs a few copies however many graphs it has, where PyG's collation costs
    Python for each. Trees ride along, see
    :func:`~sega_anchor.trees.levels.tree_levels`.

    Args:
        fields: by name, the rows of all graphs one behind the other; ``edge_index`` as
            ``(num_edges, 2)``, numbered within each graph.
        ptr: for "node", "edge" and perhaps "tree" the first row of each graph, and the
            end, ``(num_graphs + 1,)``; on the CPU, wherever the fields are.
        dtypes: what batches get, where it is not what ``fields`` hold.

    Raises:
        ValueError: for rows that are not those of ``ptr``.

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
        self.fields = {name: field.detach() for name, field in fields.items()}
        self.ptr = dict(ptr)
        kept = {name: field.dtype for name, field in self.fields.items()}
        self.dtypes = {**kept, **(dtypes or {})}
        check_tables(self.fields, self.ptr)

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
            check_alike(i, rows, first)
            check_rows(i, data, rows)
            for name, values in rows.items():
                columns[name].append(values)
            sizes["node"].append(int(data.num_nodes or 0))
            sizes["edge"].append(len(rows["edge_index"]))
            if "tree" in sizes:
                sizes["tree"].append(len(rows["tree_level"]))
        fields = {name: torch.cat(values) for name, values in columns.items()}
        packed = cls(fields, {k: prefix_sum(torch.tensor(v)) for k, v in sizes.items()})
        check_edges(packed.fields["edge_index"], packed.ptr)
        return packed

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self.ptr["node"]) - 1

    def __getitem__(self, i: int) -> Data:
        """Return one graph."""
        if not -len(self) <= i < len(self):
            raise IndexError(f"there are {len(self)} graphs, got index {i}")
        batch = self.batch([i % len(self)])
        data: Data = batch.get_example(0)
        return data

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
        fields = {name: field.to(device) for name, field in self.fields.items()}
        return PackedGraphs(fields, self.ptr, self.dtypes)

    def compact(self) -> PackedGraphs:
        """Return the same graphs in the smallest types that hold their values.

        One-hot features take a quarter, edges a quarter to an eighth; batches are the
        same.
        """
        fields = {name: _smallest(field) for name, field in self.fields.items()}
        return PackedGraphs(fields, self.ptr, self.dtypes)

    def with_labels(self, y: Tensor) -> PackedGraphs:
        """Return the graphs with one row of ``y`` for each.

        Args:
            y: ``(num_graphs, ...)``.
        """
        if len(y) != len(self):
            raise ValueError(f"there are {len(self)} graphs, got {len(y)} labels")
        fields = {**self.fields, "y": y.to(self.device)}
        return PackedGraphs(fields, self.ptr, {**self.dtypes, "y": y.dtype})

    def batch(self, index: Tensor | Sequence[int]) -> Batch:
        """Return the batch of some graphs, equal to PyG's collation of them.

        Args:
            index: numbers of the graphs, from 0, in the order wanted.

        Raises:
            IndexError: for what is no list of such numbers, such as a mask.
        """
        index = self._numbers(index)
        cuts = {}
        for group, ptr in self.ptr.items():
            begin = ptr[index]
            cuts[group] = Cut(begin, ptr[index + 1] - begin, self.device)
        one_each = Cut(index, torch.ones_like(index), self.device)
        batch, slices, shifts = Batch(), {}, {}
        nodes, first = cuts["node"], torch.zeros_like(index)
        for name, field in self.fields.items():
            cut = cuts.get(GROUPS.get(name, ""), one_each)
            if name == "edge_index":
                batch[name] = cut.edges(field, self.dtypes[name], nodes.ptr[:-1])
            else:
                batch[name] = cut.rows(field, self.dtypes[name])
            slices[name] = cut.ptr
            shifts[name] = nodes.ptr[:-1] if name == "edge_index" else first
        if "x" not in self.fields:
            batch.num_nodes = nodes.total
            batch._store._num_nodes = nodes.size.tolist()
        batch.batch = nodes.graphs()
        batch.ptr = nodes.ptr.to(self.device, non_blocking=True)
        # What PyG needs to take a batch apart again, and to know its size.
        batch._num_graphs = len(index)
        batch._slice_dict, batch._inc_dict = slices, shifts
        return batch

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


def _rows(data: Data) -> dict[str, Tensor]:
    """Return the tensors of a graph with their rows first."""
    shape = None if data.edge_index is None else tuple(data.edge_index.shape)
    if shape is None or len(shape) != 2 or shape[0] != 2:
        raise ValueError(
            f"edge_index must have shape (2, num_edges), got {shape}; without edges, "
            "give (2, 0)"
        )
    check_indices("edge_index", data.edge_index, shape)
    found = {k: v for k, v in data.to_dict().items() if isinstance(v, Tensor)}
    found["edge_index"] = found["edge_index"].t()
    return {k: v.view(1) if v.dim() == 0 else v for k, v in found.items()}


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
