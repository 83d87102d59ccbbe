"""Where the repository is, and real data beside it."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def real_data(*parts: str) -> Path:
    """A file or folder of real data sets; skips the test where it is absent."""
    path = ROOT.parent / "shared" / "data" / Path(*parts)
    if not path.exists():
        pytest.skip(f"no real data at {path}")
    return path
