"""``sega-anchor compare``: its tables, and that a kill loses nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sega_anchor.cli import main
from sega_anchor.report import (
    Accuracy,
    Evaluation,
    Gain,
    Pair,
    Result,
    comparison_table,
    result_table,
)
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


def result(label: str, dataset: str, tests: list[float]) -> Result:
    """One candidate, one fold, an accuracy for each seed."""
    evaluations = [
        Evaluation(seed, 20, "G", (test,), (0.5,)) for seed, test in enumerate(tests)
    ]
    config = {"label": label, "dataset": dataset, "protocol": "honest"}
    return Result({**config, "choice": "test"}, evaluations)


def test_the_table_has_the_papers_layout() -> None:
    pairs = [
        Pair(result("JOAO", name, [0.8, 0.9]), result("SEGA-JOAO", name, better))
        for name, better in (("MUTAG", [0.82, 0.94]), ("DD", [0.8, 0.9]))
    ]
    pairs.append(Pair(result("RGCL", "DD", [0.5]), result("SEGA-RGCL", "DD", [0.25])))
    lines = comparison_table(pairs).splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert cells[0] == ["method", "MUTAG", "DD"]
    assert cells[2:] == [
        ["JOAO", "85.00 ± 5.00", "85.00 ± 5.00"],
        ["SEGA-JOAO", "88.00 ± 6.00", "85.00 ± 5.00"],
        ["gain", "+3.00 ± 1.00, p = 0.2", "+0.00 ± 0.00"],
        ["RGCL", "", "50.00"],
        ["SEGA-RGCL", "", "25.00"],
        ["gain", "", "-25.00"],
    ]


def test_wide_tables_are_folded_at_100_columns() -> None:
    names = ("github_stargazers", "REDDIT-MULTI-5K", "REDDIT-BINARY")
    methods = ("GraphCL", "AD-GCL", "JOAO", "JOAOv2", "AutoGCL", "RGCL")

    def spread(label: str, name: str, kinds: str) -> Result:
        scores = [
            Evaluation(seed, 20, kind, (0.5 + len(label) * seed**2 / 999,), (0.5,))
            for seed in range(3)
            for kind in kinds.split()
        ]
        return Result({**result(label, name, []).config}, scores)

    pairs = [
        Pair(spread(method, name, "G"), spread(f"SEGA-{method}", name, "G T GT"))
        for method in methods
        for name in (*names, "COLLAB")
    ]
    three = comparison_table(
        [p for p in pairs if p.baseline.config["dataset"] in names]
    )
    both = result_table([r for pair in pairs for r in (pair.baseline, pair.anchored)])
    four = comparison_table(pairs)
    for text in (three, both, four):
        assert max(map(len, text.splitlines())) <= 100
    parts = [part.splitlines() for part in four.split("\n\n")]
    assert len(parts) == 2
    assert [part[2].split("|")[1].strip() for part in parts] == ["GraphCL"] * 2
    assert "COLLAB" in parts[1][0]
    assert "github_stargazers |" in both.split("\n\n")[1]  # rows can be told apart


def test_a_gain_needs_the_same_seeds() -> None:
    with pytest.raises(ValueError, match="2 and 3 seeds: run both"):
        Gain.of(Accuracy((80.0, 81.0), 1), Accuracy((80.0, 81.0, 82.0), 1))


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
