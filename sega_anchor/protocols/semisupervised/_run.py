"""run: the semi-supervised protocol on one data set."""

import copy
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data
from typing_extensions import Unpack

from ...backbones import ResGCN
from ...distributed import (
    broadcast_object,
    is_main,
    main_first,
    preserve_rng,
    process_group,
    rank_generator,
    rank_identity,
    seed_rank,
)
from ...loader.digest import digest
from ...nn import AnchorView
from ...profile import phase
from ...report import Record, Tuned
from ...training import OnEpoch, TrainingState, run_finetuning, run_pretraining
from ...training.checkpoint import load_encoder, save_encoder
from ...training.contrast import Contrast
from ...training.finetuning import Classifier, Curves, Part
from ...utils.locks import one_at_a_time
from ...utils.progress import log_line, log_shown, progress_bar
from ..features import feature_transform
from ..prepare import (
    announce,
    find_cache,
    find_graphs,
    find_labels,
    pack,
    prepare,
    reset_copy,
    view_words,
)
from ..settings import check_options, check_results, identity, seed_numbers
from ._config import FEATURES, LABELS, Config, Options
from ._split import check_label_rate, split


def run(
    dataset: str | Sequence[Data],
    *,
    on_epoch: OnEpoch | None = None,
    **options: Unpack[Options],
) -> Tuned:
    """Pre-train on all graphs, fine-tune on few labels, in 10 folds over seeds.

    The encoder is :class:`~sega_anchor.backbones.ResGCN`, fed with node labels or a
    constant 1, the degree and its one-hot form; the leaves of the trees see the same.

    Args:
        dataset: name of a data set, or labelled graphs.
        on_epoch: called after each epoch that is trained with one dict of plain numbers
            and names, such as ``wandb.log``: "phase" ("pre-training" or "fine-tuning"),
            "seed", "fold", "epoch", "loss", "seconds", and in fine-tuning "validation",
            the best score so far. If it raises, the run stops, and with ``results`` the
            same call goes on behind that epoch.
        options: fields of :class:`Config`.

    Returns:
        Accuracy after each epoch for each seed and fold. What is on record in
        ``results`` is not computed again, and an interrupted training resumes.

    Raises:
        ValueError: before any training, for data or options that cannot be used.

    Source: You et al., NeurIPS 2020, repository Shen-Lab/GraphCL, semisupervised_TU;
    Wu et al., ICML 2023, whose code for this setting was never released.

    Example:
        >>> few = {"seeds": 1, "pretrain_epochs": 1, "epochs": 2}
        >>> run("synthetic", pretraining="sega", **few).by_validation().candidates
        2
    """
    check_options(options, Config)
    config = Config(**options)
    seeds = seed_numbers(config.seeds)
    with process_group(config.device) as device, preserve_rng(device), log_shown():
        work = _Run(dataset, config, device, on_epoch)
        before = 0 if config.pretraining == "none" else config.pretrain_epochs
        epochs = f"{before} + {config.epochs}"
        announce(work.record, len(work.graphs), seeds, epochs, device)
        for seed in seeds:
            work.finish(seed)
    return work.result()


