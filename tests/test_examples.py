"""The examples do what they say, from another folder, in at most five changed lines."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize("name", ["plug_into_your_loop", "plug_into_metric_learning"])
def test_the_anchor_plugs_in_with_at_most_five_lines(name: str, tmp_path: Path) -> None:
    script = EXAMPLES / f"{name}.py"
    numbered = re.findall(r"# anchor (\d)", script.read_text())
    assert numbered == [str(i) for i in range(1, len(numbered) + 1)]
    assert 2 < len(numbered) <= 5
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(EXAMPLES.parent), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    losses = [float(loss) for loss in re.findall(r"loss (\S+)", done.stdout)]
    assert losses[-1] < losses[0]
    (accuracy,) = re.findall(r"accuracy (\S+)", done.stdout)
    assert float(accuracy) > 60  # three classes
    assert "UserWarning" not in done.stderr
