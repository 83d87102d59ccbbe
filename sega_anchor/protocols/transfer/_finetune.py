"""finetune: what a pre-trained encoder is worth on a labelled set."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from tqdm import tqdm
from typing_extensions import Unpack

from ...distributed import Place, broadcast_object, preserve_rng, session
from ...evaluate import mean_roc_auc
from ...profile import phase
from ...report import Record, Tuned
from ...training.checkpoint import load_encoder, read_about
from ...training.finetuning import Classifier, Curves, Part
from ...training.finetuning import finetune as tune
from ...utils.checks import check_positive
from ..semisupervised import LABELS
from ..settings import check_device
from ._data import labelled_graphs
from ._domains import DOMAINS, DomainName


@dataclass(frozen=True)
class FinetuneConfig:
    """How an encoder is fine-tuned; published by default.

    Args:
        domain: "molecules" or "proteins".
        epochs: how many; default 100 for molecules, 50 for proteins.
        batch_size: graphs per step.
        lr: learning rate of Adam, for encoder and head alike.
        dropout: in the encoder.
        hidden_channels, num_layers: of the encoder; default those of the checkpoint,
            or 300 and 5.
        smiles_column: of a CSV file; default "smiles", else "mol".
        tasks: columns of a CSV file that hold labels; default all others.
        seeds: how many seeds, 0, 1, ...; the split is the same for all.
        root: folder of data, as in :class:`~sega_anchor.protocols.Settings`.
        archives: folder of MoleculeNet's files, looked at before any download.
        results: folder for the record; what is found there is not computed again, and
            an interrupted training goes on.
        device: where training happens.

    Raises:
        ValueError: for a value that cannot be used.
    """

    domain: DomainName = "molecules"
    epochs: int | None = None
    batch_size: int = 32
    lr: float = 0.001
    dropout: float = 0.5
    hidden_channels: int | None = None
    num_layers: int | None = None
    smiles_column: str | None = None
    tasks: tuple[str, ...] = ()
    seeds: int = 10
    root: str | None = None
    archives: str | None = None
    results: str | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse values before any work starts."""
        if self.domain not in DOMAINS:
            known = " or ".join(map(repr, DOMAINS))
            raise ValueError(f"domain must be {known}, got {self.domain!r}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be in [0, 1), got {self.dropout!r}")
        if self.batch_size < 2:
            raise ValueError(f"batch_size must be at least 2, got {self.batch_size!r}")
        for name in ("epochs", "hidden_channels", "num_layers"):
            if getattr(self, name) is not None:
                check_positive(self, name)
        check_positive(self, "lr", "seeds")
        check_device(self.device)


class FinetuneOptions(TypedDict, total=False):
    """The fields of :class:`FinetuneConfig` as keyword arguments."""

    domain: DomainName
    epochs: int | None
    batch_size: int
    lr: float
    dropout: float
    hidden_channels: int | None
    num_layers: int | None
    smiles_column: str | None
    tasks: tuple[str, ...]
    seeds: int
    root: str | None
    archives: str | None
    results: str | None
    device: str


def finetune(
    dataset: str | Path,
    checkpoint: str | Path | None = None,
    **options: Unpack[FinetuneOptions],
) -> Tuned:
    """Fine-tune an encoder with one linear layer; score it by mean ROC-AUC over tasks.

    Molecules are split by scaffold, proteins by species. The loss is the binary cross
    entropy over the labels that are there.

    Args:
        dataset: one of MoleculeNet's eight sets by name, a CSV file of SMILES and
            labels, or a folder of protein networks.
        checkpoint: weights to begin with, ours or others' of the same architecture;
            None for none: no pre-training.
        options: fields of :class:`FinetuneConfig`.

    Returns:
        ROC-AUC after each epoch for each seed: ``by_validation()`` takes the epoch of
        the best validation score, ``last()`` the last, as GraphCL's released code does.
        For proteins "test" is the published "test_hard", beside "test_easy".

    Raises:
        ValueError: before any training, for data, weights or options that cannot be
            used.
    """
    config = FinetuneConfig(**options)
    with session(config.device) as place, preserve_rng(place.device):
        work = _Run(dataset, checkpoint, config, place)
        for seed in range(config.seeds):
            work.finish(seed)
        return work.result()


