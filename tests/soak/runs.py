"""Runs of commands in forked processes, which can be killed: one import serves all."""

import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path


class Run:
    """A process that was started, and what it says.

    Args:
        child: its number.
        said: the file that has its standard output and error.
    """

    def __init__(self, child: int, said: Path) -> None:
        self.child = child
        self._said = said
        self._ended: int | None = None

    def send(self, number: int, after: float, group: bool = False) -> None:
        """Send a signal after some seconds, to its children too if wanted."""
        until = time.monotonic() + after
        while time.monotonic() < until and not self._is_over():
            time.sleep(0.005)
        if not self._is_over():
            (os.killpg if group else os.kill)(self.child, number)

    def wait(self, limit: float) -> int | None:
        """Return its exit status, minus a signal's number, or None after the limit."""
        until = time.monotonic() + limit
        while not self._is_over():
            if time.monotonic() > until:
                os.kill(self.child, signal.SIGUSR1)  # says where it hangs
                time.sleep(0.5)
                os.killpg(self.child, signal.SIGKILL)
                os.waitpid(self.child, 0)
                return None
            time.sleep(0.005)
        return self._ended

    def said(self) -> str:
        """Return what it printed."""
        return self._said.read_text(encoding="utf-8", errors="replace")

    def _is_over(self) -> bool:
        if self._ended is None:
            child, status = os.waitpid(self.child, os.WNOHANG)
            if child:
                self._ended = os.waitstatus_to_exitcode(status)
        return self._ended is not None


def start(work: Callable[[], int], home: Path) -> Run:
    """Fork a process, the first of a group, that works in a folder and says so."""
    assert threading.active_count() == 1  # others would be missing in the child
    said = home.parent / f"said {time.monotonic_ns()}"
    said.touch()
    child = os.fork()
    if child:
        os.setpgid(child, child)
        return Run(child, said)
    status = 1
    try:
        os.setpgid(0, 0)
        os.chdir(home)
        out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), out, out)):
            os.dup2(file, number)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)
        faulthandler.register(signal.SIGUSR1, file=sys.stderr)
        status = work()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)
