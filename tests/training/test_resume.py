"""A run of any method that was interrupted goes on to the same bits."""

import importlib
import itertools
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from adapters import graphcl
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.report import Result
from sega_anchor.training import checkpoint, state
from sega_anchor.training.method import Method
from tests.helpers.paths import ROOT
from tests.helpers.scores import SVM_SCORES

pytestmark = pytest.mark.usefixtures("quick_scores")

SMALL: dict[str, Any] = {"hidden_channels": 8, "num_layers": 2, "height": 2}
RUNS = {
    "graphcl": {},
    "joao": {},
    "joao, version 2": {"version": 2, "head": "epoch"},
    "adgcl": {},
    "autogcl": {},
    "autogcl, released": {"objective": "released"},
    "rgcl": {},
}


@pytest.fixture(scope="module")
def dataset() -> SyntheticCommunities:
    return SyntheticCommunities(num_graphs=45)


def run(dataset, name: str, anchor: bool, results: Path | None, **options) -> Result:
    module = importlib.import_module(f"adapters.{name.split(',')[0]}")
    given = {"seeds": 1, "epochs": 4, "evaluate_at": (2,), "batch_size": 16, "jobs": 1}
    return module.run(
        dataset,
        anchor=anchor,
        config=module.Config(**SMALL, **RUNS[name]),
        results=results,
        **{**given, **options},
    )


def interrupt(monkeypatch: pytest.MonkeyPatch, after: int) -> list[int]:
    """Let the step after so many be interrupted; count all that are made."""
    made: list[int] = []
    step = Method.step

    def counted(self: Method[Any], data: Any) -> Any:
        if len(made) == after:
            made.append(-1)
            raise KeyboardInterrupt
        made.append(1)
        return step(self, data)

    monkeypatch.setattr(Method, "step", counted)
    return made


def told(result: Result) -> Any:
    """Return what a run measured, but for the seconds."""
    history = [
        {k: v for k, v in epoch.items() if k != "seconds"}
        for epoch in result.history[0]
    ]
    return history, result.evaluations


