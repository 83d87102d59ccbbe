"""numba's cache, keyed by the sources of all kernels.

numba notices when the file of a kernel changes, but not the file of what it calls.
Here each cached kernel is stamped with a hash of both ``_kernels`` folders. After any
edit it is compiled again and overwritten, wherever numba keeps it: NUMBA_CACHE_DIR,
``__pycache__``, or the user's cache folder, the first that can be written. Where none
can, kernels are compiled in each process.
"""

import contextlib
import functools
import hashlib
import pickle
from pathlib import Path
from typing import Any, ClassVar

import numba
from numba.core import caching, sigutils

_Cache: Any = caching.FunctionCache
_Impl: Any = caching.CompileResultCacheImpl
_used: set[str] = set()
_HERE = Path(__file__).resolve().parent
FOLDERS = (_HERE, _HERE.parent / "trees" / "_kernels")
#: What a full disk, a folder that has gone, or half a file raises.
_UNUSABLE = (OSError, EOFError, pickle.UnpicklingError)


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


class _Places(_Impl):  # type: ignore[misc]
    """The same places as numba's own."""

    _locator_classes: ClassVar[list[Any]] = [
        type(f"Our{place.__name__}", (_Stamped, place), {})
        for place in caching.CacheImpl._locator_classes
    ]


class _KernelCache(_Cache):  # type: ignore[misc]
    """A cache that no kernel fails for: what cannot be read is compiled again."""

    _impl_class = _Places

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
        except _UNUSABLE:
            return None
        # Two processes that save different types at once may name their files alike.
        types = sigutils.normalize_signature(sig)[0]
        return found if found and found.signature.args == types else None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except _UNUSABLE:
            with contextlib.suppress(OSError):
                self.flush()


def keep(kernel: Any) -> None:
    """Let a kernel be kept once it is compiled, where a folder can be written."""
    if not hasattr(kernel, "py_func"):  # with NUMBA_DISABLE_JIT
        return
    with contextlib.suppress(RuntimeError):  # no such folder
        kernel._cache = _KernelCache(kernel.py_func)
        _used.add(kernel._cache.cache_path)


def cache_folders() -> list[str]:
    """Return the folders in which compiled kernels are kept."""
    return sorted(_used)


def is_compiled(kernel: Any) -> bool:
    """Return whether a kernel is compiled: in this process, or kept for the next."""
    if getattr(kernel, "signatures", ()):
        return True
    cache = getattr(kernel, "_cache", None)
    if not isinstance(cache, _KernelCache):
        return False
    try:
        return bool(cache._cache_file._load_index())
    except _UNUSABLE:
        return False
