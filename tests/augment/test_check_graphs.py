"""Indices that do not fit are refused by name; before, kernels read beyond arrays."""

import subprocess
import sys
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Generator, Tensor
from torch_geometric.data import Data

from sega_anchor.augment import (
    Augmentation,
    Chosen,
    Identity,
    NodeDrop,
    ViewDraft,
)
from tests.helpers.graphs import assert_same
from tests.helpers.unfit import EVERY, WRONG, pair

every = pytest.mark.parametrize("name", EVERY)


@every
@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_refused(name: str, what: str) -> None:
    change, message = WRONG[what]
    with pytest.raises(ValueError, match=message):
        EVERY[name](pair(**change), torch.Generator().manual_seed(0))


@pytest.mark.slow
def test_no_index_kills_the_process() -> None:
    """In a process of its own: what is read beyond an array may end it."""
    script = """
from tests.helpers.unfit import EVERY, pair
for view in EVERY.values():
    for end in (9, 10**9, -(10**9)):
        try:
            view(pair(edge_index=[[0, end], [1, 2]]))
        except ValueError:
            print("refused")
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["refused"] * (3 * len(EVERY))


@every
def test_indices_of_32_bits_give_the_same(name: str) -> None:
    batch = pair()
    torch.manual_seed(0)
    expected = EVERY[name](batch)
    for key in ("edge_index", "batch", "ptr"):
        batch[key] = batch[key].int()
    torch.manual_seed(0)
    assert_same(EVERY[name](batch), expected)


def test_an_edge_beyond_a_single_graph_is_refused() -> None:
    data = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 3]]))
    with pytest.raises(ValueError, match=r"edge 1 joins nodes \[1, 3\], .* 3 nodes"):
        NodeDrop()(data)
    empty = Data(x=torch.ones(0, 1), edge_index=torch.tensor([[0], [0]]))
    with pytest.raises(ValueError, match="no two of 0 nodes"):
        Identity()(empty)


def test_graphs_without_nodes_may_stand_anywhere() -> None:
    batch = pair(batch=[1] * 4 + [3] * 4, ptr=[0, 0, 4, 4, 8, 8])
    view = Identity()(batch)
    assert view.ptr.tolist() == [0, 0, 4, 4, 8, 8]
    assert view.num_graphs == 5


@pytest.mark.parametrize("choice", [[0, 2], [-1, 0]])
def test_a_choice_of_no_augmentation_is_refused(choice: list[int]) -> None:
    chosen = Chosen([NodeDrop(), Identity()], torch.tensor(choice))
    with pytest.raises(ValueError, match=r"choice names row (2|-1), but there are 2"):
        chosen(pair())


@dataclass(frozen=True)
class Edited(Augmentation):
    """Somebody's own augmentation, which makes a mistake."""

    change: dict[str, Tensor]

    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        return replace(draft, **self.change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edge_index": torch.full((2, 6), 10**9)}, "column 0 of the edited edge_inde"),
        ({"edge_index": torch.full((2, 6), -9)}, "joins \\[-9, -9\\] of 8 nodes"),
        ({"edge_index": torch.zeros(2, 3, dtype=torch.long)}, "edge of a draft must"),
        ({"edge": torch.ones(99, dtype=torch.bool)}, r"edge .*shape \(6,\).* \(99,\)"),
        ({"node": torch.ones(3, dtype=torch.bool)}, r"node .*shape \(8,\), got"),
        ({"node": torch.ones(8)}, "node of a draft must be torch.bool"),
        ({"x": torch.ones(9, 2)}, "x has 9 rows but batch 8"),
    ],
)
def test_mistakes_of_an_edit_are_named(change: dict[str, Tensor], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Edited(change)(pair())


def test_a_cut_along_no_mask_of_nodes_is_refused() -> None:
    draft = ViewDraft.of(pair())
    with pytest.raises(ValueError, match=r"node of a draft must be .*shape \(8,\)"):
        draft.induced(torch.ones(2, dtype=torch.bool))
    edited = replace(draft, edge_index=torch.full((2, 6), 10**9))
    with pytest.raises(ValueError, match="column 0 of the edited edge_index"):
        edited.induced(draft.node)
