"""The examples do what they say, from another folder, in at most five changed lines."""

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from adapters import graphcl
from sega_anchor.protocols import semisupervised, transfer
from tests.helpers.paths import EXAMPLES

pytestmark = pytest.mark.slow
SMALL = {"hidden_channels": 16, "num_layers": 2, "epochs": 2}


@pytest.fixture
def example(tmp_path, monkeypatch, capsys):
    """Run an example as a script, in a folder of its own; return what it prints."""
    monkeypatch.chdir(tmp_path)

    def run(name: str, *words: str) -> str:
        monkeypatch.setattr(sys, "argv", [name, *words])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out

    return run


def shorten(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, options) -> None:
    """Let a function of a protocol train less than it is asked to."""
    whole = getattr(module, name)
    monkeypatch.setattr(
        module, name, lambda *words, **given: whole(*words, **{**given, **options})
    )


@pytest.mark.parametrize("name", ["plug_into_your_loop", "plug_into_metric_learning"])
def test_the_anchor_plugs_in_with_at_most_five_lines(example, name: str) -> None:
    numbered = re.findall(r"# anchor (\d)", (EXAMPLES / f"{name}.py").read_text())
    assert numbered == [str(i) for i in range(1, len(numbered) + 1)]
    assert 2 < len(numbered) <= 5
    out = example(name)  # without warnings: these are errors here
    losses = [float(loss) for loss in re.findall(r"loss (\S+)", out)]
    assert losses[-1] < losses[0]
    (accuracy,) = re.findall(r"accuracy (\S+)", out)
    assert float(accuracy) > 60  # three classes


def test_few_labels(example, monkeypatch) -> None:
    shorten(monkeypatch, semisupervised, "run", {"pretrain_epochs": 1, "epochs": 1})
    table = example("semisupervised")
    assert table.split("\n\n")[0].count("synthetic") == 3
    assert example("semisupervised") == table  # read, not computed again


def test_transfer(example, tmp_path: Path, monkeypatch) -> None:
    shorten(monkeypatch, transfer, "pretrain", SMALL)
    shorten(monkeypatch, transfer, "finetune", SMALL)
    ring = [f"c1ccccc1{'C' * n}O" for n in range(9)]
    chain = [f"{'C' * n}N" for n in range(1, 40)]
    frames = [f"C1CC{'C' * (n // 2)}1{'FO'[n % 2]}" for n in range(24)]
    molecules = [*ring, *chain, *frames]
    lines = [f"{smiles},{int(smiles[-1] == 'F')}" for smiles in molecules]
    (tmp_path / "all.smi").write_text("\n".join(molecules))
    (tmp_path / "fluor.csv").write_text("\n".join(["smiles,fluor", *lines]))
    table = example("transfer_molecules", "all.smi", "fluor.csv")
    assert table.split("\n\n")[0].count("fluor") == 2
    assert "SEGA" in table


def test_the_demo_shows_both_features(example, monkeypatch) -> None:
    shorten(monkeypatch, graphcl, "run", {"seeds": 1, "folds": 2})
    out = example("demo")
    assert "| accuracy" in out.splitlines()[0]
    for features in ("as published", "equal"):
        rows = [row for row in rows_of(out) if row[2].strip() == features]
        assert {row[1].strip() for row in rows} >= {"GraphCL", "SEGA"}
        assert all(20 < float(row[3]) <= 100 for row in rows)


def test_one_knob_of_the_synthetic_sets(example, tmp_path: Path, monkeypatch) -> None:
    shorten(monkeypatch, graphcl, "run", {"folds": 2})
    words = "benchmarks/synthetic strength 1 0 --seeds 1 --epochs 1 --jobs 1".split()
    out = example(*words)
    cells = {row[1].strip(): row[2:4] for row in rows_of(out)}
    assert [float(value) for value in cells["strength"]] == [0, 1]
    for name in ("GraphCL", "SEGA"):
        without, with_all = map(float, cells[name])
        assert 20 < without < 46 and without < with_all <= 100
    assert (tmp_path / "synthetic-strength.png").read_bytes()[1:4] == b"PNG"
    records = list((tmp_path / "results").glob("*-synthetic-strength-*.json"))
    methods = [name for name in cells if name[0].isalpha() and name != "strength"]
    assert len(records) == 2 * len(methods) >= 12
    assert example(*words) == out  # read, not computed again


def rows_of(text: str) -> list[list[str]]:
    return [line.split("|") for line in text.splitlines() if line.startswith("|")]


def test_tuning_looks_at_the_test_folds_once(example, tmp_path, monkeypatch) -> None:
    pytest.importorskip("optuna").logging.set_verbosity(40)
    short = {"seeds": 1, "epochs": 2, "evaluate_at": (1, 2)}
    shorten(monkeypatch, graphcl, "run", short)
    out = example("tune_with_optuna", "2")
    found = dict(line.split(": ", 1) for line in out.splitlines())
    assert "temperature" in found["Chosen"] and "height" in found["Chosen"]
    assert 0 < float(found["Test"].split()[0]) <= 100
    assert len(list((tmp_path / "results").glob("*.json"))) == 2
    assert example("tune_with_optuna", "2") == out  # the same two trials, read
