"""Several processes act as one with the whole batch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch

from tests.helpers import fixed_views
from tests.helpers.paths import ROOT

NAMES = [name for name, _ in fixed_views.models()]


def torchrun(ranks: int, *words: str | Path) -> str:
    """Run with some processes; return what they print."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(ranks), *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Tensor]]:
    path = tmp_path_factory.mktemp("shared") / "found.pt"
    torchrun(2, fixed_views.__file__, path)
    found: dict[str, dict[str, Tensor]] = torch.load(path, weights_only=True)
    return found


@pytest.fixture(scope="module")
def alone() -> dict[str, dict[str, Tensor]]:
    batch = Batch.from_data_list(fixed_views.graphs())
    with fixed_views.without_chance():
        return {
            name: fixed_views.measured(model, batch.clone())
            for name, model in fixed_views.models()
        }


@pytest.mark.parametrize("name", NAMES)
def test_two_processes_find_what_one_finds(name: str, shared, alone) -> None:
    assert shared[name].keys() == alone[name].keys()
    for key, expected in alone[name].items():
        got = shared[name][key]
        torch.testing.assert_close(got, expected, rtol=1e-6, atol=1e-6)


def test_the_example_trains_on_two_processes() -> None:
    out = torchrun(2, ROOT / "examples" / "several_processes.py")
    losses = [float(line.rsplit(" ")[-1]) for line in out.splitlines()]
    assert out.count("2 ranks") == len(losses) == 5
    assert losses[-1] < losses[0]


def test_a_run_is_shared_and_written_once(tmp_path: Path) -> None:
    words = "-m sega_anchor run joao synthetic --anchor --version 2 --seeds 1".split()
    words += ["--epochs", "2", "--results", str(tmp_path / "results")]
    first, again = torchrun(2, *words), torchrun(2, *words)
    assert first.count("SEGA-JOAOv2") == 2  # a row of the table and the record's name
    assert again == first  # found, not computed again
    (record,) = (tmp_path / "results").glob("*.json")
    content = json.loads(record.read_text())
    assert content["config"]["ranks"] == 2
    assert len(content["seeds"]["0"]["history"]) == 2
    assert content["seeds"]["0"]["complete"]


def test_batches_too_small_for_the_ranks_are_refused() -> None:
    words = "-m sega_anchor run graphcl synthetic --batch_size 3".split()
    with pytest.raises(AssertionError, match="batch_size is 3 for 2 ranks"):
        torchrun(2, *words, "--seeds", "1", "--results", "null")
