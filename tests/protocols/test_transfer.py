"""Transfer learning, from a SMILES file to ROC-AUC, interrupted and refused."""

import csv
import json
from pathlib import Path

import pytest
import torch
from rdkit import Chem
from safetensors.torch import load_file
from torch_geometric.data import Data

from sega_anchor.backbones import MoleculeGIN
from sega_anchor.protocols import transfer
from sega_anchor.protocols.transfer import _finetune, _pretrain
from sega_anchor.protocols.transfer._config import FinetuneConfig, PretrainConfig
from sega_anchor.protocols.transfer._data import labelled_graphs, unlabelled_graphs
from sega_anchor.training.contrast import Contrast
from tests.helpers.proteins import write_proteins

pytestmark = pytest.mark.slow
SMALL = {"hidden_channels": 16, "num_layers": 2}
PRETRAIN = {**SMALL, "epochs": 2, "batch_size": 16, "checkpoints": (1,), "jobs": 1}
FINETUNE = {"epochs": 2, "seeds": 2}


def molecules(count: int) -> list[str]:
    """Return chains and rings of different atoms, one-atom molecules among them."""
    found = ["C", "[Na+]", "O"]
    rings = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "C1CCOC1", "c1ccsc1", "C1CC1"]
    for i in range(count - len(found)):
        chain = "C" * (1 + i % 7) + ["O", "N", "Cl", "C(=O)O", "F"][i % 5]
        found.append(rings[i % len(rings)] + chain if i % 4 else chain)
    return found


@pytest.fixture
def smiles_file(tmp_path: Path) -> Path:
    path = tmp_path / "molecules.csv"
    path.write_text("smiles\n" + "\n".join(molecules(64)) + "\n")
    return path


@pytest.fixture
def labelled_file(tmp_path: Path) -> Path:
    """Two tasks: has it an aromatic ring, has it oxygen; some labels are missing."""
    path = tmp_path / "toy.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["smiles", "aromatic", "oxygen"])
        for i, smiles in enumerate(molecules(120)):
            oxygen = "" if i % 9 == 0 else int("O" in smiles)
            writer.writerow([smiles, int("c" in smiles), oxygen])
    return path


