"""What runs on a GPU, gathers in place of compiled kernels, gives the same."""

from typing import Any

import pytest
import torch
from torch_geometric.data import Batch

from sega_anchor import AddCodingTree
from sega_anchor.augment import (
    EdgePerturb,
    NodeDrop,
    Subgraph,
    ViewDraft,
    _check_graphs,
)
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.loader import PackedGraphs
from sega_anchor.loader._cut import Cut
from sega_anchor.trees import levels
from sega_anchor.utils import scatter as sums
from tests.helpers import fixed_views
from tests.helpers.graphs import assert_same
from tests.helpers.unfit import WRONG, pair


@pytest.fixture
def dataset() -> SyntheticCommunities:
    return SyntheticCommunities(num_graphs=45)


def switch_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything run through torch, as on a GPU."""
    monkeypatch.setattr(Cut, "is_compiled", False)
    monkeypatch.setattr(ViewDraft, "_is_compiled", lambda _: False)
    monkeypatch.setattr(_check_graphs, "_is_compiled", lambda _: False)
    monkeypatch.setattr(sums, "_compiled", lambda _: False)
    monkeypatch.setattr(levels, "_slice_on_cpu", levels._slice_anywhere)


def test_batches_are_the_same(dataset, monkeypatch) -> None:
    packed = PackedGraphs.of(AddCodingTree(3).map(list(dataset))).compact()
    index = [7, 0, 44, 7]
    compiled = packed.batch(index)
    switch_off(monkeypatch)
    assert_same(packed.batch(index), compiled)


@pytest.mark.parametrize(
    "view", [NodeDrop(0.2), EdgePerturb(0.2, add=True), Subgraph(0.8)]
)
def test_views_are_the_same(view: Any, dataset, monkeypatch) -> None:
    batch = Batch.from_data_list(list(dataset))
    compiled = view(batch, torch.Generator().manual_seed(0))
    switch_off(monkeypatch)
    assert_same(view(batch, torch.Generator().manual_seed(0)), compiled)


@pytest.mark.parametrize("what", WRONG)
def test_the_same_is_refused(what: str, monkeypatch) -> None:
    switch_off(monkeypatch)
    change, message = WRONG[what]
    with pytest.raises(ValueError, match=message):
        NodeDrop()(pair(**change))


def test_losses_and_gradients_are_the_same(monkeypatch) -> None:
    def found() -> dict[str, dict[str, torch.Tensor]]:
        batch = Batch.from_data_list(fixed_views.graphs())
        with fixed_views.without_chance():
            return {
                name: fixed_views.measured(model, batch.clone())
                for name, model in fixed_views.models()
            }

    compiled = found()
    switch_off(monkeypatch)
    for name, values in found().items():
        for key, value in values.items():
            torch.testing.assert_close(value, compiled[name][key])
