"""Config: how the semi-supervised protocol pre-trains and fine-tunes."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypedDict

from ...augment import Augmentation, augmentation
from ...training import FeatureSpec
from ...trees import AddTree, TreeName, tree_transform
from ...utils import check_at_least, check_choice, check_positive
from ..settings import Protocol, Seeds, check_batch_size, check_device, seed_numbers

Pretraining = Literal["none", "graphcl", "sega"]
#: How tables call what came before fine-tuning.
LABELS = {"none": "no pre-training", "graphcl": "GraphCL", "sega": "SEGA"}
#: What encoder and leaves see.
FEATURES = FeatureSpec(degree="both", raw_degree=True, attributes=True)


@dataclass(frozen=True)
class Config:
    """How the protocol pre-trains, fine-tunes and keeps records; published by default.

    Args:
        pretraining: "sega" contrasts the tree of each graph with an augmentation,
            "graphcl" two augmentations, "none" fine-tunes at once.
        protocol: "honest" keeps the fold before the test fold for validation, leaves
            continuous attributes out and draws other folds for each seed. "paper"
            does as the released code: the same folds for each seed, nine of them for
            training and no validation, so that only the test folds can choose.
        label_rate: share of the training folds whose labels are seen.
        augmentation: see :func:`sega_anchor.augment.augmentation`.
        strength: share of nodes or edges that it changes.
        hidden_channels: width of both encoders.
        height: of the coding trees.
        tree: how they are built, or a control, "shuffled" or "random"; default
            "refined", or "authors" under "paper".
        quantities: let the anchor's encoder see sizes, volumes and cuts of the trees.
        temperature: of the contrastive loss.
        pretrain_epochs, pretrain_lr: of pre-training.
        epochs, lr: of fine-tuning.
        batch_size: graphs per step, in both.
        seeds: how many seeds, 0, 1, ..., or a list of them.
        folds: of the evaluation, at least 3.
        root, archives, results, device: as in
            :class:`~sega_anchor.protocols.Settings`; ``results`` also keeps the
            encoders and the state of interrupted trainings.

    Raises:
        ValueError: for a value that cannot be used.
    """

    setting: ClassVar[str] = "semi-supervised"

    pretraining: Pretraining = "sega"
    protocol: Protocol = "honest"
    label_rate: float = 0.1
    augmentation: str = "random2"
    strength: float = 0.2
    hidden_channels: int = 128
    height: int = 5
    tree: TreeName | None = None
    quantities: bool = False
    temperature: float = 0.5
    pretrain_epochs: int = 100
    pretrain_lr: float = 0.001
    epochs: int = 100
    lr: float = 0.001
    batch_size: int = 128
    seeds: Seeds = 5
    folds: int = 10
    root: str | None = None
    archives: str | None = None
    results: str | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse values before any work starts."""
        check_choice("pretraining", self.pretraining, Pretraining)
        check_choice("protocol", self.protocol, Protocol)
        check_batch_size(self.batch_size)
        seed_numbers(self.seeds)
        check_at_least("epochs", self.epochs, 1)
        check_at_least("folds", self.folds, 3)  # one for each part
        check_device(self.device)
        self.view()
        self.tree_transform()
        parts = 1 / self.label_rate if self.label_rate > 0 else 0
        if round(parts) < 2 or abs(parts - round(parts)) > 1e-6:
            raise ValueError(
                "label_rate must be one part in a whole number, such as 0.1 or 0.01, "
                f"got {self.label_rate!r}"
            )
        names = "hidden_channels temperature pretrain_epochs pretrain_lr lr"
        check_positive(self, *names.split())

    @property
    def validates(self) -> bool:
        """Whether a fold is kept for validation."""
        return self.protocol == "honest"

    def tree_transform(self) -> AddTree:
        """Return what gives graphs their trees."""
        default: TreeName = "authors" if self.protocol == "paper" else "refined"
        return tree_transform(self.tree or default, self.height)

    def view(self) -> Augmentation:
        """Return the augmentation that these values name.

        Under "paper" a subgraph is the released star, edges make room for random pairs,
        and masked nodes get the mean of their graph; the released code's loops on the
        nodes of a star are left out, since the encoder adds its own.
        """
        honest = self.protocol == "honest"
        variant: Literal["paper", "semi-supervised"]
        variant = "paper" if honest else "semi-supervised"
        return augmentation(self.augmentation, self.strength, variant)


class Options(TypedDict, total=False):
    """The fields of :class:`Config` as keyword arguments of :func:`run`."""

    pretraining: Pretraining
    protocol: Protocol
    label_rate: float
    augmentation: str
    strength: float
    hidden_channels: int
    height: int
    tree: TreeName | None
    quantities: bool
    temperature: float
    pretrain_epochs: int
    pretrain_lr: float
    epochs: int
    lr: float
    batch_size: int
    seeds: Seeds
    folds: int
    root: str | None
    archives: str | None
    results: str | None
    device: str
