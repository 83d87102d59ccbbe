"""pretrain: an encoder that has seen many molecules or proteins, and no label."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict, get_args

import torch
from typing_extensions import Unpack

from ...distributed import Place, broadcast_object, preserve_rng, session
from ...profile import phase
from ...training.checkpoint import save_encoder
from ...training.contrast import Contrast
from ...training.pretraining import Epoch
from ...training.pretraining import pretrain as train
from ...training.state import TrainingState
from ...trees.build import TreeMethod, check_build
from ...utils.checks import check_positive
from ...utils.files import write_atomically
from ..settings import check_device
from ._data import unlabelled_graphs
from ._domains import DOMAINS, DomainName

PretrainMethod = Literal["sega", "graphcl"]
_ABOUT = "pretraining.json"


@dataclass(frozen=True)
class PretrainConfig:
    """How an encoder is pre-trained; published by default.

    Args:
        method: "sega" contrasts the tree of each graph with an augmentation, "graphcl"
            two augmentations.
        domain: "molecules" (a SMILES file) or "proteins" (a folder of ego-networks).
        epochs: how many; the released loop stops at 99 of them.
        checkpoints: epochs after which the encoder is kept, beside the last.
        batch_size: graphs per step, at least 2.
        lr: learning rate of Adam.
        temperature: of the contrastive loss.
        strength: share of the nodes that is dropped, or kept as a subgraph.
        hidden_channels, num_layers: of the encoder.
        height: of the coding trees.
        tree: how they are built.
        seed: decides start, orders and augmentations.
        packed: folder for the molecules as graphs with trees; default one under the
            data root, found again by the content of the file.
        root: folder of data, as in :class:`~sega_anchor.protocols.Settings`.
        jobs: processes that read molecules; default one per core.
        device: where training happens.

    Raises:
        ValueError: for a value that cannot be used.
    """

    method: PretrainMethod = "sega"
    domain: DomainName = "molecules"
    epochs: int = 100
    checkpoints: tuple[int, ...] = (20, 40, 60, 80, 100)
    batch_size: int = 256
    lr: float = 0.001
    temperature: float = 0.1
    strength: float = 0.2
    hidden_channels: int = 300
    num_layers: int = 5
    height: int = 5
    tree: TreeMethod = "refined"
    seed: int = 0
    packed: str | None = None
    root: str | None = None
    jobs: int | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse values before any work starts."""
        for name, words in (("method", PretrainMethod), ("domain", DomainName)):
            if getattr(self, name) not in get_args(words):
                known = " or ".join(map(repr, get_args(words)))
                raise ValueError(f"{name} must be {known}, got {getattr(self, name)!r}")
        if self.batch_size < 2:
            raise ValueError(
                "batch_size must be at least 2, a lone graph has no negatives, "
                f"got {self.batch_size!r}"
            )
        check_positive(
            self, "epochs", "lr", "temperature", "hidden_channels", "num_layers"
        )
        check_build(self.height, self.tree)
        check_device(self.device)
        DOMAINS[self.domain].augmentation(self.strength)


class PretrainOptions(TypedDict, total=False):
    """The fields of :class:`PretrainConfig` as keyword arguments."""

    method: PretrainMethod
    domain: DomainName
    epochs: int
    checkpoints: tuple[int, ...]
    batch_size: int
    lr: float
    temperature: float
    strength: float
    hidden_channels: int
    num_layers: int
    height: int
    tree: TreeMethod
    seed: int
    packed: str | None
    root: str | None
    jobs: int | None
    device: str


def pretrain(
    source: str | Path, folder: str | Path, **options: Unpack[PretrainOptions]
) -> Path:
    """Pre-train an encoder without labels; stop it at any time and start it again.

    Args:
        source: a SMILES file of any size (CSV with a column "smiles", or a molecule a
            line; gzipped or not), or a folder of protein networks.
        folder: gets ``epochNNN.safetensors``, the encoder after each epoch asked for;
            ``pretraining.json``, configuration and losses; and, until the training is
            finished, its state.
        options: fields of :class:`PretrainConfig`.

    Returns:
        The checkpoint after the last epoch, for :func:`finetune` or for plain PyTorch:
        see :func:`~sega_anchor.training.checkpoint.save_encoder`.

    Raises:
        ValueError: before any training, for data or options that cannot be used, or a
            folder that holds another pre-training.
    """
    config = PretrainConfig(**options)
    with session(config.device) as place, preserve_rng(place.device):
        return _pretrain(source, Path(folder), config, place)


def _pretrain(
    source: str | Path, folder: Path, config: PretrainConfig, place: Place
) -> Path:
    log = folder / _ABOUT
    about = {"source": Path(source).name, **_identity(config), **place.identity()}
    _refuse_other(log, about)
    with place.main_first(), phase("data"):
        graphs = unlabelled_graphs(source, config)
    about["graphs"] = len(graphs)
    _refuse_other(log, about)
    last = folder / f"epoch{config.epochs:03d}.safetensors"
    model, generator = _model(config, place)
    state = TrainingState(
        folder / "training.state" if place.is_main else None,
        [model],
        model.optimizers,
        [generator],
    )
    if broadcast_object(last.exists() and log.exists()):
        state.discard()  # if a kill came just before that
        return last
    if place.is_main:
        write_log(log, about, [])

    def keep(epoch: int, history: list[Epoch]) -> None:
        if epoch in config.checkpoints or epoch == config.epochs:
            path = folder / f"epoch{epoch:03d}.safetensors"
            save_encoder(path, model.encoder, epoch=epoch, **about)
        write_log(log, about, history)

    train(
        model,
        graphs,
        epochs=config.epochs,
        batch_size=config.batch_size,
        seed=config.seed,
        state=state,
        device=place.device,
        on_epoch=keep,
    )
    state.discard()
    return last


def _model(config: PretrainConfig, place: Place) -> tuple[Contrast, torch.Generator]:
    """Return what is trained and where its augmentations draw from."""
    torch.manual_seed(config.seed)
    domain = DOMAINS[config.domain]
    width = config.hidden_channels
    encoder = domain.encoder(width, config.num_layers, 0.0)
    anchor = None
    if config.method == "sega":
        anchor = domain.anchor(width, config.height, config.tree)
    generator = place.generator(config.seed)
    model = Contrast(
        encoder,
        domain.augmentation(config.strength),
        anchor,
        temperature=config.temperature,
        lr=config.lr,
        generator=generator,
        leaves=domain.leaves,
    )
    place.seed_rank(config.seed)
    return model.to(place.device), generator


def _identity(config: PretrainConfig) -> dict[str, Any]:
    """Return the values that decide the weights."""
    identity = asdict(config)
    for name in ("checkpoints", "packed", "root", "jobs", "device"):
        del identity[name]
    return identity


def _refuse_other(log: Path, about: dict[str, Any]) -> None:
    """Raise ValueError if the folder holds a pre-training with other values."""
    if not log.exists():
        return
    try:
        found = json.loads(log.read_text(encoding="utf-8"))["about"]
        other = {k for k in about if k in found and found[k] != about[k]}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{log} is damaged ({error}): give another folder") from error
    if other:
        name = min(other)
        raise ValueError(
            f"{log.parent} holds another pre-training, with {name}={found[name]!r} "
            f"instead of {about[name]!r}: give another folder"
        )


def write_log(log: Path, about: dict[str, Any], history: list[Epoch]) -> None:
    """Write what was done and what it measured."""
    content = {"about": about, "history": history}
    write_atomically(log, (json.dumps(content, indent=1) + "\n").encode())
