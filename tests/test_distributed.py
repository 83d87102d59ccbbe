"""Several processes act as one with the whole batch."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch

from tests.helpers import fixed_views, norms, several_ranks
from tests.helpers.paths import ROOT

pytestmark = pytest.mark.slow
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
TORCHRUN += ["--nproc-per-node", "2"]
NAMES = [name for name, _ in fixed_views.models()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes, started once for all tests, have left."""
    path = tmp_path_factory.mktemp("shared")
    done = subprocess.run(
        [*TORCHRUN, several_ranks.__file__],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def shared(folder: Path) -> dict[str, dict[str, Tensor]]:
    found: dict[str, dict[str, Tensor]] = torch.load(folder / "found.pt")
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


@pytest.mark.parametrize("name", norms.CASES)
def test_two_processes_normalise_as_one(name: str, folder: Path) -> None:
    got = torch.load(folder / "norms.pt")[name]
    torch.testing.assert_close(got, norms.measured(norms.CASES[name]))


def said(folder: Path, command: str) -> dict[str, str]:
    answer: dict[str, str] = json.loads((folder / f"{command}.json").read_text())
    return answer


def test_a_run_is_shared_and_written_once(folder: Path) -> None:
    first, again = said(folder, "run"), said(folder, "run again")
    # A row in both halves of the folded table, and the record's name.
    assert first["out"].count("SEGA-JOAOv2") == 3
    assert again["out"] == first["out"]  # found, not computed again
    (record,) = (folder / "results").glob("*.json")
    content = json.loads(record.read_text())
    assert content["config"]["ranks"] == 2
    assert len(content["seeds"]["0"]["history"]) == 2
    assert content["seeds"]["0"]["complete"]


def test_rank_0_is_told_and_stops_all_ranks(folder: Path) -> None:
    ended, told = said(folder, "stopped")["out"].splitlines()
    assert ended == "ZeroDivisionError RuntimeError"
    assert told == "[2] []"  # the first epoch is kept


def test_a_run_writes_one_log(folder: Path) -> None:
    err = said(folder, "run")["err"]
    assert err.count("JOAOv2 on synthetic: 300 graphs") == 1
    assert err.count("epoch 2 of 2") == 1


def test_batches_too_small_for_the_ranks_are_refused(folder: Path) -> None:
    answer = said(folder, "too small")
    assert answer["status"] == 2
    assert "got 3 for 2 ranks" in answer["err"]


def test_the_example_trains_on_two_processes(folder: Path) -> None:
    out = said(folder, "example")["out"]
    losses = [float(line.rsplit(" ")[-1]) for line in out.splitlines()]
    assert out.count("2 ranks") == len(losses) == 5
    assert losses[-1] < losses[0]


# What torchrun starts, without torchrun, which would end the others itself.
FOREVER = """
import sys
from sega_anchor.cli import main
from sega_anchor.training import state

state.EVERY = 0.0
sys.exit(main("run graphcl synthetic --epochs 100000 --evaluate_at [100000]".split()))
"""


@pytest.mark.parametrize("lost", [0, 1])
def test_a_process_that_is_killed_ends_the_others(tmp_path: Path, lost: int) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    place = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    here = {**os.environ, **place, "PYTHONPATH": str(ROOT), "TORCHELASTIC_RUN_ID": "x"}
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", FOREVER],
            cwd=tmp_path,
            env={**here, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    until = time.monotonic() + 120
    while not list(tmp_path.glob("results/*.state")):
        assert time.monotonic() < until and ranks[0].poll() is None
        time.sleep(0.1)
    ranks[lost].kill()
    ranks[lost].communicate()
    _, said = ranks[1 - lost].communicate(timeout=60)
    assert ranks[1 - lost].returncode == 2, said
    assert f"sega-anchor: rank {1 - lost} has lost another process" in said
    assert "Traceback" not in said


def is_running(process: Path) -> bool:
    try:
        state = (process / "stat").read_text().rpartition(")")[2]
    except OSError:
        return False
    return state.split()[0] != "Z"  # one that nobody has asked for its status


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for its children")
def test_a_torchrun_that_is_killed_takes_its_ranks_along(tmp_path: Path) -> None:
    agent = subprocess.Popen(
        [*TORCHRUN, "--no-python", sys.executable, "-c", FOREVER],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 120
    while not list(tmp_path.glob("results/*.state")):
        assert time.monotonic() < until and agent.poll() is None
        time.sleep(0.1)
    children = Path(f"/proc/{agent.pid}/task/{agent.pid}/children")
    ranks = [Path("/proc", child) for child in children.read_text().split()]
    assert len(ranks) >= 2
    agent.kill()
    agent.wait()
    while any(map(is_running, ranks)):
        assert time.monotonic() < until
        time.sleep(0.1)
