"""A digest of packed graphs: what changes it, and what does not."""

from typing import Any

import pytest
import torch
from torch_geometric.data import Data

from sega_anchor.loader import PackedGraphs, PackedWriter, open_packed
from sega_anchor.loader.digest import digest


def graphs(**changed: Any) -> list[Data]:
    """Return two paths, the second with other values, if any are given."""
    path = {
        "x": torch.tensor([[1.0], [0.5], [300.0]]),
        "edge_index": torch.tensor([[0, 1], [1, 2]]),
        "edge_attr": torch.tensor([[1], [2]]),
        "name": "a",
    }
    return [Data(**path), Data(**{**path, **changed})]


SAME = digest(PackedGraphs.of(graphs()))


@pytest.mark.parametrize(
    "changed",
    [
        {"x": torch.tensor([[1.0], [0.5], [301.0]])},
        {"edge_index": torch.tensor([[0, 1], [1, 0]])},
        {"edge_attr": torch.tensor([[1], [3]])},
        {"name": "b"},
        {"x": torch.zeros(4, 1)},
    ],
)
def test_every_value_counts(changed: dict) -> None:
    assert digest(PackedGraphs.of(graphs(**changed))) != SAME


def test_names_and_types_count() -> None:
    for name, value in (("other", 1), ("edge_attr", None), ("x", torch.float64)):
        given = graphs()
        for data in given:
            if isinstance(value, torch.dtype):
                data.x = data.x.to(value)
            else:
                data[name] = value
        assert digest(PackedGraphs.of(given)) != SAME


def test_where_graphs_begin_counts() -> None:
    sizes = [
        [Data(edge_index=torch.empty(2, 0).long(), num_nodes=n) for n in nodes]
        for nodes in ((1, 3), (3, 1), (2, 2))
    ]
    assert len({digest(PackedGraphs.of(each)) for each in sizes}) == 3


def test_what_is_beside_counts() -> None:
    packed = PackedGraphs.of(graphs())
    labels = torch.tensor([0, 1])
    found = [
        digest(packed, labels=labels),
        digest(packed, labels=labels.flip(0)),
        digest(packed, labels=labels, train=labels),
        digest(packed, labels=labels, smiles=["C", "CC"]),
        digest(packed, labels=labels, smiles=["CC", "C"]),
    ]
    assert len({SAME, *found}) == 6


def test_where_and_how_graphs_are_kept_does_not_count(tmp_path) -> None:
    packed = PackedGraphs.of(graphs())
    assert digest(packed.compact()) == SAME
    writer = PackedWriter(tmp_path, {})
    writer.append(packed.compact())
    writer.finish()
    assert digest(open_packed(tmp_path)) == SAME
