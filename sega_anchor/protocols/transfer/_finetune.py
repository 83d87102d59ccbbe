"""finetune: what a pre-trained encoder is worth on a labelled set."""

from collections.abc import Iterable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from typing_extensions import Unpack

from ...distributed import (
    broadcast_object,
    is_main,
    main_first,
    preserve_rng,
    process_group,
    rank_identity,
    seed_rank,
)
from ...evaluate import mean_roc_auc
from ...profile import phase
from ...report import Record, Tuned
from ...training import (
    Classifier,
    OnEpoch,
    TrainingState,
    load_encoder,
    run_finetuning,
)
from ...training.checkpoint import read_about
from ...training.finetuning import Curves, Part
from ...utils import file_digest
from ...utils.locks import one_at_a_time
from ...utils.progress import log_line, log_shown
from ..prepare import announce, view_words
from ..semisupervised import LABELS
from ..settings import check_options, check_results, seed_numbers
from ._config import FinetuneConfig, FinetuneOptions, decisive
from ._data import check_dataset, labelled_graphs
from ._domains import DOMAINS


def finetune(
    dataset: str | Path,
    checkpoint: str | Path | None = None,
    *,
    on_epoch: OnEpoch | None = None,
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
        on_epoch: called after each epoch that is trained with one dict of plain numbers
            and names, such as ``wandb.log``: "phase", "seed", "epoch", "loss",
            "seconds" and "validation", the best score so far. If it raises, the run
            stops, and with ``results`` the same call goes on behind that epoch.
        options: fields of :class:`FinetuneConfig`.

    Returns:
        ROC-AUC after each epoch for each seed: ``by_validation()`` takes the epoch of
        the best validation score, ``last()`` the last, as GraphCL's released code does;
        ``score`` is the one that the protocol reports. For proteins "test" is the
        published "test_hard", beside "test_easy". To choose among checkpoints and
        learning rates on validation, as the paper did, see
        :class:`~sega_anchor.experiments.Run`.

    Raises:
        ValueError: before any training, for data, weights or options that cannot be
            used.
    """
    check_options(options, FinetuneConfig)
    path = None if checkpoint is None else str(checkpoint)
    config = FinetuneConfig(checkpoint=path, **options)
    seeds = seed_numbers(config.seeds)
    with process_group(config.device) as device, preserve_rng(device), log_shown():
        work = _Run(dataset, config, device, on_epoch)
        graphs = len(work.data.graphs)
        announce(work.record, graphs, seeds, work.epochs, device)
        for seed in seeds:
            work.finish(seed)
        return work.result()


def check(dataset: str | Path, configs: Iterable[FinetuneConfig]) -> None:
    """Raise ValueError for a data set that is not there, or weights that do not fit.

    :func:`finetune` does so itself; this is for those who have other work to do first.

    Args:
        dataset: as for :func:`finetune`.
        configs: what it will be fine-tuned with.
    """
    for config in configs:
        check_dataset(dataset, config)
        with preserve_rng("cpu"):
            _Start(config).encoder()


class _Start:
    """The encoder to begin with."""

    def __init__(self, config: FinetuneConfig) -> None:
        self.checkpoint = config.checkpoint
        self.about = {} if self.checkpoint is None else read_about(self.checkpoint)
        self.width = config.hidden_channels or self.about.get("hidden_channels", 300)
        self.layers = config.num_layers or self.about.get("num_layers", 5)
        self.dropout = config.dropout
        self.domain = DOMAINS[config.domain]

    def encoder(self) -> nn.Module:
        """Return it, with the weights of the checkpoint."""
        encoder = self.domain.encoder(self.width, self.layers, self.dropout)
        if self.checkpoint is not None:
            load_encoder(self.checkpoint, encoder)
        return encoder


class _Run:
    """One data set and one checkpoint: what all seeds share."""

    def __init__(
        self,
        dataset: str | Path,
        config: FinetuneConfig,
        device: str,
        on_epoch: OnEpoch | None,
    ) -> None:
        check_results(config.results)
        self.device = device
        self.on_epoch = on_epoch
        self.config = config
        self.start = _Start(config)
        self.start.encoder()  # refuses a checkpoint that does not fit
        with main_first(), phase("data"):
            self.data = labelled_graphs(dataset, config)
        self.epochs = config.epochs or (100 if config.domain == "molecules" else 50)
        label, digest = LABELS["none"], None
        if config.checkpoint is not None:
            about = self.start.about
            label = LABELS.get(about.get("method", ""), "checkpoint")
            if about.get("method") == "sega":
                label += view_words(
                    about.get("tree"),
                    about.get("quantities", False),
                    about.get("protocol", "honest"),
                )
            digest = file_digest(config.checkpoint)[:12]
        description = {
            "setting": config.setting,
            "label": label,
            "dataset": self.data.name,
            "content": self.data.content,
            "checkpoint": digest,
            "pretraining": self.start.about,
            **decisive(config, "checkpoint"),
            "hidden_channels": self.start.width,
            "num_layers": self.start.layers,
            "epochs": self.epochs,
            **rank_identity(),
        }
        if config.protocol == "paper":
            description["choice"] = self.start.domain.released_choice
        self.record = Record(description, config.results if is_main() else None)

    def finish(self, seed: int) -> None:
        """Fine-tune with one seed, unless that is on record."""
        with one_at_a_time(self._state_path(seed)):
            self.record.refresh()
            known = self.record.seed_entry(seed)
            if broadcast_object("curves" in known):
                # A kill may have left it behind.
                TrainingState(self._state_path(seed)).discard()
                log_line(f"seed {seed}: on record")
            else:
                known["curves"], state = self._tune(seed)
                self.record.save()
                state.discard()
        known.update(broadcast_object(known))

    def result(self) -> Tuned:
        """Return what all seeds have measured."""
        numbers = seed_numbers(self.config.seeds)
        seeds = {number: self.record.seed_entry(number) for number in numbers}
        return Tuned.of(self.record.config, seeds, self.record.path)

    def _state_path(self, seed: int) -> Path | None:
        return self.record.sibling_path(f"seed{seed}.state")

    def _tune(self, seed: int) -> tuple[Curves, TrainingState]:
        config, data = self.config, self.data
        torch.manual_seed(seed)
        encoder, domain = self.start.encoder(), self.start.domain
        represent = getattr(encoder, domain.represent)
        width = self.start.width * domain.parts
        model = Classifier(encoder, represent, width, data.labels.size(1))
        parts = {name: Part(index, _roc_auc) for name, index in data.scored.items()}
        seed_rank(seed)
        return run_finetuning(
            model.to(self.device),
            data.graphs,
            data.labels,
            data.train,
            parts,
            loss=masked_loss,
            lr=config.lr,
            epochs=self.epochs,
            batch_size=config.batch_size,
            seed=seed,
            state=self._state_path(seed),
            device=self.device,
            on_epoch=self.on_epoch,
        )


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
