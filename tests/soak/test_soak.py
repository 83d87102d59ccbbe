"""The short version, in a process of its own: pytest's warnings are errors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT


@pytest.mark.slow
def test_some_trials(tmp_path: Path) -> None:
    log = tmp_path / "soak.jsonl"
    done = subprocess.run(
        [sys.executable, "-m", "tests.soak", "--most", "25", "--log", log],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    found = [json.loads(line) for line in log.read_text().splitlines()]
    assert [each for each in found if each["wrong"]] == []
    assert done.returncode == 0, done.stderr
    assert len(found) == 25
