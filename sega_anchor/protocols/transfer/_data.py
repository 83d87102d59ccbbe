"""Data of the transfer protocol, checked before any training."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor
from torch_geometric.data import Data

from ...datasets import (
    load_molecules,
    load_proteins,
    pack_smiles,
    scaffold_split,
    species_split,
)
from ...datasets._files import data_root
from ...datasets.molecules.moleculenet import find_molecules
from ...loader import PackedGraphs, on_disk
from ...loader.digest import digest
from ...utils import file_digest
from ._config import FinetuneConfig, PretrainConfig


@dataclass(frozen=True)
class Labelled:
    """Graphs, their labels and which are for what.

    Args:
        name: of the set.
        content: digest of graphs, labels and split.
        graphs: all graphs.
        labels: ``(num_graphs, tasks)``, NaN where there is none.
        train: which to train on.
        scored: which to score, by name; "validation" and "test" are among them.
    """

    name: str
    content: str
    graphs: PackedGraphs
    labels: Tensor
    train: Tensor
    scored: dict[str, Tensor]

    def __post_init__(self) -> None:
        """Refuse parts that cannot be scored, before any training."""
        for name, index in self.scored.items():
            labels = self.labels[index]
            both = (labels == 1).any(dim=0) & (labels == 0).any(dim=0)
            if not both.any():
                raise ValueError(
                    f"no task of {self.name} has positives and negatives among the "
                    f"{len(index)} graphs for {name}, so there is no ROC-AUC: a larger "
                    "set is needed"
                )
        if self.labels[self.train].isnan().all():
            raise ValueError(f"no graph of {self.name} for training has a label")


def unlabelled_graphs(
    source: str | Path, config: PretrainConfig
) -> tuple[PackedGraphs, str]:
    """Return the graphs of a SMILES file or a folder of protein networks, and a digest.

    That of molecules is of the file: packed they may be larger than the memory.
    """
    if config.domain == "molecules":
        folder = config.packed or _packed_folder(Path(source), config)
        packed = pack_smiles(
            source,
            folder,
            height=config.height,
            method=config.tree_name,
            jobs=config.jobs,
        )
        return packed, f"sha256 {file_digest(source)}"
    graphs: Sequence[Data] = load_proteins(source, split="unsupervised")
    if config.pretraining == "sega":
        graphs = config.tree_transform().map(graphs, threads=config.jobs)
    packed = PackedGraphs.of(graphs)
    return packed, digest(packed)


def check_dataset(dataset: str | Path, config: FinetuneConfig) -> None:
    """Raise ValueError if there is no such data set; read none."""
    if config.domain == "molecules":
        find_molecules(dataset, root=config.root, archives=config.archives)
    elif not Path(dataset).expanduser().is_dir():
        raise ValueError(f"there is no folder {str(dataset)!r} of protein networks")


def labelled_graphs(dataset: str | Path, config: FinetuneConfig) -> Labelled:
    """Return a data set split by scaffold or by species."""
    if config.domain == "molecules":
        found = load_molecules(
            dataset,
            root=config.root,
            archives=config.archives,
            smiles_column=config.smiles_column,
            task_columns=config.tasks or None,
        )
        train, validation, test = scaffold_split(found.smiles)
        scored = {"validation": validation, "test": test}
        parts = PackedGraphs.of(found.graphs), found.labels, train, scored
        return _labelled(found.name, *parts, smiles=found.smiles)
    networks = load_proteins(dataset, split="supervised")
    split = species_split(networks.species_id)
    scored = {
        "validation": split.valid,
        "test": split.test_hard,
        "test_easy": split.test_easy,
    }
    parts = PackedGraphs.of(networks), networks.y, split.train, scored
    return _labelled(Path(dataset).name, *parts)


def _labelled(
    name: str,
    graphs: PackedGraphs,
    labels: Tensor,
    train: Tensor,
    scored: dict[str, Tensor],
    **beside: list[str],
) -> Labelled:
    content = digest(graphs, labels=labels, train=train, **scored, **beside)
    return Labelled(name, content, graphs, labels, train, scored)


def _packed_folder(path: Path, config: PretrainConfig) -> Path:
    """Return a folder that no other file, trees or format ever get."""
    stem = path.name.split(".")[0]
    trees = f"{config.tree_name}{config.height}-v{on_disk.FORMAT}"
    name = f"{stem}-{file_digest(path)[:12]}-{trees}"
    return data_root(config.root) / "packed" / name
