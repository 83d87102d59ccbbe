"""The batch being edited, and the base of all augmentations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Generator, Tensor
from torch_geometric.data import Batch, Data

from sega_anchor import _kernels
from sega_anchor.profile import phase
from sega_anchor.utils.scatter import prefix_sum


@dataclass(frozen=True)
class ViewDraft:
    """A batch on its way to a view; the order of graphs, nodes, columns is fixed.

    Attributes:
        x: node features (nodes, ...) with rewritten rows, or None.
        edge_index: (2, columns) with rewritten columns, each inside its old graph.
        batch: graph of each node (nodes,), ascending.
        ptr: first node of each graph, and the end (graphs + 1,).
        node: True where a node stays (nodes,).
        edge: True where a column stays (columns,); its two nodes then stay too.
    """

    x: Tensor | None
    edge_index: Tensor
    batch: Tensor
    ptr: Tensor
    node: Tensor
    edge: Tensor

    @classmethod
    def of(cls, data: Data) -> ViewDraft:
        """Read a batch, or a single graph, with everything staying."""
        if data.edge_index is None:
            raise ValueError("edge_index is None; without edges, give shape (2, 0)")
        edges, batch, ptr = data.edge_index, data.batch, data.get("ptr")
        if batch is None:
            batch = edges.new_zeros(data.num_nodes)
        if ptr is None:
            ptr = prefix_sum(batch.bincount(minlength=1))
        node = torch.ones_like(batch, dtype=torch.bool)
        edge = torch.ones_like(edges[0], dtype=torch.bool)
        return cls(data.x, edges, batch, ptr, node, edge)

    @cached_property
    def edge_batch(self) -> Tensor:
        """Graph of each column (columns,)."""
        return self.batch.index_select(0, self.edge_index[0])

    @property
    def sizes(self) -> Tensor:
        """Number of nodes of each graph (graphs,)."""
        return self.ptr.diff()

    def induced(self, node: Tensor) -> ViewDraft:
        """Keep these nodes only, and the columns between them."""
        if self._is_compiled():
            edge = self.edge.clone()
            _kernels.keep_between(edge.numpy(), self._columns(), node.numpy())
            return replace(self, node=node, edge=edge)
        source, target = (node.index_select(0, ends) for ends in self.edge_index)
        return replace(self, node=node, edge=self.edge & source & target)

    def splice(self, other: ViewDraft, graph: Tensor) -> ViewDraft:
        """Take the marked graphs (graphs,) from another draft of the same batch."""
        node, edge = graph[self.batch], graph[self.edge_batch]
        x = other.x
        if self.x is not None and x is not None and x is not self.x:
            x = self.x.index_put((node,), x[node])
        return replace(
            self,
            x=x,
            edge_index=torch.where(edge, other.edge_index, self.edge_index),
            node=torch.where(node, other.node, self.node),
            edge=torch.where(edge, other.edge, self.edge),
        )

    def view(self, data: Data) -> Batch:
        """Cut the view out of the data: nodes relabelled, columns in order."""
        label = prefix_sum(self.node)
        nodes = self.node.nonzero().view(-1)
        view = Batch(edge_index=self._edges(label))
        view.batch = self.batch.index_select(0, nodes)
        view.ptr = label[self.ptr]
        view._num_graphs = len(self.ptr) - 1
        if self.x is not None:
            view.x = self.x.index_select(0, nodes)
        if data.y is not None:
            view.y = data.y
        for key in ("edge_attr", "edge_weight"):
            if (rows := data.get(key)) is not None:
                _check_rows(key, rows, self.edge)
                view[key] = rows[self.edge]
        return view

    def _edges(self, label: Tensor) -> Tensor:
        """Return the columns that stay, their nodes relabelled."""
        if not self._is_compiled():
            columns = self.edge.nonzero().view(-1)
            return label[self.edge_index.index_select(1, columns)]
        edges = torch.empty(2, int(self.edge.sum()), dtype=torch.long)
        keep, numbers = self.edge.numpy(), label.numpy()
        _kernels.relabel_edges(edges.numpy(), self._columns(), keep, numbers)
        return edges

    def _is_compiled(self) -> bool:
        """Whether the kernels take these columns: on a CPU, in full length."""
        edges = self.edge_index
        return edges.device.type == "cpu" and edges.dtype == torch.long

    def _columns(self) -> Any:
        return self.edge_index.contiguous().numpy()


class Augmentation(ABC):
    """Base of all augmentations: `augmentation(data, generator) -> view`.

    To write one, define `edit`.
    """

    @abstractmethod
    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        """Strike out or rewrite nodes and columns; the argument is not modified."""

    def __call__(self, data: Data, generator: Generator | None = None) -> Batch:
        """Draw one view of every graph.

        Args:
            data: a `Batch`, or a `Data` taken as one graph; left untouched.
            generator: source of randomness, on any device (None: torch's default).
                The same seed gives the same view, bit for bit on the CPU.

        Returns:
            A batch on the same device with as many graphs, none of them emptied. It
            holds `edge_index`, `batch`, `ptr` and, where present, `x`, `edge_attr`,
            `edge_weight` and `y`. All else belongs to the old graphs and is left
            out, coding trees too.

        Raises:
            ValueError: without `edge_index`, or if edge features do not match it.
        """
        with phase("augmentation"):
            return self.edit(ViewDraft.of(data), generator).view(data)


def _check_rows(key: str, rows: Tensor, edge: Tensor) -> None:
    if len(rows) != len(edge):
        raise ValueError(
            f"{key} has {len(rows)} rows but edge_index has {len(edge)} columns; "
            f"delete {key}, or give added self-loops their rows"
        )
