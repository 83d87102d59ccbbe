"""While kernels compile: save time, and say so if it takes long all the same.

numba makes millions of objects, and each full collection of garbage walks over all of
them and everything PyTorch has loaded: a fifth of the time. LLVM's higher levels take
another fifth and do not make the branching loops over trees any faster; sums over rows
do need them.
"""

import gc
import multiprocessing
import os
import sys
import threading
from typing import Any

from numba.core import config, event
from tqdm import tqdm

from . import source_cache

#: Seconds of compiling after which it is announced.
PATIENCE = 2.0
MESSAGE = "sega-anchor: compiling kernels, once per machine (about 15 s)"
UNKEPT = (
    "sega-anchor: compiling kernels (about 15 s), and again in each process: set "
    "NUMBA_CACHE_DIR to a folder that can be written"
)
_PACKAGE = __name__.partition(".")[0] + "."
#: numba's options for the kernels of trees.
_CHEAP = {"OPT": 1, "LOOP_VECTORIZE": 0}


class Watch(event.Listener):
    """Listens to numba, which compiles under a lock: one thread at a time."""

    def __init__(self) -> None:
        self._depth = 0
        self._collects = False
        self._options: dict[str, Any] = {}
        self._said = False
        self._timer = threading.Timer(PATIENCE, self._say)

    def on_start(self, event: Any) -> None:
        """Kernels compile what they call: only the outermost counts."""
        module = event.data["dispatcher"].__module__
        if not module.startswith(_PACKAGE):
            return
        self._depth += 1
        if self._depth > 1:
            return
        self._collects = gc.isenabled()
        gc.disable()
        if module.startswith(f"{_PACKAGE}trees."):
            self._options = {name: getattr(config, name) for name in _CHEAP}
            for name, value in _CHEAP.items():
                setattr(config, name, type(self._options[name])(value))
        self._timer = threading.Timer(PATIENCE, self._say)
        self._timer.daemon = True
        self._timer.start()

    def on_end(self, event: Any) -> None:
        """Undo what the start has done."""
        if not event.data["dispatcher"].__module__.startswith(_PACKAGE):
            return
        self._depth -= 1
        if self._depth:
            return
        self._timer.cancel()
        for name, value in self._options.items():
            setattr(config, name, value)
        self._options = {}
        if self._collects:
            gc.enable()

    def _say(self) -> None:
        """Announce it once, and in the main process alone."""
        first = multiprocessing.parent_process() is None
        if first and os.environ.get("RANK", "0") == "0" and not self._said:
            self._said = True
            message = MESSAGE if source_cache.cache_folders() else UNKEPT
            tqdm.write(message, file=sys.stderr)


def install() -> None:
    """Begin to watch."""
    event.register("numba:compile", Watch())
