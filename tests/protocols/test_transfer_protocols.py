"""Transfer learning under "paper": views, trees and epochs of the released code."""

import csv
import hashlib
import json
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.utils import degree

from sega_anchor.protocols import transfer
from sega_anchor.protocols.settings import identity
from sega_anchor.protocols.transfer import DOMAINS
from sega_anchor.protocols.transfer._config import decisive
from tests.helpers.proteins import write_proteins

SMALL = {"hidden_channels": 8, "num_layers": 2}
PRETRAIN = {**SMALL, "epochs": 1, "batch_size": 16, "checkpoints": (), "jobs": 1}
RINGS = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "C1CCOC1", "c1ccsc1", "C1CC1"]
MOLECULES = [RINGS[i % 6] + "C" * (i % 7) + ["O", "N", "Cl"][i % 3] for i in range(40)]


@pytest.fixture
def smiles_file(tmp_path: Path) -> Path:
    path = tmp_path / "molecules.csv"
    path.write_text("smiles\n" + "\n".join(MOLECULES) + "\n")
    return path


@pytest.fixture
def labelled_file(tmp_path: Path) -> Path:
    path = tmp_path / "toy.csv"
    with path.open("w", newline="") as file:
        rows = [(smiles, i // 6 % 2) for i, smiles in enumerate(MOLECULES * 2)]
        csv.writer(file).writerows([("smiles", "often"), *rows])
    return path


def path_graph(n: int) -> Data:
    ends = torch.arange(n - 1)
    edges = torch.cat([torch.stack([ends, ends + 1]), torch.stack([ends + 1, ends])], 1)
    return Data(x=torch.arange(n).view(-1, 1), edge_index=edges)


def views(domain: str, protocol: str, data: Data, count: int = 400) -> list[Data]:
    """Views of so many copies of a graph."""
    augment = DOMAINS[domain].augmentation(0.2, protocol)  # type: ignore[index,arg-type]
    generator = torch.Generator().manual_seed(0)
    batch = augment(Batch.from_data_list([data] * count), generator)
    batch._slice_dict = {"x": batch.ptr}
    return [
        Data(
            x=batch.x[a:b],
            edge_index=batch.edge_index[:, batch.batch[batch.edge_index[0]] == i] - a,
        )
        for i, (a, b) in enumerate(zip(batch.ptr[:-1], batch.ptr[1:], strict=True))
    ]


@pytest.mark.parametrize(
    ("domain", "protocol", "sizes"),
    [
        # 16 nodes are left of 20 where some are dropped; a star has three at most.
        ("molecules", "paper", {16, 3, 2}),
        ("molecules", "honest", {16, 5, 4, 3}),
        # A neighbourhood grows to five, and 20 stay where edges are dropped.
        ("proteins", "paper", {16, 5, 4, 20}),
    ],
)
def test_views_are_those_of_the_released_loaders(
    domain: str, protocol: str, sizes: set[int]
) -> None:
    found = views(domain, protocol, path_graph(20))
    assert {view.num_nodes for view in found} == sizes
    for view in found:
        if view.num_nodes == 20:  # a fifth of 38 directions is dropped
            assert view.edge_index.unique(dim=1).size(1) == 38 - 7
        elif view.num_nodes < 6:  # connected
            assert degree(view.edge_index[0], view.num_nodes).min() > 0


def test_a_view_without_edges_is_given_up_as_released() -> None:
    """Of four nodes a fifth is none, so that a subgraph is its start alone."""
    for domain in ("molecules", "proteins"):
        assert {v.num_nodes for v in views(domain, "paper", path_graph(4))} == {4}
        assert {v.num_nodes for v in views(domain, "honest", path_graph(4))} == {4, 1}
        lone = Data(x=torch.zeros(10, 1), edge_index=torch.empty(2, 0).long())
        assert {v.num_nodes for v in views(domain, "paper", lone)} == {10}


def test_pretraining_takes_the_views_and_trees_of_its_protocol(
    smiles_file: Path, tmp_path: Path
) -> None:
    options = {**PRETRAIN, "root": str(tmp_path), "height": 3}
    losses, abouts = {}, {}
    for name, given in {
        "honest": {},
        "paper": {"protocol": "paper"},
        "paper, refined": {"protocol": "paper", "tree": "refined"},
        "mean": {"readout": "mean"},
    }.items():
        told: list[dict] = []
        folder = tmp_path / name
        transfer.pretrain(smiles_file, folder, on_epoch=told.append, **options, **given)
        losses[name] = told[0]["loss"]
        log = json.loads((folder / "pretraining.json").read_text())
        abouts[name] = log["about"]
    assert len(set(losses.values())) == 4
    assert abouts["honest"]["tree"] == "refined"
    assert abouts["paper"]["tree"] == "authors"
    assert not {"protocol", "readout"} & abouts["honest"].keys()
    assert (abouts["paper"]["protocol"], abouts["mean"]["readout"]) == ("paper", "mean")
    # Neither serves the other.
    for folder, given, message in (
        ("honest", {"protocol": "paper"}, "protocol='honest' instead of 'paper'"),
        ("honest", {"readout": "mean"}, "readout='sum' instead of 'mean'"),
        ("honest", {"quantities": True}, "quantities=False instead of True"),
        ("paper, refined", {}, "protocol='paper' instead of 'honest'"),
        ("mean", {}, "readout='mean' instead of 'sum'"),
    ):
        with pytest.raises(ValueError, match=f"another pre-training, with {message}"):
            transfer.pretrain(smiles_file, tmp_path / folder, **options, **given)


def test_molecules_report_the_last_epoch_as_released(labelled_file: Path) -> None:
    options = {**SMALL, "epochs": 4, "seeds": 1}
    honest = transfer.finetune(labelled_file, **options)
    paper = transfer.finetune(labelled_file, protocol="paper", **options)
    for part, curve in honest.curves.items():
        assert (curve == paper.curves[part]).all()
    assert honest.score == honest.by_validation()
    assert paper.score == paper.last()
    assert paper.validation == honest.validation


def test_proteins_report_the_best_epoch_on_validation(tmp_path: Path) -> None:
    folder = write_proteins(tmp_path / "string", proteins=15)
    shared = {"domain": "proteins", "protocol": "paper"}
    last = transfer.pretrain(folder, tmp_path / "out", **PRETRAIN, **shared)
    paper = transfer.finetune(folder, last, epochs=3, seeds=1, **shared)
    assert paper.score == paper.by_validation()
    assert paper.test_scores().shape == (1, 1)


def test_records_of_before_there_was_a_choice_are_found() -> None:
    """Their names hold a digest: that here is of code that knew no protocol."""
    text = json.dumps(decisive(transfer.FinetuneConfig(), "checkpoint"), sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "ac0fc4d794336b86"
    assert "readout" in identity(transfer.PretrainConfig())
    assert "readout" not in decisive(transfer.PretrainConfig())


@pytest.mark.parametrize(
    ("config", "options", "message"),
    [
        ("PretrainConfig", {"protocol": "papr"}, "protocol must be 'honest' or 'pape"),
        ("PretrainConfig", {"readout": "max"}, "readout must be 'sum', 'mean' or 'roo"),
        ("FinetuneConfig", {"protocol": "test"}, "protocol must be 'honest' or 'pape"),
    ],
)
def test_values_are_refused(config: str, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(transfer, config)(**options)
