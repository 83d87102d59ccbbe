"""pretrain: an encoder that has seen many molecules or proteins, and no label."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from typing_extensions import Unpack

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
from ...loader import PackedGraphs
from ...profile import phase
from ...report.record import checksum
from ...training import (
    Contrast,
    OnEpoch,
    TrainingState,
    run_pretraining,
    save_encoder,
)
from ...training.checkpoint import is_whole
from ...training.pretraining import Epoch
from ...utils import check_writable, write_atomically
from ...utils.checks import warn_caller
from ...utils.locks import one_at_a_time
from ...utils.progress import log_line, log_shown
from ..settings import check_options
from ._config import PretrainConfig, PretrainOptions, decisive
from ._data import unlabelled_graphs
from ._domains import DOMAINS

_ABOUT = "pretraining.json"
_STATE = "training.state"


def pretrain(
    source: str | Path,
    folder: str | Path,
    *,
    on_epoch: OnEpoch | None = None,
    **options: Unpack[PretrainOptions],
) -> Path:
    """Pre-train an encoder without labels; stop it at any time and start it again.

    Args:
        source: a SMILES file of any size (CSV with a column "smiles", or a molecule a
            line; gzipped or not), or a folder of protein networks.
        folder: gets ``epochNNN.safetensors``, the encoder after each epoch asked for;
            ``pretraining.json``, configuration and losses; and, until the training is
            finished, its state.
        on_epoch: called after each epoch that is trained with one dict of plain numbers
            and names, such as ``wandb.log``: "phase", "seed", "epoch", "loss" and
            "seconds". If it raises, the training stops, and the same call goes on
            behind that epoch.
        options: fields of :class:`PretrainConfig`.

    Returns:
        The checkpoint after the last epoch, for :func:`finetune` or for plain PyTorch:
        see :func:`~sega_anchor.training.checkpoint.save_encoder`.

    Raises:
        ValueError: before any training, for data or options that cannot be used, or a
            folder that holds another pre-training.
    """
    check_options(options, PretrainConfig)
    config = PretrainConfig(**options)
    with process_group(config.device) as device, preserve_rng(device), log_shown():
        return _pretrain(source, Path(folder), config, device, on_epoch)


def _pretrain(
    source: str | Path,
    folder: Path,
    config: PretrainConfig,
    device: str,
    on_epoch: OnEpoch | None,
) -> Path:
    log = folder / _ABOUT
    # The words of checkpoints; what they say must not depend on how it was asked for.
    about: dict[str, Any] = {"source": Path(source).name, "method": config.pretraining}
    about |= decisive(config, "pretraining", "checkpoints", "packed", "device")
    about |= {"tree": config.tree_name, "seed": config.seed, **rank_identity()}
    _refuse_other(log, about)
    if is_main():
        check_writable(folder)
    with main_first(), phase("data"):
        graphs, content = unlabelled_graphs(source, config)
    about |= {"graphs": len(graphs), "content": content}
    _refuse_other(log, about)
    with one_at_a_time(folder / _STATE if is_main() else None):
        return _train(graphs, folder, config, device, about, on_epoch)


def _train(
    graphs: PackedGraphs,
    folder: Path,
    config: PretrainConfig,
    device: str,
    about: dict[str, Any],
    on_epoch: OnEpoch | None,
) -> Path:
    log = folder / _ABOUT
    last = folder / f"epoch{config.epochs:03d}.safetensors"
    model, generator = _model(config, device)
    state = TrainingState(
        folder / _STATE if is_main() else None, [model], model.optimizers, [generator]
    )
    found = sorted(folder.glob("epoch*.safetensors"))
    damaged = broadcast_object([path.name for path in found if not is_whole(path)])
    if damaged:
        warn_caller(f"{folder / damaged[0]} is damaged: training again")
        state.discard()
    if broadcast_object(not damaged and last.exists() and log.exists()):
        state.discard()  # if a kill came just before that
        log_line(f"pre-training: finished before, {last}")
        return last
    what = f"pre-training {config.pretraining} on {about['source']}"
    log_line(
        f"{what}: {len(graphs)} graphs, epochs {config.epochs}, {device}, "
        f"checkpoints in {folder}"
    )
    if is_main():
        write_log(log, about, [])

    def keep(history: list[Epoch]) -> None:
        # The last checkpoint says that all is done: after it nothing may be missing.
        write_log(log, about, history)
        epoch = len(history)
        if epoch in config.checkpoints or epoch == config.epochs:
            path = folder / f"epoch{epoch:03d}.safetensors"
            save_encoder(path, model.encoder, epoch=epoch, **about)

    run_pretraining(
        model,
        graphs,
        epochs=config.epochs,
        batch_size=config.batch_size,
        seed=config.seed,
        state=state,
        device=device,
        keep=keep,
        on_epoch=on_epoch,
    )
    state.discard()
    return last


def _model(config: PretrainConfig, device: str) -> tuple[Contrast, torch.Generator]:
    """Return what is trained and where its augmentations draw from."""
    torch.manual_seed(config.seed)
    domain = DOMAINS[config.domain]
    width = config.hidden_channels
    encoder = domain.encoder(width, config.num_layers, 0.0)
    anchor = None
    if config.pretraining == "sega":
        anchor = domain.anchor(
            width, config.tree_transform(), config.quantities, config.readout
        )
    generator = rank_generator(config.seed, device)
    model = Contrast(
        encoder,
        domain.augmentation(config.strength, config.protocol),
        anchor,
        temperature=config.temperature,
        lr=config.lr,
        generator=generator,
        leaves=domain.leaves,
    )
    seed_rank(config.seed)
    return model.to(device), generator


def _refuse_other(log: Path, about: dict[str, Any]) -> None:
    """Raise ValueError if the folder holds a pre-training with other values."""
    if not log.exists():
        return
    try:
        content = json.loads(log.read_text(encoding="utf-8"))
        known = content.pop("checksum", None)
        if known not in (None, checksum(content)):
            raise ValueError("its words are not those that were written")
        usual = {f.name: f.default for f in fields(PretrainConfig)}
        asked, found = ({**usual, **one} for one in (about, content["about"]))
        named = about.keys() | content["about"].keys()
        both = named & asked.keys() & found.keys()
        other = {name for name in both if found[name] != asked[name]}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{log} is damaged ({error}): give another folder, or delete this one"
        ) from error
    if other:
        name = min(other)
        raise ValueError(
            f"{log.parent} holds another pre-training, with {name}={found[name]!r} "
            f"instead of {asked[name]!r}: give another folder"
        )


def write_log(log: Path, about: dict[str, Any], history: list[Epoch]) -> None:
    """Write what was done and what it measured."""
    content = {"about": about, "history": history}
    content["checksum"] = checksum(content)
    write_atomically(log, (json.dumps(content, indent=1) + "\n").encode())
