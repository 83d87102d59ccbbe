"""Edge lists: fast and exact reading agree, and every fault names its line."""

import gzip
import io
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sega_anchor.trees.edge_list import read_edge_list

Rows = list[tuple[str, str, str]]


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("lists") / "graph.txt"


def read(file: Path, content: bytes | str) -> tuple[list, list | None, list[str]]:
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    edge_index, weight, names = read_edge_list(file)
    assert edge_index.dtype == torch.long
    assert weight is None or weight.dtype == torch.double
    return edge_index.tolist(), None if weight is None else weight.tolist(), names


def is_integer(name: str) -> bool:
    return name.removeprefix("-").isdecimal() and str(int(name)) == name


integers = st.integers(-20, 20) | st.integers(-(10**20), 10**20)
NAMES = {
    "small integers": st.integers(-20, 20).map(str),
    "any integers": integers.map(str),
    "written oddly": st.sampled_from(["7", "07", "+7", "-0", "0", "1.0", "1", "1e3"]),
    "words": st.text("ab7é-.", min_size=1, max_size=3),
}
WEIGHTS = st.floats(0, 1e300).map(repr) | st.sampled_from(["1", "+2.5", "007", "1e-05"])


@pytest.mark.parametrize("kind", NAMES)
@given(data=st.data())
def test_any_layout_gives_names_and_weights_back(kind: str, data, file: Path) -> None:
    row = st.tuples(NAMES[kind], NAMES[kind], WEIGHTS)
    rows = data.draw(st.lists(row, min_size=1, max_size=8))
    weighted = data.draw(st.booleans())
    comma = st.sampled_from([" ", "\t", ",", ", ", "  "])
    noise = st.sampled_from(
        ["\n", "\r\n", "\n\n", " \n", "\n# a\n", "\n% 1 2\n", " #b\n"]
    )
    text = data.draw(st.sampled_from(["", "\ufeff", "# c\n", "\n"]))
    for words in rows:
        text += data.draw(comma).join(words[: 3 if weighted else 2]) + data.draw(noise)
    edges, weight, names = read(file, text)
    assert [(names[u], names[v]) for u, v in zip(*edges, strict=True)] == [
        (u, v) for u, v, _ in rows
    ]
    assert weight == ([float(w) for _, _, w in rows] if weighted else None)
    seen = list(dict.fromkeys(name for u, v, _ in rows for name in (u, v)))
    if all(map(is_integer, seen)):  # as words may be, too
        seen.sort(key=int)
    if kind != "written oddly":
        assert names == seen


def test_integers_written_with_zeros_are_names_of_their_own(file: Path) -> None:
    assert read(file, "7 007\n10 7\n")[2] == ["7", "007", "10"]
    assert read(file, "7 10\n10 007\n")[2] == ["7", "007", "10"]


def test_a_hash_inside_a_word_is_no_comment(file: Path) -> None:
    assert read(file, "c# f#\n1#2 c# # 1 2\n")[2] == ["c#", "f#", "1#2"]
    assert read(file, "1 2#3\n")[2] == ["1", "2#3"]


def test_gzip_is_known_by_its_content(file: Path) -> None:
    plain = "2 1 0.5\n3 2 1.5\n"
    assert read(file, gzip.compress(plain.encode())) == read(file, plain)


def test_a_dash_is_standard_input(monkeypatch) -> None:
    content = gzip.compress(b"1 2\n")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    assert read_edge_list("-")[2] == ["1", "2"]
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO()))
    with pytest.raises(ValueError, match="standard input holds no edges"):
        read_edge_list("-")


@pytest.mark.parametrize(
    "header",
    [
        "source,target,weight",
        "Source, Target, Weight",
        '"source","target","weight"',
        "src\tdst\tweight",
        "from,to,capacity",
        "person,friend,weight",
        "u\tv\tvalue",
    ],
)
@pytest.mark.parametrize("before", ["", "\ufeff", "# made by hand\n\n"])
def test_the_header_of_a_csv_file_is_no_edge(header, before, file: Path) -> None:
    rows = "1,2,0.5\n2,3,4\n" if "," in header else "1\t2\t0.5\n2\t3\t4\n"
    expected = read(file, rows)
    assert read(file, f"{before}{header}\n{rows}") == expected
    assert read(file, gzip.compress(f"{header}\r\n{rows}".encode())) == expected


