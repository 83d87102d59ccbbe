"""read_published: the processed protein ego-networks that Hu et al. published."""

import pickle
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from .ego_networks import EgoNetworks

PUBLISHED = "geometric_data_processed.pt"

_FIELDS = ("x", "edge_index", "edge_attr", "center_node_idx", "species_id")
_LABELS = "go_target_downstream"


def read_published(path: Path, num_tasks: int | None) -> EgoNetworks:
    """Read a pair (data, slices) saved by an ``InMemoryDataset``.

    Files of PyG 1, such as Hu et al.'s, and of PyG 2 can be read, but no file that
    needs unpickling of code. Labels ``go_target_downstream`` become ``y``
    ``(num_graphs, num_tasks)``; those for supervised pre-training are left out.

    Args:
        path: the file.
        num_tasks: number of labels of each network; None to leave labels out.

    Raises:
        ValueError: if the file cannot be read this way or lacks an attribute.
    """
    fields, slices = _content(path)
    names = _FIELDS if num_tasks is None else (*_FIELDS, _LABELS)
    for name in names:
        if not isinstance(fields.get(name), Tensor) or name not in slices:
            raise ValueError(
                f"{str(path)!r} has no {name}; it has {', '.join(_tensors(fields))}"
            )
    kept = {name: fields[name] for name in names}
    ptr = {name: torch.as_tensor(slices[name]) for name in names}
    _check(path, kept, ptr, num_tasks)
    if num_tasks is not None:
        kept["y"] = kept.pop(_LABELS).view(-1, num_tasks).float()
        ptr["y"] = torch.arange(len(ptr.pop(_LABELS)))
    kept["edge_attr"] = kept["edge_attr"].float()
    return EgoNetworks(Data(**kept), ptr)


def _content(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the attributes of all networks, and where those of each network begin."""
    try:
        data, slices, *_ = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, ValueError, TypeError) as error:
        raise ValueError(
            f"{str(path)!r} is not read: it is damaged, or holds more than the tensors "
            "of a PyG data set, which could run foreign code when unpickled. If you "
            "trust it, load it with the PyG that wrote it and save plain tensors: "
            "torch.save((data.to_dict(), slices), path), where in PyG 1 "
            "dict(data) stands for data.to_dict()"
        ) from error
    # A Data of PyG 1 lacks the attributes that methods of PyG 2 use.
    fields = vars(data) if isinstance(data, Data) else data
    if "_store" in fields:
        fields = data.to_dict()
    if not isinstance(fields, dict) or not isinstance(slices, dict):
        raise ValueError(
            f"{str(path)!r} must hold a pair (data, slices), got "
            f"{type(data).__name__} and {type(slices).__name__}"
        )
    return fields, slices


def _check(
    path: Path,
    fields: dict[str, Tensor],
    slices: dict[str, Tensor],
    num_tasks: int | None,
) -> None:
    graphs = len(slices["x"]) - 1
    for name, ptr in slices.items():
        rows = fields[name].size(1 if name == "edge_index" else 0)
        if len(ptr) != graphs + 1 or int(ptr[-1]) != rows:
            raise ValueError(
                f"{str(path)!r} is damaged: slices of {name} end at {int(ptr[-1])} "
                f"after {len(ptr) - 1} networks, expected {rows} after {graphs}"
            )
    if fields["edge_attr"].dim() != 2 or fields["edge_attr"].size(1) != 9:
        raise ValueError(
            f"{str(path)!r}: edge_attr must have shape (num_edges, 9), got "
            f"{tuple(fields['edge_attr'].shape)}"
        )
    if num_tasks is not None and fields[_LABELS].numel() != graphs * num_tasks:
        raise ValueError(
            f"{str(path)!r} has {fields[_LABELS].numel()} labels of {graphs} networks, "
            f"expected {num_tasks} each; give another num_tasks"
        )


def _tensors(fields: dict[str, Any]) -> list[str]:
    return [name for name, value in fields.items() if isinstance(value, Tensor)]
