"""What a user installs: the wheel, its files and its behaviour elsewhere."""

import zipfile

import pytest
from hatchling.builders.wheel import WheelBuilder

from sega_anchor.cli._methods import BUILT_IN as METHODS
from tests.helpers.paths import ROOT

TAKEN = set(  # modules of the package that shares the name "adapters"
    "utils training trainer loading interface context composition head_utils "
    "hub_mixin model_mixin configuration heads methods models wrappers".split()
)


@pytest.fixture(scope="module")
def names(tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder))
    return zipfile.ZipFile(wheel).namelist()


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
