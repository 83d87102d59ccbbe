"""Folders that cannot be written, and disks that are full: one line, nothing lost."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from adapters import graphcl
from sega_anchor import build_coding_trees
from sega_anchor.cli import main
from sega_anchor.datasets import load, load_molecules, pack_dataset
from sega_anchor.protocols import semisupervised, transfer
from tests.helpers.paths import ROOT

RUN = "run graphcl synthetic --epochs 2 --evaluate_at [1,2] --seeds 2 --jobs 1".split()
SMILES = "smiles,task\n" + "".join(f"{'C' * n}O,{n % 2}\n" for n in range(1, 60))


@pytest.fixture
def blocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder that nobody can make, below a file; and training is forbidden."""
    (tmp_path / "file").touch()
    (tmp_path / "molecules.csv").write_text(SMILES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.Tensor, "backward", lambda *_: pytest.fail("it trains"))
    return str(tmp_path / "file" / "folder")


@pytest.mark.parametrize(
    "words",
    [
        "run graphcl synthetic --epochs 1 --results",
        "compare NO-SUCH-SET --results",  # before it looks for the set
        "semisupervised synthetic --pretrain_epochs 1 --epochs 1 --results",
        "finetune molecules.csv --epochs 1 --results",
        "pretrain molecules.csv",
        "pretrain molecules.csv kept --packed",
        "pretrain molecules.csv kept --root",
    ],
)
def test_a_folder_that_cannot_be_written_is_refused_before_training(
    words: str, blocked: str, capsys
) -> None:
    if "molecules" in words:
        pytest.importorskip("rdkit")
    assert main([*words.split(), blocked]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{blocked}" in line
    assert "cannot be written (Not a directory): give another one" in line
    assert not Path("kept").exists()


@pytest.mark.parametrize("option", ["--output", "--plot"])
def test_a_file_that_cannot_be_written_is_refused_before_the_graph_is_read(
    option: str, capsys
) -> None:
    name = "/proc/tree." + {"--output": "tsv", "--plot": "png"}[option]
    assert main(["tree", "missing.txt", option, name]) == 2
    assert "the folder '/proc' cannot be written" in capsys.readouterr().err


def test_calls_from_python_refuse_it_too(blocked: str) -> None:
    graphs = load("synthetic")
    message = r"folder.* cannot be written \(Not a directory\): give another one"
    for call in (
        lambda: graphcl.run(graphs, results=blocked),
        lambda: semisupervised.run(graphs, results=blocked),
        lambda: transfer.pretrain("molecules.csv", blocked),
        lambda: transfer.finetune("molecules.csv", results=blocked),
        lambda: build_coding_trees(graphs, cache=blocked),
        lambda: pack_dataset(graphs, blocked),
        lambda: load("MUTAG", root=blocked),
        lambda: load_molecules("bbbp", root=blocked),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def measured(folder: Path) -> dict[str, Any]:
    (record,) = folder.glob("*.json")
    seeds = json.loads(record.read_text())["seeds"]
    return {seed: found.get("evaluations", {}) for seed, found in seeds.items()}


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 2, 10, 30])
def test_a_disk_that_fills_costs_nothing_that_was_finished(
    after: int, tmp_path: Path, capsys, quick_scores, full_disk
) -> None:
    whole, filled = tmp_path / "whole", tmp_path / "filled"
    assert main([*RUN, "--results", str(whole)]) == 0
    capsys.readouterr()
    full_disk(after)
    assert main([*RUN, "--results", str(filled)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "No space left on device" in line and str(filled) in line
    assert line.endswith("what was finished is kept")
    assert not list(filled.glob(".*.tmp"))  # nothing half-written
    kept = measured(filled) if list(filled.glob("*.json")) else {}
    assert bool(kept) == (after >= 10)
    full_disk(10**6)  # somebody has freed it
    assert main([*RUN, "--results", str(filled)]) == 0
    assert measured(filled) == measured(whole)
    for seed, evaluations in kept.items():
        for key, scores in evaluations.items():
            assert scores["test"].items() <= measured(whole)[seed][key]["test"].items()


def test_trees_beside_a_data_set_are_not_kept_where_nobody_can_write(
    quick_scores, full_disk, tmp_path: Path, monkeypatch
) -> None:
    """Nobody has asked for them: a full disk must not stop the run."""
    raw = tmp_path / "TOY" / "raw"
    raw.mkdir(parents=True)
    tables = {
        "A": "".join(f"{2 * i + 1}, {2 * i + 2}\n" for i in range(40)),
        "graph_indicator": "".join(f"{i + 1}\n{i + 1}\n" for i in range(40)),
        "graph_labels": "0\n1\n" * 20,
    }
    for name, text in tables.items():
        (raw / f"TOY_{name}.txt").write_text(text)
    load("TOY", root=tmp_path)
    full_disk(0)
    options = {"epochs": 1, "evaluate_at": (1,), "seeds": 1, "root": str(tmp_path)}
    assert graphcl.run("TOY", anchor=True, **options).accuracy.seeds == 1
    assert not (tmp_path / "TOY" / "trees").exists()


@pytest.mark.parametrize(("after", "names"), [(2, []), (3, ["tree.tsv"])])
def test_a_full_disk_leaves_no_half_of_a_tree_or_picture(
    after: int, names: list[str], tmp_path: Path, capsys, full_disk
) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "graph.txt").write_text("a b\nb c\n")
    files = ["--output", str(tmp_path / "tree.tsv"), "--plot", str(tmp_path / "a.png")]
    full_disk(after)  # each folder is tried first
    assert main(["tree", str(tmp_path / "graph.txt"), *files]) == 2
    out = capsys.readouterr()
    (line,) = out.err.splitlines()
    assert "No space left on device" in line
    assert out.out == ""
    assert {path.name for path in tmp_path.iterdir()} == {"graph.txt", *names}


def start(words: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sega_anchor", *words],
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        **options,
    )


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_standard_output_may_be_full(tmp_path: Path) -> None:
    (tmp_path / "graph.txt").write_text("a b\nb c\n")
    words = ["tree", str(tmp_path / "graph.txt"), "--output", str(tmp_path / "a.tsv")]
    with open("/dev/full", "w") as full:
        done = start(words, stdout=full)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "No space left on device" in line
    assert (tmp_path / "a.tsv").exists()


@pytest.mark.slow
def test_the_systems_own_refusal_is_one_line(tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk that only small ones fit on."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    words = [*RUN, "--results", str(tmp_path)]
    done = start(words, stdout=subprocess.DEVNULL, preexec_fn=limit)
    assert done.returncode == 2
    (line,) = (x for x in done.stderr.splitlines() if x.startswith("sega-anchor: "))
    assert "File too large" in line and done.stderr.endswith(f"{line}\n")
    assert not list(tmp_path.glob(".*.tmp"))
