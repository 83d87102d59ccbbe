"""The paper's tables with our values: which, how far off, and what they average to."""

import csv
import io
from pathlib import Path

import pytest

from sega_anchor.report import Accuracy, PaperTable, collect, paper_table, published
from sega_anchor.report.formats import entry_text, heading, latex, markdown, paper_rows
from sega_anchor.report.paper_table import is_in_paper, verdict
from tests.helpers.hand_made import unsupervised


def both(folder: Path, label: str, dataset: str, mean: float) -> None:
    """Put seeds at 1 below and above a mean on record."""
    scores = {s: {"1/G": ((mean + x) / 100, 0.5)} for s, x in ((0, -1), (1, 1))}
    unsupervised(folder, label, dataset, scores)


@pytest.fixture
def table(tmp_path: Path) -> PaperTable:
    both(tmp_path, "GraphCL", "MUTAG", 87.0)  # 86.80 ± 1.34 in the paper
    both(tmp_path, "SEGA", "MUTAG", 88.6)  # 90.21 ± 0.66
    both(tmp_path, "SEGA", "NCI1", 70.0)  # 79.00 ± 0.72
    both(tmp_path, "SEGA", "IMDB-MULTI", 50.0)  # in no column
    return paper_table(collect(tmp_path).cells, "table1", "honest")


def test_how_far_a_value_is_from_the_published() -> None:
    def of(mean: float, spread: float) -> str:
        return verdict((80.0, 0.5), Accuracy((mean - spread, mean + spread), 1))

    assert of(80.5, 0.1) == of(79.5, 0.0) == "within"
    assert of(80.6, 0.1) == of(79.4, 0.1) == "overlapping"
    assert (of(80.7, 0.1), of(79.3, 0.1)) == ("above", "below")


def test_rows_are_the_methods_of_the_paper_that_are_ours(table: PaperTable) -> None:
    graphcl, sega = table.rows
    assert (graphcl.name, sega.name) == ("GraphCL", "SEGA")
    entries = sega.entries
    assert list(entries) == list(published("table1").datasets)
    assert entry_text(entries["MUTAG"], "published") == "90.21 ± 0.66"
    assert entry_text(entries["MUTAG"], "test") == "88.60 ± 1.00 ≈"
    assert entry_text(entries["NCI1"], "validation") == "70.00 ± 1.00 <"
    assert entry_text(entries["DD"], "test") == "-"
    assert entry_text(graphcl.entries["MUTAG"], "test") == "87.00 ± 1.00 ="
    counts = table.count("test")
    assert counts == {"within": 1, "overlapping": 1, "above": 0, "below": 1}


def test_averages_are_over_equal_columns_and_say_over_how_many(
    table: PaperTable, tmp_path: Path
) -> None:
    graphcl, sega = table.rows
    assert str(sega.averages["test"]) == "79.30 (2 of 8)"  # (88.6 + 70.0) / 2
    published_mean = sega.averages["published"]  # not the 77.25 of all eight
    assert published_mean == pytest.approx(((79.00 + 90.21) / 2, 2, 8))
    assert str(graphcl.averages["published"]) == "86.80 (1 of 8)"
    for dataset in published("table1").datasets.values():
        both(tmp_path / "whole", "SEGA", dataset, 75.0)
    whole = paper_table(collect(tmp_path / "whole").cells, "table1", "honest")
    assert str(whole.rows[1].averages["published"]) == "77.25"  # as printed
    assert str(whole.rows[1].averages["test"]) == "75.00"
    assert str(whole.rows[0].averages["published"]) == "75.71"  # none of ours


def test_ranks_are_among_the_methods_on_record(tmp_path: Path) -> None:
    for label, mean in (("JOAO", 88.0), ("SEGA-JOAO", 86.0), ("RGCL", 86.0)):
        both(tmp_path, label, "MUTAG", mean)
    both(tmp_path, "JOAO", "NCI1", 78.0)
    rows = paper_table(collect(tmp_path).cells, "table4", "honest").rows
    ranks = {row.name: row.ranks for row in rows if row.ranks}
    ours = {name: str(of["test"]) for name, of in ranks.items()}
    tie = "2.50 (1 of 9)"
    assert ours == {"JOAO": "1.00 (1 of 9)", "SEGA-JOAO": tie, "RGCL": tie}
    paper = {name: of["published"].value for name, of in ranks.items()}
    assert paper == {"JOAO": 3.0, "SEGA-JOAO": 1.0, "RGCL": 2.0}  # 87.35 87.70 87.66


def test_other_protocols_and_sets_have_no_place(
    table: PaperTable, tmp_path: Path
) -> None:
    cells = collect(tmp_path).cells
    assert not paper_table(cells, "table1", "paper").is_measured
    assert not paper_table(cells, "table4", "honest").is_measured
    outside = [cell.dataset for cell in cells if not is_in_paper(cell)]
    assert outside == ["IMDB-MULTI"]


def test_markdown_and_latex_have_the_lines_of_each_method(table: PaperTable) -> None:
    header, rows = paper_rows(table)
    lines = {(row[0], row[1]): row for row in rows}
    assert len(rows) == 10
    assert lines["GraphCL", "paper"][header.index("MUTAG")] == "86.80 ± 1.34"
    titles = [row[1] for row in rows[:5]]
    assert titles[1:3] == ["ours, chosen on test", "ours, chosen on validation"]
    assert titles[3:] == ["candidates", "seeds"]
    seeds = rows[9]
    assert seeds[header.index("NCI1")] == "2"
    text = markdown(heading(table), header, rows)
    assert "Protocol honest" in text
    assert "| SEGA    | paper " in text
    tex = latex("50 % & more", header, rows)
    assert r"\toprule" in tex and r"\bottomrule" in tex
    assert r"50 \% \& more" in tex
    assert r"88.60 $\pm$ 1.00 $\approx$" in tex
    body = tex[tex.index(r"\midrule") : tex.index(r"\bottomrule")].splitlines()[1:]
    assert {line.count("&") for line in body} == {len(header) - 1}


def test_csv_holds_numbers(table: PaperTable) -> None:
    text = table.to_frame().to_csv(index=False)
    rows = {(r["method"], r["dataset"]): r for r in csv.DictReader(io.StringIO(text))}
    mutag = rows["SEGA", "MUTAG"]
    assert float(mutag["by_test"]) == pytest.approx(88.6)
    assert float(mutag["by_test_std"]) == pytest.approx(1.0)
    assert (mutag["published"], mutag["by_test_compares"]) == ("90.21", "overlapping")
    assert (mutag["seeds"], mutag["candidates"], mutag["under_way"]) == ("2", "1", "0")
    assert mutag["by_test_record"].startswith("SEGA-MUTAG-")
    average = rows["SEGA", "A.A."]
    assert float(average["by_test"]) == pytest.approx(79.3)
    assert average["columns"] == "2"