@pytest.mark.parametrize("method", ["sega", "graphcl"])
def test_a_checkpoint_goes_into_fine_tuning_and_into_plain_pytorch(
    method: str, smiles_file: Path, labelled_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / method
    last = transfer.pretrain(smiles_file, folder, pretraining=method, **PRETRAIN)
    assert last.name == "epoch002.safetensors"
    names = {path.name for path in folder.iterdir() if path.name != ".locks"}
    assert names == {"epoch001.safetensors", last.name, "pretraining.json"}
    log = json.loads((folder / "pretraining.json").read_text())
    assert len(log["history"]) == 2
    assert log["about"]["graphs"] == 64
    MoleculeGIN(16, 2).load_state_dict(load_file(last))
    results = tmp_path / "results"
    result = transfer.finetune(labelled_file, last, results=str(results), **FINETUNE)
    assert result.curves["test"].shape == (2, 1, 2)
    assert result.config["hidden_channels"] == 16
    assert result.config["label"] == {"sega": "SEGA", "graphcl": "GraphCL"}[method]
    assert not list(results.glob("*.state"))
    plain = transfer.finetune(labelled_file, **SMALL, **FINETUNE)
    assert plain.config["label"] == "no pre-training"
    assert (plain.curves["validation"] != result.curves["validation"]).any()


def test_both_methods_see_the_same_molecules_in_the_same_order(
    smiles_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, list[torch.Tensor]] = {"sega": [], "graphcl": []}
    step = Contrast.step

    def spy(self: Contrast, data: Data) -> dict[str, float]:
        seen["graphcl" if self.anchor is None else "sega"].append(data.x)
        return step(self, data)

    monkeypatch.setattr(Contrast, "step", spy)
    for method in seen:
        transfer.pretrain(
            smiles_file, tmp_path / method, pretraining=method, **PRETRAIN
        )
    assert len(seen["sega"]) == 2 * 4
    pairs = zip(seen["sega"], seen["graphcl"], strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_an_interrupted_pretraining_goes_on_to_the_same_bits(
    smiles_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = load_file(transfer.pretrain(smiles_file, tmp_path / "whole", **PRETRAIN))
    monkeypatch.setattr("sega_anchor.training.state.EVERY", -1.0)
    step, left = Contrast.step, [6]

    def stop(self: Contrast, data: Data) -> dict[str, float]:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return step(self, data)

    monkeypatch.setattr(Contrast, "step", stop)
    with pytest.raises(KeyboardInterrupt):
        transfer.pretrain(smiles_file, tmp_path / "parts", **PRETRAIN)
    resumed = load_file(transfer.pretrain(smiles_file, tmp_path / "parts", **PRETRAIN))
    assert left[0] == -3  # five of eight steps were not made again
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    # A finished one is found, and another is refused.
    monkeypatch.setattr(Contrast, "step", None)
    transfer.pretrain(smiles_file, tmp_path / "parts", **PRETRAIN)
    with pytest.raises(ValueError, match=r"another pre-training, with lr=0\.001"):
        transfer.pretrain(smiles_file, tmp_path / "parts", **{**PRETRAIN, "lr": 0.1})


def test_an_interrupted_fine_tuning_goes_on_to_the_same_bits(
    labelled_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**SMALL, **FINETUNE}
    whole = transfer.finetune(labelled_file, **options)
    monkeypatch.setattr("sega_anchor.training.state.EVERY", -1.0)
    loss, left = _finetune.masked_loss, [4]  # within the second epoch

    def stop(outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return loss(outputs, labels)

    monkeypatch.setattr(_finetune, "masked_loss", stop)
    with pytest.raises(KeyboardInterrupt):
        transfer.finetune(labelled_file, results=str(tmp_path / "r"), **options)
    resumed = transfer.finetune(labelled_file, results=str(tmp_path / "r"), **options)
    for part in whole.curves:
        assert (whole.curves[part] == resumed.curves[part]).all()
    assert left[0] == -9  # two seeds, two epochs, three steps: none is made twice
    assert not list((tmp_path / "r").glob("*.state*"))


def killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_kill_at_the_write_of_the_record_repeats_no_fine_tuning(
    labelled_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**SMALL, **FINETUNE, "seeds": 1, "results": str(tmp_path / "r")}
    with monkeypatch.context() as patched:
        patched.setattr("sega_anchor.report.Record.save", killed)
        with pytest.raises(KeyboardInterrupt):
            transfer.finetune(labelled_file, **options)
    monkeypatch.setattr(_finetune, "masked_loss", killed)
    found = transfer.finetune(labelled_file, **options)
    assert found.curves["test"].shape == (1, 1, 2)


def test_a_kill_at_the_write_of_the_checkpoint_repeats_no_pretraining(
    smiles_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**PRETRAIN, "checkpoints": ()}
    whole = load_file(transfer.pretrain(smiles_file, tmp_path / "whole", **options))
    with monkeypatch.context() as patched:
        patched.setattr(_pretrain, "save_encoder", killed)
        with pytest.raises(KeyboardInterrupt):
            transfer.pretrain(smiles_file, tmp_path / "killed", **options)
    monkeypatch.setattr(Contrast, "step", killed)
    found = load_file(transfer.pretrain(smiles_file, tmp_path / "killed", **options))
    assert all(torch.equal(whole[name], found[name]) for name in whole)


def test_a_kill_at_the_write_of_the_log_leaves_no_epoch_out(
    smiles_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**PRETRAIN, "checkpoints": ()}
    write = _pretrain.write_log

    def kill_last(log: Path, about: dict, history: list) -> None:
        if len(history) == 2:
            raise KeyboardInterrupt
        write(log, about, history)

    with monkeypatch.context() as patched:
        patched.setattr(_pretrain, "write_log", kill_last)
        with pytest.raises(KeyboardInterrupt):
            transfer.pretrain(smiles_file, tmp_path / "out", **options)
    monkeypatch.setattr(Contrast, "step", killed)
    transfer.pretrain(smiles_file, tmp_path / "out", **options)
    log = json.loads((tmp_path / "out" / "pretraining.json").read_text())
    assert len(log["history"]) == 2
    assert not list((tmp_path / "out").glob("*.state*"))


def test_each_epoch_is_told_and_who_raises_can_go_on(
    smiles_file: Path,
    labelled_file: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", logger="sega_anchor")
    told: list[dict] = []

    def tell(numbers: dict) -> None:
        told.append(numbers)
        if len(told) in (1, 4):
            raise ZeroDivisionError

    options = {**PRETRAIN, "packed": str(tmp_path / "packed"), "on_epoch": tell}
    with pytest.raises(ZeroDivisionError):
        transfer.pretrain(smiles_file, tmp_path / "out", **options)
    last = transfer.pretrain(smiles_file, tmp_path / "out", **options)
    options = {**FINETUNE, "results": str(tmp_path / "r"), "on_epoch": tell}
    with pytest.raises(ZeroDivisionError):
        transfer.finetune(labelled_file, last, **options)
    result = transfer.finetune(labelled_file, last, **options)
    assert [(one["phase"], one["seed"], one["epoch"]) for one in told] == [
        *(("pre-training", 0, epoch) for epoch in (1, 2)),
        *(("fine-tuning", seed, epoch) for seed in (0, 1) for epoch in (1, 2)),
    ]
    best = tuple(one["validation"] for one in told[3::2])
    assert best == pytest.approx(result.validation.values)
    assert json.loads(json.dumps(told)) == told
    said = "\n".join(caplog.messages)
    assert "pre-training sega on molecules.csv: 64 graphs, epochs 2, cpu" in said
    assert "pre-training, seed 0, epoch 2 of 2: loss" in said
    assert "SEGA on toy: 120 graphs, seeds 0, 1, epochs 2, cpu" in said
    assert "fine-tuning, seed 1, epoch 2 of 2: loss" in said


def test_masked_loss_ignores_what_is_missing() -> None:
    outputs = torch.tensor([[0.3, -1.0], [2.0, 5.0]], requires_grad=True)
    labels = torch.tensor([[1.0, torch.nan], [0.0, torch.nan]])
    loss = _finetune.masked_loss(outputs, labels)
    expected = torch.nn.functional.binary_cross_entropy_with_logits(
        outputs[:, 0].double(), labels[:, 0].double()
    )
    assert loss == expected
    loss.backward()
    assert (outputs.grad[:, 1] == 0).all()
    assert not torch.isnan(outputs.grad).any()


def test_one_atom_molecules_work_in_every_part(tmp_path: Path) -> None:
    path = tmp_path / "atoms.csv"
    atoms = ["C", "N", "O", "F", "[Na+]", "[K+]", "S", "P", "Cl", "Br"] * 4
    assert all(Chem.MolFromSmiles(s).GetNumAtoms() == 1 for s in atoms)
    path.write_text("smiles\n" + "\n".join(atoms) + "\n")
    transfer.pretrain(path, tmp_path / "out", **PRETRAIN)


def test_columns_of_a_table_can_be_chosen(labelled_file: Path) -> None:
    result = transfer.finetune(labelled_file, tasks=("oxygen",), **SMALL, **FINETUNE)
    assert result.config["tasks"] == ["oxygen"]
    with pytest.raises(ValueError, match="has no column 'odour'"):
        transfer.finetune(labelled_file, tasks=("odour",), **SMALL, **FINETUNE)


@pytest.mark.parametrize("method", ["sega", "graphcl"])
def test_proteins_go_the_same_way(method: str, tmp_path: Path) -> None:
    folder = write_proteins(tmp_path / "string")
    options = {**PRETRAIN, "domain": "proteins", "epochs": 1, "pretraining": method}
    last = transfer.pretrain(folder, tmp_path / "out", **options)
    result = transfer.finetune(folder, last, domain="proteins", **FINETUNE)
    assert set(result.curves) == {"validation", "test", "test_easy"}
    assert result.curves["test_easy"].shape == (2, 1, 2)
    assert result.by_validation("test_easy").candidates == 2
    with pytest.raises(ValueError, match="is not one of MoleculeGIN"):
        transfer.finetune(tmp_path / "none.csv", last, **FINETUNE)


@pytest.mark.parametrize("domain", ["molecules", "proteins"])
def test_controls_and_quantities_change_what_is_learnt(
    domain: str, smiles_file: Path, tmp_path: Path
) -> None:
    is_smiles = domain == "molecules"
    source = smiles_file if is_smiles else write_proteins(tmp_path / "string")
    losses = set()
    for tree in ("refined", "shuffled", "random", "quantities"):
        told: list[dict] = []
        kind = {"quantities": True} if tree == "quantities" else {"tree": tree}
        transfer.pretrain(
            source,
            tmp_path / tree,
            **{**PRETRAIN, "domain": domain, "height": 2, "epochs": 1, **kind},
            on_epoch=told.append,
        )
        losses.add(told[0]["loss"])
    assert len(losses) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tree": "best"}, "tree must be 'refined', .* or 'random', got 'best'"),
        ({"epoch": 3}, "no option 'epoch'; did you mean 'epochs'"),
        ({"seeds": 3}, r"one seed: give it as a list, such as seeds=\[3\], got 3"),
        ({"pretraining": "infograph"}, "pretraining must be 'sega' or 'graphcl'"),
        ({"domain": "images"}, "domain must be 'molecules' or 'proteins'"),
        ({"batch_size": 1}, "batch_size must be at least 2"),
        ({"epochs": 0}, "epochs must be positive"),
        ({"height": 1}, "height must be an integer"),
        ({"strength": 1.5}, "1.5"),
        ({"device": "tpu9"}, "device must be a name"),
    ],
)
def test_pretraining_refuses_values_before_any_work(
    options: dict, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        transfer.pretrain(tmp_path / "missing.csv", tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_files_that_cannot_be_used_are_refused(
    smiles_file: Path, labelled_file: Path, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="there is no file"):
        transfer.pretrain(tmp_path / "missing.csv", tmp_path / "out", **PRETRAIN)
    nameless = tmp_path / "nameless.csv"
    nameless.write_text("id,name\n1,a\n")
    with pytest.raises(ValueError, match="smiles"):
        transfer.pretrain(nameless, tmp_path / "out", **PRETRAIN)
    with pytest.raises(ValueError, match="smiles"):
        transfer.finetune(nameless, **SMALL, **FINETUNE)
    with pytest.raises(ValueError, match="there is no checkpoint"):
        transfer.finetune(labelled_file, tmp_path / "none.safetensors", **FINETUNE)
    last = transfer.pretrain(smiles_file, tmp_path / "out", **PRETRAIN)
    with pytest.raises(ValueError, match="does not fit"):
        transfer.finetune(labelled_file, last, hidden_channels=8, **FINETUNE)
    words = tmp_path / "words.csv"
    words.write_text("smiles,toxic\nCC,yes\nCCO,no\n")
    with pytest.raises(ValueError, match="yes"):
        transfer.finetune(words, **SMALL, **FINETUNE)
    lonely = tmp_path / "lonely.csv"
    rows = [f"{s},{int(i == 0)}" for i, s in enumerate(molecules(60))]
    lonely.write_text("smiles,rare\n" + "\n".join(rows) + "\n")
    with pytest.raises(ValueError, match=r"no task of .* has positives and negatives"):
        transfer.finetune(lonely, **SMALL, **FINETUNE)


def test_graphs_packed_in_a_format_of_before_are_packed_again(
    smiles_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = PretrainConfig(root=str(tmp_path), height=2, jobs=1)
    for number in (1000, 1001):
        for module in ("_files", "on_disk"):
            monkeypatch.setattr(f"sega_anchor.loader.{module}.FORMAT", number)
        graphs, _ = unlabelled_graphs(smiles_file, config)
    assert len(graphs) == 64


def content(path: Path) -> str:
    return labelled_graphs(path, FinetuneConfig()).content


def test_other_bonds_or_strings_are_another_content(labelled_file: Path) -> None:
    """The atoms and labels are the same, and so were records of before."""
    text = labelled_file.read_text()
    found = []
    for first in ("CC=O", "CC-O", "C(C)-O", "OCC"):
        labelled_file.write_text(text.replace("\nC,0,", f"\n{first},0,"))
        found.append(content(labelled_file))
        assert content(labelled_file) == found[-1]
    assert len(set(found)) == 4


@pytest.mark.parametrize("domain", ["molecules", "proteins"])
def test_pretraining_in_a_folder_of_another_source_is_refused(
    domain: str, smiles_file: Path, tmp_path: Path
) -> None:
    options = {**PRETRAIN, "domain": domain, "epochs": 1, "root": str(tmp_path)}
    source = smiles_file
    if domain == "proteins":
        source = write_proteins(tmp_path / "string")
    last = transfer.pretrain(source, tmp_path / "out", **options)
    assert transfer.pretrain(source, tmp_path / "out", **options) == last
    about = json.loads((tmp_path / "out" / "pretraining.json").read_text())["about"]
    assert "sha256" in about["content"]
    if domain == "proteins":  # as many networks of the same name
        edges = source / "edges.tsv"
        rows = edges.read_text().splitlines()
        pair = set(rows[-1].split()[:2])
        rest = [row for row in rows if set(row.split()[:2]) != pair]
        edges.write_text("\n".join(rest) + "\n")
    else:
        source.write_text(source.read_text().replace("c1ccncc1", "c1ccoc1"))
    with pytest.raises(ValueError, match="another pre-training, with content="):
        transfer.pretrain(source, tmp_path / "out", **options)


def test_a_damaged_checkpoint_is_made_again(smiles_file: Path, tmp_path: Path) -> None:
    last = transfer.pretrain(smiles_file, tmp_path / "w", **PRETRAIN)
    for path in (last.with_name("epoch001.safetensors"), last):
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))  # a weight
        with pytest.warns(UserWarning, match=f"{path.name} is damaged: training again"):
            transfer.pretrain(smiles_file, tmp_path / "w", **PRETRAIN)
        assert path.read_bytes() == whole


def test_a_damaged_log_is_refused(smiles_file: Path, tmp_path: Path) -> None:
    transfer.pretrain(smiles_file, tmp_path / "w", **PRETRAIN)
    log = tmp_path / "w" / "pretraining.json"
    log.write_text(log.read_text().replace('"loss": ', '"loss": 1'))
    with pytest.raises(
        ValueError, match=r"pretraining\.json is damaged .* delete this"
    ):
        transfer.pretrain(smiles_file, tmp_path / "w", **PRETRAIN)
