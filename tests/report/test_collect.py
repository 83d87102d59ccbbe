"""Records of a folder, put together by what they are alternatives of."""

import json
from pathlib import Path

import pytest

from sega_anchor.report import Cell, collect
from tests.helpers.hand_made import semisupervised, unsupervised
from tests.helpers.records import rewrite


def cell_of(folder: Path) -> Cell:
    (cell,) = collect(folder).cells
    return cell


def test_a_cell_holds_the_alternatives_of_a_method_on_a_set(tmp_path: Path) -> None:
    one = {0: {"1/G": (0.8, 0.8)}}
    for height in (2, 3):
        unsupervised(tmp_path, "SEGA", "MUTAG", one, height=height)
    unsupervised(tmp_path, "SEGA, random tree", "MUTAG", one, height=2, tree="random")
    unsupervised(tmp_path, "SEGA", "MUTAG", one, height=2, protocol="paper")
    unsupervised(tmp_path, "SEGA", "NCI1", one, height=2)
    unsupervised(tmp_path, "GraphCL", "MUTAG", one)
    semisupervised(tmp_path, "SEGA", "MUTAG", {"test": [0.5], "validation": [-0.1]})
    found = {
        (cell.setting, cell.protocol, cell.dataset, cell.label): len(cell.measured)
        for cell in collect(tmp_path).cells
    }
    assert found == {
        ("unsupervised", "honest", "MUTAG", "GraphCL"): 1,
        ("unsupervised", "honest", "MUTAG", "SEGA"): 2,
        ("unsupervised", "honest", "MUTAG", "SEGA, random tree"): 1,
        ("unsupervised", "honest", "NCI1", "SEGA"): 1,
        ("unsupervised", "paper", "MUTAG", "SEGA"): 1,
        ("semi-supervised", "honest", "MUTAG", "SEGA"): 1,
    }


def test_the_value_of_a_cell_by_test_and_by_validation(tmp_path: Path) -> None:
    """Height 3 is best on test, height 2 on validation, where it takes epoch 20."""
    unsupervised(
        tmp_path,
        "SEGA",
        "MUTAG",
        {
            0: {"10/G": (0.80, 0.70), "20/G": (0.78, 0.90)},
            1: {"10/G": (0.84, 0.70), "20/G": (0.74, 0.90)},
        },
        height=2,
    )
    best = unsupervised(
        tmp_path,
        "SEGA",
        "MUTAG",
        {
            0: {"10/G": (0.90, 0.60), "20/G": (0.70, 0.70)},
            1: {"10/G": (0.86, 0.60), "20/G": (0.70, 0.70)},
        },
        height=3,
    )
    cell = cell_of(tmp_path)
    by_test = cell.chosen("test")
    assert by_test is not None
    assert by_test.accuracy.values == pytest.approx((90.0, 86.0))
    assert by_test.measured.result.record == best
    by_validation = cell.chosen("validation")
    assert by_validation is not None
    assert by_validation.accuracy.values == pytest.approx((78.0, 74.0))
    assert by_validation.measured.config["height"] == 2
    # Two configurations of two epochs and one embedding competed.
    assert by_test.accuracy.candidates == by_validation.accuracy.candidates == 4


def test_configurations_of_fewer_seeds_count_and_do_not_win(tmp_path: Path) -> None:
    two = {"1/G": (0.8, 0.8), "1/GT": (0.7, 0.7)}
    unsupervised(tmp_path, "SEGA", "MUTAG", {0: two, 1: two}, height=2)
    lucky = {"1/G": (0.99, 0.99), "1/GT": (0.9, 0.9)}
    unsupervised(tmp_path, "SEGA", "MUTAG", {0: lucky}, height=3)
    cell = cell_of(tmp_path)
    for choice in ("test", "validation"):
        found = cell.chosen(choice)
        assert found is not None
        assert found.accuracy.mean == pytest.approx(80.0)
        assert found.accuracy.candidates == 4
    assert cell.seeds == 2


def test_seeds_under_way_are_counted_and_not_used(tmp_path: Path) -> None:
    path = unsupervised(
        tmp_path, "SEGA", "MUTAG", {0: {"1/G": (0.8, 0.8)}}, under_way=(1, 2)
    )
    cell = cell_of(tmp_path)
    assert (cell.seeds, cell.under_way) == (1, 2)
    content = json.loads(path.read_text())
    content["seeds"]["0"]["complete"] = False
    rewrite(path, content)
    with pytest.raises(ValueError, match="holds no seed that is complete"):
        collect(tmp_path)


def test_without_validation_data_nothing_is_chosen_on_it(tmp_path: Path) -> None:
    semisupervised(tmp_path, "SEGA", "NCI1", {"test": [0.5, 0.7]}, protocol="paper")
    cell = cell_of(tmp_path)
    assert cell.chosen("validation") is None
    found = cell.chosen("test")
    assert found is not None
    assert found.accuracy.mean == pytest.approx(70.0)


def test_what_is_no_record_is_named_with_the_reason(tmp_path: Path) -> None:
    whole = unsupervised(tmp_path, "SEGA", "MUTAG", {0: {"1/G": (0.8, 0.8)}})
    content = json.loads(whole.read_text())
    files = {
        "foreign.json": '{"a": 1}',
        "half.json": whole.read_text()[:50],
        "list.json": "[1, 2]",
        "edited.json": whole.read_text().replace("0.8", "0.9"),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    del content["config"]["dataset"]
    rewrite(tmp_path / "nameless.json", content)
    found = collect(tmp_path)
    assert len(found.cells) == 1
    reasons = {path.name: reason for path, reason in found.left_out.items()}
    assert list(reasons) == sorted([*files, "nameless.json"])
    assert reasons["foreign.json"].startswith("is no record")
    assert reasons["half.json"].startswith("cannot be read")
    assert reasons["edited.json"].startswith("is damaged")
    assert reasons["nameless.json"].startswith("lacks what a record holds")


def test_a_folder_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no record of a complete seed"):
        collect(tmp_path)
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ValueError, match="is a file: name one with records"):
        collect(file)
    with pytest.raises(ValueError, match="there is no folder"):
        collect(tmp_path / "nowhere")