class _Run:
    """One configuration: what its seeds share."""

    def __init__(
        self,
        dataset: str | Sequence[Data],
        config: Config,
        device: str,
        on_epoch: OnEpoch | None,
    ) -> None:
        self.config = config
        self.on_epoch = on_epoch
        self.device = device
        check_results(config.results)
        with phase("data"):
            name, graphs, attributes = find_graphs(
                dataset, config.protocol, config.root, config.archives
            )
        self.labels = find_labels(graphs, config.folds).long()
        check_label_rate(self.labels, config.label_rate, config.folds)
        features = feature_transform(FEATURES, config.protocol, name, attributes)
        self.in_channels = features(graphs[0]).x.size(1)
        self.view = self._view() if config.pretraining == "sega" else None
        cache = find_cache(dataset, graphs)
        with main_first(), phase("data"):
            prepared = prepare(graphs, features, self.view, cache)
        for data in prepared:
            data.pop("tree_x", None)  # equal to x
        self.graphs = pack(prepared)
        words = ""
        if self.view is not None:
            words = view_words(config.tree, config.quantities, config.protocol)
        description = {
            "setting": config.setting,
            "label": LABELS[config.pretraining] + words,
            "dataset": name,
            "content": digest(self.graphs, labels=self.labels),
            "anchor": None if self.view is None else repr(self.view),
            "features": repr(features),
            **identity(config),
            **rank_identity(),
        }
        self.record = Record(description, config.results if is_main() else None)

    def _view(self) -> AnchorView:
        """Return the anchor view, as wide as the encoder."""
        config = self.config
        width = config.hidden_channels
        return AnchorView(
            self.in_channels,
            width,
            width,
            config.height,
            transform=config.tree_transform(),
            quantities=config.quantities,
        )

    def finish(self, seed: int) -> None:
        """Do what is not on record yet for a seed."""
        with one_at_a_time(self.record.sibling_path(f"seed{seed}.state")):
            self.record.refresh()
            self._finish(seed)

    def _finish(self, seed: int) -> None:
        known = self.record.seed_entry(seed)
        folds = known.setdefault("folds", {})
        every = range(self.config.folds)
        missing = broadcast_object([fold for fold in every if str(fold) not in folds])
        for fold in set(every) - set(missing):
            # A kill may have left it behind.
            TrainingState(self._state_path(seed, fold)).discard()
        is_whole = broadcast_object(self.record.has_whole_files(seed))
        if missing or not is_whole:
            encoder = self._pretrained(seed, is_whole)
            title = f"Folds of seed {seed}"
            for fold in progress_bar(missing, desc=title):
                curves, state = self._fold(copy.deepcopy(encoder), seed, fold)
                folds[str(fold)] = curves
                self.record.save()
                state.discard()
        else:
            TrainingState(self.record.sibling_path(f"seed{seed}.state")).discard()
            log_line(f"seed {seed}: on record")
        known.update(broadcast_object(known))

    def result(self) -> Tuned:
        """Return what all seeds have measured."""
        numbers = seed_numbers(self.config.seeds)
        seeds = {number: self.record.seed_entry(number) for number in numbers}
        return Tuned.of(self.record.config, seeds, self.record.path)

    def _pretrained(self, seed: int, is_whole: bool) -> ResGCN:
        """Return the encoder as pre-training leaves it, kept if there is a folder."""
        config = self.config
        torch.manual_seed(seed)
        encoder = ResGCN(self.in_channels, config.hidden_channels)
        path = self.record.sibling_path(f"seed{seed}.safetensors")
        if config.pretraining == "none":
            return encoder
        known = self.record.seed_entry(seed)
        state_path = self.record.sibling_path(f"seed{seed}.state")
        is_kept = is_whole and path is not None and path.exists()
        if broadcast_object(is_kept and "history" in known):
            if path is not None:
                load_encoder(path, encoder)
            encoder.load_state_dict(broadcast_object(encoder.state_dict()))
            TrainingState(state_path).discard()  # a kill may have left it behind
            return encoder
        generator = rank_generator(seed, self.device)
        model = Contrast(
            encoder,
            config.view(),
            None if self.view is None else reset_copy(self.view),
            temperature=config.temperature,
            lr=config.pretrain_lr,
            generator=generator,
        ).to(self.device)
        seed_rank(seed)
        state = TrainingState(state_path, [model], model.optimizers, [generator])
        known["history"] = run_pretraining(
            model,
            self.graphs,
            epochs=config.pretrain_epochs,
            batch_size=config.batch_size,
            seed=seed,
            state=state,
            device=self.device,
            on_epoch=self.on_epoch,
        )
        if path is not None:
            save_encoder(path, encoder, **self.record.config, seed=seed)
            self.record.note_file(seed, path)
        self.record.save()
        state.discard()
        return encoder

    def _state_path(self, seed: int, fold: int) -> Path | None:
        return self.record.sibling_path(f"seed{seed}-fold{fold}.state")

    def _fold(
        self, encoder: ResGCN, seed: int, fold: int
    ) -> tuple[Curves, TrainingState]:
        """Fine-tune on the labelled part of one fold's training graphs."""
        config = self.config
        train, validation, test = split(
            self.labels, fold, config.label_rate, config.protocol, seed, config.folds
        )
        parts = {"test": Part(test, accuracy)}
        if len(validation):
            parts["validation"] = Part(validation, _minus_loss)
        torch.manual_seed(seed)
        classes = int(self.labels.max()) + 1
        model = Classifier(encoder, encoder.encode, encoder.out_channels, classes)
        seed_rank(seed)
        return run_finetuning(
            model.to(self.device),
            self.graphs,
            self.labels,
            train,
            parts,
            loss=cross_entropy,
            lr=config.lr,
            epochs=config.epochs,
            batch_size=config.batch_size,
            seed=seed,
            state=self._state_path(seed, fold),
            device=self.device,
            fold=fold,
            on_epoch=self.on_epoch,
        )


def accuracy(outputs: Tensor, labels: Tensor) -> float:
    """Return the share of graphs whose greatest output is their class."""
    return float((outputs.argmax(dim=1) == labels).double().mean())


def _minus_loss(outputs: Tensor, labels: Tensor) -> float:
    """Return what the released code's rule for validation minimises, negated."""
    return -float(cross_entropy(outputs, labels))
