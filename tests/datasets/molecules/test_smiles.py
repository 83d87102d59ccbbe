"""SMILES strings become the graphs of Hu et al."""

import gzip
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sega_anchor.datasets.molecules import smiles as module
from sega_anchor.datasets.molecules.smiles import (
    find_smiles_column,
    iterate_smiles,
    molecule_graph,
    parse_smiles,
    read_table,
)
from tests.helpers.examples import times
from tests.helpers.paths import real_data

Chem = pytest.importorskip("rdkit.Chem")

NUMBERS = list(range(1, 119))
CHIRALITY = [
    "CHI_UNSPECIFIED",
    "CHI_TETRAHEDRAL_CW",
    "CHI_TETRAHEDRAL_CCW",
    "CHI_OTHER",
]
BONDS = ["SINGLE", "DOUBLE", "TRIPLE", "AROMATIC"]
DIRECTIONS = ["NONE", "ENDUPRIGHT", "ENDDOWNRIGHT"]


def plainly(smiles: str) -> tuple[list, set] | None:
    """Atoms in order and directed bonds, by looking names up in the published lists."""
    mol = Chem.MolFromSmiles(smiles)
    if mol is None or not mol.GetNumAtoms():
        return None
    try:
        atoms = [
            [NUMBERS.index(a.GetAtomicNum()), CHIRALITY.index(a.GetChiralTag().name)]
            for a in mol.GetAtoms()
        ]
        bonds = set()
        for bond in mol.GetBonds():
            kind = BONDS.index(bond.GetBondType().name)
            direction = DIRECTIONS.index(bond.GetBondDir().name)
            i, j = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
            bonds |= {(i, j, kind, direction), (j, i, kind, direction)}
    except ValueError:
        return None
    return atoms, bonds


def check(smiles: str) -> bool:
    """Compare with the plain reading; tell whether there is a graph."""
    arrays, expected = parse_smiles(smiles), plainly(smiles)
    if expected is None or arrays is None:
        assert arrays is None and expected is None, smiles
        return False
    assert (arrays.x.dtype, arrays.edge_index.dtype) == (np.uint8, np.int16)
    assert arrays.edge_attr.dtype == np.uint8
    assert arrays.x.tolist() == expected[0], smiles
    rows = np.concatenate([arrays.edge_index.T, arrays.edge_attr], axis=1).tolist()
    assert set(map(tuple, rows)) == expected[1], smiles
    assert len(rows) == len(expected[1])
    there, back = arrays.edge_index[:, ::2], arrays.edge_index[:, 1::2]
    assert (there == back[::-1]).all() and (there[0] < there[1]).all()
    return True


@pytest.mark.parametrize(
    "smiles",
    [
        "C",
        "[Cl-].[Na+]",
        "[H][H]",
        "C#N",
        "c1ccccc1",
        "C[C@H](N)C(=O)O",
        "C[C@@H](N)C(=O)O",
        "F/C=C/F",
        "F/C=C\\F",
        "F\\C=C\\F",
        "[Og]",
        "O=[Zn]",
        "CC ethane",
        "C[C@H](N)O |&1:1|",
        "C" * 600,
        "C" * 600 + "=O",
    ],
)
def test_features_are_those_of_the_lists(smiles: str) -> None:
    assert check(smiles)


NO_GRAPH = {
    "": "0 atoms",
    "C(": "RDKit cannot parse",
    "C[N+](C)(C)(C)C": "RDKit cannot parse",
    "not a molecule": "RDKit cannot parse",
    "C*": "dummy atom",
    "C~C": "UNSPECIFIED",
    "C$C": "QUADRUPLE",
    "N->[Pt]": "DATIVE",
    "C[Pt@SP1](F)(Cl)Br": "CHI_SQUAREPLANAR",
    "C" * 32768: "32768 atoms",
}


@pytest.mark.parametrize("smiles", NO_GRAPH, ids=lambda smiles: smiles[:20])
def test_what_has_no_graph(smiles: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert parse_smiles(smiles) is None
    with pytest.raises(ValueError, match="no graph for .*" + NO_GRAPH[smiles]):
        molecule_graph(smiles)
    assert capfd.readouterr() == ("", "")


@times(2)
@given(st.text("CNOcn1()=#/\\@[]H*->.Fe", min_size=1, max_size=12))
def test_any_text_is_read_as_by_plain_rules(text: str) -> None:
    from rdkit import rdBase

    with rdBase.BlockLogs():
        check(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BBBP", "clintox", "bace", "sider", "zinc_250k"])
def test_real_molecules(name: str) -> None:
    path = real_data("molecules", f"{name}.csv.gz")
    from rdkit import rdBase

    with rdBase.BlockLogs():
        read = [check(smiles) for smiles in islice(iterate_smiles(path), 2100)]
    bad = {"BBBP": 11, "clintox": 6}
    assert read.count(False) == bad.get(name, 0)


def test_a_graph_has_long_tensors() -> None:
    graph = molecule_graph("CC=O")
    assert graph.x.tolist() == [[5, 0], [5, 0], [7, 0]]
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert graph.edge_attr.tolist() == [[0, 0], [0, 0], [1, 0], [1, 0]]
    assert {value.dtype for _, value in graph} == {torch.long}
    alone = molecule_graph("C")
    assert alone.edge_index.shape == (2, 0) and alone.edge_attr.shape == (0, 2)
    graph.validate()


def test_without_rdkit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdkit", None)
    module._rdkit.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'sega-anchor\[chem\]'"):
        parse_smiles("C")


def test_the_column_of_smiles() -> None:
    assert find_smiles_column(["mol", "id", "Smiles"]) == 2
    assert find_smiles_column(["Mol", "id"]) == 0
    with pytest.raises(ValueError, match=r"among 'a', 'b'; name the column"):
        find_smiles_column(["a", "b"])


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "id,smiles\n1,CC\r\n\n2, CO \n"),
        ("a.csv", '\ufeffSMILES,note\nCC,\nCO,"a, b\nc"\n'),
        ("a.smi", "CC ethane\n\nCO\tmethanol\n"),
        ("a.txt", "smiles zinc_id\nCC 1\nCO 2"),
    ],
)
def test_files_of_smiles(tmp_path: Path, name: str, text: str, zipped: bool) -> None:
    path = tmp_path / (f"{name}.gz" if zipped else name)
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    assert list(iterate_smiles(path)) == ["CC", "CO"]


def test_a_file_is_read_as_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("smiles,a\n" + "CC,1\n" * 5 + "CO\n")
    rows = iterate_smiles(path)
    assert list(islice(rows, 5)) == ["CC"] * 5
    with pytest.raises(ValueError, match=r"row 6 has 1 fields where the header has 2"):
        next(rows)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    whole = gzip.compress(b"smiles\n" + b"CCO\n" * 1000)
    for content, message in (
        (b"", "is empty"),
        (b"a,b\n1,2\n", "no column 'smiles' or 'mol'"),
        (b"smiles\n\xff\n", "cannot read"),
        (whole[:-30], "cannot read"),
        (whole[:12] + b"\0\1\2\3" + whole[16:], "cannot read"),
        (b"smiles\n" + b"C" * 200_000, "cannot read"),
    ):
        path = tmp_path / "a.csv"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            list(iterate_smiles(path))
    with pytest.raises(ValueError, match="cannot read"):
        next(read_table(tmp_path / "absent.csv"))
