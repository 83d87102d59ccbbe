"""On several ranks every graph is seen once, whoever shares them out."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import loader_ranks
from tests.helpers.paths import ROOT

pytestmark = pytest.mark.slow
Epochs = list[list[list[int]]]
ONCE = dict.fromkeys(range(loader_ranks.MANY), 1)


def start(who: str, folder: Path) -> list[dict[str, Any]]:
    """Return what two processes have seen."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    done = subprocess.run(
        [*command, "--nproc-per-node", "2", loader_ranks.__file__, who],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return [json.loads((folder / f"{who}{rank}.json").read_text()) for rank in (0, 1)]


def assert_shared(first: Epochs, second: Epochs, most_twice: int = 0) -> None:
    """Each epoch has each graph once, but for what evens out the ranks."""
    assert len(first) == len(second)
    for one, two in zip(first, second, strict=True):
        assert len(one) == len(two)
        seen = Counter(number for batch in one + two for number in batch)
        assert seen.keys() == ONCE.keys()
        assert seen.total() - len(ONCE) <= most_twice


@pytest.fixture(scope="module")
def by_torch(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return start("torch", tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("which", ["ours", "plain"])
def test_a_loader_made_before_the_group_shares_once_there_is_one(
    which: str, by_torch: list[dict[str, Any]]
) -> None:
    # The ranks' generators differ: the order is that of rank 0.
    assert_shared(*[found[which] for found in by_torch])
    for found in by_torch:
        assert all(len(batch) >= 2 for epoch in found[which] for batch in epoch)


@pytest.mark.parametrize("which", ["by hand", "by batch"])
def test_a_distributed_sampler_shares_alone(
    which: str, by_torch: list[dict[str, Any]]
) -> None:
    assert_shared(*[found[which] for found in by_torch], most_twice=1)
    assert [len(batch) for batch in by_torch[0][which][0]] == [3, 3, 3, 2]


def test_what_would_repeat_or_lose_graphs_is_refused(
    by_torch: list[dict[str, Any]],
) -> None:
    assert "the ranks were given different graphs" in by_torch[1]["different"]
    for found in by_torch:
        assert "all graphs to each of 2 ranks" in found["listed"]


def test_lightning_shares_out(tmp_path: Path) -> None:
    pytest.importorskip("lightning")
    found = start("lightning", tmp_path)
    assert_shared(*[each["fit"] for each in found], most_twice=1)
    assert [len(batch) for batch in found[0]["fit"][0]] == [4, 4, 3]
    assert_shared(*[each["predict"] for each in found])
    assert_shared(*[each["ours"] for each in found])


def test_accelerate_shares_out(tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    found = start("accelerate", tmp_path)
    # It fills up the last batches from the beginning.
    assert_shared(*[each["shuffled"] for each in found], most_twice=3)
    assert_shared(*[each["plain"] for each in found], most_twice=3)
