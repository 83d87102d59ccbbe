"""What all tests share."""

import pytest


@pytest.fixture(autouse=True)
def _no_user_folders(monkeypatch: pytest.MonkeyPatch, tmp_path_factory) -> None:
    """Keep caches of data sets out of the user's home."""
    root = tmp_path_factory.getbasetemp() / "data"
    monkeypatch.setenv("SEGA_ANCHOR_DATA", str(root))
    monkeypatch.delenv("SEGA_ANCHOR_ARCHIVES", raising=False)
