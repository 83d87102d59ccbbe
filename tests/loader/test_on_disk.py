"""Packed graphs on disk: kills, damage, molecules by several processes."""

import gzip
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
import torch
from torch_geometric.data import Data

from sega_anchor.datasets.molecules.pack_smiles import pack_smiles
from sega_anchor.datasets.molecules.smiles import molecule_graph
from sega_anchor.loader.on_disk import PackedWriter, open_packed
from sega_anchor.loader.packed_graphs import PackedGraphs
from sega_anchor.trees import TreeName, tree_transform
from tests.helpers.graphs import assert_same
from tests.helpers.stores import store

# The package's name of this is the function.
smiles_store = importlib.import_module("sega_anchor.datasets.molecules.pack_smiles")
GOOD = ["CCO", "c1ccccc1O", "[Na+].[Cl-]", "C", "CC(=O)Oc1ccccc1C(=O)O", "C/C=C/C"]


one_or_two = pytest.mark.parametrize(
    "jobs", [1, pytest.param(2, marks=pytest.mark.slow)]
)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("[!.]*")}


def write(path: Path, rows: list[str]) -> Path:
    path.write_text("smiles\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smiles_store, "CHUNK", 4)


@pytest.mark.parametrize("name", get_args(TreeName))
def test_what_is_packed_is_what_one_molecule_gives(name, tmp_path: Path) -> None:
    path, out = write(tmp_path / "a.csv", GOOD), tmp_path / "out"
    graphs = pack_smiles(path, out, height=3, method=name)
    transform = tree_transform(name, height=3)
    for i, smiles in enumerate(GOOD):
        expected, got = transform(molecule_graph(smiles)), graphs[i]
        assert_same(got, expected)
        assert got.x.dtype == torch.long


@one_or_two
def test_interrupted_or_not_the_bytes_are_the_same(
    jobs: int, tmp_path: Path, small_chunks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.csv", GOOD * 3)
    pack_smiles(path, tmp_path / "whole", jobs=1)
    append, left = PackedWriter.append, [3]

    def stop(self: PackedWriter, *args: object, **place: object) -> None:
        left[0] -= 1
        if left[0] == 0:  # a kill after the fields are written, before the journal
            monkeypatch.setattr(PackedWriter, "_save", _interrupt)
        append(self, *args, **place)

    save = PackedWriter._save
    monkeypatch.setattr(PackedWriter, "append", stop)
    with pytest.raises(KeyboardInterrupt):
        pack_smiles(path, tmp_path / "parts", jobs=jobs)
    monkeypatch.setattr(PackedWriter, "_save", save)
    with pytest.raises(ValueError, match="is not finished"):
        open_packed(tmp_path / "parts")
    pack_smiles(path, tmp_path / "parts", jobs=jobs)
    assert content(tmp_path / "parts") == content(tmp_path / "whole")
    # Finished: nothing is read again.
    monkeypatch.setattr(smiles_store, "_write", None)
    assert len(pack_smiles(path, tmp_path / "parts")) == 18


def _interrupt(self: PackedWriter) -> None:
    raise KeyboardInterrupt


@one_or_two
def test_rows_that_are_no_molecules_are_counted_and_listed(
    jobs: int, tmp_path: Path, small_chunks: None
) -> None:
    path = write(tmp_path / "a.csv", ["CC", "C(", "", "CCO", "C*", '"a,b"', "N"])
    with pytest.warns(UserWarning, match="3 of 6 rows are left out.*row 1: 'C\\('"):
        graphs = pack_smiles(path, tmp_path / "out", jobs=jobs)
    assert len(graphs) == 3
    listed = (tmp_path / "out" / "skipped.csv").read_text()
    assert listed.split() == ["1,C(", "3,C*", '4,"a,b"']


def test_gzip_and_plain_lists_are_read(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.smi.gz", "wt") as file:
        file.write("CCO ethanol\nC methane\n")
    assert len(pack_smiles(tmp_path / "a.smi.gz", tmp_path / "out")) == 2


def test_what_cannot_be_packed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no file"):
        pack_smiles(tmp_path / "a.csv", tmp_path / "out")
    (tmp_path / "a.csv").write_text("name\nCC\n")
    with pytest.raises(ValueError, match="no column 'smiles'"):
        pack_smiles(tmp_path / "a.csv", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    bad = write(tmp_path / "b.csv", ["C(", "X"])
    with pytest.raises(ValueError, match="none of the 2 rows is a molecule"):
        pack_smiles(bad, tmp_path / "bad")
    good = write(tmp_path / "c.csv", GOOD)
    with pytest.raises(ValueError, match="jobs must be at least 1"):
        pack_smiles(good, tmp_path / "out", jobs=0)
    pack_smiles(good, tmp_path / "out", height=2)
    with pytest.raises(ValueError, match="with height=2 instead of 4"):
        pack_smiles(good, tmp_path / "out", height=4)
    with pytest.raises(ValueError, match="holds other graphs, with sha256"):
        pack_smiles(write(tmp_path / "d.csv", GOOD[:2]), tmp_path / "out", height=2)


def test_a_damaged_store_is_refused(tmp_path: Path) -> None:
    graphs = store(tmp_path / "s")
    opened = open_packed(tmp_path / "s")
    assert all(torch.equal(opened[i].x, graph.x) for i, graph in enumerate(graphs))
    with pytest.raises(ValueError, match="there are no packed graphs"):
        open_packed(tmp_path)
    field = tmp_path / "s" / "x.bin"
    whole = field.read_bytes()
    field.write_bytes(whole[:-4])
    with pytest.raises(ValueError, match="has 44 bytes instead of 48"):
        open_packed(tmp_path / "s")
    with pytest.raises(ValueError, match="has 44 bytes instead of 48"):
        PackedWriter(tmp_path / "s", {})
    field.write_bytes(whole)
    meta = tmp_path / "s" / "meta.json"
    for text, message in (
        ("{", "is damaged"),
        ("[]", "is of another format|is damaged"),
        (json.dumps({**json.loads(meta.read_text()), "format": 9}), "another format"),
    ):
        meta.write_text(text)
        with pytest.raises(ValueError, match=message):
            open_packed(tmp_path / "s")


def test_chunks_of_other_fields_are_refused(tmp_path: Path) -> None:
    store(tmp_path / "s")
    writer = PackedWriter(tmp_path / "s", {})
    with pytest.raises(ValueError, match="the store has the fields"):
        edge_index = torch.tensor([[0], [1]])
        writer.append(PackedGraphs.of([Data(edge_index=edge_index, num_nodes=2)]))


def test_the_files_of_others_are_left_alone(tmp_path: Path) -> None:
    others = tmp_path / "models" / "model.bin"
    others.parent.mkdir()
    others.write_bytes(b"precious")
    with pytest.raises(ValueError, match=r"other files, such as 'model\.bin'"):
        pack_smiles(write(tmp_path / "a.csv", GOOD), others.parent)
    assert others.read_bytes() == b"precious"
    (tmp_path / "s").mkdir()
    PackedWriter(tmp_path / "s", {})
    meta = tmp_path / "s" / "meta.json"
    sizes = {"../models/model.bin": 1}
    meta.write_text(json.dumps({**json.loads(meta.read_text()), "sizes": sizes}))
    with pytest.raises(ValueError, match="another format"):
        PackedWriter(tmp_path / "s", {})
    assert others.read_bytes() == b"precious"


def test_a_store_without_graphs_is_refused(tmp_path: Path) -> None:
    PackedWriter(tmp_path / "s", {}).finish()
    with pytest.raises(ValueError, match="holds no graphs"):
        open_packed(tmp_path / "s")


def test_a_kill_in_the_first_chunk_leaves_nothing_in_the_lists(
    tmp_path: Path, small_chunks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.csv", ["C(", *GOOD])
    with pytest.warns(UserWarning, match="1 of 7"):
        pack_smiles(path, tmp_path / "whole", jobs=1)
    with monkeypatch.context() as patch:
        patch.setattr(PackedWriter, "_append", _interrupt_append)
        with pytest.raises(KeyboardInterrupt):
            pack_smiles(path, tmp_path / "parts", jobs=1)
    with pytest.warns(UserWarning, match="1 of 7"):
        pack_smiles(path, tmp_path / "parts", jobs=1)
    assert content(tmp_path / "parts") == content(tmp_path / "whole")


def _interrupt_append(self: PackedWriter, graphs: PackedGraphs) -> None:
    raise KeyboardInterrupt


def test_a_warning_turned_error_comes_when_all_is_done(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", ["C(", *GOOD])
    with pytest.raises(UserWarning, match="1 of 7"):
        pack_smiles(path, tmp_path / "out")
    assert len(pack_smiles(path, tmp_path / "out")) == 6


def test_trees_too_high_for_their_type_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="height must be at most 255, got 256"):
        pack_smiles(write(tmp_path / "a.csv", GOOD), tmp_path / "out", height=256)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="orphans are found by their parent")
def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    program = """
import os, subprocess, sys
child = "import os, sys, time;" \\
    "from sega_anchor.datasets.molecules.pack_smiles import _end_with;" \\
    "_end_with(int(sys.argv[1])); print('up', flush=True); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", child, str(os.getpid())]).wait()
"""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "up\n"
        parent.kill()
        # The child holds the pipe open until it ends: this would wait 10 minutes.
        assert parent.communicate(timeout=60)[0] == ""
