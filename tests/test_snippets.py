"""What README and guide show runs when it is pasted, and their commands parse."""

import csv
import gzip
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch_geometric.data import Data

import sega_anchor as sa
from adapters import adgcl
from sega_anchor import cli
from sega_anchor.augment import NodeDrop
from sega_anchor.backbones import GIN
from sega_anchor.cli._parser import spell
from sega_anchor.cli._runs_file import read_runs
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.protocols import prepare, semisupervised, transfer, unsupervised
from sega_anchor.protocols.features import PublishedFeatures
from tests.helpers.snippets import Snippet, blocks, commands

RINGS = [f"C1{'C' * n}C1{end}" for n in range(1, 21) for end in ("O", "N", "F")]


def small(*_: Any, **__: Any) -> SyntheticCommunities:
    """Stand in for a data set that has to be downloaded."""
    return SyntheticCommunities(num_graphs=90)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch, quick_scores) -> None:
    """Let runs be small and short, whatever they are asked for."""

    def cut(module: Any, name: str, **values: Any) -> None:
        class Short(getattr(module, name)):
            def __init__(self, **given: Any) -> None:
                super().__init__(**{**given, **values})

        monkeypatch.setattr(module, name, Short)

    monkeypatch.setattr(prepare, "load", small)
    monkeypatch.setattr("sega_anchor.datasets.load", small)
    monkeypatch.setattr("sega_anchor.experiments._complete.load", small)
    cut(unsupervised._run, "Settings", seeds=1, epochs=1, evaluate_at=(1,))
    few = {"pretrain_epochs": 1, "epochs": 1, "seeds": 1, "hidden_channels": 8}
    cut(semisupervised._run, "Config", **few)
    cut(transfer._pretrain, "PretrainConfig", hidden_channels=8, num_layers=2)
    cut(transfer._finetune, "FinetuneConfig", seeds=1, epochs=1)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that a reader has, in the folder where the snippet is pasted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEGA_ANCHOR_MOLECULES", str(tmp_path))
    with gzip.open("zinc.csv.gz", "wt") as file:
        file.write("smiles\n" + "\n".join(RINGS))
    with Path("BBBP.csv").open("w", newline="") as file:
        rows = [(smiles, int(smiles.endswith("O"))) for smiles in RINGS]
        csv.writer(file).writerows([("smiles", "p_np"), *rows])


class Watcher:
    """Stands in for Weights & Biases and for TensorBoard's writer."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def init(self, **_: Any) -> "Watcher":
        return self

    def __enter__(self) -> "Watcher":
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def log(self, numbers: dict[str, Any]) -> None:
        self.seen.append(numbers["loss"])

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        self.seen.append((tag, value, step))


@pytest.fixture
def watcher(monkeypatch: pytest.MonkeyPatch) -> Watcher:
    found = Watcher()
    for name, attribute, value in (
        ("wandb", "init", found.init),
        ("wandb", "log", found.log),
        ("torch.utils.tensorboard", "SummaryWriter", lambda folder: found),
    ):
        module = sys.modules.get(name) or ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.setattr(module, attribute, value, raising=False)
    return found


def of_the_reader() -> dict[str, Any]:
    """What a reader has before he pastes: his data, his encoder, his view."""
    torch.manual_seed(0)
    dataset = small()
    gin = GIN(dataset.num_features, 32, 3)

    def encoder(data: Data) -> torch.Tensor:
        return gin(data.x, data.edge_index, data.batch, data.num_graphs)

    leaves = PublishedFeatures(100, labels="none")(dataset[0]).tree_x.size(1)
    return {
        "dataset": dataset,
        "encoder": encoder,
        "augment": NodeDrop(0.2),
        "optimizer": torch.optim.Adam(gin.parameters()),
        "my_graphs": list(dataset),
        "my_anchor_view": adgcl.ADGCL.default_anchor(leaves, adgcl.Config()),
        "MyGraphs": MyGraphs,
        "root": "data",
        "anchor": sa.AnchorView(dataset.num_features, height=3),
    }


class MyGraphs(SyntheticCommunities):
    """A data set of the reader's own, whose graphs are read by worker processes."""

    def __init__(self, root: str, transform: Any) -> None:
        super().__init__(num_graphs=90)
        self.transform = transform


@pytest.mark.filterwarnings("ignore:This DataLoader will create 8 worker")  # few cores
@pytest.mark.usefixtures("short", "files")
@pytest.mark.parametrize("snippet", blocks("python"), ids=str)
def test_a_snippet_runs_when_it_is_pasted(snippet: Snippet, watcher) -> None:
    code = compile("\n" * (snippet.line - 1) + snippet.text, snippet.page, "exec")
    exec(code, {"__name__": "pasted", **of_the_reader()})
    if "on_epoch" in snippet.text:
        assert watcher.seen


@pytest.mark.parametrize("snippet", blocks("yaml"), ids=str)
def test_a_file_of_runs_can_be_read(snippet: Snippet, tmp_path: Path) -> None:
    file = tmp_path / "runs.yaml"
    file.write_text(snippet.text)
    assert read_runs(str(file), {"seeds": 20})


@pytest.mark.parametrize("command", commands(), ids=str)
def test_the_words_of_a_command_are_understood(command: Snippet) -> None:
    words = spell(command.text.split())
    chosen = cli._parser(words).parse_args(words)
    assert chosen.subcommand == words[0]


def test_every_page_is_looked_through() -> None:
    assert {"README.md", "guide.md"} <= {block.page.name for block in blocks("python")}
    names = {command.text.split()[0] for command in commands()}
    assert names >= {"run", "compare", "tree", "semisupervised", "pretrain", "finetune"}
