"""ViewDraft: the batch being edited; Augmentation: the base of what edits it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Generator, Tensor
from torch_geometric.data import Batch, Data

from .. import _kernels
from ..profile import phase
from ..utils.checks import check_indices
from ..utils.scatter import prefix_sum
from ._check_graphs import graphs_of


@dataclass(frozen=True)
class ViewDraft:
    """A batch that is being edited; the order of graphs, nodes and columns is fixed.

    Args:
        x: edited node features, ``(num_nodes, ...)``, or None.
        edge_index: edited columns, each within its graph, ``(2, num_columns)``.
        batch: graph of each node, ascending, ``(num_nodes,)``.
        ptr: first node of each graph, and the end, ``(num_graphs + 1,)``.
        node: whether a node stays, ``(num_nodes,)``.
        edge: whether a column stays, ``(num_columns,)``; if so, both its nodes stay.
    """

    x: Tensor | None
    edge_index: Tensor
    batch: Tensor
    ptr: Tensor
    node: Tensor
    edge: Tensor

    def __post_init__(self) -> None:
        """Refuse an edit from which kernels would read what is not there."""
        check_indices("edge_index", self.edge_index, (2, *self.edge_index.shape[-1:]))
        _check_mask("node", self.node, len(self.batch))
        _check_mask("edge", self.edge, self.edge_index.size(1))
        if self.x is not None and len(self.x) != len(self.batch):
            raise ValueError(
                f"x has {len(self.x)} rows but batch {len(self.batch)}: give one for "
                "each node"
            )

    @classmethod
    def of(cls, data: Data) -> ViewDraft:
        """Return the draft of a batch or a single graph, from which nothing is cut yet.

        Raises:
            ValueError: for data without ``edge_index``, or whose edges, batch and
                features do not fit each other.
        """
        edges, batch, ptr = graphs_of(data)
        node = torch.ones_like(batch, dtype=torch.bool)
        edge = torch.ones_like(edges[0], dtype=torch.bool)
        return cls(data.x, edges, batch, ptr, node, edge)

    @cached_property
    def edge_batch(self) -> Tensor:
        """Graph of each column, ``(num_columns,)``."""
        return self.batch.index_select(0, self.edge_index[0])

    @property
    def sizes(self) -> Tensor:
        """Number of nodes of each graph, ``(num_graphs,)``."""
        return self.ptr.diff()

    def induced(self, node: Tensor) -> ViewDraft:
        """Return the draft with the marked nodes and the columns between them."""
        if self._is_compiled():
            draft = replace(self, node=node, edge=self.edge.clone())
            keep, columns = draft.edge.numpy(), draft._columns()
            draft._check(_kernels.keep_between(keep, columns, node.numpy()))
            return draft
        source, target = (node.index_select(0, ends) for ends in self.edge_index)
        return replace(self, node=node, edge=self.edge & source & target)

    def splice(self, other: ViewDraft, graph: Tensor) -> ViewDraft:
        """Return the draft with the marked graphs taken from another draft."""
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
        """Return the view as a new batch, with nodes renumbered.

        Raises:
            ValueError: for edge features that do not match ``edge_index``.
        """
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
        """Return the columns that stay, with nodes renumbered."""
        if not self._is_compiled():
            columns = self.edge.nonzero().view(-1)
            return label[self.edge_index.index_select(1, columns)]
        edges = torch.empty(2, int(self.edge.sum()), dtype=torch.long)
        arrays = edges, self.edge_index.contiguous(), self.edge, label[:-1]
        self._check(_kernels.relabel_edges(*(array.numpy() for array in arrays)))
        return edges

    def _check(self, bad: int) -> None:
        """Raise ValueError if an edge joins what are no nodes."""
        if bad >= 0:
            raise ValueError(
                f"column {bad} of the edited edge_index joins "
                f"{self.edge_index[:, bad].tolist()} of {len(self.batch)} nodes"
            )

    def _is_compiled(self) -> bool:
        """Return whether kernels cut, rather than torch."""
        return self.edge_index.device.type == "cpu"

    def _columns(self) -> Any:
        return self.edge_index.contiguous().numpy()


class Augmentation(ABC):
    """Base of all augmentations, ``augmentation(data, generator) -> view``.

    A subclass defines :meth:`edit`.
    """

    @abstractmethod
    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        """Return an edited draft; the given one is not modified."""

    def __call__(self, data: Data, generator: Generator | None = None) -> Batch:
        """Draw one view of every graph.

        Args:
            data: a ``Batch``, or a ``Data`` as one graph; not modified.
            generator: source of randomness, on any device; default torch's own. The
                same seed gives the same view, bit for bit on a CPU.

        Returns:
            A batch on the same device with as many graphs, each with at least one node.
            It holds ``edge_index``, ``batch``, ``ptr`` and, if present, ``x``,
            ``edge_attr``, ``edge_weight`` and ``y``. Other attributes, coding trees
            among them, describe the old graphs and are left out.

        Raises:
            ValueError: for data without ``edge_index``, or edge features that do not
                match it.
        """
        with phase("augmentation"):
            return self.edit(ViewDraft.of(data), generator).view(data)


def _check_mask(name: str, mask: Tensor, count: int) -> None:
    if mask.dtype != torch.bool or mask.shape != (count,):
        raise ValueError(
            f"{name} of a draft must be torch.bool of shape ({count},), got "
            f"{mask.dtype} of shape {tuple(mask.shape)}"
        )


def _check_rows(key: str, rows: Tensor, edge: Tensor) -> None:
    if len(rows) != len(edge):
        raise ValueError(
            f"{key} has {len(rows)} rows but edge_index has {len(edge)} columns; "
            f"delete {key}, or give added self-loops their rows"
        )
