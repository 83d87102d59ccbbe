"""MoleculeNet's sets, and tables of one's own, as labelled graphs."""

import gzip
import urllib.error
from pathlib import Path

import pytest
import torch

from sega_anchor.datasets.molecules import moleculenet
from sega_anchor.datasets.molecules.moleculenet import MOLECULENET, load_molecules
from sega_anchor.datasets.molecules.smiles import molecule_graph, read_table
from tests.helpers.paths import real_data

pytest.importorskip("rdkit")
NAN = float("nan")

# Molecules with a graph, tasks, rows without one.
COUNTS = {
    "bbbp": (2039, 1, 11),
    "tox21": (7823, 12, 8),
    "sider": (1427, 27, 0),
    "clintox": (1478, 2, 6),
    "bace": (1513, 1, 0),
}


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise urllib.error.URLError("no network in tests")

    monkeypatch.delenv("SEGA_ANCHOR_MOLECULES", raising=False)
    monkeypatch.setattr("urllib.request.urlopen", refuse)


def table(folder: Path, text: str, name: str = "own.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_real_sets(name: str) -> None:
    archives = real_data("molecules")
    molecules, tasks, skipped = COUNTS[name]
    if skipped:
        with pytest.warns(UserWarning, match=f"{name}: {skipped} rows") as caught:
            found = load_molecules(name, archives=archives)
        assert len(caught) == 1
    else:
        found = load_molecules(name, archives=archives)
    assert found.labels.shape == (molecules, tasks) == (len(found), len(found.tasks))
    assert len(found.smiles) == molecules and len(found.skipped) == skipped
    plain = by_hand(name, {row for row, _, _ in found.skipped}, found.tasks)
    assert [smiles for smiles, _ in plain] == found.smiles
    expected = torch.tensor([labels for _, labels in plain])
    torch.testing.assert_close(found.labels, expected, rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(
        torch.cat([graph.y for graph in found.graphs]), expected, equal_nan=True
    )
    for index in range(0, molecules, 200):
        graph = molecule_graph(found.smiles[index])
        for key in ("x", "edge_index", "edge_attr"):
            assert torch.equal(graph[key], found.graphs[index][key])


def by_hand(
    name: str, skipped: set[int], tasks: list[str]
) -> list[tuple[str, list[float]]]:
    """Read the file with names of columns written out here."""
    rows = read_table(real_data("molecules", f"{MOLECULENET[name].stem}.csv.gz"))
    header = next(rows)
    column = {"bace": "mol"}.get(name, "smiles")
    wanted = {
        "bbbp": ["p_np"],
        "bace": ["Class"],
        "clintox": ["FDA_APPROVED", "CT_TOX"],
        "tox21": header[:12],
        "sider": header[1:],
    }[name]
    assert wanted == tasks
    read = []
    for number, row in enumerate(rows, start=1):
        cells = dict(zip(header, row, strict=True))
        if number not in skipped:
            labels = [float(cells[task] or "nan") for task in wanted]
            read.append((cells[column], labels))
    return read


@pytest.mark.slow
@pytest.mark.parametrize(("name", "tasks"), [("muv", 17), ("toxcast", 617), ("hiv", 1)])
def test_the_tasks_of_large_sets(name: str, tasks: int, tmp_path: Path) -> None:
    path = real_data("molecules", f"{MOLECULENET[name].stem}.csv.gz")
    with gzip.open(path, "rt") as file:
        lines = [next(file) for _ in range(3)]
    header = lines[0].strip().split(",")
    rows = [",".join("CCO" if c == "smiles" else b for c in header) for b in "01"]
    table(tmp_path, "\n".join([lines[0].strip(), *rows]), path.name[:-3])
    found = load_molecules(name.upper(), archives=tmp_path)
    assert len(found.tasks) == tasks and "mol_id" not in found.tasks
    assert found.labels.tolist() == [[0.0] * tasks, [1.0] * tasks]


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    path = table(tmp_path, "a,SMILES,b\n1,CC=O,\n,C(,1\n0.0,[Na+],1.0\n,O,0\n")
    with pytest.warns(UserWarning, match="own: 1 rows without a graph") as caught:
        found = load_molecules(path)
    assert "row 2, 'C(': RDKit cannot parse it" in str(caught[0].message)
    assert Path(caught[0].filename) == Path(__file__)
    assert found.name == "own" and found.tasks == ["a", "b"]
    assert found.smiles == ["CC=O", "[Na+]", "O"]
    assert found.skipped == [(2, "C(", "RDKit cannot parse it")]
    expected = torch.tensor([[1, NAN], [0, 1], [NAN, 0]])
    torch.testing.assert_close(found.labels, expected, equal_nan=True)
    assert found.graphs[0].y.shape == (1, 2)


def test_columns_are_chosen_by_name(tmp_path: Path) -> None:
    path = table(tmp_path, "smiles,id,other,a\nCC,7,CO,1\nCC,8,C,0\n")
    found = load_molecules(path, smiles_column="other", task_columns=["a"])
    assert (found.smiles, found.tasks) == (["CO", "C"], ["a"])
    assert load_molecules(str(path), task_columns="a").tasks == ["a"]
    for columns, message in (
        ({"task_columns": ["z"]}, "no column 'z'; its columns are 'smiles', 'id'"),
        ({"smiles_column": "z"}, "no column 'z'"),
        ({}, "row 1 has '7' in column 'id'; labels must be 0, 1 or empty"),
        ({"task_columns": ["a", "a"]}, "different columns"),
        ({"task_columns": ["smiles"]}, "different columns besides"),
    ):
        with pytest.raises(ValueError, match=message):
            load_molecules(path, **columns)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("smiles\nCC\n", "one or more different columns"),
        ("a,b\n1,0\n", "no column 'smiles' or 'mol' among 'a', 'b'"),
        ("smiles,a\nCC,1\nCC,-1\n", r"row 2 has '-1' in column 'a'; labels must be"),
        ("smiles,a,b\nCC,1,\nCC,0,\n", "column 'b' has no label"),
        ("smiles,a\nCC,1,1\n", "row 1 has 3 fields where the header has 2"),
        ("smiles,a\n", "no row that RDKit reads"),
        ("", "is empty"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_molecules(table(tmp_path, text))


def test_a_task_of_one_class_is_told(tmp_path: Path) -> None:
    path = table(tmp_path, "smiles,a,b,c\nCC,1,1,0\nCO,0,1,0\n")
    with pytest.warns(UserWarning, match="2 tasks have but one class .*: b, c$"):
        assert load_molecules(path).tasks == ["a", "b", "c"]


def test_an_unknown_name() -> None:
    with pytest.raises(ValueError, match="unknown molecule set 'qm9': no such file"):
        load_molecules("qm9")


def test_where_files_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "mol,x,Class\n{},9,1\nC,9,0\n"
    first, second, root = (tmp_path / name for name in ("first", "second", "root"))
    for folder in (first, second, root / "molecules"):
        folder.mkdir(parents=True)
    with pytest.raises(ValueError, match=r"put bace\.csv in a folder and give it"):
        load_molecules("bace", root=root)
    table(root / "molecules", text.format("CCC"), "bace.csv")
    assert load_molecules("bace", root=root).smiles[0] == "CCC"
    table(second, text.format("CC"), "BACE.CSV")
    monkeypatch.setenv("SEGA_ANCHOR_MOLECULES", str(second))
    assert load_molecules("Bace", root=root).smiles[0] == "CC"
    assert load_molecules("bace", root=root, archives=first).smiles[0] == "CCC"
    with pytest.raises(ValueError, match="absent', which does not exist"):
        load_molecules("bace", archives=tmp_path / "absent")


def test_a_download_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def download(name: str, url: str, target: Path, variable: str) -> None:
        asked.append(url)
        target.write_text("smiles,FDA_APPROVED,CT_TOX\nC,1,0\nO,0,1\n")

    monkeypatch.setattr(moleculenet, "download", download)
    for _ in range(2):
        assert load_molecules("clintox", root=tmp_path).smiles == ["C", "O"]
    assert asked == [MOLECULENET["clintox"].url]
    kept = [path.name for path in (tmp_path / "molecules").iterdir()]
    assert kept == ["clintox.csv.gz"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("smiles,t,t\nC,1,0\nO,0,1\n", {"task_columns": ["t"]}, "2 columns 't'"),
        ("a,a,t\nC,O,1\nO,C,0\n", {"smiles_column": "a"}, "2 columns 'a'"),
        ("smiles,SMILES,t\nC,O,1\n", {"task_columns": ["t"]}, "2 columns 'smiles'"),
        (
            'smiles,t,name\nC,0,"x\nCC,1,y\nN,0,"z\nO,1,w\n',  # one row of two quotes
            {"task_columns": ["t"]},
            r"as CSV .* correct line 4",
        ),
        ('smiles,t\nC,0\nO,1\n"CC,1\n', {}, "as CSV .*unexpected end"),
    ],
)
def test_columns_and_quotes_that_could_mean_something_else(
    tmp_path: Path, text: str, options: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        load_molecules(table(tmp_path, text), **options)


def test_line_ends_marks_and_quoted_lines_do_not_matter(tmp_path: Path) -> None:
    for text in (
        "\ufeffsmiles,t\r\nCC,0\r\nO,1\r\n",
        '\ufeff"smiles","t"\n\n"CC",0\n\n"O\n",1',
    ):
        found = load_molecules(table(tmp_path, text))
        assert found.smiles == ["CC", "O"] and found.labels.tolist() == [[0], [1]]
    path = table(tmp_path, 'smiles,name,t\nCC,"two\nlines, ""one"" row",0\nO,,1\n')
    assert load_molecules(path, task_columns=["t"]).smiles == ["CC", "O"]


@pytest.mark.parametrize("break_", ["\n", "\0"])
def test_half_a_string_is_no_molecule(tmp_path: Path, break_: str) -> None:
    path = table(tmp_path, f'smiles,t\n"C{break_}C",1\nCC,0\nO,1\n')
    with pytest.warns(UserWarning, match="1 rows without a graph .* a line break or a"):
        assert load_molecules(path).smiles == ["CC", "O"]
