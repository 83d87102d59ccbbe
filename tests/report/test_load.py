"""Results from their records, for notebooks."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from adapters import graphcl
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.protocols import semisupervised
from sega_anchor.report import Result, Tuned, load
from tests.helpers.records import rewrite

SHORT = {"seeds": 2, "epochs": 2, "evaluate_at": (1, 2), "folds": 3, "jobs": 1}
FEW = {"seeds": 2, "pretrain_epochs": 1, "epochs": 2, "folds": 3, "label_rate": 0.5}


@pytest.fixture(scope="module")
def dataset() -> SyntheticCommunities:
    return SyntheticCommunities(num_graphs=36)


@pytest.fixture(scope="module")
def result(dataset, tmp_path_factory) -> Result:
    folder = tmp_path_factory.mktemp("results")
    return graphcl.run(dataset, anchor=True, results=str(folder), **SHORT)


@pytest.fixture(scope="module")
def tuned(dataset, tmp_path_factory) -> Tuned:
    folder = tmp_path_factory.mktemp("results")
    return semisupervised.run(dataset, results=str(folder), **FEW)


def test_a_result_comes_back_from_its_record(result) -> None:
    for found in (Result.load(result.record), load(str(result.record))):
        assert isinstance(found, Result)
        assert found.config == result.config
        assert found.evaluations == result.evaluations
        assert found.history == result.history
        assert found.accuracy == result.accuracy
        assert found.record == result.record
        assert sorted(found.embeddings) == ["G", "GT", "T"]
        for name, embedding in found.embeddings.items():
            assert torch.equal(embedding, result.embeddings[name])


def test_a_seed_under_way_is_left_out(result, tmp_path: Path) -> None:
    content = json.loads(result.record.read_text())
    content["seeds"]["1"]["complete"] = False
    path = tmp_path / result.record.name
    rewrite(path, content)
    found = load(path)
    assert list(found.history) == [0]
    assert {one.seed for one in found.evaluations} == {0}
    assert found.embeddings == {}  # were moved away from the record


def test_a_fine_tuning_comes_back_from_its_record(tuned, tmp_path: Path) -> None:
    found = load(tuned.record)
    assert isinstance(found, Tuned)
    assert str(found) == str(tuned)
    assert found.history == tuned.history
    for part, curve in found.curves.items():
        assert np.array_equal(curve, tuned.curves[part])
    content = json.loads(tuned.record.read_text())
    del content["seeds"]["0"]["folds"]["2"]
    path = tmp_path / tuned.record.name
    rewrite(path, content)
    assert list(load(path).history) == [1]
    del content["seeds"]["1"]
    rewrite(path, content)
    with pytest.raises(ValueError, match="holds no seed that is complete"):
        load(path)


def test_each_kind_refuses_the_other(result, tuned) -> None:
    with pytest.raises(ValueError, match=r"semi-supervised setting: .*report\.load"):
        Result.load(tuned.record)
    with pytest.raises(ValueError, match=r"unsupervised setting: use .*report\.load"):
        Tuned.load(result.record)


def test_frames_have_a_row_for_each_measurement(result, tuned) -> None:
    frame = result.to_frame()
    assert len(frame) == 2 * 2 * 3 * 3  # seeds, epochs, embeddings, folds
    assert set(frame["method"]) == {"SEGA"}
    last = frame.query("epoch == 2 and embedding == 'GT'").groupby("seed")["test"]
    assert tuple(100 * last.mean()) == pytest.approx(result.of(2, "GT").values)
    frame = tuned.to_frame()
    assert len(frame) == 2 * 3 * 2  # seeds, folds, epochs
    last = frame.query("epoch == 2").groupby("seed")["test"].mean()
    assert tuple(100 * last) == pytest.approx(tuned.last().values)
