"""Configurations of pre-training and fine-tuning."""

from dataclasses import dataclass
from typing import Literal, TypedDict

from ...trees import AddTree, TreeName, tree_transform
from ...utils import check_choice, check_positive
from ..settings import Seeds, check_batch_size, check_device, seed_numbers
from ._domains import DOMAINS, DomainName

PretrainMethod = Literal["sega", "graphcl"]


@dataclass(frozen=True)
class PretrainConfig:
    """How an encoder is pre-trained; published by default.

    Args:
        pretraining: "sega" contrasts the tree of each graph with an augmentation,
            "graphcl" two augmentations.
        domain: "molecules" (a SMILES file) or "proteins" (a folder of ego-networks).
        epochs: how many; the released loop stops at 99 of them.
        checkpoints: epochs after which the encoder is kept, beside the last.
        batch_size: graphs per step, at least 2.
        lr: learning rate of Adam.
        temperature: of the contrastive loss.
        strength: share of the nodes that is dropped, or kept as a subgraph.
        hidden_channels, num_layers: of the encoder.
        height: of the coding trees.
        tree: how they are built, or a control, "shuffled" or "random".
        seeds: the one that decides start, orders and augmentations, as a list.
        packed: folder for the molecules as graphs with trees; default one under the
            data root, found again by the content of the file.
        root: folder of data, as in :class:`~sega_anchor.protocols.Settings`.
        jobs: processes that read molecules; default one per core.
        device: where training happens.

    Raises:
        ValueError: for a value that cannot be used.
    """

    pretraining: PretrainMethod = "sega"
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
    tree: TreeName = "refined"
    seeds: Seeds = (0,)
    packed: str | None = None
    root: str | None = None
    jobs: int | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse values before any work starts."""
        check_choice("pretraining", self.pretraining, PretrainMethod)
        check_choice("domain", self.domain, DomainName)
        check_batch_size(self.batch_size)
        check_positive(
            self, "epochs", "lr", "temperature", "hidden_channels", "num_layers"
        )
        self.tree_transform()
        check_device(self.device)
        if len(seed_numbers(self.seeds)) > 1:
            raise ValueError(
                "an encoder is pre-trained with one seed: give it as a list, such as "
                f"seeds=[3], got {self.seeds!r}"
            )
        DOMAINS[self.domain].augmentation(self.strength)

    def tree_transform(self) -> AddTree:
        """Return what gives graphs their trees."""
        return tree_transform(self.tree, self.height)

    @property
    def seed(self) -> int:
        """The one seed."""
        return seed_numbers(self.seeds)[0]


class PretrainOptions(TypedDict, total=False):
    """The fields of :class:`PretrainConfig` as keyword arguments."""

    pretraining: PretrainMethod
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
    tree: TreeName
    seeds: Seeds
    packed: str | None
    root: str | None
    jobs: int | None
    device: str


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
        seeds: how many seeds, 0, 1, ..., or a list of them; the split is the same for
            all.
        root: folder of data, as in :class:`~sega_anchor.protocols.Settings`.
        archives: folder of MoleculeNet's files, looked at before any download.
        results: folder for the record; what is found there is not computed again, and
            an interrupted training resumes.
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
    seeds: Seeds = 10
    root: str | None = None
    archives: str | None = None
    results: str | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse values before any work starts."""
        check_choice("domain", self.domain, DomainName)
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be in [0, 1), got {self.dropout!r}")
        check_batch_size(self.batch_size)
        check_positive(self, "epochs", "hidden_channels", "num_layers", "lr")
        seed_numbers(self.seeds)
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
    seeds: Seeds
    root: str | None
    archives: str | None
    results: str | None
    device: str
