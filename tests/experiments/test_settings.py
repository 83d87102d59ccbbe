"""The runner over semi-supervised and transfer learning: choice, records, tables."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adapters import graphcl
from sega_anchor.cli import main
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.experiments import Run, against, chosen_table, complete, pair, summary
from sega_anchor.protocols import prepare, semisupervised, transfer
from sega_anchor.protocols.semisupervised import _run as semi_run
from sega_anchor.protocols.transfer import _finetune
from sega_anchor.report import Tuned

FEW = {"pretrain_epochs": 1, "epochs": 2, "hidden_channels": 8, "folds": 3}
TINY = {"hidden_channels": 8, "num_layers": 2}
RINGS = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "C1CCOC1", "c1ccsc1", "C1CC1"]
MOLECULES = [RINGS[i % 6] + "C" * (i % 7) + "ONF"[i % 3] for i in range(80)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the synthetic set be a small one."""
    plain = prepare.load

    def load(name: str, **places: Any) -> Any:
        found = SyntheticCommunities(num_graphs=90)
        return found if name == "synthetic" else plain(name, **places)

    monkeypatch.setattr(prepare, "load", load)


@pytest.fixture
def toy(tmp_path: Path) -> str:
    """A labelled set of molecules."""
    path = tmp_path / "toy.csv"
    with path.open("w", newline="") as file:
        rows = [(smiles, i // 6 % 2) for i, smiles in enumerate(MOLECULES)]
        csv.writer(file).writerows([("smiles", "often"), *rows])
    return str(path)


@pytest.fixture
def checkpoints(tmp_path: Path) -> list[str]:
    """Three epochs of a pre-training."""
    source = tmp_path / "unlabelled.csv"
    source.write_text("smiles\n" + "\n".join(MOLECULES[:40]) + "\n")
    options = {**TINY, "epochs": 3, "checkpoints": (1, 2), "batch_size": 16}
    folder = tmp_path / "sega"
    transfer.pretrain(source, folder, root=str(tmp_path), jobs=1, **options)
    return [str(folder / f"epoch00{epoch}.safetensors") for epoch in (1, 2, 3)]


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, int]]:
    """What is fine-tuned: learning rate and seed."""
    found: list[tuple[float, int]] = []
    plain = _finetune.run_finetuning

    def counted(*given: Any, **options: Any) -> Any:
        found.append((options["lr"], options["seed"]))
        return plain(*given, **options)

    monkeypatch.setattr(_finetune, "run_finetuning", counted)
    return found


def test_learning_rate_and_checkpoint_are_chosen_on_validation(
    toy: str, checkpoints: list[str], tmp_path: Path, trained
) -> None:
    shared = {"results": str(tmp_path / "r"), "epochs": 3}
    rates = [0.001, 0.01]
    options = {**shared, "checkpoint": checkpoints[:2], "lr": rates, "seeds": 3}
    run = Run("SEGA", transfer, options)
    (cell,) = complete([run], [toy], choose_on=2)
    assert len(trained) == 4 * 2 + 1  # each with two seeds, the best with the third
    each = [
        transfer.finetune(toy, checkpoint, lr=lr, seeds=2, **shared).validation.mean
        for checkpoint in checkpoints[:2]
        for lr in rates
    ]
    assert list(cell.compared) == each
    assert max(each) > each[0]
    assert cell.chosen is run.alternatives[int(np.argmax(each))]
    assert isinstance(cell.result, Tuned)
    whole = transfer.finetune(
        toy, cell.chosen.config.checkpoint, lr=cell.chosen.config.lr, seeds=3, **shared
    )
    assert (cell.result.curves["test"] == whole.curves["test"]).all()
    assert cell.score == whole.score
    # The same call again, or one that wants more seeds, goes on from the records.
    assert len(trained) == 9
    assert len(list((tmp_path / "r").glob("*.json"))) == 4
    again = Run("SEGA", transfer, {**options, "seeds": 4})
    (more,) = complete([again], [toy], choose_on=2)
    assert trained[9:] == [(cell.chosen.config.lr, 3)]
    assert more.score.values[:3] == cell.score.values
    # What was compared is in the result and in the table.
    compared = cell.result.config["compared"]
    assert [one["validation"] for one in compared] == each
    assert [one["lr"] for one in compared] == rates * 2
    table = chosen_table([cell])
    path = Path(str(cell.chosen.config.checkpoint))
    assert f"checkpoint sega/{path.name}, lr {cell.chosen.config.lr} " in table
    assert "| 4  |" in table
    assert ", ".join(f"{mean:.2f}" for mean in each) in table


