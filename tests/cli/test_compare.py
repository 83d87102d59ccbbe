"""``sega-anchor compare``: its tables, and that a kill loses nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sega_anchor.cli import main
from tests.helpers.paths import ROOT

WORDS = [
    *("compare", "synthetic", "--methods", "joao"),
    *("--seeds", "2", "--epochs", "1", "--evaluate_at", "[1]", "--jobs", "1"),
]


def finished(folder: Path) -> dict[tuple[str, str], Any]:
    """Every complete cell on record: (file, seed) and all that it holds."""
    return {
        (path.name, seed): measured
        for path in folder.glob("*synthetic*.json")
        for seed, measured in json.loads(path.read_text())["seeds"].items()
        if measured.get("complete")
    }


def numbers(cells: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    return {key: cell["evaluations"] for key, cell in cells.items()}


# Imports once, then forks a process for each run of the command: a whole one first.
KILLER = """
import os, random, shutil, signal, sys, time
from unittest.mock import patch
from adapters import joao
from sega_anchor.cli import main
from tests.helpers.scores import SVM_SCORES, quick_scores

patch(SVM_SCORES, quick_scores).start()

def start(results):
    child = os.fork()
    if not child:
        os._exit(main([*sys.argv[1:], "--results", results]))
    return child

began = time.monotonic()
os.waitpid(start("whole"), 0)
longest = time.monotonic() - began
draw = random.Random(0)
for number in range(4):
    child = start("killed")
    time.sleep(draw.uniform(0.3, 0.8) * longest)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    shutil.copytree("killed", f"after {number}")
os.waitpid(start("killed"), 0)
"""


@pytest.mark.slow
def test_sigkill_at_random_moments_loses_no_finished_cell(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    killed.mkdir()
    (killed / "other-run.json").write_text("somebody else's")
    command = [sys.executable, "-c", KILLER, *WORDS]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "| SEGA-JOAO" in done.stdout
    cells: dict[tuple[str, str], Any] = {}
    for number in range(4):
        now = finished(tmp_path / f"after {number}")
        assert cells.items() <= now.items()  # unchanged, seconds of training included
        cells = now
    assert cells  # the kills came late enough for the test to mean something
    assert cells.items() <= finished(killed).items()
    assert numbers(finished(killed)) == numbers(finished(whole))
    assert len(finished(whole)) == 4
    assert (killed / "other-run.json").read_text() == "somebody else's"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["NO-SUCH-SET"], "unknown data set 'NO-SUCH-SET'"),
        (["synthetic", "--methods", "graphcl", "--evaluate_at", "[]"], "is empty"),
        (["synthetic", "--evaluate_at", "[20]"], "without epochs, but the methods"),
        (["synthetic", "--height", "1"], "height must be an integer"),
        (["synthetic", "--epochs", "5", "--evaluate_at", "[6]"], "from 1 to 5"),
    ],
)
def test_bad_words_get_a_message_and_status_2(words, message, tmp_path, capsys) -> None:
    assert main(["compare", *words, "--results", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert not list(tmp_path.iterdir())
