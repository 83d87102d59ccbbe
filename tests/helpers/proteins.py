"""A small set of protein interactions in the layout of STRING, with labels."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

SPECIES = (3702, 6239, 511145, 7227, 9606, 10090, 4932, 7955)
"""The labelled species of Hu et al."""

CHANNELS = (
    "neighborhood fusion cooccurence coexpression experimental database textmining"
)


def write_proteins(
    folder: Path, *, proteins: int = 30, tasks: int = 40, seed: int = 0, zipped=False
) -> Path:
    """Write edges.tsv and labels.tsv for 8 species of so many proteins each.

    Each species has two communities, of which the denser bears other relations. Task
    ``t`` asks whether a protein has more relations of channel ``t % 7`` than most of
    its species, or, every second time, of which community it is; one label in ten is
    drawn at random.
    """
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    edges = [f"protein1 protein2 {CHANNELS} combined_score"]
    labels = ["\t".join(["protein", *(f"GO:{t:07}" for t in range(tasks))])]
    for species in SPECIES:
        names = [f"{species}.P{i:05}" for i in range(proteins)]
        scores = _scores(proteins, random)
        for i, j in np.argwhere(scores.any(axis=2)):
            row = " ".join(map(str, scores[i, j]))
            edges.append(f"{names[i]} {names[j]} {row} {scores[i, j].max()}")
        for name, row in zip(names, _labels(scores, tasks, random), strict=True):
            labels.append("\t".join([name, *map(str, row)]))
    for stem, lines in (("edges.tsv", edges), ("labels.tsv", labels)):
        text = ("\n".join(lines) + "\n").encode()
        if zipped:
            (folder / f"{stem}.gz").write_bytes(gzip.compress(text, mtime=0))
        else:
            (folder / stem).write_bytes(text)
    return folder


def _scores(n: int, random: np.random.Generator) -> np.ndarray:
    """Return symmetric scores, (n, n, 7), a zero where there is none."""
    dense = np.arange(n) < n // 2
    inner = dense[:, None] & dense
    outer = dense[:, None] != dense
    joined = random.random((n, n)) < np.where(inner, 0.4, np.where(outer, 0.05, 0.15))
    often = np.where(inner[..., None], np.arange(7) < 3, np.arange(7) >= 3)
    present = random.random((n, n, 7)) < np.where(often, 0.6, 0.1)
    scores = random.integers(100, 1000, (n, n, 7)) * (present & joined[..., None])
    upper = np.triu(np.ones((n, n), bool), 1)[..., None]
    return scores * upper + (scores * upper).transpose(1, 0, 2)


def _labels(scores: np.ndarray, tasks: int, random: np.random.Generator) -> np.ndarray:
    n = len(scores)
    counts = (scores > 0).sum(axis=1)
    many = counts > np.median(counts, axis=0)
    dense = np.arange(n) < n // 2
    columns = [dense if t % 2 else many[:, t % 7] for t in range(tasks)]
    labels = np.stack(columns, axis=1)
    noisy = random.random(labels.shape) < 0.1
    return np.where(noisy, random.random(labels.shape) < 0.5, labels).astype(int)
