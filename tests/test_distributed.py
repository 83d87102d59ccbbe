"""Several processes act as one with the whole batch."""

import subprocess
import sys
from pathlib import Path

import fixed_views
import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch

NAMES = [name for name, _ in fixed_views.models()]


def torchrun(ranks: int, *words: str | Path) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(ranks), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]


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
