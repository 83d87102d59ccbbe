"""Completing runs: choice by validation, records, several processes."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from adapters import adgcl, graphcl
from sega_anchor.experiments import (
    Cell,
    Run,
    _complete,
    against,
    chosen_table,
    complete,
    pair,
    summary,
)
from sega_anchor.protocols.unsupervised._training import Training
from sega_anchor.report import Result
from sega_anchor.utils.locks import if_free
from tests.helpers.paths import ROOT
from tests.helpers.scores import SVM_SCORES, quick_scores

SHORT = {"epochs": 1, "evaluate_at": (1,), "folds": 2, "jobs": 1}


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch, quick_scores) -> list[tuple[str, int]]:
    """What is trained: label and seed."""
    found: list[tuple[str, int]] = []
    finish = Training.finish

    def counted(training: Training):
        label = training.job.record.config["label"]
        found.append((f"{label}, {training.job.config.height}", training.seed))
        return finish(training)

    monkeypatch.setattr(Training, "finish", counted)
    return found


def sega(**options) -> Run:
    return Run("SEGA", graphcl, {**SHORT, "anchor": True, **options})


def plain(**options) -> Run:
    return Run("GraphCL", graphcl, {**SHORT, **options})


def test_validation_over_the_first_seeds_chooses_before_the_others_run(
    tmp_path: Path, trained
) -> None:
    shared = {"seeds": 4, "results": str(tmp_path)}
    run = sega(height=[2, 3, 4], **shared)
    (cell,) = complete([run], ["synthetic"], choose_on=2)
    best = max(cell.compared)
    assert cell.chosen is run.alternatives[cell.compared.index(best)]
    height = cell.chosen.config.height
    assert cell.chosen.choice == {"height": height}
    firsts = [(f"SEGA, {h}", seed) for h in (2, 3, 4) for seed in (0, 1)]
    assert trained == firsts + [(f"SEGA, {height}", seed) for seed in (2, 3)]

    def alone(height: int, seeds: int) -> Result:
        config = graphcl.Config(height=height)
        options = {**SHORT, **shared, "seeds": seeds}
        return graphcl.run("synthetic", anchor=True, config=config, **options)

    assert alone(height, 4).by_validation() == cell.result.by_validation()
    each = [alone(h, 2).validation.mean for h in (2, 3, 4)]
    assert list(cell.compared) == each  # and test folds had no part in it
    (row,) = chosen_table([cell]).splitlines()[2:]
    words = [word.strip() for word in row.strip("|").split("|")]
    assert words[:4] == ["synthetic", "SEGA", f"height {height}", "3"]
    assert words[4] == ", ".join(f"{mean:.2f}" for mean in each)


def test_what_is_on_record_is_not_trained_again(tmp_path: Path, trained) -> None:
    runs = [
        plain(seeds=2, results=str(tmp_path)),
        sega(seeds=2, results=str(tmp_path)),
    ]
    first = list(complete(runs, ["synthetic"]))
    assert len(trained) == 4
    more = [
        plain(seeds=3, results=str(tmp_path)),
        sega(seeds=3, results=str(tmp_path)),
    ]
    again = list(complete(more, ["synthetic"]))
    assert trained[4:] == [("GraphCL, 5", 2), ("SEGA, 5", 2)]
    for one, other in zip(first, again, strict=True):
        assert one.result.accuracy.values == other.result.accuracy.values[:2]


def test_equal_seeds_are_paired_and_named(trained) -> None:
    runs = [plain(seeds=[3, 5]), sega(seeds=[5, 3])]
    cells = list(complete(runs, ["synthetic", "synthetic"]))  # once is enough
    assert len(cells) == 2
    (found,) = pair(cells, against(runs))
    assert (found.reference, found.result) == (cells[0].result, cells[1].result)
    gain = found.difference()
    values = [cell.result.by_validation().values for cell in cells]
    assert gain.values == pytest.approx([b - a for a, b in zip(*values, strict=True)])
    text = summary(cells, [found])
    for words in ("| SEGA ", "other seeds", "another sample", "Holm", "resolves"):
        assert words in text
    assert "Chosen by" not in text


def test_equal_seeds_draw_equal_folds_whatever_the_method(monkeypatch) -> None:
    asked: dict[str, list[Any]] = {}

    def watched(embedding: Tensor, labels: Tensor, **given: Any) -> None:
        about = (given["random_state"], given["folding"], given["folds"])
        asked.setdefault(name, []).append((*about, labels.tolist()))
        quick_scores(embedding, labels, **given)

    monkeypatch.setattr(SVM_SCORES, watched)
    short = {**SHORT, "seeds": [3, 1]}
    for name, method, options in (
        ("plain", graphcl, {}),
        ("anchored", graphcl, {"anchor": True, "degree": "both"}),
        ("linear", adgcl, {"labels": "none"}),
    ):
        list(complete([Run(name, method, {**short, **options})], ["synthetic"]))
    assert asked["plain"] == asked["linear"]
    assert [one[0] for one in asked["plain"]] == [3, 1]
    # Three embeddings are scored on the same folds.
    assert asked["anchored"] == [one for one in asked["plain"] for _ in range(3)]


def test_work_of_another_process_is_left_for_last(tmp_path: Path, trained) -> None:
    runs = [plain(seeds=2, results=str(tmp_path)), sega(seeds=2, results=str(tmp_path))]
    first = _complete._Job(runs[0], "synthetic", runs[0].alternatives[0], (0, 1))
    with if_free(first.lock) as free:
        assert free
        cells: list[Cell] = list(complete(runs, ["synthetic"]))
    assert [cell.run.name for cell in cells] == ["SEGA", "GraphCL"]
    assert list(cells[1].result.history) == [0, 1]
    trained.clear()
    cells = list(complete(runs, ["synthetic"]))
    assert [cell.run.name for cell in cells] == ["GraphCL", "SEGA"]
    assert trained == []


def test_nothing_starts_before_all_is_found(tmp_path: Path, trained) -> None:
    for runs, datasets, choose_on, message in (
        ([plain()], ["synthetic", "NO-SUCH-SET"], 3, "unknown data set 'NO-SUCH-SET'"),
        ([plain(), plain()], ["synthetic"], 3, "two runs have the name 'GraphCL'"),
        ([plain(seeds=41)], ["synthetic"], 3, "takes 40 at most: give fewer"),
        ([plain()], ["synthetic"], 0, "choose_on must be at least 1, got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            list(complete(runs, datasets, choose_on))
    assert trained == []


# Imports once, then forks two processes of the same command; each says what it trains.
WORKERS = """
import os, sys, time
from unittest.mock import patch
from adapters import graphcl
from sega_anchor.cli import main
from sega_anchor.protocols.unsupervised._training import Training
from tests.helpers.scores import SVM_SCORES, quick_scores

