"""While kernels compile: say so if it takes long, and switch the garbage collector off.

numba makes millions of objects, and each full collection walks over all of them and
everything PyTorch has loaded, which took a fifth of the time.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import threading
from typing import Any

from numba.core import event
from tqdm import tqdm

#: Seconds of compiling after which it is announced.
PATIENCE = 2.0
MESSAGE = "sega-anchor: compiling kernels, once per machine (about 20 s)"
_PACKAGE = __name__.partition(".")[0] + "."


class Watch(event.Listener):
    """Listens to numba, which compiles under a lock: one thread at a time."""

    def __init__(self) -> None:
        self._depth = 0
        self._collects = False
        self._said = False
        self._timer = threading.Timer(PATIENCE, self._say)

    def on_start(self, event: Any) -> None:
        """Kernels compile what they call: only the outermost counts."""
        if not event.data["dispatcher"].__module__.startswith(_PACKAGE):
            return
        self._depth += 1
        if self._depth == 1:
            self._collects = gc.isenabled()
            gc.disable()
            self._timer = threading.Timer(PATIENCE, self._say)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:
        """Undo what the start has done."""
        if not event.data["dispatcher"].__module__.startswith(_PACKAGE):
            return
        self._depth -= 1
        if self._depth == 0:
            self._timer.cancel()
            if self._collects:
                gc.enable()

    def _say(self) -> None:
        """Announce it once, and in the main process alone."""
        first = multiprocessing.parent_process() is None
        if first and os.environ.get("RANK", "0") == "0" and not self._said:
            self._said = True
            tqdm.write(MESSAGE, file=sys.stderr)


def install() -> None:
    """Begin to watch."""
    event.register("numba:compile", Watch())  # type: ignore[no-untyped-call]
