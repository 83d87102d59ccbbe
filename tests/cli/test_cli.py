import gzip
import inspect
import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from sega_anchor import CodingTree, build_coding_tree, structural_entropy
from sega_anchor.cli import _tree as _tree_command
from sega_anchor.cli import main
from sega_anchor.trees.edge_list import read_edge_list
from tests.helpers.paths import ROOT

TRIANGLES = "# two triangles\n0 1\n1 2\n2 0\n\n3,4\n4 5\n5 3\n2 3\n"


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.txt"
    path.write_text(TRIANGLES)
    return path


def test_tree_prints_entropy_and_outline(graph: Path, capsys) -> None:
    assert main(["tree", str(graph), "--height", "2", "--tree", "paper"]) == 0
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


def piped(command: str) -> subprocess.CompletedProcess[str]:
    """Run a pipe of commands, which fails if one of them does."""
    words = ["bash", "-c", f"set -o pipefail; {command}"]
    return subprocess.run(words, capture_output=True, text=True, cwd=ROOT)


@pytest.mark.slow
def test_the_module_is_the_command_and_its_reader_may_stop_early(graph: Path) -> None:
    command = f"{sys.executable} -m sega_anchor tree {graph} | head -n 1"
    done = piped(command)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("6 vertices, 7 edges")


@pytest.mark.slow
def test_tree_imports_no_more_than_it_needs(graph: Path, tmp_path: Path) -> None:
    """No adapter, no learning library, and not pyplot, which would open windows."""
    program = (
        "import sys; from sega_anchor.cli import main; main(sys.argv[1:]); "
        "names = 'sklearn', 'adapters', 'matplotlib.pyplot'; "
        "print([name for name in names if name in sys.modules])"
    )
    words = ["tree", str(graph), "--plot", str(tmp_path / "tree.png")]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert "structural entropy" in done.stdout
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "[]"
    assert (tmp_path / "tree.png").exists()


def test_run_prints_the_table_and_keeps_a_record(
    tmp_path: Path, capsys, quick_scores
) -> None:
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


