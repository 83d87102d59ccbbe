"""numba's cache, keyed by the sources of all kernels.

numba notices when the file of a kernel changes, but not the file of what it calls.
Here each cached kernel is stamped with a hash of both ``_kernels`` folders. After any
edit it is compiled again and overwritten, wherever numba keeps it: NUMBA_CACHE_DIR,
``__pycache__``, or the user's cache folder.
"""

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import caching

_used: set[str] = set()
_HERE = Path(__file__).resolve().parent
FOLDERS = (_HERE, _HERE.parent / "trees" / "_kernels")


@functools.cache
def stamp() -> str:
    """Return a hash of the sources of all kernels and of numba's version."""
    whole = hashlib.sha256(numba.__version__.encode())
    for folder in FOLDERS:
        for path in sorted(folder.glob("*.py")):
            whole.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()


class _Stamped:
    """A place for our kernels alone, whose files are named without line numbers."""

    def get_source_stamp(self) -> str:
        return stamp()

    def get_disambiguator(self) -> str:
        return ""

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Any:
        if Path(py_file).resolve().parent not in FOLDERS or ".zip" in py_file:
            return None
        place = super().from_function(py_func, py_file)  # type: ignore[misc]
        if place is not None:
            _used.add(place.get_cache_path())
        return place


def cache_folders() -> list[str]:
    """Return the folders in which compiled kernels are kept."""
    return sorted(_used)


def install() -> None:
    """Put our places, the same as numba's own, before them."""
    places: list[Any] = caching.CacheImpl._locator_classes
    if not any(issubclass(place, _Stamped) for place in places):
        bases = [(_Stamped, place) for place in places]
        places[:0] = [type(f"Our{base[1].__name__}", base, {}) for base in bases]
