import json
import subprocess
import sys
from pathlib import Path

import pytest

from sega_anchor.cli import main
from sega_anchor.edgelist import read_edge_list

TRIANGLES = "# two triangles\n0 1\n1 2\n2 0\n\n3,4\n4 5\n5 3\n2 3\n"


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.txt"
    path.write_text(TRIANGLES)
    return path


def test_tree_prints_entropy_and_outline(graph: Path, capsys) -> None:
    assert main(["tree", str(graph), "--height", "2", "--method", "paper"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "6 vertices, 7 edges, height 2, method paper"
    assert out[1] == "structural entropy: 1.699514 bits"
    assert out[-3:] == ["+", "  0 1 2", "  3 4 5"]


def test_tree_draws_a_picture(graph: Path, tmp_path: Path, capsys) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "tree.png"
    assert main(["tree", str(graph), "--plot", str(picture)]) == 0
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert picture.stat().st_size > 10_000


def test_a_reader_that_stops_early_is_no_error(graph: Path) -> None:
    command = f"{sys.executable} -m sega_anchor tree {graph} | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_run_prints_the_table_and_keeps_a_record(tmp_path: Path, capsys) -> None:
    words = "run graphcl synthetic --anchor --seeds 1 --epochs 1 --evaluate_at [1]"
    assert main([*words.split(), "--results", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "| SEGA   | synthetic |" in out
    (record,) = tmp_path.glob("*.json")
    assert str(record) in out
    content = json.loads(record.read_text())
    assert len(content["seeds"]["0"]["evaluations"]["1/GT"]["test"]) == 10


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "graphcl", "NO-SET"], "unknown data set 'NO-SET'"),
        (["run", "graphcl", "synthetic", "--batch_size", "1"], "batch_size must be"),
        (["run", "nothing", "MUTAG"], "invalid choice: 'nothing'"),
        (["tree", "no-such-file"], "cannot read the edge list 'no-such-file'"),
        (["tree", "GRAPH", "--height", "1"], "height must be"),
        (["tree", "GRAPH", "--height", "two"], "Got value: two"),
    ],
)
def test_bad_words_get_a_message_and_status_2(
    words: list[str], message: str, graph: Path, capsys
) -> None:
    words = [str(graph) if word == "GRAPH" else word for word in words]
    try:
        status = main(words)
    except SystemExit as stop:  # what the parser itself refuses
        status = int(stop.code or 0)
    assert status == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 2 3\n", "line 1: expected 'u v' or 'u v weight'"),
        ("0 1\n0\n", "line 2: expected"),
        ("0 1 x\n", "the weight 'x' is not a number"),
        ("0 1 2.0\n1 2\n", "line 2: either all edges have a weight or none"),
        ("# nothing\n", "holds no edges"),
    ],
)
def test_broken_edge_lists_name_the_line(
    text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "graph.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_edge_list(path)


def test_integer_names_are_sorted_by_value(tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    path.write_text("10 9\n9 2\n")
    edge_index, weight, names = read_edge_list(path)
    assert names == ["2", "9", "10"]
    assert edge_index.tolist() == [[2, 1], [1, 0]]
    assert weight is None


def test_the_module_is_the_command(graph: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sega_anchor", "tree", str(graph)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    assert "structural entropy" in done.stdout
    assert done.stderr == ""