def test_pretraining_epochs_of_few_labels_are_chosen_too(tmp_path: Path) -> None:
    options = {**FEW, "pretrain_epochs": [1, 2], "pretrain_lr": [0.01, 0.001]}
    run = Run("SEGA", semisupervised, {**options, "seeds": 1})
    (cell,) = complete([run], ["synthetic"], choose_on=1)
    assert cell.chosen.choice.keys() == {"pretrain_epochs", "pretrain_lr"}
    assert len(cell.compared) == 4
    assert max(cell.compared) == cell.result.validation.mean
    assert cell.result.config["label"] == "SEGA"


def test_settings_are_paired_by_seed_and_fold() -> None:
    runs = [
        Run(name, semisupervised, {**FEW, "pretraining": name, "seeds": seeds})
        for name, seeds in (("none", [3, 1]), ("graphcl", [1, 3]))
    ]
    cells = list(complete(runs, ["synthetic"]))
    (found,) = pair(cells, against(runs))
    difference = found.difference()
    scores = [
        semisupervised.run("synthetic", **{**run.options, "seeds": [1, 3]})
        for run in runs
    ]
    values = [one.by_validation().values for one in scores]
    expected = np.subtract(values[1], values[0])
    assert difference.values == pytest.approx(expected.tolist())
    # A fold is tested on for each tenth of a fold that is trained on.
    each = 100 * (found.result.test_scores() - found.reference.test_scores())
    width = (difference.graphs.high - difference.graphs.low) / 2
    error = ((1 / 6 + 10) * each.var(ddof=1)) ** 0.5
    assert width == pytest.approx(2.5705818 * error)  # Student's t, five degrees
    text = summary(cells, [found])
    assert "pre-training" in text and "by validation" in text
    assert "embedding" not in text


def test_a_split_that_is_fixed_says_nothing_of_other_graphs(toy: str) -> None:
    options = {**TINY, "epochs": 1, "seeds": 2}
    runs = [Run(str(lr), transfer, {**options, "lr": lr}) for lr in (0.01, 0.001)]
    cells = list(complete(runs, [toy]))
    (found,) = pair(cells, against(runs))
    assert found.difference().graphs is None
    assert found.difference().seeds is not None
    assert "of transfer, mean ROC-AUC" in summary(cells, [found])


