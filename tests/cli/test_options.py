"""The options of all commands: how they may be spelt, and what help says of them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sega_anchor.cli import main

METHODS = ("adgcl", "autogcl", "graphcl", "joao", "rgcl")
#: The words of each command, up to its first option.
COMMANDS = {
    "run graphcl": ["synthetic"],
    "run adgcl": ["synthetic"],
    "run autogcl": ["synthetic"],
    "run joao": ["synthetic"],
    "run rgcl": ["synthetic"],
    "compare": ["synthetic"],
    "semisupervised": ["synthetic"],
    "pretrain": ["molecules.csv", "folder"],
    "finetune": ["bbbp"],
    "tree": ["graph.txt"],
    "warmup": [],
}
RUN = ["run", "graphcl", "synthetic", "--epochs", "4", "--json"]


def refused(words: list[str], capsys) -> str:
    """What the parser says of words that it refuses."""
    with pytest.raises(SystemExit, match="2"):
        main(words)
    return str(capsys.readouterr().err)


def help_of(words: list[str], capsys) -> str:
    with pytest.raises(SystemExit, match="0"):
        main([*words, "--help"])
    return str(capsys.readouterr().out)


@pytest.mark.parametrize("command", ["", "run", *COMMANDS])
def test_help_is_plain_text(command: str, capsys) -> None:
    text = help_of(command.split(), capsys)
    assert "usage: " in text
    assert not re.search(r"``|:\w+:`", text)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_may_be_spelt_with_dashes(command: str, capsys) -> None:
    text = help_of(command.split(), capsys)
    options = set(re.findall(r"--\w+_\w+", text)) - {"--print_config"}
    assert options or command in ("tree", "warmup")
    for option in options:
        dashed = "--" + option[2:].replace("_", "-")
        words = [*command.split(), *COMMANDS[command], f"{dashed}={{}}", "--none"]
        error = refused(words, capsys)  # a bad value, or else the last word
        assert "nrecognized" not in error or "nrecognized arguments: --none" in error


@pytest.mark.parametrize(
    ("words", "epochs"),
    [
        (["--evaluate_at", "2"], [2]),
        (["--evaluate-at", "2", "4"], [2, 4]),
        (["--evaluate-at=2"], [2]),
        (["--evaluate_at", "[2,4]"], [2, 4]),
        (["--evaluate-at", "2", "--seeds", "1"], [2]),
    ],
)
def test_epochs_are_listed_as_words(
    words: list[str], epochs: list[int], capsys, quick_scores
) -> None:
    assert main([*RUN, "--seeds", "1", "--results", "null", *words]) == 0
    assert json.loads(capsys.readouterr().out)["config"]["evaluate_at"] == epochs


def test_an_option_is_not_cut_short_but_guessed(capsys) -> None:
    words = ["run", "graphcl", "synthetic"]
    assert "did you mean --seeds?" in refused([*words, "--seed", "3"], capsys)
    assert "did you mean --batch_size?" in refused([*words, "--batchsize=8"], capsys)


def one_run(words: list[str], capsys) -> dict[str, Any]:
    assert main(words) == 0
    out = capsys.readouterr()
    found: dict[str, Any] = json.loads(out.out)  # nothing else is there
    return found


def test_run_prints_json(tmp_path: Path, capsys, quick_scores) -> None:
    words = [*RUN, "--evaluate-at", "2", "4", "--results", str(tmp_path)]
    found = one_run([*words, "--seeds", "[3,5]"], capsys)
    assert found["config"]["label"] == "GraphCL"
    assert found["seeds"] == [3, 5]
    for rule in ("by_validation", "by_test"):
        values = found[rule]["values"]
        assert found[rule]["mean"] == pytest.approx(sum(values) / 2)
        assert (len(values), found[rule]["candidates"]) == (2, 2)
    assert found["validation"]["mean"] > 0  # what to choose by
    record = json.loads(Path(found["record"]).read_text())
    assert record["config"] == found["config"]
    assert list(record["seeds"]) == ["3", "5"]


@pytest.mark.parametrize("tree", ["shuffled", "random"])
def test_the_shell_knows_the_controls(tree: str, capsys, quick_scores) -> None:
    short = ["--seeds", "1", "--evaluate-at", "4", "--results", "null"]
    assert main([*RUN, *short, "--anchor", "--height", "2", "--tree", tree]) == 0
    config = json.loads(capsys.readouterr().out)["config"]
    assert config["tree"] == tree
    assert f"Add{tree.capitalize()}Tree(height=2" in config["anchor"]
    for command in ("run graphcl", "semisupervised", "pretrain"):
        words = [*command.split(), *COMMANDS[command], "--tree", "best"]
        assert "'shuffled'" in refused(words, capsys)


def test_a_count_and_a_list_of_seeds_share_a_record(
    tmp_path: Path, capsys, quick_scores
) -> None:
    words = [*RUN, "--evaluate-at", "4", "--results", str(tmp_path), "--seeds"]
    both = one_run([*words, "2"], capsys)
    second = one_run([*words, "[1]"], capsys)
    assert second["record"] == both["record"]
    assert second["by_test"]["values"] == both["by_test"]["values"][1:]


@pytest.mark.slow
def test_compare_prints_json(tmp_path: Path, capsys, quick_scores) -> None:
    words = "compare synthetic --methods graphcl --epochs 1 --evaluate-at 1 --json"
    found = one_run([*words.split(), "--seeds", "2", "--results", "null"], capsys)
    assert [one["config"]["label"] for one in found["runs"]] == ["GraphCL", "SEGA"]
    (pair,) = found["pairs"]
    assert (pair["run"], pair["reference"]) == ("SEGA", "GraphCL")
    assert len(pair["values"]) == 2
    assert pair["mean"] == pytest.approx(sum(pair["values"]) / 2)
    for rule in ("seeds", "graphs"):
        assert set(pair[rule]) == {"low", "high", "p_value", "adjusted", "resolves"}


@pytest.mark.slow
def test_compare_runs_all_six_by_default(tmp_path: Path, capsys, quick_scores) -> None:
    words = "compare synthetic --epochs 1 --evaluate-at 1 --json --seeds 1"
    found = one_run([*words.split(), "--results", "null"], capsys)
    labels = [pair["reference"] for pair in found["pairs"]]
    assert labels == ["GraphCL", "AD-GCL", "JOAO", "JOAOv2", "AutoGCL", "RGCL"]


def test_semisupervised_prints_json(tmp_path: Path, capsys) -> None:
    words = "semisupervised synthetic --pretrain-epochs 1 --epochs 2 --folds 3 --json"
    found = one_run([*words.split(), "--seeds", "[4]", "--results", "null"], capsys)
    assert found["seeds"] == [4]
    assert {"by_validation", "by_test", "last"} <= set(found)
    assert found["record"] is None


@pytest.mark.slow
def test_pretrain_and_finetune_print_json(tmp_path: Path, capsys) -> None:
    pytest.importorskip("rdkit")
    rings = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "C1CCOC1", "c1ccsc1", "C1CC1"]
    lines = [
        f"{rings[i % 6]}{'C' * (i // 12)}{'O' * (i // 6 % 2)},{i // 6 % 2}"
        for i in range(120)
    ]
    smiles = tmp_path / "toy.csv"
    smiles.write_text("\n".join(["smiles,oxygen", *lines]))
    words = "--hidden-channels 8 --num-layers 2 --epochs 2 --json".split()
    folder = tmp_path / "kept"
    pretrain = [
        "pretrain",
        str(smiles),
        str(folder),
        *words,
        "--pretraining",
        "graphcl",
    ]
    pretrain += ["--checkpoints", "1", "--jobs", "1", "--seeds", "[3]"]
    found = one_run(pretrain, capsys)
    assert found["config"]["seed"] == 3
    assert found["checkpoint"] == str(folder / "epoch002.safetensors")
    assert (folder / "epoch001.safetensors").exists()  # --checkpoints 1
    assert len(found["history"]) == 2
    assert Path(found["record"]).exists()
    finetune = ["finetune", str(smiles), *words, "--checkpoint", found["checkpoint"]]
    tuned = one_run(
        [*finetune, "--tasks", "oxygen", "--seeds", "[2]", "--results", str(tmp_path)],
        capsys,
    )
    assert tuned["config"]["label"] == "GraphCL"
    assert tuned["seeds"] == [2]
    assert len(tuned["by_validation"]["values"]) == 1
    assert Path(tuned["record"]).exists()


def test_tree_prints_json(tmp_path: Path, capsys) -> None:
    graph, output = tmp_path / "graph.txt", tmp_path / "tree.json"
    graph.write_text("a b\nb c\nc a\n")
    found = one_run(["tree", str(graph), "--json", "--output", str(output)], capsys)
    written = json.loads(output.read_text())
    assert found.items() >= written.items()
    assert found["output"] == str(output)


def test_a_config_file_holds_options(tmp_path: Path, capsys, quick_scores) -> None:
    config = tmp_path / "run.yaml"
    config.write_text(
        "dataset: MUTAG\nseeds: [7]\nevaluate_at: [1]\nresults: null\nepochs: 3\n"
    )
    words = ["run", "graphcl", "synthetic", "--epochs", "2", "--json"]
    for given in (["--config", str(config)], [f"--config={config}"]):
        found = one_run([*words, *given], capsys)
        assert found["seeds"] == [7]
        assert found["config"]["evaluate_at"] == [1]
        # Words win, before the file or behind it.
        assert found["config"]["dataset"] == "synthetic"
        assert found["config"]["epochs"] == 2


def test_a_printed_configuration_is_a_config_file(tmp_path: Path, capsys) -> None:
    words = ["semisupervised", "synthetic", "--seeds", "[4]", "--print-config"]
    with pytest.raises(SystemExit, match="0"):
        main(words)
    config = tmp_path / "run.yaml"
    config.write_text(capsys.readouterr().out)
    assert "seeds:\n- 4\n" in config.read_text()
    words = f"semisupervised --config {config} --folds 2 --json".split()
    assert main(words) == 2
    assert "folds must be at least 3, got 2" in capsys.readouterr().err
