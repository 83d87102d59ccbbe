"""Fixtures for the tests of whole data sets and of their cache."""

from collections.abc import Iterator

import pytest

from sega_anchor.trees import build, build_many
from tests.helpers.limited import LimitedBuilder


@pytest.fixture(scope="module")
def limited() -> Iterator[LimitedBuilder]:
    """``build_coding_tree`` with a time limit."""
    builder = LimitedBuilder()
    yield builder
    builder.close()


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_many, "CHUNK", 40)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many graphs each call of the builder got."""
    calls: list[int] = []

    def counted(edges, edge_ptr, sizes, weight, **options):
        calls.append(len(sizes))
        return build_arrays(edges, edge_ptr, sizes, weight, **options)

    build_arrays = build.build_arrays
    monkeypatch.setattr(build, "build_arrays", counted)
    return calls
