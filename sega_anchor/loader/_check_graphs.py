"""Checks of graphs that are packed: kernels then cut batches without looking."""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch_geometric.data import Data

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


def check_alike(i: int, rows: dict[str, Tensor], first: dict[str, Tensor]) -> None:
    """Refuse graphs whose tables cannot lie one behind the other."""
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


def check_rows(i: int, data: Data, rows: dict[str, Tensor]) -> None:
    """Refuse graphs whose batches would silently be wrong."""
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


def check_tables(fields: Mapping[str, Tensor], ptr: Mapping[str, Tensor]) -> None:
    """Refuse tables from which graphs could not be cut."""
    entries = len(ptr["node"])
    for group, begin in ptr.items():
        if len(begin) != entries or begin[0] != 0 or bool((begin.diff() < 0).any()):
            raise ValueError(
                f"ptr of {group!r} must rise from 0 and have {entries} entries, as "
                "that of the nodes"
            )
    for name, field in fields.items():
        group = GROUPS.get(name, "")
        rows = int(ptr[group][-1]) if group in ptr else entries - 1
        if len(field) != rows:
            raise ValueError(
                f"{name} has {len(field)} rows, but ptr names {rows}: give one for "
                f"each {group if group in ptr else 'graph'}"
            )


def check_edges(edges: Tensor, ptr: Mapping[str, Tensor]) -> None:
    """Refuse edges, one in each row, that would lead into other graphs of a batch."""
    size = ptr["node"].diff()
    most = size.repeat_interleave(ptr["edge"].diff()).unsqueeze(1).to(edges.device)
    stray = ((edges < 0) | (edges >= most)).any(1)
    if bool(stray.any()):
        bad = int(stray.nonzero()[0])
        graph = int(torch.searchsorted(ptr["edge"], bad, right=True)) - 1
        raise ValueError(
            f"an edge of graph {graph} joins nodes {edges[bad].tolist()}, but it has "
            f"{int(size[graph])} nodes: edge_index must fit them"
        )
