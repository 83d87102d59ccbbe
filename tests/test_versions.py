"""show_versions: all a bug report needs, and nothing that is private."""

import getpass
import platform
import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest
import torch

import sega_anchor
from sega_anchor import build_coding_tree, versions
from tests.helpers.other_python import copy_package, run_python
from tests.helpers.paths import ROOT


def shown(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    assert sega_anchor.show_versions() is None
    lines = capsys.readouterr().out.splitlines()
    return dict(line.strip().split(": ", 1) for line in lines if ": " in line)


def test_it_names_what_is_installed_and_what_is_not(capsys, monkeypatch) -> None:
    find = versions.version

    def without_rdkit(name: str) -> str:
        if name == "rdkit":
            raise versions.PackageNotFoundError(name)
        return find(name)

    monkeypatch.setattr(versions, "version", without_rdkit)
    found = shown(capsys)
    assert found["python"] == platform.python_version()
    assert found["torch"] == torch.__version__
    assert found["threads of torch"] == str(torch.get_num_threads())
    assert found["rdkit"] == "not installed"
    assert found["sega-anchor"] == find("sega-anchor")


def test_no_dependency_is_forgotten(capsys) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {k: v for k, v in project["optional-dependencies"].items() if k != "dev"}
    wanted = [*project["dependencies"], *chain(*extras.values())]
    names = {re.split(r"[\[>=<]", requirement)[0] for requirement in wanted}
    assert names <= set(shown(capsys))


def test_it_does_not_tell_whose_machine_it_is(capsys, monkeypatch, tmp_path) -> None:
    home = tmp_path / "alice"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SEGA_ANCHOR_ARCHIVES", str(home / "archives"))
    monkeypatch.setenv("API_TOKEN", "very-secret")
    monkeypatch.delenv("SEGA_ANCHOR_DATA", raising=False)
    found = shown(capsys)
    assert found["SEGA_ANCHOR_ARCHIVES"] == str(Path("~", "archives"))
    assert found["data sets"] == str(Path("~", ".cache", "sega_anchor"))
    everything = " ".join(found.values())
    assert "alice" not in everything
    assert "very-secret" not in everything
    assert platform.node() not in everything.split()
    assert getpass.getuser() == "root" or getpass.getuser() not in everything


def test_it_says_whether_kernels_are_compiled(capsys) -> None:
    build_coding_tree(torch.tensor([[0, 1], [1, 2]]), method="paper")
    assert shown(capsys)["trees, paper"] == "compiled"


@pytest.mark.slow
def test_kernels_of_another_process_count(tmp_path: Path) -> None:
    """Compiled in one process, seen by the next; after an edit they are not."""
    copy_package(tmp_path)
    cut = "import numpy as np; from sega_anchor._kernels import batch;"
    cut += "batch.cut_rows(np.zeros((1, 1)), np.zeros((1, 1)), *np.zeros((2, 1), int))"
    show = "import sega_anchor; sega_anchor.show_versions()"
    folder = {"NUMBA_CACHE_DIR": tmp_path / "kernels"}
    assert "batches: not compiled yet" in run_python(show, tmp_path, **folder).stdout
    run_python(cut, tmp_path, **folder)
    assert "batches: compiled" in run_python(show, tmp_path, **folder).stdout
    with open(tmp_path / "sega_anchor" / "_kernels" / "types.py", "a") as file:
        file.write("\n")
    assert "batches: not compiled yet" in run_python(show, tmp_path, **folder).stdout


def test_importing_the_package_imports_no_more_for_it(tmp_path: Path) -> None:
    code = "import sys, sega_anchor; print(*sys.modules)"
    loaded = run_python(code, ROOT).stdout.split()
    assert "sega_anchor.versions" in loaded
    assert "sega_anchor.datasets" not in loaded
    assert "sklearn" not in loaded
