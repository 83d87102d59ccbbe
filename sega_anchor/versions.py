"""show_versions: what a bug report needs to know of a machine."""

import os
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_REQUIRED = (
    "torch",
    "torch-geometric",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "tqdm",
    "safetensors",
    "networkx",
    "joblib",
    "filelock",
    "jsonargparse",
    "pyyaml",
    "typing-extensions",
)
#: Extras, and what PyG uses where it is there.
_OPTIONAL = (
    "matplotlib",
    "contourpy",
    "pandas",
    "jinja2",
    "rdkit",
    "igraph",
    "pyg-lib",
)
_VARIABLES = (
    "SEGA_ANCHOR_DATA",
    "SEGA_ANCHOR_ARCHIVES",
    "SEGA_ANCHOR_MOLECULES",
    "NUMBA_CACHE_DIR",
    "NUMBA_DISABLE_JIT",
    "OMP_NUM_THREADS",
)


def show_versions() -> None:
    """Print versions, the machine, kernels and caches, to paste into a bug report.

    Names of users and machines are left out: paths at home begin with ``~``, and of the
    environment only the variables that this package reads are shown.

    Example:
        >>> show_versions()
        System
          sega-anchor: ...
          python: 3...
        Packages
          torch: ...
        Kernels
          trees, refined: ...
        Folders
          package: ...
    """
    parts = {
        "System": _system(),
        "Packages": ((name, _version(name)) for name in _REQUIRED + _OPTIONAL),
        "Kernels": _kernels(),
        "Folders": _folders(),
    }
    for title, lines in parts.items():
        print(title)
        for name, value in lines:
            print(f"  {name}: {value}")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _system() -> Iterator[tuple[str, object]]:
    import torch
    from joblib import cpu_count

    yield "sega-anchor", _version("sega-anchor")
    yield "python", platform.python_version()
    yield "platform", platform.platform()
    yield "cores", f"{cpu_count()} of {os.cpu_count()}"
    yield "threads of torch", torch.get_num_threads()
    yield "CUDA of torch", torch.version.cuda or "none"
    count = torch.cuda.device_count()
    yield "GPUs", ", ".join(map(torch.cuda.get_device_name, range(count))) or "none"


def _kernels() -> Iterator[tuple[str, str]]:
    from ._kernels import batch
    from ._kernels.source_cache import is_compiled
    from .trees import _kernels as trees

    first = {
        "trees, refined": trees.build_refined,
        "trees, authors": trees.build_authors,
        "trees, paper": trees.build_paper,
        "batches": batch.cut_rows,
    }
    for name, kernel in first.items():
        yield name, "compiled" if is_compiled(kernel) else "not compiled yet"


def _folders() -> Iterator[tuple[str, str]]:
    from ._kernels.source_cache import cache_folders
    from .datasets._files import data_root

    yield "package", _short(Path(__file__).parent)
    kernels = ", ".join(map(_short, cache_folders()))
    yield "compiled kernels", kernels or "none that can be written"
    yield "data sets", _short(data_root(None))
    for name in _VARIABLES:
        yield name, _short(os.environ[name]) if name in os.environ else "not set"


def _short(path: str | Path) -> str:
    """Return a path that does not tell whose home it is in."""
    for home in (Path.home(), Path.home().resolve()):
        if Path(path).is_relative_to(home):
            return str(Path("~", Path(path).relative_to(home)))
    return str(path)
