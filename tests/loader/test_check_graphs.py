"""Tables from which batches could not be cut are refused when they are packed."""

from typing import Any

import pytest
import torch
from torch_geometric.data import Data

from sega_anchor.loader import PackedGraphs

PAIR = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))


@pytest.mark.parametrize("end", [2, -1, 10**9])
def test_an_edge_to_another_graph_is_refused(end: int) -> None:
    wrong = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, end]]))
    message = rf"an edge of graph 1 joins nodes \[1, {end}\], but it has 2 nodes"
    with pytest.raises(ValueError, match=message):
        PackedGraphs.of([PAIR, wrong, PAIR])


@pytest.mark.parametrize("kind", [torch.float32, torch.bool])
def test_edges_that_are_no_numbers_are_refused(kind: torch.dtype) -> None:
    wrong = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]).to(kind))
    with pytest.raises(ValueError, match="edge_index must be int64 or int32"):
        PackedGraphs.of([wrong])


@pytest.mark.parametrize(
    ("group", "ptr", "message"),
    [
        ("node", [0, 2, 9], "x has 4 rows, but ptr names 9"),
        ("edge", [0, 1, 10**9], "edge_index has 2 rows, but ptr names 1000000000"),
        ("edge", [0, 3, 2], "ptr of 'edge' must rise from 0 and have 3 entries"),
        ("edge", [-1, 1, 2], "ptr of 'edge' must rise from 0"),
        ("edge", [0, 2], "ptr of 'edge' must rise from 0 and have 3 entries"),
    ],
)
def test_a_ptr_that_does_not_fit_is_refused(
    group: str, ptr: list[int], message: str
) -> None:
    packed = PackedGraphs.of([PAIR, PAIR])
    changed: dict[str, Any] = {**packed.ptr, group: torch.tensor(ptr)}
    with pytest.raises(ValueError, match=message):
        PackedGraphs(packed.fields, changed)


def test_labels_need_a_row_for_each_graph() -> None:
    packed = PackedGraphs.of([PAIR, PAIR])
    with pytest.raises(ValueError, match="y has 3 rows, but ptr names 2: give"):
        PackedGraphs({**packed.fields, "y": torch.zeros(3)}, packed.ptr)
