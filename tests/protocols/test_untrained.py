"""epochs=0: what the networks say before any training, through the same evaluation."""

import json
import math

import pytest
import torch

from adapters import graphcl
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.loader import PackedGraphs
from sega_anchor.protocols.features import HonestFeatures
from sega_anchor.report import Result
from tests.helpers import scores
from tests.helpers.records import rewrite

SHORT = {"seeds": 1, "batch_size": 16, "jobs": 1}

pytestmark = pytest.mark.usefixtures("quick_scores")


@pytest.fixture(scope="module")
def dataset() -> SyntheticCommunities:
    return SyntheticCommunities(num_graphs=45)


def run(dataset, **options) -> Result:
    return graphcl.run(dataset, **{**SHORT, **options})


def test_the_networks_are_evaluated_as_they_are_drawn(dataset) -> None:
    told: list[object] = []
    result = run(dataset, epochs=0, seeds=[3], on_epoch=told.append)
    assert result.candidates() == [(0, "G")]
    assert result.history == {3: []}
    assert told == []
    assert result.config["label"] == "GraphCL, untrained"
    assert result.config["epochs"] == 0

    # By hand: batch norm with mean 0 and variance 1, so eval mode of a fresh network.
    graphs = [HonestFeatures(100)(graph.clone()) for graph in dataset]
    torch.manual_seed(3)
    model = graphcl.GraphCL(graphs[0].x.size(1)).eval()
    with torch.no_grad():
        expected = model.encode(PackedGraphs.of(graphs).batch(range(45)))
    torch.testing.assert_close(result.embeddings["G"], expected)


def test_training_after_a_look_at_the_start_has_the_same_bits(dataset) -> None:
    plain = run(dataset, anchor=True, epochs=2, evaluate_at=(2,))
    looked = run(dataset, anchor=True, epochs=2, evaluate_at=(0, 2))
    assert looked.candidates() == [(e, n) for e in (0, 2) for n in ("G", "GT", "T")]
    for before, after in zip(plain.history[0], looked.history[0], strict=True):
        assert before["loss"] == after["loss"] and math.isfinite(before["loss"])
    assert torch.equal(plain.embeddings["GT"], looked.embeddings["GT"])
    assert looked.config["label"] == "SEGA"  # trained, after all
    assert [e for e in looked.evaluations if e.epoch] == plain.evaluations
    untrained = run(dataset, anchor=True, epochs=0)
    assert [e for e in looked.evaluations if not e.epoch] == untrained.evaluations


def test_a_run_without_training_is_resumed(dataset, tmp_path, monkeypatch) -> None:
    result = run(dataset, epochs=0, results=tmp_path)
    assert result.record is not None
    content = json.loads(result.record.read_text())
    seed = content["seeds"]["0"]
    seed["complete"] = False  # as after a kill amid the evaluation
    del seed["evaluations"]["0/G"]["test"]["9"]
    rewrite(result.record, content)
    calls = []

    def counted(*arguments, **options):
        calls.append(options["only"])
        return scores.quick_scores(*arguments, **options)

    monkeypatch.setattr(scores.SVM_SCORES, counted)
    for _ in range(2):
        again = run(dataset, epochs=0, results=tmp_path)
        assert again.evaluations == result.evaluations
    assert calls == [[9]]
    assert not list(tmp_path.glob("*.state*"))


def test_fewer_epochs_than_none_are_refused(dataset) -> None:
    with pytest.raises(ValueError, match="epochs must be at least 0, got -1"):
        run(dataset, epochs=-1)
    with pytest.raises(ValueError, match="epochs from 0 to 0, got"):
        run(dataset, epochs=0, evaluate_at=(1,))
