"""The examples do what they say, from another folder, in at most five changed lines."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import EXAMPLES


@pytest.mark.parametrize("name", ["plug_into_your_loop", "plug_into_metric_learning"])
def test_the_anchor_plugs_in_with_at_most_five_lines(name: str, tmp_path: Path) -> None:
    script = EXAMPLES / f"{name}.py"
    numbered = re.findall(r"# anchor (\d)", script.read_text())
    assert numbered == [str(i) for i in range(1, len(numbered) + 1)]
    assert 2 < len(numbered) <= 5
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(EXAMPLES.parent), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    losses = [float(loss) for loss in re.findall(r"loss (\S+)", done.stdout)]
    assert losses[-1] < losses[0]
    (accuracy,) = re.findall(r"accuracy (\S+)", done.stdout)
    assert float(accuracy) > 60  # three classes
    assert "UserWarning" not in done.stderr


def run(name: str, folder: Path, *words: str) -> str:
    """Return what an example prints, run from a folder of its own."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *words],
        cwd=folder,
        env={
            "PYTHONPATH": str(EXAMPLES.parent),
            "HOME": str(folder),
            "OMP_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_few_labels(tmp_path: Path) -> None:
    table = run("semisupervised", tmp_path)
    assert table.count("synthetic") == 3
    assert run("semisupervised", tmp_path) == table  # read, not computed again


def test_transfer(tmp_path: Path) -> None:
    ring = [f"c1ccccc1{'C' * n}O" for n in range(9)]
    chain = [f"{'C' * n}N" for n in range(1, 40)]
    frames = [f"C1CC{'C' * (n // 2)}1{'FO'[n % 2]}" for n in range(24)]
    molecules = [*ring, *chain, *frames]
    lines = [f"{smiles},{int(smiles[-1] == 'F')}" for smiles in molecules]
    (tmp_path / "all.smi").write_text("\n".join(molecules))
    (tmp_path / "fluor.csv").write_text("\n".join(["smiles,fluor", *lines]))
    table = run("transfer_molecules", tmp_path, "all.smi", "fluor.csv")
    assert table.count("fluor") == 2
    assert "SEGA" in table
