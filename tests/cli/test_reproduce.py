"""``sega-anchor reproduce``: the paper's tables by one command."""

import json
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from adapters import graphcl
from sega_anchor.cli import main
from sega_anchor.cli._plan import Plan, searched
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.report import Result, load
from tests.helpers.tu import write_tu

SHORT = ["--seeds", "2", "--epochs", "1", "--evaluate-at", "1", "--jobs", "1"]


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SEGA_ANCHOR_ARCHIVES", raising=False)
    monkeypatch.setenv("SEGA_ANCHOR_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)

    def refuse(*args: object, **kwargs: object) -> None:
        raise urllib.error.URLError("no network in tests")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)


@pytest.fixture
def archives(tmp_path: Path) -> str:
    """A toy that calls itself MUTAG."""
    graphs = SyntheticCommunities(num_graphs=36)
    return str(write_tu(tmp_path / "zips", "MUTAG", graphs))


@pytest.fixture
def proteins(archives: str) -> None:
    """Another, large enough for a tenth of its labels."""
    write_tu(Path(archives), "PROTEINS", SyntheticCommunities(num_graphs=330))


@pytest.fixture
def reproduce(capsys):
    def run(*words: str) -> dict[str, Any]:
        assert main(["reproduce", *words, "--json"]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return run


@pytest.mark.parametrize(
    ("table", "rows", "columns"),
    [
        ("table1", 2, 8),
        ("table2", 3, 9),
        ("table3", 3, 7),
        ("table4", 10, 9),
        ("rbbt", 2, 8),
        ("height", 4, 8),
    ],
)
def test_a_dry_run_names_every_cell_and_runs_nothing(
    table: str, rows: int, columns: int, reproduce, tmp_path: Path
) -> None:
    found = reproduce(table, "--dry-run")
    cells = found["cells"]
    assert len(cells) == rows * columns
    assert found["hours"] == pytest.approx(sum(c["hours"] for c in cells), abs=0.1)
    assert all(cell["needs"] != "-" for cell in cells)  # nothing is at hand
    assert not list(tmp_path.iterdir())


def test_a_dry_run_says_what_is_at_hand_and_what_a_search_costs(
    archives: str, reproduce
) -> None:
    words = "table1", "--dry-run", "--only", "MUTAG", "PROTEINS", "SEGA"
    alone, small = (
        reproduce(*words, "--archives", archives, *more)["cells"]
        for more in ([], ["--search", "small", "--finalists", "2"])
    )
    assert [(c["column"], c["needs"]) for c in alone] == [
        ("PROTEINS", "PROTEINS.zip"),
        ("MUTAG", "-"),
    ]
    assert [c["trainings"] for c in alone] == [5, 5]
    assert [c["configurations"] for c in small] == [4, 4]
    assert [c["trainings"] for c in small] == [2 * 5 + 2, 2 * 5 + 2]


def test_a_search_leaves_the_rest_as_published() -> None:
    line = {"method": "graphcl", "anchor": True}
    assert searched(line, "none") == {}
    assert searched({"method": "graphcl"}, "small") == {}  # which has no trees
    whole = searched(line, "paper")
    assert whole == {name: list(values) for name, values in graphcl.SEARCH.items()}
    assert set(whole) - set(searched({"method": "graphcl"}, "paper")) == {"height"}
    (run,) = Plan.of("rbbt", ["SEGA, random tree"]).runs("small", {})
    assert [one.config.height for one in run.alternatives] == [2]  # its own


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["table1", "--only", "SEGAA"],
            "no row or column 'SEGAA'; did you mean 'SEGA'",
        ),
        (["table1", "--only", "MUTAG"], "no data set of the table can be found"),
        (["table2", "--only", "SEGA"], "SEGA is pre-trained first: .* --smiles"),
        (["table1", "--finalists", "0"], "finalists must be at least 1"),
    ],
)
def test_what_cannot_be_run_is_refused(
    words: list[str], message: str, capsys, tmp_path: Path
) -> None:
    assert main(["reproduce", *words]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert not list(tmp_path.glob("results/*.json"))


@pytest.mark.slow
def test_few_labels_and_transfer_have_their_rows(
    archives: str, proteins, reproduce, tmp_path: Path
) -> None:
    few = ["--seeds", "1", "--epochs", "1", "--pretrain-epochs", "2"]
    words = ["--archives", archives, *few, "--protocol", "honest"]
    found = reproduce("table3", "--only", "PROTEINS", *words)["runs"]
    assert [one["run"] for one in found] == ["no pre-training", "GraphCL", "SEGA"]
    assert [one["config"]["pretraining"] for one in found] == [
        "none",
        "graphcl",
        "sega",
    ]

    rings = [f"c1ccccc1{'C' * n}{'FO'[n % 2]}" for n in range(30)]
    frames = [f"C1CC{'C' * (n // 2)}1{'FO'[n % 2]}" for n in range(24)]
    smiles = [*rings, *frames]
    (tmp_path / "all.smi").write_text("\n".join(smiles))
    lines = [
        f"{one},{number},{int(one[-1] == 'F')}" for number, one in enumerate(smiles)
    ]
    header = "smiles,name,p_np"
    (tmp_path / "zips" / "BBBP.csv").write_text("\n".join([header, *lines]))
    words += ["--smiles", "all.smi", "--search", "paper", "--only", "BBBP", "SEGA"]
    found = reproduce("table2", *words)
    (sega,) = found["runs"]
    assert sega["choice"]["chosen"]["lr"] in (0.01, 0.001, 0.0001)
    assert len(sega["choice"]["compared"]) == 3


@pytest.mark.usefixtures("quick_scores")
@pytest.mark.parametrize("protocol", ["paper", "honest"])
def test_the_rule_of_the_protocol_chooses_among_configurations(
    protocol: str, archives: str, reproduce, capsys
) -> None:
    words = ["table1", "--only", "MUTAG", "RED-B", "--search", "small", *SHORT]
    words += ["--protocol", protocol, "--archives", archives]
    found = reproduce(*words)
    assert list(found["missing"]) == ["REDDIT-BINARY"]  # and the rest is run
    plain, sega = found["runs"]
    assert plain["choice"]["compared"] == []
    assert [one["height"] for one in sega["choice"]["alternatives"]] == [2, 3, 4, 5]
    scores = sega["choice"]["compared"]
    taken = sega["choice"]["chosen"]["height"]
    assert taken == 2 + scores.index(max(scores))
    for height, score in zip((2, 3, 4, 5), scores, strict=True):
        config = graphcl.Config(height=height)
        options = {"seeds": 1, "epochs": 1, "evaluate_at": (1,), "jobs": 1}
        options |= {"protocol": protocol, "archives": archives}
        alone = graphcl.run("MUTAG", anchor=True, config=config, **options)
        chosen = alone.by_test() if protocol == "paper" else alone.validation
        assert chosen.mean == score
    loaded = load(sega["record"])
    assert isinstance(loaded, Result)
    assert len(loaded.history) == 2  # which only the winner has
    assert reproduce(*words) == found  # read, not computed again
    assert main(["reproduce", *words]) == 0
    shown = capsys.readouterr().out
    assert f"ours, chosen on {'test' if protocol == 'paper' else 'validation'}" in shown
    assert "90.21 ± 0.66" in shown  # the paper's
    rule = "test" if protocol == "paper" else "validation"
    assert f"Chosen by the mean {rule} score" in shown
