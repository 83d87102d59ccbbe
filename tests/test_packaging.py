"""What a user installs: the wheel, its files and its behaviour elsewhere."""

import re
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
import yaml
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from readme_renderer.markdown import render

from sega_anchor.cli._methods import BUILT_IN as METHODS
from tests.helpers.paths import ROOT

TAKEN = set(  # modules of the package that shares the name "adapters"
    "utils training trainer loading interface context composition head_utils "
    "hub_mixin model_mixin configuration heads methods models wrappers".split()
)


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """What the sdist unpacks to."""
    folder = tmp_path_factory.mktemp("sdist")
    (archive,) = SdistBuilder(str(ROOT)).build(directory=str(folder))
    # Python has the filter since 3.11.4, and asks for it since 3.12.
    safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(archive) as file:
        file.extractall(folder, **safely)
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


@pytest.fixture(scope="module")
def wheel(source: Path) -> zipfile.ZipFile:
    """The wheel, built as installers do where they find an sdist only."""
    (path,) = WheelBuilder(str(source)).build(directory=str(source.parent))
    return zipfile.ZipFile(path)


@pytest.fixture(scope="module")
def names(wheel: zipfile.ZipFile) -> list[str]:
    return wheel.namelist()


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile, names: list[str]) -> Message:
    (path,) = (name for name in names if name.endswith(".dist-info/METADATA"))
    return message_from_bytes(wheel.read(path))


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_adapters_stay_a_namespace_portion(names: list[str]) -> None:
    import adapters

    assert adapters.__file__ is None
    assert "adapters/__init__.py" not in names
    inside = {name.split("/")[1] for name in names if name.startswith("adapters/")}
    assert inside == set(METHODS)
    assert not inside & TAKEN


DATA = {  # the paper's numbers, how to repeat them, what pages of results are made of
    "sega_anchor/cli/reproduce.yaml",
    "sega_anchor/report/published.json",
    "sega_anchor/report/page/page.html",
    "sega_anchor/report/page/page.js",
    "sega_anchor/report/page/style.css",
}


def test_the_wheel_holds_code_types_and_what_reports_need(names: list[str]) -> None:
    assert "sega_anchor/py.typed" in names
    assert {f"adapters/{name}/py.typed" for name in METHODS} <= set(names)
    others = [
        name
        for name in names
        if not name.endswith((".py", "py.typed")) and ".dist-info/" not in name
    ]
    assert set(others) == DATA


def test_the_sdist_holds_what_its_readme_and_tests_need(source: Path) -> None:
    for name in "tests docs examples CITATION.cff Makefile .ci/constraints.txt".split():
        assert (source / name).exists(), name
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", (source / "README.md").read_text())
    inside = [link for link in links if not link.startswith("http")]
    assert inside
    assert [link for link in inside if not (source / link).exists()] == []


def test_the_long_description_leads_nowhere_that_is_missing(metadata: Message) -> None:
    assert metadata["Description-Content-Type"] == "text/markdown"
    page = render(str(metadata.get_payload()))  # as the package index does
    assert page is not None
    targets = re.findall(r'(?:href|src)="([^"]*)"', page)
    assert [t for t in targets if not t.startswith(("https://", "#user-content"))] == []
    assert "docs/results.md" in page  # of a link into the repository the words stay
    assert "](" not in page
    assert re.search(r"<h2[^>]*>.*Install", page)


def test_only_versions_of_python_that_are_tested_are_named(
    project: dict[str, Any],
) -> None:
    start = "Programming Language :: Python :: 3."
    named = [c for c in project["classifiers"] if c.startswith(start)]
    assert named == [f"{start}11"]
    assert project["requires-python"] == ">=3.11"


def test_addresses_are_real(project: dict[str, Any]) -> None:
    assert "Paper" in project["urls"]
    for url in project["urls"].values():
        assert url.startswith("https://")
        assert "example" not in url and "your" not in url.lower()


def test_the_citation_is_of_this_version_and_prefers_the_paper(
    project: dict[str, Any],
) -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0"
    assert citation["title"] == project["name"]
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
    assert citation["authors"] and citation["message"]
    paper = citation["preferred-citation"]
    assert paper["authors"][0] == {"family-names": "Wu", "given-names": "Junran"}
    assert paper["url"] == project["urls"]["Paper"]
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert f'"{paper["title"]}"' in readme
