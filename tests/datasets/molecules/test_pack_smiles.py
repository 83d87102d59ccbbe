"""Packed graphs on disk: what is read is what was written, whenever it was killed."""

import importlib
import subprocess
import sys
import tempfile
import time
from itertools import islice, pairwise
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from sega_anchor import AddCodingTree
from sega_anchor.datasets.molecules.pack_smiles import pack_smiles
from sega_anchor.datasets.molecules.smiles import iterate_smiles, molecule_graph
from sega_anchor.loader.on_disk import PackedWriter, open_packed
from sega_anchor.loader.packed_graphs import PackedGraphs
from tests.helpers.examples import times
from tests.helpers.graphs import assert_same, treed_graphs
from tests.helpers.paths import real_data

ROWS = ["CCO", "C", "CC=O", "C(", "c1ccccc1", "[Na+].[Cl-]", "C*", "X", "N", "C#N"]
CHUNK = 2
# The package's name of this is the function.
smiles_store = importlib.import_module("sega_anchor.datasets.molecules.pack_smiles")


def source(path: Path) -> Path:
    path.write_text("smiles\n" + "\n".join(ROWS) + "\n")
    return path


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("[!.]*")}


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The files of an undisturbed run."""
    monkeypatch.setattr(smiles_store, "CHUNK", CHUNK)
    with pytest.warns(UserWarning, match="3 of 10 rows"):
        pack_smiles(source(tmp_path / "a.csv"), tmp_path / "whole", jobs=1)
    return content(tmp_path / "whole")


@given(treed_graphs(), st.data())
@times(0.25)
def test_what_is_read_from_disk_is_what_pyg_collates(
    listed: list[Data], data: st.DataObject
) -> None:
    cuts = data.draw(st.sets(st.integers(1, len(listed))))
    bounds = sorted({0, len(listed)} | cuts)
    index = data.draw(st.lists(st.integers(0, len(listed) - 1), min_size=1))
    with tempfile.TemporaryDirectory() as folder:
        for begin, end in pairwise(bounds):
            writer = PackedWriter(folder, {})  # each chunk by another process
            writer.append(PackedGraphs.of(listed[begin:end]))
        writer.finish()
        opened = open_packed(folder)
        assert_same(
            opened.batch(index), Batch.from_data_list([listed[i] for i in index])
        )
        for i, graph in enumerate(listed):
            assert_same(opened[i], graph)


@pytest.mark.parametrize("write", range(2, 40, 3))
def test_a_kill_at_any_write_leaves_no_trace(
    write: int,
    whole: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written, left = PackedWriter._write, [write]

    def half(self: PackedWriter, name: str, values: bytes) -> None:
        left[0] -= 1
        if left[0]:
            return written(self, name, values)
        with (self.folder / name).open("ab") as file:
            file.write(values[: len(values) // 2] + b"torn")
        raise KeyboardInterrupt

    monkeypatch.setattr(PackedWriter, "_write", half)
    with pytest.raises(KeyboardInterrupt):
        pack_smiles(tmp_path / "a.csv", tmp_path / "parts", jobs=1)
    monkeypatch.setattr(PackedWriter, "_write", written)
    with pytest.warns(UserWarning, match="3 of 10 rows"):
        pack_smiles(tmp_path / "a.csv", tmp_path / "parts", jobs=1)
    assert content(tmp_path / "parts") == whole


@pytest.mark.slow
def test_a_real_kill_loses_no_more_than_a_chunk(
    whole: dict[str, bytes], tmp_path: Path
) -> None:
    program = f"""
import sys, time
import importlib
store = importlib.import_module("sega_anchor.datasets.molecules.pack_smiles")
store.CHUNK = {CHUNK}
save = store.PackedWriter._save
def slowly(self):
    save(self)
    if self.meta["graphs"] > {CHUNK}:
        time.sleep(600)
store.PackedWriter._save = slowly
store.pack_smiles(sys.argv[1], sys.argv[2], jobs=1)
"""
    folder = tmp_path / "parts"
    command = [sys.executable, "-c", program, str(tmp_path / "a.csv"), str(folder)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    meta, deadline = folder / "meta.json", time.monotonic() + 120
    while not (meta.is_file() and '"graphs": 3' in meta.read_text()):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.wait()
    with pytest.raises(ValueError, match="is not finished"):
        open_packed(folder)
    writer = PackedWriter(folder, {})
    assert (writer.place["rows"], writer.meta["graphs"]) == (4, 3)
    with pytest.warns(UserWarning, match="3 of 10 rows"):
        pack_smiles(tmp_path / "a.csv", folder, jobs=1)
    assert content(folder) == whole


@pytest.mark.slow
def test_zinc_packs_to_what_its_molecules_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zinc = real_data("molecules", "zinc_250k.csv.gz")
    rows = list(islice(iterate_smiles(zinc), 300))
    (tmp_path / "a.smi").write_text("\n".join(rows))
    monkeypatch.setattr(smiles_store, "CHUNK", 70)
    packed = pack_smiles(tmp_path / "a.smi", tmp_path / "out", jobs=1)
    transform = AddCodingTree(height=5)
    expected = [transform(molecule_graph(row)) for row in rows]
    index = torch.randperm(300, generator=torch.Generator().manual_seed(0))
    assert_same(packed.batch(index), Batch.from_data_list([expected[i] for i in index]))
