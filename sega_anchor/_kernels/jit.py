"""How the kernels are compiled.

Numba optimises a kernel again inside every kernel that calls it, so large kernels are
few and call each other at little depth. Parts that are split for the reader only are
inlined before anything is compiled: a ``phase``.
"""

from typing import Any

import numba

from . import compiling, source_cache

compiling.install()
source_cache.install()

_njit: Any = numba.njit
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

#: What Python calls.
entry: Any = _njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
#: What only other kernels call; what Python would need to call it is left out.
kernel: Any = _njit(cache=True, nogil=True, error_model="numpy", **_INNER)
#: A kernel that allocates nothing, so that numba need not count references to arrays:
#: in small graphs that would cost more than the work. Its arguments hold the arrays.
loop: Any = _njit(cache=True, nogil=True, error_model="numpy", _nrt=False, **_INNER)
#: A part of one kernel, put in its place before anything is compiled.
phase: Any = _njit(inline="always")
#: A line or two that several kernels need; it counts no references either.
helper: Any = _njit(forceinline=True, error_model="numpy", _nrt=False, **_INNER)
