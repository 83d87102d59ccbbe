"""Molecules are split by scaffold as Hu et al. do."""

import csv
import gzip
from itertools import chain

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sega_anchor.datasets.molecules.scaffold_split import scaffold_split
from tests.helpers.paths import real_data

Chem = pytest.importorskip("rdkit.Chem")

# Of muv, slow here: (74469, 9309, 9309); of HIV: (32895, 4112, 4112).
SIZES = {
    "BBBP": (1631, 204, 204),
    "tox21": (6258, 782, 783),
    "toxcast_data": (6860, 858, 858),
    "sider": (1141, 143, 143),
    "clintox": (1182, 148, 148),
    "bace": (1210, 151, 152),
}


def core(mol: object) -> str:
    return Chem.MolToSmiles(Chem.MurckoDecompose(mol), isomericSmiles=True)


def plainly(keys: list[str], first: float, second: float) -> list[list[int]]:
    """Mark molecule by molecule, largest group first, and count the marks anew."""
    names, group, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    smallest = [int((group == g).argmax()) for g in range(len(names))]
    part = np.full(len(keys), -1)
    for g in np.lexsort((smallest, sizes))[::-1]:
        train, valid = (part == 0).sum(), (part == 1).sum()
        if train + sizes[g] <= first * len(keys):
            part[group == g] = 0
        elif train + valid + sizes[g] <= (first + second) * len(keys):
            part[group == g] = 1
        else:
            part[group == g] = 2
    return [np.flatnonzero(part == p).tolist() for p in range(3)]


def as_lists(parts: tuple[torch.Tensor, ...]) -> list[list[int]]:
    assert {part.dtype for part in parts} == {torch.long}
    return [part.sort().values.tolist() for part in parts]


# Rings with and without side chains: few scaffolds, many ties.
RINGS = ["C1CC1", "C1CCC1", "c1ccccc1", "C1CCNCC1", "c1ccc2ccccc2c1", "C"]
some = st.tuples(st.sampled_from(RINGS), st.sampled_from(["", "C", "CO", "F"]))
molecules = st.lists(some.map(lambda pair: pair[1] + pair[0]), min_size=1, max_size=40)
FRACTIONS = [(0.8, 0.1, 0.1), (0.5, 0.25, 0.25), (1.0, 0.0, 0.0), (0.3, 0.3, 0.4)]


@given(molecules, st.sampled_from(FRACTIONS))
def test_a_plain_split_agrees(
    smiles: list[str], fractions: tuple[float, float, float]
) -> None:
    keys = [core(Chem.MolFromSmiles(text)) for text in smiles]
    found = as_lists(scaffold_split(smiles, fractions))
    assert found == plainly(keys, *fractions[:2])
    assert sorted(chain.from_iterable(found)) == list(range(len(smiles)))
    kept = [{keys[index] for index in part} for part in found]
    assert sum(map(len, kept)) == len(set(keys))


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_real_sets(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    from rdkit import rdBase

    path = real_data("molecules", f"{name}.csv.gz")
    with gzip.open(path, "rt", newline="") as file:
        rows = [row.get("smiles") or row["mol"] for row in csv.DictReader(file)]
    smiles, keys = [], []
    dative = Chem.MolFromSmarts("*->*")  # has no graph
    with rdBase.BlockLogs():
        for text in rows:
            mol = Chem.MolFromSmiles(text)
            if mol and not mol.HasSubstructMatch(dative):
                smiles.append(text)
                keys.append(core(mol))
    capfd.readouterr()
    parts = scaffold_split(smiles)
    assert capfd.readouterr() == ("", "")
    assert tuple(map(len, parts)) == SIZES[name]
    assert as_lists(parts) == plainly(keys, 0.8, 0.1)


def test_the_largest_group_trains_and_chirality_counts() -> None:
    left, right = "C[C@H]1CCO[C@@H]1c1ccccc1", "C[C@H]1CCO[C@H]1c1ccccc1"
    train, valid, test = scaffold_split([left, right, "CC", "CO"], (0.5, 0.25, 0.25))
    assert (train.tolist(), valid.tolist(), test.tolist()) == ([2, 3], [1], [0])


def test_what_cannot_be_split() -> None:
    for fractions in ((0.8, 0.1, 0.2), (1.2, -0.1, -0.1), (0.5, 0.5)):
        with pytest.raises(ValueError, match="fractions must be 3 shares"):
            scaffold_split(["C"], fractions)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one molecule"):
        scaffold_split([])
    with pytest.raises(ValueError, match=r"no scaffold of molecule 1, 'C\(': RDKit"):
        scaffold_split(["C", "C("])