def test_two_columns_may_have_a_header(file: Path) -> None:
    expected = [[0, 1], [1, 2]], None, ["7", "8", "9"]
    assert read(file, "source,target\n7,8\n8,9\n") == expected
    assert read(file, "node_1\tnode_2\n7\t8\n8\t9\n") == expected


def test_vertices_with_words_for_names_are_no_header(file: Path) -> None:
    assert read(file, "u,v\nv,w\n")[2] == ["u", "v", "w"]
    assert read(file, "a,b,1\nb,c,2\n")[2] == ["a", "b", "c"]
    assert read(file, "source target\ntarget sink\n")[2] == ["source", "target", "sink"]


def test_lines_below_a_header_keep_their_numbers(file: Path) -> None:
    file.write_text("source,target\n1,2\n3\n")
    with pytest.raises(ValueError, match="line 3: expected"):
        read_edge_list(file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 2\n\n# x\n3\n", "line 4: expected 'u v' or 'u v weight', got '3'"),
        (b"1 2\r\n3\r\n", "line 2: expected"),
        (b"1\n2\n", "line 1: expected"),
        (b"1 2\n2 3 1\n", "line 2: either all edges have a weight or none"),
        (b"1 2 1\n2 3\n", "line 2: either all edges have a weight or none"),
        (b"1 2 1\n2 3 -1\n", "line 2: the weight must be .* not negative, got -1"),
        (b"1 2 nan\n", "line 1: the weight must be finite .*, got nan"),
        (b"1 2 1\na b inf\n", "line 2: the weight must be finite .*, got inf"),
        (b"1 2 heavy\n", "line 1: the weight 'heavy' is not a number"),
        (b"1,2\n1,,2\n", "line 2: a field is empty"),
        (b"a,b,1\r\n\r\nb,c,\r\n", "line 3: a field is empty"),
        (b"# x,,\n1,2\n ,1,2\n", "line 3: a field is empty"),
        (b"source,target\n1, ,2\n", "line 2: a field is empty"),
        (b",", "line 1: a field is empty"),
        (b"1 2 \x1b[2J\n", r"the weight '\\x1b\[2J' is not a number"),
        (b"", "graph.txt holds no edges"),
        (b"# 1 2\n% 1 2\n\n", "graph.txt holds no edges"),
        (b"\x89PNG\r\n\x1a\n\x00 1", "graph.txt is not text in UTF-8"),
        (b"\x1f\x8bnonsense", "cannot read the edge list '.*graph.txt'"),
        (gzip.compress(b"1 2\n" * 99, mtime=0)[:-12], "cannot read .*ended before"),
        (b"%%MatrixMarket matrix\n3 3 1\n1 2 1\n", "read it with scipy.io.mmread"),
    ],
)
def test_what_cannot_be_read_is_refused(
    content: bytes, message: str, file: Path
) -> None:
    file.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_edge_list(file)


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ValueError, match=f"cannot read the edge list '{path}'"):
            read_edge_list(path)


def test_commas_in_comments_leave_no_field_empty(file: Path) -> None:
    assert read(file, "# a,,b\n1,2 # ,,\n2, 3\n3 ,4 #,\n")[2] == ["1", "2", "3", "4"]


def test_the_name_of_a_file_is_shown_without_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2Jb.txt"
    path.write_text("1\n")
    with pytest.raises(ValueError, match="line 1") as caught:
        read_edge_list(path)
    with pytest.raises(ValueError, match="cannot read") as missing:
        read_edge_list(tmp_path / "\x1b[2J")
    for error in (caught, missing):
        assert "\x1b" not in str(error.value)
        assert r"\x1b[2J" in str(error.value)
