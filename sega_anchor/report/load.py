"""load: a result from its record, whatever the setting."""

from __future__ import annotations

from pathlib import Path

from .record import read_record
from .result import Result
from .tuned import Tuned


def load(path: str | Path) -> Result | Tuned:
    """Return what a record in a results folder holds.

    Args:
        path: of its JSON file, see docs/records.md.

    Returns:
        A :class:`Result` of the unsupervised setting, a :class:`Tuned` of another.

    Raises:
        ValueError: for a file that is no record or is damaged, with the reason.

    Example:
        >>> import tempfile
        >>> from adapters import graphcl
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found = graphcl.run("synthetic", seeds=1, epochs=1, results=folder)
        ...     load(found.record).accuracy == found.accuracy
        True
    """
    kind = Tuned if "setting" in read_record(path)["config"] else Result
    return kind.load(path)