def test_what_cannot_be_paired_or_chosen_is_refused(
    toy: str, checkpoints: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(semi_run, "run_finetuning", None)
    monkeypatch.setattr(_finetune, "run_finetuning", None)
    runs = [Run("A", semisupervised, {"seeds": 5}), Run("B", graphcl, {})]
    with pytest.raises(ValueError, match="setting is 'unsupervised' and 'semi-super"):
        against(runs)
    runs = [Run(t, transfer, {"tasks": [t]}) for t in ("A", "B")]
    with pytest.raises(ValueError, match=r"tasks is \('B',\) and \('A',\)"):
        against(runs)
    paper = {"protocol": "paper", "pretrain_epochs": [20, 40]}
    for run, dataset, message in (
        (Run("A", semisupervised, paper), "synthetic", "no validation fold to choose"),
        (Run("A", transfer, {}), "toy", "unknown molecule set 'toy'"),
        (Run("A", semisupervised, {}), "NO-SUCH-SET", "unknown data set"),
        (
            Run("A", transfer, {"checkpoint": [checkpoints[0], "nowhere"]}),
            toy,
            "there is no checkpoint 'nowhere'",
        ),
        (
            Run("A", transfer, {"checkpoint": checkpoints[0], "num_layers": 3}),
            toy,
            "is not one of MoleculeGIN",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            list(complete([run], [dataset]))
    for options, message in (
        ({"anchor": True}, "no option 'anchor'"),
        ({"lr": "fast"}, "lr must be a number, got 'fast'"),
        ({"domain": ["molecules"]}, "domain must be 'molecules' or 'proteins', got"),
    ):
        with pytest.raises(ValueError, match=f"run 'A': .*{message}"):
            Run("A", transfer, options)


def test_training_that_diverges_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """With not-a-number anywhere, ``max`` would take what comes first."""
    run = Run("A", semisupervised, {**FEW, "lr": [1.0, 0.001], "seeds": 1})
    loss = semi_run._minus_loss
    scored: list[int] = []

    def diverged(outputs: Any, labels: Any) -> float:
        scored.append(1)
        first = len(scored) <= FEW["folds"] * FEW["epochs"]
        return float("nan") if first else loss(outputs, labels)

    monkeypatch.setattr(semi_run, "_minus_loss", diverged)
    (cell,) = complete([run], ["synthetic"], choose_on=1)
    assert cell.chosen.choice == {"lr": 0.001}


def test_an_error_names_the_alternative(toy: str, monkeypatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise ValueError("training diverged")

    monkeypatch.setattr(_finetune, "run_finetuning", refuse)
    run = Run("plain", transfer, {**TINY, "lr": [0.5, 0.1]})
    with pytest.raises(ValueError, match=r"run 'plain', lr 0\.5 on .*: training div"):
        list(complete([run], [toy]))


def test_the_shell_compares_few_labels(tmp_path: Path, capsys) -> None:
    file, results = tmp_path / "runs.yaml", tmp_path / "results"
    file.write_text(
        "Plain: &few {method: semisupervised, pretraining: none, folds: 3, epochs: 2,"
        " hidden_channels: 8, pretrain_epochs: 1}\n"
        "SEGA: {<<: *few, pretraining: sega, height: [2, 3]}\n"
    )
    words = ["compare", "synthetic", "--runs", str(file), "--seeds", "2"]
    words += ["--results", str(results), "--choose-on", "1"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 100
    lines = [line for line in printed.splitlines() if line.startswith("|")]
    assert sum("SEGA   | Plain" in line for line in lines) == 2  # over seeds, graphs
    assert any("height" in line and "| SEGA" in line for line in lines)
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    plain, sega = found["runs"]
    assert plain["config"]["setting"] == "semi-supervised"
    assert plain["config"]["height"] == 5  # the command's own, as the Config's
    assert sega["choice"]["alternatives"] == [{"height": 2}, {"height": 3}]
    assert sega["last"]["mean"] >= 0
    (one,) = found["pairs"]
    assert (one["run"], one["reference"]) == ("SEGA", "Plain")
    assert one["graphs"]["p_value"] <= 1


def test_the_shell_compares_checkpoints(
    toy: str, checkpoints: list[str], tmp_path: Path, capsys
) -> None:
    file = tmp_path / "runs.yaml"
    options = {"method": "transfer", "epochs": 1, **TINY}
    lines = {
        "none": options,
        "SEGA": {**options, "checkpoint": checkpoints, "lr": [0.01, 0.001]},
    }
    file.write_text(json.dumps(lines))  # which YAML reads
    words = ["compare", toy, "--runs", str(file), "--seeds", "1", "--json"]
    assert main([*words, "--results", str(tmp_path / "r")]) == 0
    _, sega = json.loads(capsys.readouterr().out)["runs"]
    assert len(sega["choice"]["compared"]) == 6
    assert sega["choice"]["chosen"]["checkpoint"] in checkpoints