class _Run:
    """One data set and one checkpoint: what all seeds share."""

    def __init__(
        self,
        dataset: str | Path,
        checkpoint: str | Path | None,
        config: FinetuneConfig,
        place: Place,
    ) -> None:
        self.place = place
        self.config = config
        self.checkpoint = checkpoint
        self.domain = DOMAINS[config.domain]
        about = {} if checkpoint is None else read_about(checkpoint)
        self.width = config.hidden_channels or about.get("hidden_channels", 300)
        self.layers = config.num_layers or about.get("num_layers", 5)
        self._encoder()  # refuses a checkpoint that does not fit
        with place.main_first(), phase("data"):
            self.data = labelled_graphs(dataset, config)
        label = LABELS.get(about.get("method", ""), "checkpoint")
        self.epochs = config.epochs or (100 if config.domain == "molecules" else 50)
        description = {
            "setting": "transfer",
            "label": LABELS["none"] if checkpoint is None else label,
            "dataset": self.data.name,
            "content": self.data.content,
            "checkpoint": None if checkpoint is None else _digest(checkpoint),
            "pretraining": about,
            **_identity(config),
            "hidden_channels": self.width,
            "num_layers": self.layers,
            "epochs": self.epochs,
            **place.identity(),
        }
        self.record = Record(description, config.results if place.is_main else None)

    def finish(self, seed: int) -> None:
        """Fine-tune with one seed, unless that is on record."""
        known = self.record.seed_entry(seed)
        if broadcast_object("curves" not in known):
            known["curves"] = self._tune(seed)
            self.record.save()
        known.update(broadcast_object(known))

    def result(self) -> Tuned:
        """Return what all seeds have measured."""
        seeds = [self.record.seed_entry(s)["curves"] for s in range(self.config.seeds)]
        curves = {
            part: np.array([[curve[part]] for curve in seeds]) for part in seeds[0]
        }
        return Tuned(self.record.config, curves, record=self.record.path)

    def _tune(self, seed: int) -> Curves:
        config, data = self.config, self.data
        torch.manual_seed(seed)
        encoder = self._encoder()
        represent = getattr(encoder, self.domain.represent)
        width = self.width * self.domain.parts
        model = Classifier(encoder, represent, width, data.labels.size(1))
        parts = {name: Part(index, _roc_auc) for name, index in data.scored.items()}
        self.place.seed_rank(seed)
        with tqdm(
            total=self.epochs,
            desc=f"Fine-tuning on {data.name}, seed {seed}",
            disable=None,
            leave=False,
        ) as bar:
            return tune(
                model.to(self.place.device),
                data.graphs,
                data.labels,
                data.train,
                parts,
                loss=masked_loss,
                lr=config.lr,
                epochs=self.epochs,
                batch_size=config.batch_size,
                seed=seed,
                state=self.record.sibling_path(f"seed{seed}.state"),
                device=self.place.device,
                on_epoch=bar.update,
            )

    def _encoder(self) -> nn.Module:
        """Return the encoder to begin with."""
        encoder = self.domain.encoder(self.width, self.layers, self.config.dropout)
        if self.checkpoint is not None:
            load_encoder(self.checkpoint, encoder)
        return encoder


def masked_loss(outputs: Tensor, labels: Tensor) -> Tensor:
    """Return the mean binary cross entropy over the labels that are not NaN.

    In double precision, as released.

    Example:
        >>> masked_loss(torch.zeros(1, 2), torch.tensor([[1.0, torch.nan]]))
        tensor(0.6931, dtype=torch.float64)
    """
    present = ~labels.isnan()
    loss = binary_cross_entropy_with_logits(
        outputs.double(), labels.nan_to_num().double(), reduction="none"
    )
    return (loss * present).sum() / present.sum().clamp(min=1)


def _roc_auc(outputs: Tensor, labels: Tensor) -> float:
    return float(mean_roc_auc(labels.cpu(), outputs.cpu())[0])


def _digest(path: str | Path) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]


def _identity(config: FinetuneConfig) -> dict[str, Any]:
    """Return the values that decide the numbers of one seed."""
    identity = {**asdict(config), "tasks": list(config.tasks)}  # as JSON knows it
    for name in ("seeds", "root", "archives", "results"):
        del identity[name]
    return identity
