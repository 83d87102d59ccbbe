"""load_proteins: ego-networks of proteins, as published or from your own tables."""

from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from ...utils.checks import check_at_least, check_choice
from .._files import AnyPath
from ._published import PUBLISHED, read_published
from ._tables import Interactions, Names, read_interactions, read_labels, species_of
from .ego_networks import EgoNetworks, ego_networks

ProteinSplit = Literal["supervised", "unsupervised"]


def load_proteins(
    folder: AnyPath,
    split: ProteinSplit = "supervised",
    *,
    threshold: int = 400,
    hops: int = 2,
    max_nodes: int = 40,
    num_tasks: int = 40,
    seed: int = 0,
) -> EgoNetworks:
    """Load ego-networks of proteins, with or without labels of their centres.

    ``folder`` holds either

    * Hu et al.'s published files, ``SPLIT/processed/geometric_data_processed.pt``, for
      which only ``split`` and ``num_tasks`` matter; or
    * ``edges.tsv``, one or more of STRING's ``protein.links.detailed`` tables under one
      header, with columns protein1, protein2 and the channels neighborhood, fusion,
      cooccurence, coexpression, experimental, database, textmining, scored 0 to 1000;
      and ``labels.tsv``, a header, then in each row a protein and its labels, 0 or 1.
      Both may be gzipped (``.tsv.gz``). Columns are separated by spaces or tabs. Names
      are those of STRING, which contain the species: 9606.ENSP00000000233.

    "supervised" gives the networks around the proteins of ``labels.tsv``, in its order;
    "unsupervised" those around all proteins with a relation, sorted by name. A relation
    is 1 where its channel scores at least ``threshold``. Hu et al. did not publish how
    they cut networks (at random) and thresholded scores: both rules and their defaults
    are ours.

    Args:
        folder: as above.
        split: "supervised" or "unsupervised".
        threshold: 1 to 1000. (default: :obj:`400`, STRING's medium confidence)
        hops: see :func:`~sega_anchor.datasets.proteins.ego_networks.ego_networks`.
        max_nodes: likewise.
        num_tasks: number of labels of each protein.
        seed: as ``hops``.

    Returns:
        Networks with ``x`` of ones ``(num_nodes, 1)``, ``edge_index`` with the two
        directions of each edge in adjacent columns, ``edge_attr`` ``(num_edges, 9)``
        floats (7 relations, then loop and mask, both 0 here), ``center_node_idx``
        ``(1,)``, ``species_id`` ``(1,)`` (NCBI taxonomy number) and, if supervised,
        ``y`` ``(1, num_tasks)`` floats. A labelled protein without relations is a
        network of one node.

    Raises:
        ValueError: if the folder holds neither, or a file cannot be used.

    Source: Hu et al., ICLR 2020, repository snap-stanford/pretrain-gnns, bio/loader.py.

    Example:
        >>> load_proteins("nowhere")
        Traceback (most recent call last):
        ValueError: there is no folder 'nowhere' ...
    """
    _check(split, threshold, num_tasks)
    home = Path(folder).expanduser()
    if not home.is_dir():
        raise ValueError(f"there is no folder {str(folder)!r} of protein networks")
    supervised = split == "supervised"
    for published in (home / split / "processed", home / "processed"):
        if (published / PUBLISHED).is_file():
            return read_published(
                published / PUBLISHED, num_tasks if supervised else None
            )
    found, species = _interactions(_table(home, "edges.tsv"), threshold)
    centers, n, y = torch.arange(len(species)), len(species), None
    if supervised:
        labels = _table(home, "labels.tsv")
        names, y = read_labels(labels, num_tasks)
        species = _known_species(labels, names, species)
        centers, n = _number(names, found.names)
    networks = ego_networks(
        found.edge_index,
        found.relations,
        centers,
        hops,
        max_nodes,
        num_nodes=n,
        seed=seed,
    )
    return _complete(networks, species, y)


def _number(names: Names, known: Names) -> tuple[Tensor, int]:
    """Return numbers of proteins, new ones for unknown names, and the total number."""
    place = np.minimum(np.searchsorted(known, names), len(known) - 1)
    new = known[place] != names
    place[new] = len(known) + np.arange(new.sum())
    return torch.from_numpy(place), len(known) + int(new.sum())


def _complete(networks: EgoNetworks, species: Tensor, y: Tensor | None) -> EgoNetworks:
    """Add the columns for loop and mask, the species and the labels."""
    data, slices = networks._data, networks.slices
    data.edge_attr = pad(data.edge_attr.float(), (0, 2))
    data.species_id = species
    slices["species_id"] = slices["center_node_idx"]
    if y is not None:
        data.y = y
        slices["y"] = slices["center_node_idx"]
    del data.n_id, slices["n_id"]
    return networks


def _table(home: Path, name: str) -> Path:
    for path in (home / name, home / f"{name}.gz"):
        if path.is_file():
            return path
    raise ValueError(
        f"there is no {name} or {name}.gz in {str(home)!r}, nor {PUBLISHED} in its "
        "folder supervised/processed or unsupervised/processed: see load_proteins for "
        "what they hold"
    )


def _check(split: str, threshold: int, num_tasks: int) -> None:
    check_choice("split", split, ProteinSplit)
    if not 1 <= threshold <= 1000:
        raise ValueError(f"threshold must be from 1 to 1000, got {threshold!r}")
    check_at_least("num_tasks", num_tasks, 1)


def _interactions(path: Path, threshold: int) -> tuple[Interactions, Tensor]:
    """Return the interactions and the species of their proteins."""
    found = read_interactions(path, threshold)
    species = species_of(path, found.names)
    first, second = species[found.edge_index]
    if (first != second).any():
        column = int((first != second).nonzero()[0])
        one, two = (found.names[int(i)].decode() for i in found.edge_index[:, column])
        raise ValueError(f"{path} joins proteins of two species, {one} and {two}")
    return found, species


def _known_species(path: Path, names: Names, known: Tensor) -> Tensor:
    """Return the species of proteins; refuse species without any interactions.

    Their interactions were forgotten, or are filed under another name.
    """
    species = species_of(path, names)
    lost = ~torch.isin(species, known)
    if lost.any():
        i = int(lost.nonzero()[0])
        raise ValueError(
            f"{path} has proteins of species {int(species[i])}, such as "
            f"{names[i].decode()}, of which the interactions have none: add its "
            "interactions, or lower the threshold"
        )
    return species
