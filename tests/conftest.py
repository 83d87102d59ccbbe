"""What all tests share."""

import errno
import os
from collections.abc import Callable

# Threads that wait for each other would take most of the time on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch reads it

import pytest
from hypothesis import settings

from .helpers.scores import SVM_SCORES, quick_scores

# The machine may be busy, and a kernel's first call compiles: no deadlines.
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("dev", max_examples=10, deadline=None)
settings.load_profile("ci")  # --hypothesis-profile dev: as make quick


@pytest.fixture(autouse=True)
def _no_user_folders(monkeypatch: pytest.MonkeyPatch, tmp_path_factory) -> None:
    """Keep caches of data sets out of the user's home."""
    root = tmp_path_factory.getbasetemp() / "data"
    monkeypatch.setenv("SEGA_ANCHOR_DATA", str(root))
    monkeypatch.delenv("SEGA_ANCHOR_ARCHIVES", raising=False)


@pytest.fixture(name="full_disk")
def _full_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let the disk be full after so many more files."""
    sync = os.fsync

    def fill(after: int) -> None:
        files = iter(range(after))

        def fsync(descriptor: int) -> None:
            if next(files, None) is None:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            sync(descriptor)

        monkeypatch.setattr(os, "fsync", fsync)

    return fill


@pytest.fixture(name="quick_scores")
def _quick_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs score embeddings without support vector machines."""
    monkeypatch.setattr(SVM_SCORES, quick_scores)
