"""While one process compiles ``build_refined``, a second compiles its later half.

numba compiles one function at a time, so a second core needs a second process. What it
finishes goes into numba's cache, where the first process finds it when it gets there;
what it does not, or cannot, the first compiles itself. It ends with the first.
"""

import multiprocessing
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
from joblib import cpu_count
from numba.core import event

from ..._kernels.jit import entry
from ..._kernels.source_cache import cache_folders
from ..._kernels.types import Floats, Ints
from .refined import improve
from .types import CSR, Levels

#: Imports the kernels alone: the packages above them would load PyTorch first.
_PROGRAM = """
import importlib, sys, types
for name, path in zip(("sega_anchor", "sega_anchor.trees"), sys.argv[1:]):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [path]
importlib.import_module("sega_anchor.trees._kernels.ahead").compile_later()
"""


@entry
def later(graph: CSR, degree: Floats, labels: Ints, tree: Levels) -> float:
    """Call what ``build_refined`` comes to last; compiled, and never run."""
    return improve(graph, degree, labels, tree, True)


def compile_later() -> None:
    """Compile the later half for the types that ``build_refined`` has."""
    flat, numbers = np.empty(0, np.int64), np.empty(0)
    table, weights = np.empty((0, 0), np.int64), np.empty((0, 0))
    graph = CSR(flat, flat, numbers)
    tree = Levels(table, weights, weights, weights, table, flat)
    typeof: Any = numba.typeof
    later.compile(tuple(map(typeof, (graph, numbers, table, tree))))


class SecondProcess(event.Listener):
    """Starts the second process with the compiling of a kernel, and ends it.

    Args:
        kernel: the name of the kernel.
    """

    def __init__(self, kernel: str) -> None:
        self.kernel = kernel
        self.process: subprocess.Popen[bytes] | None = None

    def on_start(self, event: Any) -> None:
        """Start it, where there is a core for it."""
        if event.data["dispatcher"].__name__ != self.kernel or self.process:
            return
        if not cache_folders():  # the first would find nothing
            return
        if cpu_count() < 2 or multiprocessing.parent_process() or not sys.executable:
            return
        here = Path(__file__).resolve().parents
        command = [sys.executable, "-c", _PROGRAM, str(here[2]), str(here[1])]
        quiet = subprocess.DEVNULL
        try:
            self.process = subprocess.Popen(
                command, stdin=quiet, stdout=quiet, stderr=quiet
            )
        except OSError:
            pass  # then one process does it all

    def on_end(self, event: Any) -> None:
        """End it: nothing waits for what it has not finished."""
        if event.data["dispatcher"].__name__ == self.kernel and self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


def install(kernel: str) -> None:
    """Begin to watch."""
    event.register("numba:compile", SecondProcess(kernel))
