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
        (["synthetic", "--epochs", "5", "--evaluate_at", "[6]"], "from 0 to 5"),
    ],
)
def test_bad_words_get_a_message_and_status_2(words, message, tmp_path, capsys) -> None:
    assert main(["compare", *words, "--results", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert not list(tmp_path.iterdir())


RUNS = """
GraphCL: {method: graphcl, degree: both}
SEGA: &sega {method: graphcl, anchor: true, degree: both, height: [2, 3]}
Low: {<<: *sega, lr: 1e-3, height: 2, epochs: 2, evaluate_at: [1, 2]}
"""
SHORT = ["--seeds", "2", "--epochs", "1", "--folds", "2", "--jobs", "1"]


def one_comparison(words: list[str], capsys) -> Any:
    assert main(["compare", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_file_says_what_is_compared(tmp_path: Path, capsys, quick_scores) -> None:
    file, results = tmp_path / "runs.yaml", tmp_path / "results"
    file.write_text(RUNS)
    words = ["synthetic", "--runs", str(file), *SHORT, "--results", str(results)]
    assert main(["compare", *words, "--reference", "GraphCL", "SEGA"]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 100
    lines = [line for line in printed.splitlines() if line.startswith("| synthetic")]
    for names in ("SEGA   | GraphCL", "Low    | GraphCL", "Low    | SEGA"):
        assert sum(names in line for line in lines) == 2  # over seeds, over graphs
    assert "| synthetic | SEGA   | height" in printed
    found = one_comparison([*words, "--reference", "SEGA"], capsys)
    graphcl, sega, low = found["runs"]
    assert [one["run"] for one in found["runs"]] == ["GraphCL", "SEGA", "Low"]
    assert sega["choice"]["alternatives"] == [{"height": 2}, {"height": 3}]
    assert sega["choice"]["chosen"] in sega["choice"]["alternatives"]
    assert len(sega["choice"]["compared"]) == 2
    assert sega["config"]["degree"] == graphcl["config"]["degree"] == "both"
    assert (low["config"]["lr"], low["config"]["evaluate_at"]) == (1e-3, [1, 2])
    assert (low["config"]["epochs"], sega["config"]["epochs"]) == (2, 1)
    assert [(p["run"], p["reference"]) for p in found["pairs"]] == [
        ("GraphCL", "SEGA"),
        ("Low", "SEGA"),
    ]
    few = one_comparison([*words, "--only", "Low", "SEGA"], capsys)
    assert [one["run"] for one in few["runs"]] == ["Low", "SEGA"]
    assert [(p["run"], p["reference"]) for p in few["pairs"]] == [("SEGA", "Low")]
    adjusted = [pair["graphs"]["adjusted"] for pair in found["pairs"]]
    assert all(
        p["graphs"]["p_value"] <= a
        for p, a in zip(found["pairs"], adjusted, strict=True)
    )


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("A: {method: graphlc}", [], "no method 'graphlc'; did you mean 'graphcl'?"),
        ("A: {method: graphcl, heigt: 2}", [], "'heigt'; did you mean 'height'?"),
        ("A: {method: graphcl, degree: bth}", [], "degree must be 'anchor' or 'both'"),
        ("A: {degree: both}", [], "run 'A' has no method: write A: {method: graphcl}"),
        ("A: graphcl", [], "run 'A' has no method"),
        ("", [], "names no run"),
        ("A: [", [], "is no YAML that can be read"),
        ("A: !!python/object/apply:os.getcwd []", [], "is no YAML that can be read"),
        ("1: {method: graphcl}", [], "the name 1 is not text"),
        (
            "A: {method: graphcl}\nA: {method: joao}",
            [],
            "line 2 gives 'A' a second time: rename one",
        ),
        ("A: {method: graphcl, lr: 1, lr: 2}", [], "line 1 gives 'lr' a second time"),
        ("GraphCL: {method: graphcl}", ["--reference", "Graph"], "mean 'GraphCL'?"),
        ("GraphCL: {method: graphcl}", ["--only", "Graph"], "mean 'GraphCL'?"),
        (
            "A: {method: graphcl}\nB: {method: graphcl, folds: 5}",
            [],
            "'B' cannot be paired with 'A': folds is 5 and 10",
        ),
        ("A: {method: graphcl}", ["--methods", "joao"], "give one"),
        ("A: {method: graphcl}", ["NO-SUCH-SET"], "unknown data set 'NO-SUCH-SET'"),
        ("A: {method: graphcl, seeds: 0}", [], "run 'A': seeds must be at least 1"),
        ("A: {method: graphcl, evaluate_at: [3]}", [], "run 'A': evaluate_at is given"),
    ],
)
def test_bad_files_get_a_line_before_any_work(
    text, words, message, tmp_path, capsys
) -> None:
    file, results = tmp_path / "runs.yaml", tmp_path / "results"
    file.write_text(text)
    given = ["compare", "synthetic", *words, "--runs", str(file)]
    assert main([*given, "--results", str(results)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not results.exists() or not list(results.iterdir())


def test_a_reference_needs_a_file(capsys) -> None:
    for option in ("--reference", "--only"):
        assert main(["compare", "synthetic", option, "GraphCL"]) == 2
        assert "give --runs too" in capsys.readouterr().err
    assert main(["compare", "synthetic", "--runs", "no-such-file"]) == 2
    assert "no-such-file cannot be read: No such file" in capsys.readouterr().err
