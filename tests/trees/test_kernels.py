"""How the kernels are compiled and kept: what a user notices of it."""

import time
from pathlib import Path

import pytest

import sega_anchor
from sega_anchor._kernels import compiling
from sega_anchor.cli import main
from tests.helpers.other_python import copy_package, run_python

PARENTS = """
import numpy as np
from sega_anchor.trees import _kernels
print(_kernels.tree_arrays(np.array([[0, 1, 1]]))[0].tolist())
"""


def run(code: str, root: Path, cache: Path) -> str:
    return run_python(code, root, NUMBA_CACHE_DIR=cache).stdout.strip()


@pytest.mark.slow
def test_an_edit_of_what_a_kernel_calls_is_noticed(tmp_path: Path) -> None:
    copy = copy_package(tmp_path)
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


SECOND = """
from sega_anchor.trees._kernels import ahead
ahead.compile_later()
"""
FIRST = """
import torch
from numba.core import event
from sega_anchor import build_coding_tree
from sega_anchor.trees._kernels import ahead

class Names(event.Listener):
    def on_start(self, event): print(event.data["dispatcher"].__name__)
    def on_end(self, event): pass

event.register("numba:compile", Names())
ahead.SecondProcess.on_start = lambda *_: None
build_coding_tree(torch.tensor([[0], [1]]))
"""


@pytest.mark.slow
def test_what_a_second_process_compiles_the_first_does_not(tmp_path: Path) -> None:
    root = Path(sega_anchor.__file__).parents[1]
    run(SECOND, root, tmp_path)
    compiled = run(FIRST, root, tmp_path).split()
    assert "build_refined" in compiled
    shared = {"_settle", "agglomerate", "fill_levels", "quotient", "squeeze"}
    assert not shared & {*compiled}


@pytest.mark.slow
def test_the_second_process_ends_with_the_first(tmp_path: Path) -> None:
    begin = (
        "from sega_anchor.trees._kernels import ahead\n"
        "class Kernel: __name__ = 'build_refined'\n"
        "class Event: data = {'dispatcher': Kernel()}\n"
        "second = ahead.SecondProcess('build_refined')\n"
        "second.on_start(Event()); process = second.process\n"
        "second.on_end(Event()); print(process is None or process.poll() is not None)"
    )
    root = Path(sega_anchor.__file__).parents[1]
    assert run(begin, root, tmp_path) == "True"
