"""Where compiled kernels are kept, and what a user notices where they cannot be.

A folder that cannot be written is one below a file: root may write all others.
"""

from pathlib import Path

import pytest

import sega_anchor
from sega_anchor._kernels import compiling
from tests.helpers.other_python import copy_package, run_python, start_python

pytestmark = pytest.mark.slow
ROOT = Path(sega_anchor.__file__).parents[1]
#: Prints a sum in either type, and which kernels were compiled for that. It imports
#: the kernels alone, without what takes seconds.
SUMS = """
import sys, types
package = sys.modules["sega_anchor"] = types.ModuleType("sega_anchor")
package.__path__ = ["sega_anchor"]

import numpy as np
from numba.core import event
from sega_anchor._kernels import add_rows, compiling

class Names(event.Listener):
    def on_start(self, event): print("compiled", event.data["dispatcher"].__name__)
    def on_end(self, event): pass

compiling.PATIENCE = 0.0
event.register("numba:compile", Names())
for kind in ("float32", "float64"):
    rows, out = np.full((2, 1), 0.5, kind), np.zeros((1, 1), kind)
    assert add_rows(out, rows, np.zeros(2, np.int64), np.arange(2)) == -1
    print(out.item())
"""
ONCE = ["compiled add_rows", "1.0"] * 2
KEPT = ["1.0", "1.0"]


@pytest.fixture(name="nowhere")
def _nowhere(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "cache"


@pytest.fixture(name="read_only")
def _read_only(tmp_path: Path) -> Path:
    """A folder with a package that cannot keep anything beside its sources."""
    package = copy_package(tmp_path)
    for folder in (package / "_kernels", package / "trees" / "_kernels"):
        (folder / "__pycache__").write_text("")
    return tmp_path


def lines(code: str, root: Path, **variables: object) -> list[str]:
    return run_python(code, root, **variables).stdout.splitlines()


def test_a_folder_that_does_not_exist_is_made(tmp_path: Path) -> None:
    cache = tmp_path / "not" / "yet"
    assert lines(SUMS, ROOT, NUMBA_CACHE_DIR=cache) == ONCE
    assert lines(SUMS, ROOT, NUMBA_CACHE_DIR=cache) == KEPT


def test_a_read_only_package_keeps_kernels_in_the_home(read_only: Path) -> None:
    home = read_only / "home"
    places = {"HOME": home, "XDG_CACHE_HOME": None, "NUMBA_CACHE_DIR": None}
    assert lines(SUMS, read_only, **places) == ONCE
    assert lines(SUMS, read_only, **places) == KEPT
    assert any(home.rglob("*.nbi"))


def test_without_any_folder_kernels_are_compiled_each_time(
    read_only: Path, nowhere: Path
) -> None:
    """And one line says so."""
    places = {"HOME": nowhere, "XDG_CACHE_HOME": nowhere, "NUMBA_CACHE_DIR": nowhere}
    assert lines(SUMS, read_only, **places) == ONCE
    done = run_python(SUMS, read_only, **places)
    assert done.stderr == compiling.UNKEPT + "\n"


def test_a_folder_that_cannot_be_written_is_passed_over(
    tmp_path: Path, nowhere: Path
) -> None:
    package = copy_package(tmp_path)
    assert lines(SUMS, tmp_path, NUMBA_CACHE_DIR=nowhere) == ONCE
    assert lines(SUMS, tmp_path, NUMBA_CACHE_DIR=nowhere) == KEPT
    assert any(package.rglob("*.nbi"))


def test_a_folder_that_goes_away_meanwhile_fails_nothing(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    gone = f"import shutil; shutil.rmtree({str(cache)!r}); open({str(cache)!r}, 'w')\n"
    before, after = SUMS.split("for kind", 1)
    code = f"{before}{gone}for kind{after}"
    assert lines(code, ROOT, NUMBA_CACHE_DIR=cache) == ONCE


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_half_a_file_is_compiled_again(tmp_path: Path, suffix: str) -> None:
    assert lines(SUMS, ROOT, NUMBA_CACHE_DIR=tmp_path) == ONCE
    halves = list(tmp_path.rglob(f"scatter.add_rows*.{suffix}"))
    assert halves
    for path in halves:
        path.write_bytes(path.read_bytes()[:20])
    for _ in range(2):  # a lost index is written anew by the next process
        assert set(lines(SUMS, ROOT, NUMBA_CACHE_DIR=tmp_path)) <= set(ONCE)
    assert lines(SUMS, ROOT, NUMBA_CACHE_DIR=tmp_path) == KEPT


def test_no_kernel_is_taken_for_that_of_other_types(tmp_path: Path) -> None:
    """What two processes leave that have given two kernels one file name."""
    assert lines(SUMS, ROOT, NUMBA_CACHE_DIR=tmp_path) == ONCE
    one, two = sorted(tmp_path.rglob("scatter.add_rows*.nbc"))
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    assert lines(SUMS, ROOT, NUMBA_CACHE_DIR=tmp_path) == ONCE
    assert lines(SUMS, ROOT, NUMBA_CACHE_DIR=tmp_path) == KEPT


def test_two_processes_may_fill_an_empty_folder_at_once(tmp_path: Path) -> None:
    both = [start_python(SUMS, ROOT, NUMBA_CACHE_DIR=tmp_path) for _ in range(2)]
    told = [process.communicate() for process in both]
    for process, (out, err) in zip(both, told, strict=True):
        assert process.returncode == 0, err
        assert [line for line in out.splitlines() if line not in ONCE[:1]] == KEPT
    assert not list(tmp_path.rglob("*.tmp.*"))
    assert set(lines(SUMS, ROOT, NUMBA_CACHE_DIR=tmp_path)) <= set(ONCE)
    assert lines(SUMS, ROOT, NUMBA_CACHE_DIR=tmp_path) == KEPT
