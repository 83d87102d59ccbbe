"""Data sets on disk: packed by worker processes, and through PyG's own loader."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.data import Batch, Data, OnDiskDataset
from torch_geometric.loader import DataLoader

from sega_anchor import AddCodingTree, AnchorView
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.loader import PackedLoader, pack_dataset
from sega_anchor.loader.on_disk import PackedWriter, open_packed
from tests.helpers.graphs import assert_same
from tests.helpers.paths import ROOT

TREE = AddCodingTree(height=2)


class OnDisk(OnDiskDataset):
    """The synthetic set in a database."""

    def __init__(self, root: Path, transform: Any = None) -> None:
        schema = {
            "x": {"dtype": torch.float, "size": (-1, 2)},
            "edge_index": {"dtype": torch.long, "size": (2, -1)},
            "y": {"dtype": torch.long, "size": (1,)},
        }
        super().__init__(str(root), transform, schema=schema)

    def process(self) -> None:
        graphs = list(SyntheticCommunities(num_graphs=60))
        self.extend([Data(x=g.x, edge_index=g.edge_index, y=g.y) for g in graphs])

    def serialize(self, data: Data) -> dict[str, Any]:
        return {key: data[key] for key in ("x", "edge_index", "y")}

    def deserialize(self, data: dict[str, Any]) -> Data:
        return Data.from_dict(data)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> OnDisk:
    return OnDisk(tmp_path_factory.mktemp("disk"), transform=TREE)


def expected() -> list[Data]:
    graphs = list(SyntheticCommunities(num_graphs=60))
    return TREE.map([Data(x=g.x, edge_index=g.edge_index, y=g.y) for g in graphs])


@pytest.mark.parametrize("workers", [0, 2])
def test_a_data_set_on_disk_is_packed_with_its_trees(
    dataset, tmp_path, workers: int
) -> None:
    packed = pack_dataset(dataset, tmp_path / "p", workers=workers, chunk=25)
    (batch,) = PackedLoader(packed, 60)
    assert_same(batch, Batch.from_data_list(expected()))


def test_packing_goes_on_where_it_was_interrupted(
    dataset, tmp_path, monkeypatch
) -> None:
    appended: list[int] = []
    append = PackedWriter.append

    def breaks(self: PackedWriter, graphs: Any, **place: Any) -> None:
        if len(appended) == 2:
            appended.append(0)
            raise KeyboardInterrupt
        appended.append(len(graphs))
        append(self, graphs, **place)

    monkeypatch.setattr(PackedWriter, "append", breaks)
    with pytest.raises(KeyboardInterrupt):
        pack_dataset(dataset, tmp_path / "p", chunk=16)
    (batch,) = PackedLoader(pack_dataset(dataset, tmp_path / "p", chunk=16), 60)
    assert appended == [16, 16, 0, 16, 12]
    assert_same(batch, Batch.from_data_list(expected()))
    pack_dataset(dataset, tmp_path / "p")
    assert len(appended) == 5  # only opened


def test_a_slice_is_packed_as_a_slice(dataset, tmp_path) -> None:
    (batch,) = PackedLoader(pack_dataset(dataset[5:9], tmp_path / "p"), 4)
    assert_same(batch, Batch.from_data_list(expected()[5:9]))


def test_another_transform_is_not_mixed_in(dataset, tmp_path) -> None:
    pack_dataset(dataset, tmp_path / "p")
    other = OnDisk(Path(dataset.root), transform=AddCodingTree(height=3))
    with pytest.raises(ValueError, match="height=2"):
        pack_dataset(other, tmp_path / "p")


@pytest.mark.parametrize("finished", [True, False])
def test_other_graphs_of_the_same_class_and_number_are_refused(
    tmp_path, monkeypatch, finished: bool
) -> None:
    first, other = (SyntheticCommunities(num_graphs=100, seed=s) for s in (0, 1))
    if not finished:
        monkeypatch.setattr(PackedWriter, "finish", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            pack_dataset(first, tmp_path / "p")
        monkeypatch.undo()
    packed = pack_dataset(first, tmp_path / "p")
    with pytest.raises(ValueError, match="holds other graphs, with content="):
        pack_dataset(other, tmp_path / "p")
    assert len(pack_dataset(SyntheticCommunities(100), tmp_path / "p")) == len(packed)


def test_what_a_transform_does_is_looked_at_too(tmp_path) -> None:
    class Scale:
        def __init__(self, by: float) -> None:
            self.by = by

        def __call__(self, data: Data) -> Data:
            return data.update({"x": data.x * self.by})

        def __repr__(self) -> str:
            return "Scale()"

    graphs = SyntheticCommunities(num_graphs=9)
    for by in (2.0, 3.0):
        graphs.transform = Scale(by)
        if by == 2.0:
            pack_dataset(graphs, tmp_path / "p")
    with pytest.raises(ValueError, match="holds other graphs, with content="):
        pack_dataset(graphs, tmp_path / "p")


def test_only_some_graphs_are_read_of_a_finished_folder(
    dataset, tmp_path, monkeypatch
) -> None:
    module = sys.modules[pack_dataset.__module__]
    monkeypatch.setattr(module, "_LOOKED_AT", 5)
    pack_dataset(dataset, tmp_path / "p")
    read: list[int] = []
    get = OnDisk.get

    def spy(self: OnDisk, i: int) -> Data:
        read.append(i)
        return get(self, i)

    monkeypatch.setattr(OnDisk, "get", spy)
    pack_dataset(dataset, tmp_path / "p")
    assert sorted(set(read)) == [0, 14, 29, 44, 59]


def test_pyg_s_own_loader_with_workers_trains_on_it(dataset) -> None:
    anchor = AnchorView(2, 8, 8, height=2)
    losses = [
        anchor.loss(torch.randn(batch.num_graphs, 8), batch)
        for batch in DataLoader(dataset, 20, shuffle=True, num_workers=2)
    ]
    assert len(losses) == 3 and all(loss.isfinite() for loss in losses)


AT_ONCE = """
from sega_anchor import AddCodingTree
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.loader import pack_dataset

dataset = SyntheticCommunities(num_graphs=60)
dataset.transform = AddCodingTree(height=2)
print(len(pack_dataset(dataset, "packed", chunk=5)))
"""


@pytest.mark.slow
def test_two_processes_in_one_folder(tmp_path: Path) -> None:
    here = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    command = [sys.executable, "-c", AT_ONCE]
    runs = [subprocess.Popen(command, stdout=-1, **here) for _ in range(3)]
    assert [run.communicate(timeout=120)[0].split() for run in runs] == [[b"60"]] * 3
    packed = open_packed(tmp_path / "packed")
    for graph, again in zip(SyntheticCommunities(num_graphs=60), packed, strict=True):
        assert torch.equal(graph.edge_index, again.edge_index)
