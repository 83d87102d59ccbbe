"""What all tests share."""

import pytest
from hypothesis import settings

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
