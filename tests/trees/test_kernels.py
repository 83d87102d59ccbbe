"""How the kernels are compiled and kept: what a user notices of it."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sega_anchor
from sega_anchor._kernels import compiling
from sega_anchor.cli import main

PARENTS = """
import numpy as np
from sega_anchor.trees import _kernels
print(_kernels.tree_arrays(np.array([[0, 1, 1]]))[0].tolist())
"""


def run(code: str, root: Path, cache: Path) -> str:
    paths = {"PYTHONPATH": str(root), "NUMBA_CACHE_DIR": str(cache)}
    words = [sys.executable, "-c", code]
    done = subprocess.run(
        words, cwd=root, env={**os.environ, **paths}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_an_edit_of_what_a_kernel_calls_is_noticed(tmp_path: Path) -> None:
    copy = tmp_path / "sega_anchor"
    source = Path(sega_anchor.__file__).parent
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    cache = tmp_path / "cache"
    assert run(PARENTS, tmp_path, cache) == "[3, 4, 4, 5, 5, -1]"
    files = sorted(path.name for path in cache.rglob("*.nb?"))
    callee = copy / "trees/_kernels/arrays.py"
    count_up, count_down = "        x[i] = i\n", "        x[i] = n - 1 - i\n"
    assert count_up in callee.read_text()
    callee.write_text(callee.read_text().replace(count_up, count_down))
    assert run(PARENTS, tmp_path, cache) == "[4, 4, 3, 5, 5, -1]"
    # What is stale is overwritten, so that nothing piles up.
    assert sorted(path.name for path in cache.rglob("*.nb?")) == files


class Event:
    """What numba tells a listener."""

    def __init__(self, module: str) -> None:
        self.data = {"dispatcher": type("Kernel", (), {"__module__": module})()}


def test_long_compiling_is_announced_once(capsys, monkeypatch) -> None:
    monkeypatch.setattr(compiling, "PATIENCE", 0.01)
    watch, kernel = compiling.Watch(), Event("sega_anchor.trees._kernels.build")
    for _ in range(2):
        watch.on_start(kernel)
        watch.on_start(kernel)  # what it calls
        time.sleep(0.2)
        watch.on_end(kernel)
        watch.on_end(kernel)
    assert capsys.readouterr().err == compiling.MESSAGE + "\n"


@pytest.mark.parametrize(
    ("module", "patience"), [("sega_anchor.x", 5.0), ("another", 0.01)]
)
def test_short_compiling_and_that_of_others_is_not(
    capsys, monkeypatch, module: str, patience: float
) -> None:
    monkeypatch.setattr(compiling, "PATIENCE", patience)
    watch, kernel = compiling.Watch(), Event(module)
    watch.on_start(kernel)
    time.sleep(0.1)
    watch.on_end(kernel)
    assert capsys.readouterr().err == ""


def test_warmup_says_what_it_has_compiled_and_where_it_is(capsys) -> None:
    assert main(["warmup"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[:3]] == [
        "trees, method refined",
        "trees, method authors",
        "trees, method paper",
    ]
    folders = [Path(line.strip()) for line in lines[5:]]
    assert folders and all(any(folder.glob("*.nbi")) for folder in folders)
