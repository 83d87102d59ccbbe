"""How the kernels are compiled.

Numba optimises a kernel again inside every kernel that calls it, so large kernels are
few and call each other at little depth. Parts that are split for the reader only are
inlined before anything is compiled: a ``phase``.
"""

from collections.abc import Callable
from typing import Any

import numba

from . import compiling, source_cache

compiling.install()

_njit: Any = numba.njit
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _kept(**options: Any) -> Any:
    """Return a decorator for kernels that are kept once they are compiled."""

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = _njit(nogil=True, error_model="numpy", **options)(function)
        source_cache.keep(kernel)
        return kernel

    return decorate


#: What Python calls.
entry: Any = _kept(no_cfunc_wrapper=True)
#: What only other kernels call; what Python would need to call it is left out.
kernel: Any = _kept(**_INNER)
#: A kernel that allocates nothing, so that numba need not count references to arrays:
#: in small graphs that would cost more than the work. Its arguments hold the arrays.
loop: Any = _kept(_nrt=False, **_INNER)
#: A part of one kernel, put in its place before anything is compiled.
phase: Any = _njit(inline="always")
#: A line or two that several kernels need; it counts no references either.
helper: Any = _njit(forceinline=True, error_model="numpy", _nrt=False, **_INNER)
