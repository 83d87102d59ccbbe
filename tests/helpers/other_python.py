"""Python in a process of its own, and a copy of the package for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import sega_anchor


def copy_package(folder: Path) -> Path:
    """Copy the package, without what was compiled of it; return the copy."""
    source = Path(sega_anchor.__file__).parent
    ignore = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(source, folder / "sega_anchor", ignore=ignore)


def start_python(code: str, root: Path, **variables: object) -> subprocess.Popen[str]:
    """Start code that imports packages of a folder, without a variable that is None."""
    given = {**os.environ, "PYTHONPATH": root, **variables}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=root,
        env={name: str(value) for name, value in given.items() if value is not None},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_python(
    code: str, root: Path, **variables: object
) -> subprocess.CompletedProcess[str]:
    """Run code that must not fail; see :func:`start_python`."""
    process = start_python(code, root, **variables)
    out, err = process.communicate()
    assert process.returncode == 0, err
    return subprocess.CompletedProcess(process.args, 0, out, err)
