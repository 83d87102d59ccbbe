"""Molecules as graphs: SMILES read by RDKit, with the features of Hu et al. (2020)."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from .._files import AnyPath

if TYPE_CHECKING:
    from rdkit.Chem import Mol

# RDKit's numbers to the indices of Hu et al.
_BOND_TYPE = {1: 0, 2: 1, 3: 2, 12: 3}  # single, double, triple, aromatic
_BOND_DIRECTION = {0: 0, 4: 1, 3: 2}  # none, ENDUPRIGHT, ENDDOWNRIGHT
_CHIRALITY = {0: 0, 1: 1, 2: 2, 3: 3}  # none, CW, CCW, other
_LARGEST_ATOM = 118

_LISTS = (".smi", ".txt")
_Bond = tuple[int, int, int, int]


class MoleculeArrays(NamedTuple):
    """The graph of a molecule, in small integer types.

    Args:
        x: atomic number - 1 (0..117) and chirality (0..3), ``(atoms, 2)``.
        edge_index: the two directions of each bond in adjacent columns,
            ``(2, 2 * bonds)``.
        edge_attr: bond type (single, double, triple, aromatic = 0..3) and direction
            (none, up, down = 0..2), ``(2 * bonds, 2)``.
    """

    x: NDArray[np.uint8]
    edge_index: NDArray[np.int16]
    edge_attr: NDArray[np.uint8]


def parse_smiles(smiles: str) -> MoleculeArrays | None:
    """Return the graph of heavy atoms of a SMILES string, or None.

    None is for strings that RDKit cannot parse, molecules without atoms, and cases
    outside the features, at which the released code fails: dummy atoms ``*``, other
    kinds of chirality (such as square planar) and of bonds (such as dative).

    Differs from the released code in the order of bonds: here they are sorted by atoms.

    Raises:
        ImportError: if RDKit is not installed.

    Source: Hu et al., "Strategies for Pre-training Graph Neural Networks" (2020);
    ``chem/loader.py`` of snap-stanford/pretrain-gnns.

    Example:
        >>> parse_smiles("C=O")
        MoleculeArrays(x=array([[5, 0],
               [7, 0]], dtype=uint8), edge_index=array([[0, 1],
               [1, 0]], dtype=int16), edge_attr=array([[1, 0],
               [1, 0]], dtype=uint8))
        >>> parse_smiles("C=") is None
        True
    """
    try:
        return molecule_arrays(smiles)
    except ValueError:
        return None


def molecule_graph(smiles: str) -> Data:
    """Return the PyG graph of a SMILES string, with the features of MoleculeArrays.

    Raises:
        ValueError: where :func:`parse_smiles` returns None; the message says why.
        ImportError: if RDKit is not installed.

    Example:
        >>> molecule_graph("C=O")
        Data(x=[2, 2], edge_index=[2, 2], edge_attr=[2, 2])
    """
    try:
        return as_data(molecule_arrays(smiles))
    except ValueError as error:
        raise ValueError(f"no graph for {smiles!r}: {error}") from error


def as_data(arrays: MoleculeArrays) -> Data:
    """Return a PyG graph of long tensors.

    Example:
        >>> as_data(molecule_arrays("C=O")).edge_attr
        tensor([[1, 0],
                [1, 0]])
    """
    x, edge_index, edge_attr = (torch.from_numpy(array).long() for array in arrays)
    return Data(x=x, edge_index=edge_index, edge_attr=edge_attr)


def molecule_arrays(smiles: str) -> MoleculeArrays:
    """Return the graph of heavy atoms of a SMILES string.

    Raises:
        ValueError: where :func:`parse_smiles` returns None; the message says why.
        ImportError: if RDKit is not installed.

    Example:
        >>> molecule_arrays("C*")
        Traceback (most recent call last):
        ValueError: the features do not know a dummy atom
    """
    mol = read_molecule(smiles)
    if not 0 < mol.GetNumAtoms() <= np.iinfo(np.int16).max:
        raise ValueError(f"it has {mol.GetNumAtoms()} atoms, not 1 to 32767")
    x = _atoms(mol, smiles)
    twice = np.array(_bonds(mol), dtype=np.int16).reshape(-1, 4).repeat(2, axis=0)
    edge_index = np.ascontiguousarray(twice[:, :2].T)
    edge_index[:, 1::2] = edge_index[::-1, ::2]
    edge_attr = twice[:, 2:].astype(np.uint8)
    return MoleculeArrays(x, edge_index, edge_attr)


def read_molecule(smiles: str) -> Mol:
    """Parse a SMILES string with RDKit, without its log messages.

    Raises:
        ValueError: if RDKit cannot parse it, or not to its end.
        ImportError: if RDKit is not installed.
    """
    chem, block_logs = _rdkit()
    if not {"\0", "\n", "\r"}.isdisjoint(smiles):  # RDKit would read what is before
        raise ValueError("it has a line break or a NUL byte")
    with block_logs():
        mol: Mol | None = chem.MolFromSmiles(smiles)
    if mol is None:
        raise ValueError("RDKit cannot parse it")
    return mol


@cache
def _rdkit() -> tuple[Any, Any]:
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise ImportError(
            "reading SMILES needs rdkit: pip install 'sega-anchor[chem]'"
        ) from error
    return Chem, rdBase.BlockLogs


def _atoms(mol: Mol, smiles: str) -> NDArray[np.uint8]:
    # By index, which is twice as fast as RDKit's iterators.
    atoms = list(map(mol.GetAtomWithIdx, range(mol.GetNumAtoms())))
    number = [atom.GetAtomicNum() for atom in atoms]
    if not 0 < min(number) <= max(number) <= _LARGEST_ATOM:
        raise ValueError("the features do not know a dummy atom")
    x = np.zeros((len(atoms), 2), dtype=np.uint8)
    x[:, 0] = number
    x[:, 0] -= 1
    if "@" in smiles or "|" in smiles:
        try:
            x[:, 1] = [_CHIRALITY[atom.GetChiralTag()] for atom in atoms]
        except KeyError as error:
            raise ValueError(f"the features do not know {error.args[0]}") from None
    return x


def _bonds(mol: Mol) -> list[_Bond]:
    """Return source < target, type and direction of all bonds, in ascending order."""
    rows = []
    try:
        for bond in map(mol.GetBondWithIdx, range(mol.GetNumBonds())):
            i, j = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
            kind = _BOND_TYPE[bond.GetBondType()]
            direction = _BOND_DIRECTION[bond.GetBondDir()]
            rows.append((min(i, j), max(i, j), kind, direction))
    except KeyError as error:
        raise ValueError(f"the features do not know {error.args[0]}") from None
    return sorted(rows)


def find_smiles_column(header: list[str]) -> int:
    """Return the position of the column "smiles", else of "mol", in any case.

    Raises:
        ValueError: if the table has neither, or one of them twice.

    Example:
        >>> find_smiles_column(["id", "SMILES"])
        1
    """
    names = [name.strip().lower() for name in header]
    for known in ("smiles", "mol"):
        if names.count(known) > 1:
            raise ValueError(
                f"there are {names.count(known)} columns {known!r}: name the column "
                "that holds the SMILES strings, and give each another name"
            )
        if known in names:
            return names.index(known)
    raise ValueError(
        f"no column 'smiles' or 'mol' among {', '.join(map(repr, header))}; name the "
        "column that holds the SMILES strings"
    )


def read_table(path: AnyPath) -> Iterator[list[str]]:
    """Yield the header and the rows of a CSV file, gzipped or not.

    Raises:
        ValueError: if the file is missing, not text or empty, a quote is not closed,
            or a row does not have as many fields as the header.
    """
    width = 0
    # Strict: a quote that nobody closes would swallow the rows up to the next one.
    rows = csv.reader(_lines(path), strict=True)
    try:
        for number, row in enumerate(filter(None, rows)):
            width = width or len(row)
            if len(row) != width:
                raise ValueError(
                    f"{path}: row {number} has {len(row)} fields where the header has "
                    f"{width}; correct the file"
                )
            yield row
    except csv.Error as error:
        raise ValueError(
            f"cannot read {str(path)!r} as CSV ({error}): correct line {rows.line_num} "
            "or the row that ends there"
        ) from error
    if not width:
        raise ValueError(f"{path} is empty; give a CSV file with a header")


def iterate_smiles(path: AnyPath) -> Iterator[str]:
    """Return an iterator over the SMILES strings of a file of any size.

    A ``.smi`` or ``.txt`` file holds one string per line, up to the first space, with
    or without a header "smiles"; any other file is CSV with a column "smiles" or "mol".
    All may be gzipped.

    Raises:
        ValueError: at once, if a CSV file has no such column; during iteration, if the
            file cannot be read.
    """
    if Path(path).name.lower().removesuffix(".gz").endswith(_LISTS):
        words = (line.split(maxsplit=1)[0] for line in _lines(path) if line.strip())
        return (w for i, w in enumerate(words) if i or w.lower() != "smiles")
    rows = read_table(path)
    column = find_smiles_column(next(rows))
    return (row[column].strip() for row in rows)


def _lines(path: AnyPath) -> Iterator[str]:
    try:
        with open(path, "rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        opener: Any = gzip.open if zipped else open
        with opener(path, "rt", encoding="utf-8-sig", newline="") as text:
            yield from text
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise ValueError(f"cannot read {str(path)!r} as text ({error})") from error
