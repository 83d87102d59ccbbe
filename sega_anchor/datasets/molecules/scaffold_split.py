"""scaffold_split: train on common molecular scaffolds, test on rare ones."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .smiles import read_molecule


def scaffold_split(
    smiles: Sequence[str], fractions: tuple[float, float, float] = (0.8, 0.1, 0.1)
) -> tuple[Tensor, Tensor, Tensor]:
    """Split N molecules so that no two parts share a Bemis-Murcko scaffold.

    Molecules with the same scaffold stay together (chirality counts; all molecules
    without rings share one scaffold). Groups are sorted by (size, smallest index),
    descending. Each goes to training if that part then holds at most ``fractions[0] *
    N`` molecules, else to validation if both parts then hold at most ``(fractions[0] +
    fractions[1]) * N``, else to test. Nothing is random.

    Differs from the released code, which for BBBP, ToxCast and ClinTox splits the
    SMILES strings as rewritten by RDKit: one or two molecules change parts.

    Args:
        smiles: the molecules, each readable by RDKit.
        fractions: shares of training, validation and test, which sum to 1.

    Returns:
        The indices of the three parts, group by group, long; a part can be empty.

    Raises:
        ValueError: if the fractions are not such shares, there are no molecules, or
            RDKit cannot read one.
        ImportError: if RDKit is not installed.

    Source: Hu et al. (2020); ``chem/splitters.py`` of snap-stanford/pretrain-gnns.

    Example:
        >>> scaffold_split(["CC", "c1ccccc1", "Cc1ccccc1", "CO"], (0.5, 0.5, 0))
        (tensor([1, 2]), tensor([0, 3]), tensor([], dtype=torch.int64))
    """
    if (
        len(fractions) != 3
        or not all(fraction >= 0 for fraction in fractions)
        or not math.isclose(sum(fractions), 1, abs_tol=1e-7)
    ):
        raise ValueError(f"fractions must be 3 shares that sum to 1, got {fractions!r}")
    if not smiles:
        raise ValueError("smiles must hold at least one molecule, got none")
    groups: dict[str, list[int]] = {}
    for index, text in enumerate(smiles):
        groups.setdefault(_scaffold(index, text), []).append(index)

    train_end = fractions[0] * len(smiles)
    valid_end = (fractions[0] + fractions[1]) * len(smiles)
    train: list[int] = []
    valid: list[int] = []
    test: list[int] = []
    for group in sorted(groups.values(), key=lambda g: (len(g), g[0]), reverse=True):
        if len(train) + len(group) <= train_end:
            train += group
        elif len(train) + len(valid) + len(group) <= valid_end:
            valid += group
        else:
            test += group
    return _indices(train), _indices(valid), _indices(test)


def _scaffold(index: int, smiles: str) -> str:
    try:
        mol = read_molecule(smiles)
    except ValueError as error:
        raise ValueError(
            f"no scaffold of molecule {index}, {smiles!r}: {error}"
        ) from None
    from rdkit.Chem.Scaffolds import MurckoScaffold

    murcko: Any = MurckoScaffold.MurckoScaffoldSmiles  # has no types
    return str(murcko(mol=mol, includeChirality=True))


def _indices(part: list[int]) -> Tensor:
    return torch.tensor(part, dtype=torch.long)