finish = Training.finish

def slow(training):
    began = time.monotonic()
    time.sleep(0.3)
    found = finish(training)
    with open("trained", "a") as file:
        cell = f"{training.job.config.lr}-{training.seed}"
        print(os.getpid(), cell, began, time.monotonic(), sep=",", file=file)
    return found

patch(SVM_SCORES, quick_scores).start()
patch.object(Training, "finish", slow).start()
children = []
for _ in range(2):
    children.append(os.fork())
    if not children[-1]:
        os._exit(main(sys.argv[1:]))
for child in children:
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.slow
@pytest.mark.parametrize("names", [["A"], ["A", "B"]])
def test_two_processes_share_the_seeds(names: list[str], tmp_path: Path) -> None:
    lines = [f"{n}: {{method: graphcl, lr: 0.0{i + 1}}}" for i, n in enumerate(names)]
    (tmp_path / "runs.yaml").write_text("\n".join(lines))
    words = "compare synthetic --runs runs.yaml --seeds 8 --epochs 1 --jobs 1"
    subprocess.run(
        [sys.executable, "-c", WORKERS, *words.split(), "--results", "results"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    lines = (tmp_path / "trained").read_text().split()
    trained = [line.split(",") for line in lines]
    cells = [cell for _, cell, _, _ in trained]
    assert len(cells) == len(set(cells)) == 8 * len(names)  # each seed once
    first, second = {process for process, *_ in trained}
    times = {
        process: [(float(a), float(b)) for p, _, a, b in trained if p == process]
        for process in (first, second)
    }
    assert any(  # at once, instead of one waiting for the other
        a < d and c < b for a, b in times[first] for c, d in times[second]
    )
