"""Every run says how far it is: on_epoch and the log."""

import json
import logging
from typing import Any

import pytest
import torch

from adapters import graphcl, joao
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.protocols import semisupervised
from sega_anchor.training import Method

pytestmark = pytest.mark.usefixtures("quick_scores")
SHORT: dict[str, Any] = {"epochs": 4, "evaluate_at": (2, 4), "batch_size": 16}
FEW: dict[str, Any] = {"pretrain_epochs": 2, "epochs": 3, "folds": 3, "seeds": 1}
FEW |= {"hidden_channels": 16, "batch_size": 25, "label_rate": 0.5}


@pytest.fixture(scope="module")
def dataset() -> SyntheticCommunities:
    return SyntheticCommunities(num_graphs=45)


def test_each_epoch_is_told_with_plain_numbers(dataset) -> None:
    told: list[dict[str, Any]] = []

    def tell(numbers: dict[str, Any]) -> None:
        told.append(dict(numbers))
        numbers.clear()
        torch.rand(5)  # nothing that it does touches the run

    whole = joao.run(dataset, anchor=True, seeds=2, **SHORT)
    result = joao.run(dataset, anchor=True, seeds=2, on_epoch=tell, **SHORT)
    assert result.evaluations == whole.evaluations
    places = [(one["phase"], one["seed"], one["epoch"]) for one in told]
    assert places == [("training", s, e) for s in (0, 1) for e in (1, 2, 3, 4)]
    assert all(isinstance(v, int | float | str) for one in told for v in one.values())
    for one in told:
        measured = result.history[one["seed"]][one["epoch"] - 1]
        assert (one["loss"], one["seconds"]) == (measured["loss"], measured["seconds"])
        assert ("validation" in one) == (one["epoch"] in (2, 4))
    last = [one["validation"] for one in told if one["epoch"] == 4]
    assert tuple(last) == result.validation.values
    best = {one["seed"]: one["validation"] for one in told if one["epoch"] == 2}
    assert all(best[seed] <= last[seed] for seed in best)
    assert "on_epoch" not in result.config


def test_who_raises_stops_the_run_which_goes_on_behind_that_epoch(
    dataset, tmp_path, monkeypatch
) -> None:
    options = {**SHORT, "anchor": True, "seeds": 1}
    whole = graphcl.run(dataset, **options)
    steps: list[int] = []
    step = Method.step

    def counted(self: Method[Any], data: Any) -> Any:
        steps.append(1)
        return step(self, data)

    class Pruned(Exception):
        pass

    def prune(numbers: dict[str, Any]) -> None:
        if numbers["epoch"] == 3:
            raise Pruned

    monkeypatch.setattr(Method, "step", counted)
    with pytest.raises(Pruned):
        graphcl.run(dataset, on_epoch=prune, results=str(tmp_path), **options)
    assert len(steps) == 3 * 3
    told: list[int] = []
    again = graphcl.run(
        dataset,
        on_epoch=lambda numbers: told.append(numbers["epoch"]),
        results=str(tmp_path),
        **options,
    )
    assert told == [4]
    assert len(steps) == 4 * 3
    assert again.evaluations == whole.evaluations
    assert torch.equal(again.embeddings["GT"], whole.embeddings["GT"])
    assert not list(tmp_path.glob("*.state*"))


def test_both_phases_of_few_labels_are_told(dataset, tmp_path) -> None:
    told: list[dict[str, Any]] = []

    def tell(numbers: dict[str, Any]) -> None:
        told.append(numbers)
        if len(told) == 7:
            raise KeyboardInterrupt

    options = {**FEW, "results": str(tmp_path)}
    with pytest.raises(KeyboardInterrupt):
        semisupervised.run(dataset, on_epoch=tell, **options)
    result = semisupervised.run(dataset, on_epoch=tell, **options)
    places = [(one["phase"], one.get("fold"), one["epoch"]) for one in told]
    assert places == [
        *(("pre-training", None, epoch) for epoch in (1, 2)),
        *(("fine-tuning", fold, epoch) for fold in range(3) for epoch in (1, 2, 3)),
    ]
    assert json.loads(json.dumps(told)) == told
    last = [one["validation"] for one in told if one["epoch"] == 3]
    assert sum(last) / 3 == pytest.approx(result.validation.mean)
    assert not list(tmp_path.glob("*.state*"))


def test_a_run_writes_to_the_log(dataset, tmp_path, caplog) -> None:
    caplog.set_level(logging.INFO, logger="sega_anchor")
    options = {**SHORT, "seeds": 2, "results": str(tmp_path)}
    result = graphcl.run(dataset, **options)
    first, *others = caplog.messages
    for word in (
        "GraphCL",
        "45 graphs",
        "seeds 0, 1,",
        "epochs 4",
        "cpu",
        str(tmp_path),
    ):
        assert word in first
    (evaluated,) = [m for m in others if m.startswith("seed 1, epoch 4, embedding G")]
    score = result.evaluations[-1]
    assert f"validation {100 * sum(score.validation) / 10:.2f}" in evaluated
    assert f"test {100 * sum(score.test) / 10:.2f}" in evaluated
    # At most one line a minute on epochs, but always the last.
    epochs = [m for m in others if m.startswith("training")]
    assert [m.partition(":")[0] for m in epochs] == [
        f"training, seed {seed}, epoch 4 of 4" for seed in (0, 1)
    ]
    loss = result.history[1][-1]["loss"]
    assert f"loss {loss:.4g}" in epochs[1]
    caplog.clear()
    graphcl.run(dataset, **options)
    assert caplog.messages[1:] == ["seed 0: on record", "seed 1: on record"]


def test_few_labels_write_to_the_log(dataset, caplog) -> None:
    caplog.set_level(logging.INFO, logger="sega_anchor")
    semisupervised.run(dataset, **FEW)
    said = "\n".join(caplog.messages)
    assert "SEGA on SyntheticCommunities: 45 graphs, seeds 0, epochs 2 + 3, cpu" in said
    assert "pre-training, seed 0, epoch 2 of 2: loss" in said
    for fold in range(3):
        assert f"fine-tuning, seed 0, fold {fold}, epoch 3 of 3: loss" in said
    assert said.count("validation") == said.count(", test ") == 3


def test_what_takes_long_writes_lines_meanwhile(dataset, caplog, monkeypatch) -> None:
    caplog.set_level(logging.INFO, logger="sega_anchor")
    monkeypatch.setattr("sega_anchor.utils.progress.EVERY", 0.0)  # always a minute
    graphcl.run(dataset, anchor=True, seeds=1, **SHORT)
    for said in (
        "Preparing graphs: 20 of 45",
        "Evaluating: 7 of 30",
        "training, seed 0, epoch 3 of 4: loss",
    ):
        assert said in "\n".join(caplog.messages)
