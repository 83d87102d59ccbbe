"""Where ``sega-anchor run`` finds methods, and what may stand in the way."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sega_anchor.cli import main
from sega_anchor.cli._methods import BUILT_IN, GROUP, find_methods
from tests.helpers.paths import ROOT

OTHER = (
    '"""A method of somebody else\'s."""\n\nfrom adapters.graphcl import Config, run\n'
)
QUICK = ["--epochs", "1", "--evaluate_at", "1", "--seeds", "1", "--results", "null"]


def install(folder: Path, name: str, value: str) -> None:
    """Put what an installed package leaves on the path."""
    info = folder / "their_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {value}\n")


def test_a_method_of_another_package_is_run(
    tmp_path: Path, monkeypatch, capsys, quick_scores
) -> None:
    (tmp_path / "their_module.py").write_text(OTHER)
    install(tmp_path, "theirs", "their_module")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SystemExit, match="0"):
        main(["run", "--help"])
    assert "A method of somebody else's." in capsys.readouterr().out
    assert main(["run", "theirs", "synthetic", *QUICK]) == 0
    assert "| GraphCL | synthetic |" in capsys.readouterr().out


def test_a_broken_method_of_another_package_stops_no_other(
    tmp_path: Path, monkeypatch, capsys, quick_scores
) -> None:
    install(tmp_path, "broken", "no_such_module")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["run", "graphcl", "synthetic", *QUICK]) == 0
    error = capsys.readouterr().err
    assert "'broken' of their-package is left out: No module named" in error


def test_nobody_elses_method_takes_the_place_of_ours(
    tmp_path: Path, monkeypatch
) -> None:
    install(tmp_path, "joao", "their_module")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_methods()["joao"].value == "adapters.joao"


def test_ours_are_registered_too() -> None:
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    registered = content["project"]["entry-points"][GROUP]
    assert registered == {name: f"adapters.{name}" for name in BUILT_IN}
    assert {path.name for path in (ROOT / "adapters").iterdir()} - {
        "__pycache__"
    } == set(BUILT_IN)


def start(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command, "run", "graphcl", "synthetic", *QUICK],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["adapters/__init__.py", "adapters/graphcl.py", "adapters.py"],
)
def test_other_adapters_in_the_folder_are_named(name: str, tmp_path: Path) -> None:
    other = tmp_path / name
    other.parent.mkdir(exist_ok=True)
    other.touch()
    done = start([sys.executable, "-m", "sega_anchor"], tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"sega-anchor: {tmp_path / 'adapters'}")
    assert "hides the adapters of sega-anchor" in line
    assert "rename it, or start in another folder" in line


@pytest.mark.slow
def test_other_adapters_do_not_disturb_the_console_script(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("sega-anchor")
    if not script.exists():
        pytest.skip("sega-anchor is not installed here")
    (tmp_path / "adapters").mkdir()
    (tmp_path / "adapters" / "__init__.py").touch()
    done = start([str(script)], tmp_path)
    assert done.returncode == 0
    assert "hides the adapters" not in done.stderr
    assert "| GraphCL | synthetic |" in done.stdout
