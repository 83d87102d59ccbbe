"""load_proteins: ego-networks of protein interactions, published or your own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from ._published import PUBLISHED, read_published
from ._tables import Interactions, Names, read_interactions, read_labels, species_of
from .ego_networks import EgoNetworks, ego_networks

ProteinSplit = Literal["supervised", "unsupervised"]


def load_proteins(
    folder: str | os.PathLike[str],
    split: ProteinSplit = "supervised",
    *,
    threshold: int = 400,
    hops: int = 2,
    max_nodes: int = 40,
    num_tasks: int = 40,
    seed: int = 0,
) -> EgoNetworks:
    """Load ego-networks of proteins, with labels of their centres or without.

    ``folder`` holds one of two things:

    * Hu et al.'s published files, ``SPLIT/processed/geometric_data_processed.pt``.
      Only ``num_tasks`` then matters beside the split.
    * ``edges.tsv``, one or more of STRING's ``protein.links.detailed`` tables under one
      header: columns protein1, protein2 and the channels neighborhood, fusion,
      cooccurence, coexpression, experimental, database, textmining, scored 0 to 1000;
      and ``labels.tsv``, a header and then in each row a protein and its labels, 0 or
      1. Both may be gzipped (``.tsv.gz``). Columns are separated by blanks or tabs.
      Proteins are named as in STRING, 9606.ENSP00000000233, and so bear their species.

    "supervised" are the networks around the proteins of ``labels.tsv``, in its order;
    "unsupervised" those around all proteins that have a relation, sorted by name. A
    channel is a relation where it scores at least ``threshold``. How Hu et al. cut
    networks and made scores binary was not published (the cut was random): both
    rules are ours, and so are their defaults.

    Args:
        folder: as above.
        split: "supervised" or "unsupervised".
        threshold: 1 to 1000. (default: :obj:`400`, STRING's medium confidence)
        hops: how far networks reach, see
            :func:`~sega_anchor.datasets.proteins.ego_networks.ego_networks`.
        max_nodes: in a network; likewise.
        seed: of the cut; likewise.
        num_tasks: labels of each protein.

    Returns:
        Networks with ``x`` of ones ``(num_nodes, 1)``, ``edge_index`` with the two
        directions of an edge side by side, ``edge_attr`` ``(num_edges, 9)`` floats (7
        relations; loop and mask, both 0 here), ``center_node_idx`` ``(1,)``,
        ``species_id`` ``(1,)`` (NCBI taxonomy number) and, if supervised, ``y``
        ``(1, num_tasks)`` floats. A labelled protein without relations is a network of
        one node.

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
        centers, n = _numbered(names, found.names)
    networks = ego_networks(
        found.edge_index,
        found.relations,
        centers,
        hops,
        max_nodes,
        num_nodes=n,
        seed=seed,
    )
    return _finished(networks, species, y)


def _numbered(names: Names, known: Names) -> tuple[Tensor, int]:
    """Return the numbers of proteins, new ones without relations, and how many."""
    place = np.minimum(np.searchsorted(known, names), len(known) - 1)
    new = known[place] != names
    place[new] = len(known) + np.arange(new.sum())
    return torch.from_numpy(place), len(known) + int(new.sum())


def _finished(networks: EgoNetworks, species: Tensor, y: Tensor | None) -> EgoNetworks:
    """Give networks the columns for loop and mask, species and labels."""
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
    if split not in get_args(ProteinSplit):
        raise ValueError(
            f"split must be {' or '.join(get_args(ProteinSplit))}, got {split!r}"
        )
    if not 1 <= threshold <= 1000:
        raise ValueError(f"threshold must be from 1 to 1000, got {threshold!r}")
    if num_tasks < 1:
        raise ValueError(f"num_tasks must be at least 1, got {num_tasks!r}")


def _interactions(path: Path, threshold: int) -> tuple[Interactions, Tensor]:
    """Return interactions and the species of all proteins that have any."""
    found = read_interactions(path, threshold)
    species = species_of(path, found.names)
    first, second = species[found.edge_index]
    if (first != second).any():
        column = int((first != second).nonzero()[0])
        one, two = (found.names[int(i)].decode() for i in found.edge_index[:, column])
        raise ValueError(f"{path} joins proteins of two species, {one} and {two}")
    return found, species


def _known_species(path: Path, names: Names, known: Tensor) -> Tensor:
    """Return species; one without relations was forgotten, or is named otherwise."""
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
