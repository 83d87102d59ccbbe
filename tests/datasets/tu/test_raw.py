import zipfile
from pathlib import Path

import pytest
import torch
from torch_geometric.io import read_tu_data

from sega_anchor.datasets.tu import _raw
from sega_anchor.datasets.tu._raw import process_raw, read_raw
from tests.helpers.paths import real_data

TOY = {
    "A": "1, 2\n2, 1\n1, 3\n3, 1\n1, 2\n4, 5\n5, 4\n5, 5\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "-1\n1\n",
    "node_labels": "5, 0\n5, 1\n6, 1\n6, 0\n5, 2\n",
    "node_attributes": "0.5\n-1e-2\n2\n.25\n7\n",
    "edge_labels": "1\n1\n0\n0\n1\n1\n1\n1\n",
    "edge_attributes": "1, .5\n" * 8,
}


def write(folder: Path, files: dict[str, str]) -> None:
    for kind, text in files.items():
        (folder / f"TOY_{kind}.txt").write_bytes(text.encode())


def assert_equal_to_pyg(raw: Path, name: str) -> None:
    data, slices, sizes = read_tu_data(str(raw), name)
    ours, our_slices, our_sizes = read_raw(raw, name)
    assert sizes == our_sizes
    for theirs, mine in ((slices, our_slices), (data.to_dict(), ours.to_dict())):
        assert theirs.keys() == mine.keys()
        for key, value in theirs.items():
            same = torch.equal if torch.is_tensor(value) else type(value).__eq__
            assert same(value, mine[key])


@pytest.mark.parametrize("without", ["", "node", "edge", "labels", "attributes"])
def test_the_bits_of_pygs_reader(tmp_path: Path, without: str) -> None:
    files = {
        kind: text
        for kind, text in TOY.items()
        if not without or without not in kind or kind == "graph_labels"
    }
    write(tmp_path, files)
    assert_equal_to_pyg(tmp_path, "TOY")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MUTAG", "PROTEINS", "IMDB-MULTI"])
def test_the_bits_of_pygs_reader_on_real_sets(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(real_data("tu", f"{name}.zip")) as file:
        file.extractall(tmp_path)
    assert_equal_to_pyg(tmp_path / name, name)


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_parts_and_line_ends_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    write(tmp_path, TOY)
    whole, whole_slices, _ = read_raw(tmp_path, "TOY")
    line = "\r\n" if "\r" in end else "\n"
    write(tmp_path, {k: v.strip().replace("\n", line) + end for k, v in TOY.items()})
    monkeypatch.setattr(_raw, "_CHUNK", 5)
    parts, slices, _ = read_raw(tmp_path, "TOY")
    for key, value in whole.to_dict().items():
        assert torch.equal(value, parts[key])
    for key, value in whole_slices.items():
        assert torch.equal(value, slices[key])


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("A", "1, 2\n2, x\n", r"TOY_A\.txt' is not a table of 2 columns of int64"),
        ("A", "1, 2\n2\n", "is not a table of 2 columns"),
        ("A", "1, 2\n3\n4, 5, 6\n", r"2 columns of int64 numbers: line 2 is '3'"),
        ("A", "1, 2\n\n2, 1, 3\n", "line 3 is '2, 1, 3'"),
        ("A", "\n \nx, 2\n2, 1\n", "line 3 is 'x, 2'"),
        ("A", "1, 2\n2 1, 3\n4,\n", "line 2 is '2 1, 3'"),
        ("A", f"1, 2\n{2**64 + 2}, 1\n", "line 2 is '18446744073709551618, 1'"),
        ("A", f"1, 2\n{-(2**63)}, 1\n", r"names nodes outside 1\.\.5"),
        ("graph_indicator", f"1\n{2**63 - 1}\n-8\n1\n2\n", "must be non-decreasing"),
        ("graph_labels", f"1\n{2**63}\n", "line 2 is '9223372036854775808'"),
        ("node_labels", f"1\n2\n3\n4\n{10**19}\n", "line 5 is '10000000000000000000'"),
        ("node_labels", f"1\n2\n{-(2**62)}\n4\n{2**62}\n", "labels from -46116"),
        ("node_attributes", ".1\n.2\n.3\nx\n.5\n", "line 4 is 'x'"),
        ("A", "1\n2\n", "must have two columns"),
        ("A", "1, 9\n", r"names nodes outside 1\.\.5"),
        ("A", "0, 1\n", r"names nodes outside 1\.\.5"),
        ("A", "1, 4\n4, 1\n", "joins nodes of different graphs"),
        ("graph_indicator", "1\n1\n2\n1\n2\n", "must be non-decreasing"),
        ("graph_indicator", "1\n1\n1\n1\n1\n", "from 1 to 2"),
        ("graph_indicator", "", "one whole number a line"),
        ("graph_labels", "1, 2\n1, 1\n2, 2\n", "one whole number a line"),
        ("graph_labels", "0.5\n1\n", "is not a table"),
        ("node_labels", "1\n", r"TOY_node_labels\.txt has 1 rows for 5 nodes"),
        ("edge_attributes", "1\n", r"TOY_edge_attributes\.txt has 1 rows for 8 edges"),
    ],
)
def test_malformed_files(tmp_path: Path, kind: str, text: str, message: str) -> None:
    write(tmp_path, TOY | {kind: text})
    with pytest.raises(ValueError, match=message):
        process_raw(tmp_path, "TOY", tmp_path / "data.pt")
    assert not (tmp_path / "data.pt").exists()


def test_the_line_is_that_of_the_file_in_later_parts_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_raw, "_CHUNK", 10)
    lines = ["1, 2", "2, 1", "", "1, 3", "3, 1"]
    for bad in ("4", "4, 5, 6", "1, x"):
        for place in range(1, len(lines) + 1):
            text = "\n".join([*lines[:place], bad, *lines[place:]])
            write(tmp_path, TOY | {"A": text})
            with pytest.raises(ValueError, match=f"line {place + 1} is '{bad}'"):
                read_raw(tmp_path, "TOY")