def test_tree_says_what_the_groups_save_and_how_large_they_are(
    graph: Path, capsys
) -> None:
    assert main(["tree", str(graph), "--height", "2", "--tree", "paper"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[2] == "without groups: 2.556657 bits; the tree saves 33.5%"
    assert out[-8:-4] == [
        "| ----- | ------ | ---------------- |",
        "| 2     | 1      | 6                |",
        "| 1     | 2      | 3                |",
        "| 0     | 6      | 1                |",
    ]


def test_tree_takes_the_default_of_build_coding_tree(graph: Path, capsys) -> None:
    assert main(["tree", str(graph)]) == 0
    default = inspect.signature(build_coding_tree).parameters
    height, method = default["height"].default, default["method"].default
    assert f"edges, height {height}, method {method}\n" in capsys.readouterr().out


def test_tree_reads_standard_input(monkeypatch, capsys) -> None:
    content = gzip.compress(TRIANGLES.encode())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    assert main(["tree", "-"]) == 0
    assert capsys.readouterr().out.startswith("6 vertices, 7 edges, ")


def test_edges_are_counted_once_however_often_they_are_listed(
    tmp_path: Path, capsys
) -> None:
    path = tmp_path / "graph.txt"
    path.write_text("a b\nb a\na b\na a\n")
    assert main(["tree", str(path)]) == 0
    assert capsys.readouterr().out.startswith("2 vertices, 1 edges, ")


def test_tree_writes_the_groups_of_each_vertex(graph: Path, tmp_path: Path) -> None:
    output = tmp_path / "groups.tsv"
    words = ["tree", str(graph), "--tree", "paper", "--output", str(output)]
    assert main([*words, "--height", "2"]) == 0
    lines = [line.split("\t") for line in output.read_text().splitlines()]
    assert lines[0] == ["vertex", "level_1"]
    group = {name: int(number) for name, number in lines[1:]}
    assert group == {"0": 0, "1": 0, "2": 0, "3": 1, "4": 1, "5": 1}
    assert main([*words, "--height", "4"]) == 0
    assert output.read_text().splitlines()[0] == "vertex\tlevel_1\tlevel_2\tlevel_3"
    assert set(tmp_path.iterdir()) == {graph, output}


def test_a_written_tree_can_be_read_again(graph: Path, tmp_path: Path) -> None:
    output = tmp_path / "tree.json"
    assert main(["tree", str(graph), "--height", "4", "--output", str(output)]) == 0
    content = json.loads(output.read_text())
    parent, level = torch.tensor(content["parent"]), torch.tensor(content["level"])
    tree = CodingTree(parent, level)
    edge_index, _, names = read_edge_list(graph)
    assert content["names"] == names
    assert tree.height == content["height"] == 4
    assert structural_entropy(tree, edge_index) == pytest.approx(content["entropy"])


def test_groups_of_a_large_graph_are_not_printed(tmp_path: Path, capsys) -> None:
    path = tmp_path / "path.txt"
    path.write_text("".join(f"{i} {i + 1}\n" for i in range(150)))
    assert main(["tree", str(path)]) == 0
    assert "--output FILE.tsv writes" in capsys.readouterr().out.splitlines()[-1]
    output = tmp_path / "groups.tsv"
    assert main(["tree", str(path), "--output", str(output)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"tree: {output}"
    assert len(output.read_text().splitlines()) == 152


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--output", "tree.csv"], "written as .json or .tsv, got 'tree.csv'"),
        (["--output", "no-folder/tree.tsv"], "there is no folder 'no-folder'"),
        (["--output", "."], "written as .json or .tsv, got '.'"),
        (["--plot", "tree.jpg"], "got 'tree.jpg'"),
        (["--height", "1"], "height must be"),
    ],
)
def test_wrong_words_are_refused_before_the_graph_is_read(
    words: list[str], message: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["tree", "missing.txt", *words]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_graph_itself_is_not_written_over(tmp_path: Path, capsys) -> None:
    path = tmp_path / "graph.tsv"
    path.write_text(TRIANGLES)
    (tmp_path / "link.tsv").symlink_to(path)
    for output in (path, tmp_path / "link.tsv"):
        assert main(["tree", str(path), "--output", str(output)]) == 2
        assert "is the graph itself" in capsys.readouterr().err
    assert path.read_text() == TRIANGLES


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--help"], ["run ", "compare ", "tree ", "Train a method", "coding tree of"]),
        (["run", "--help"], ["adgcl ", "autogcl ", "graphcl ", "joao ", "rgcl "]),
        (["run", "joao", "--help"], ["--gamma", "--anchor", "--seeds", "dataset"]),
        (["compare", "--help"], ["--methods", "--height", "--seeds", "datasets"]),
        (["tree", "--help"], ["--tree", "--height", "--output", "--plot", "file"]),
    ],
)
def test_help_is_complete(words: list[str], found: list[str], capsys) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(words)
    out = capsys.readouterr().out
    assert [word for word in found if word not in out] == []


def test_ctrl_c_is_status_130(graph: Path, monkeypatch, capsys) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_tree_command, "read_edge_list", interrupted)
    assert main(["tree", str(graph)]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_a_picture_without_names_says_so(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    graph.write_text("".join(f"name{i} name{i + 1}\n" for i in range(150)))
    words = ["tree", str(graph), "--tree", "paper", "--plot", str(tmp_path / "a.png")]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert "a.png; the names of 151 vertices find no room" in printed.out
    assert "Warning" not in printed.err


@pytest.mark.slow
def test_files_are_written_though_the_reader_stops_early(
    graph: Path, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    # More lines than a pipe holds, so that printing them fails.
    graph.write_text("".join(f"{'x' * 3000}{i} {i + 1}\n" for i in range(90)))
    files = f"--output {tmp_path}/tree.tsv --plot {tmp_path}/tree.png"
    command = f"{sys.executable} -m sega_anchor tree {graph} {files} | head -n 1"
    done = piped(command)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "tree.tsv").exists()
    assert (tmp_path / "tree.png").exists()


def test_tree_shows_no_control_characters(tmp_path: Path, capsys) -> None:
    path = tmp_path / "a\x1b[2J.txt"
    path.write_bytes(b"\x1b]0;x\x07 2\n2 \xc2\x9b3\n")
    output = tmp_path / "b\x1b[2J.tsv"
    assert main(["tree", str(path), "--output", str(output)]) == 0
    path.write_bytes(b"1\n")
    assert main(["tree", str(path)]) == 2
    shown = capsys.readouterr()
    text = (shown.out + shown.err).replace("\n", "")
    assert text.isprintable()
    assert r"\x1b]0;x\x07" in text and r"b\x1b[2J.tsv" in text