@pytest.mark.parametrize(
    ("name", "anchor"),
    [
        ("graphcl", False),
        ("graphcl", True),
        *(pytest.param(name, True, marks=pytest.mark.slow) for name in list(RUNS)[1:]),
    ],
)
def test_an_interrupted_run_goes_on_to_the_same_bits(
    name: str, anchor: bool, dataset, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(state, "EVERY", 0.0)  # after every step
    whole = run(dataset, name, anchor, None)
    made = interrupt(monkeypatch, after=10)  # in the fourth epoch of three steps
    with pytest.raises(KeyboardInterrupt):
        run(dataset, name, anchor, tmp_path)
    again = run(dataset, name, anchor, tmp_path)
    assert len(made) == 10 + 1 + 2  # no step is made twice
    assert told(again) == told(whole)
    for key, embedding in whole.embeddings.items():
        assert torch.equal(again.embeddings[key], embedding)
    assert not list(tmp_path.glob("*.state*"))


def test_an_evaluation_that_was_interrupted_needs_no_training(
    dataset, tmp_path, monkeypatch
) -> None:
    whole = run(dataset, "graphcl", True, None)
    count = itertools.count()

    def breaks(*given: Any, on_fold: Any, **options: Any) -> None:
        for fold in options["only"]:
            if next(count) == 7:
                raise KeyboardInterrupt
            on_fold(fold, {"test": 0.5, "validation": 0.5, "cost": 1.0})

    with monkeypatch.context() as patched:
        patched.setattr(SVM_SCORES, breaks)
        with pytest.raises(KeyboardInterrupt):
            run(dataset, "graphcl", True, tmp_path)
    made = interrupt(monkeypatch, after=10**6)
    again = run(dataset, "graphcl", True, tmp_path)
    assert len(made) == 6  # epochs 3 and 4
    assert told(again)[0] == told(whole)[0]
    first = again.evaluations[0].test
    assert first[:7] == (0.5,) * 7 and first[7:] == whole.evaluations[0].test[7:]


@pytest.mark.parametrize("damage", ["truncated", "foreign", "empty"])
def test_a_damaged_state_is_refused_and_the_one_before_used(
    damage: str, dataset, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(state, "EVERY", 0.0)
    whole = run(dataset, "graphcl", True, None, evaluate_at=())
    made = interrupt(monkeypatch, after=10)
    with pytest.raises(KeyboardInterrupt):
        run(dataset, "graphcl", True, tmp_path, evaluate_at=())
    (path,) = tmp_path.glob("*.state")
    good = path.read_bytes()
    bad = {"truncated": good[: len(good) // 2], "foreign": b"no state", "empty": b""}
    path.write_bytes(bad[damage])
    with pytest.warns(UserWarning, match="is no state of this training"):
        again = run(dataset, "graphcl", True, tmp_path, evaluate_at=())
    assert len(made) == 10 + 1 + 3  # one step more
    assert told(again) == told(whole)


def test_without_any_good_state_the_training_begins_anew(
    dataset, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(state, "EVERY", 0.0)
    whole = run(dataset, "graphcl", True, None, evaluate_at=())
    interrupt(monkeypatch, after=10)
    with pytest.raises(KeyboardInterrupt):
        run(dataset, "graphcl", True, tmp_path, evaluate_at=())
    for path in tmp_path.glob("*.state*"):
        path.write_bytes(b"")
    with pytest.warns(UserWarning, match="starting again"):
        again = run(dataset, "graphcl", True, tmp_path, evaluate_at=())
    assert told(again) == told(whole)


def test_weights_are_kept_with_their_configuration(dataset, tmp_path) -> None:
    result = run(dataset, "graphcl", True, tmp_path, evaluate_at=())
    (path,) = tmp_path.glob("*weights.safetensors")
    about = checkpoint.read_about(path)
    assert (about["method"], about["seed"]) == ("GraphCL", 0)
    config = graphcl.Config(**SMALL)
    width = load_file(path)["encoder.convs.0.nn.0.weight"].size(1)
    leaves = load_file(path)["anchor.encoder.mlps.0.0.weight"].size(1)
    anchor = graphcl.GraphCL.default_anchor(leaves, config)
    method = graphcl.GraphCL(width, config, anchor)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checkpoint.load_encoder(path, method)
    assert result.embeddings["GT"].shape == (45, 2 * method.encoder.out_channels)


@pytest.mark.parametrize("moment", ["finish", "save"])
def test_a_kill_at_the_write_of_the_record_costs_no_training(
    moment: str, dataset, tmp_path, monkeypatch
) -> None:
    whole = run(dataset, "graphcl", True, None, evaluate_at=())

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(f"sega_anchor.report.Record.{moment}", killed)
        with pytest.raises(KeyboardInterrupt):
            run(dataset, "graphcl", True, tmp_path, evaluate_at=())
    made = interrupt(monkeypatch, after=0)
    again = run(dataset, "graphcl", True, tmp_path, evaluate_at=())
    assert not made
    assert told(again) == told(whole)
    assert torch.equal(again.embeddings["GT"], whole.embeddings["GT"])
    assert not list(tmp_path.glob("*.state*"))


@pytest.mark.parametrize("damage", ["lost", "truncated"])
def test_a_state_that_outlives_the_record_keeps_its_evaluations(
    damage: str, dataset, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(state, "EVERY", 0.0)
    options = {"evaluate_at": (1, 2, 4)}
    whole = run(dataset, "graphcl", True, None, **options)
    made = interrupt(monkeypatch, after=10)
    with pytest.raises(KeyboardInterrupt):
        run(dataset, "graphcl", True, tmp_path, **options)
    (record,) = tmp_path.glob("*.json")
    if damage == "lost":
        record.unlink()
        again = run(dataset, "graphcl", True, tmp_path, **options)
    else:
        record.write_text(record.read_text()[:200])
        with pytest.warns(UserWarning, match=r"it is now .*\.unreadable"):
            again = run(dataset, "graphcl", True, tmp_path, **options)
    assert len(made) == 10 + 1 + 2
    assert told(again) == told(whole)
    assert len(again.candidates()) == 9
    assert run(dataset, "graphcl", True, tmp_path, **options).evaluations


def test_a_state_with_a_flipped_bit_is_not_used(dataset, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(state, "EVERY", 0.0)
    whole = run(dataset, "graphcl", True, None)
    interrupt(monkeypatch, after=10)
    with pytest.raises(KeyboardInterrupt):
        run(dataset, "graphcl", True, tmp_path)
    for path in tmp_path.glob("*.state*"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1  # a weight
        path.write_bytes(content)
    with pytest.warns(UserWarning, match="it is damaged"):
        again = run(dataset, "graphcl", True, tmp_path)
    assert told(again) == told(whole)


SEEDS = """
import sys
from adapters import graphcl

seeds = [int(word) for word in sys.argv[1:]]
graphcl.run("synthetic", seeds=seeds, epochs=2, evaluate_at=(), results=".")
"""


@pytest.mark.slow
def test_runs_of_some_seeds_at_once_lose_none(tmp_path) -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", SEEDS, *seeds],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for seeds in ("0", "210", "10")
    ]
    assert [one.wait(timeout=120) for one in runs] == [0, 0, 0]
    (record,) = tmp_path.glob("*.json")
    seeds = json.loads(record.read_text())["seeds"]
    assert sorted(seeds) == ["0", "1", "2"]
    assert all(seed["complete"] for seed in seeds.values())
    assert len(list(tmp_path.glob("*-weights.safetensors"))) == 3
    assert not list(tmp_path.glob("*.state*"))
