"""``sega-anchor report``."""

import json
from pathlib import Path

import pytest

from sega_anchor.cli import main
from tests.helpers.hand_made import unsupervised


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    unsupervised(folder, "SEGA", "MUTAG", {0: {"1/G": (0.9, 0.8)}}, height=2)
    unsupervised(folder, "SEGA", "mine", {0: {"1/G": (0.7, 0.6)}}, height=2)
    (folder / "other.json").write_text("{}")
    return folder


def test_report_prints_the_tables_and_where_the_page_is(results: Path, capsys) -> None:
    assert main(["report", str(results)]) == 0
    out = capsys.readouterr().out
    assert "Table 1. Unsupervised" in out
    assert "| 90.00 = " in out
    assert "| mine     | SEGA   |" in out
    assert "left out: other.json is no record" in out
    page = results / "report" / "index.html"
    assert out.splitlines()[-1] == f"Page: {page}"
    assert page.is_file()


def test_report_as_json_elsewhere(results: Path, tmp_path: Path, capsys) -> None:
    words = ["--output", str(tmp_path / "there"), "--tables", "table1", "table4"]
    assert main(["report", str(results), *words, "--protocol", "paper", "--json"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert [one["name"] for one in found["tables"]] == ["table1", "table4"]
    assert found["cells"] == []  # all are of the other protocol
    assert main(["report", str(results), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (table,) = found["tables"]
    (sega,) = (row for row in table["rows"] if row["label"] == "SEGA")
    assert sega["by_test_compares"]["MUTAG"] == "within"
    mutag = next(cell for cell in found["cells"] if cell["dataset"] == "MUTAG")
    assert mutag["by_validation"]["mean"] == pytest.approx(90.0)
    assert mutag["by_validation"]["record"].endswith(".json")
    assert list(found["left_out"]) == ["other.json"]


@pytest.mark.parametrize(
    "name, reason",
    [
        ("nowhere", "there is no folder"),
        ("file", "is a file: name one with records"),
        ("empty", "holds no record of a complete seed"),
    ],
)
def test_a_folder_that_cannot_be_reported_is_refused(
    tmp_path: Path, capsys, name: str, reason: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    assert main(["report", str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert reason in error
    assert error.count("\n") == 1
    assert not (tmp_path / name / "report").exists()
