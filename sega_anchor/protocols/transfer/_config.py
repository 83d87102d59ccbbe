"""Configurations of pre-training and fine-tuning."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypedDict

from ...nn import Readout
from ...trees import AddTree, TreeName, tree_transform
from ...utils import check_choice, check_positive
from ..settings import (
    Protocol,
    Seeds,
    check_batch_size,
    check_device,
    identity,
    seed_numbers,
)
from ._domains import DOMAINS, DomainName

PretrainMethod = Literal["sega", "graphcl"]
#: What all runs did before there was a choice: so their records are found.
_BEFORE = {"protocol": "honest", "readout": "sum"}


@dataclass(frozen=True)
class PretrainConfig:
    """How an encoder is pre-trained; published by default.

    Args:
        pretraining: "sega" contrasts the tree of each graph with an augmentation,
            "graphcl" two augmentations.
        domain: "molecules" (a SMILES file) or "proteins" (a folder of ego-networks).
        protocol: "honest" draws subgraphs by random walks and drops undirected edges.
            "paper" draws views as the released code does: a subgraph is a star around
            its start, of proteins a neighbourhood that grows; single directions of
            edges are dropped; and a graph whose view has no edge stays as it is.
        epochs: how many. The released loop of 100 stops behind the 99th; what is kept
            of the 20th to the 80th is the same either way, and the paper names a 100th.
        checkpoints: epochs after which the encoder is kept, beside the last.
        batch_size: graphs per step, at least 2.
        lr: learning rate of Adam.
        temperature: of the contrastive loss.
        strength: share of the nodes that is dropped, or kept as a subgraph.
        hidden_channels, num_layers: of the encoder.
        height: of the coding trees.
        tree: how they are built, or a control, "shuffled" or "random"; default
            "refined", or "authors" under "paper".
        readout: how the anchor's encoder pools each level of a tree: "sum", as in the
            released unsupervised code, "mean", as the graph encoder here, or "root".
        quantities: let the anchor's encoder see sizes, volumes and cuts of the trees.
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
    protocol: Protocol = "honest"
    epochs: int = 100
    checkpoints: tuple[int, ...] = (20, 40, 60, 80, 100)
    batch_size: int = 256
    lr: float = 0.001
    temperature: float = 0.1
    strength: float = 0.2
    hidden_channels: int = 300
    num_layers: int = 5
    height: int = 5
    tree: TreeName | None = None
    readout: Readout = "sum"
    quantities: bool = False
    seeds: Seeds = (0,)
    packed: str | None = None
    root: str | None = None
    jobs: int | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse values before any work starts."""
        check_choice("pretraining", self.pretraining, PretrainMethod)
        check_choice("domain", self.domain, DomainName)
        check_choice("protocol", self.protocol, Protocol)
        check_choice("readout", self.readout, Readout)
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
        DOMAINS[self.domain].augmentation(self.strength, self.protocol)

    @property
    def tree_name(self) -> TreeName:
        """How trees are built."""
        return self.tree or ("authors" if self.protocol == "paper" else "refined")

    def tree_transform(self) -> AddTree:
        """Return what gives graphs their trees."""
        return tree_transform(self.tree_name, self.height)

    @property
    def seed(self) -> int:
        """The one seed."""
        return seed_numbers(self.seeds)[0]


class PretrainOptions(TypedDict, total=False):
    """The fields of :class:`PretrainConfig` as keyword arguments."""

    pretraining: PretrainMethod
    domain: DomainName
    protocol: Protocol
    epochs: int
    checkpoints: tuple[int, ...]
    batch_size: int
    lr: float
    temperature: float
    strength: float
    hidden_channels: int
    num_layers: int
    height: int
    tree: TreeName | None
    readout: Readout
    quantities: bool
    seeds: Seeds
    packed: str | None
    root: str | None
    jobs: int | None
    device: str


@dataclass(frozen=True)
class FinetuneConfig:
    """How an encoder is fine-tuned; published by default.

    Args:
        checkpoint: file of weights to begin with, ours or others' of the same
            architecture; default none, no pre-training.
        domain: "molecules" or "proteins".
        protocol: which epoch is reported. "honest" takes that of the best validation
            score. "paper" does as GraphCL's released code: the last for molecules, that
            of the best validation score for proteins. Epochs and splits are the same,
            and so are means over tasks, which leave out those that lack a class: the
            released validation score of proteins is not a number if one does.
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

    setting: ClassVar[str] = "transfer"

    checkpoint: str | None = None
    domain: DomainName = "molecules"
    protocol: Protocol = "honest"
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
        check_choice("protocol", self.protocol, Protocol)
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be in [0, 1), got {self.dropout!r}")
        check_batch_size(self.batch_size)
        check_positive(self, "epochs", "hidden_channels", "num_layers", "lr")
        seed_numbers(self.seeds)
        check_device(self.device)


class FinetuneOptions(TypedDict, total=False):
    """The fields of :class:`FinetuneConfig` as keyword arguments, less one.

    The checkpoint is an argument of :func:`finetune` itself.
    """

    domain: DomainName
    protocol: Protocol
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


def decisive(
    config: PretrainConfig | FinetuneConfig, *unimportant: str
) -> dict[str, Any]:
    """Return what decides numbers, see :func:`identity`."""
    left_out = [k for k, v in _BEFORE.items() if getattr(config, k, None) == v]
    return identity(config, *unimportant, *left_out)
