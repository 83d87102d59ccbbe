"""Profile: where the time went, also of what was interrupted."""

import time

import pytest

from adapters import graphcl
from sega_anchor import Profile
from sega_anchor.cli import main
from sega_anchor.profile import phase

RUN = ["run", "graphcl", "synthetic", "--seeds", "1", "--epochs", "1"]


def test_a_second_counts_for_the_innermost_phase() -> None:
    with Profile() as profile:
        with phase("outer"):
            time.sleep(0.02)
            with phase("inner"):
                time.sleep(0.04)
            time.sleep(0.02)
        time.sleep(0.03)
    found = profile.seconds
    assert found.keys() == {"outer", "inner", "other"}
    for name, least in (("outer", 0.04), ("inner", 0.04), ("other", 0.03)):
        assert least <= found[name] < least + 0.1


def test_an_error_ends_the_phases_it_leaves() -> None:
    with Profile() as profile:
        with pytest.raises(KeyError), phase("outer"), phase("inner"):
            raise KeyError
        with phase("later"):
            time.sleep(0.01)
    assert profile.seconds["later"] >= 0.01
    before = dict(profile.seconds)
    with phase("outer"):  # nobody measures any more
        pass
    assert profile.seconds == before


def test_a_run_is_divided_into_its_phases(quick_scores) -> None:
    began = time.perf_counter()
    with Profile() as profile:
        graphcl.run("synthetic", anchor=True, seeds=1, epochs=1, evaluate_at=(1,))
    spent = time.perf_counter() - began
    assert set(profile.seconds) == {
        "trees",
        "data",
        "loading",
        "augmentation",
        "forward and backward",
        "evaluation",
        "other",
    }
    assert sum(profile.seconds.values()) == pytest.approx(spent, abs=0.05)


def test_the_command_says_where_its_time_went(
    tmp_path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*RUN, "--evaluate_at", "[]", "--results", str(tmp_path)]
    assert main([*words, "--profile"]) == 0
    out = capsys.readouterr().out
    assert "Where the time went" in out and "forward and backward" in out
    assert main([*words]) == 0
    assert "Where the time went" not in capsys.readouterr().out

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(graphcl, "run", interrupted)
    assert main([*words, "--profile"]) == 130
    assert "Where the time went" in capsys.readouterr().out
