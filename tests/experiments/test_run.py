"""Runs: which options they take, and which values stand for alternatives."""

from dataclasses import asdict

import pytest

from adapters import graphcl, joao
from sega_anchor.experiments import Run, against


def test_a_list_of_single_values_means_alternatives() -> None:
    run = Run("SEGA", graphcl, {"height": [2, 3], "lr": [0.1, 0.01], "anchor": True})
    assert [one.choice for one in run.alternatives] == [
        {"height": height, "lr": lr} for height in (2, 3) for lr in (0.1, 0.01)
    ]
    assert [one.config.height for one in run.alternatives] == [2, 2, 3, 3]
    assert all(one.anchor for one in run.alternatives)


def test_what_is_a_list_itself_has_no_alternatives() -> None:
    options = {"evaluate_at": [2, 4], "epochs": 4, "seeds": [3, 5], "height": [2]}
    (one,) = Run("GraphCL", graphcl, options).alternatives
    assert one.settings.evaluate_at == (2, 4)
    assert one.settings.seeds == [3, 5]
    assert (one.config.height, one.choice, one.anchor) == (2, {}, False)


def test_settings_compete_too_and_values_get_their_type() -> None:
    run = Run("JOAO", joao, {"degree": ["anchor", "both"], "gamma": "1e-1"})
    assert [one.settings.degree for one in run.alternatives] == ["anchor", "both"]
    assert run.alternatives[0].config.gamma == 0.1  # as YAML reads it: text


def test_without_options_a_run_is_as_published() -> None:
    (one,) = Run("GraphCL", graphcl, {}).alternatives
    assert asdict(one.config) == asdict(graphcl.Config())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heigth": 3}, "no option 'heigth'; did you mean 'height'"),
        ({"gamma": 1}, "no option 'gamma'; "),
        ({"height": "tall"}, "height must be a whole number, got 'tall'"),
        ({"degree": "bth"}, "degree must be 'anchor' or 'both' or 'none' or null, got"),
        ({"height": []}, "height has no alternative"),
        ({"folds": [5, 10]}, r"folds must be a whole number, got \[5, 10\]"),
        ({"anchor": "maybe"}, "anchor must be true or false, got 'maybe'"),
        ({"temperature": -1}, "temperature must be positive, got -1"),
        ({"height": [3, 1]}, "height must be an integer"),
        ({"evaluate_at": []}, "evaluate_at is empty"),
        ({"evaluate_at": [5]}, "evaluate_at is given without epochs"),
    ],
)
def test_what_cannot_be_used_is_refused(options, message) -> None:
    with pytest.raises(ValueError, match=f"run 'SEGA': .*{message}"):
        Run("SEGA", graphcl, options)


def test_runs_of_other_folds_are_not_paired() -> None:
    runs = [
        Run("A", graphcl, {}),
        Run("B", graphcl, {"folds": 5}),
        Run("C", graphcl, {"seeds": 3}),
        Run("D", graphcl, {"protocol": "paper"}),
        Run("E", graphcl, {"seeds": [4, 3, 2, 1, 0], "degree": "both"}),
    ]
    for run, message in (
        (runs[1], "folds is 5 and 10"),
        (runs[2], r"seeds is \[0, 1, 2\] and \[0, 1, 2, 3, 4\]"),
        (runs[3], "protocol is 'paper' and 'honest'"),
    ):
        with pytest.raises(ValueError, match=f"cannot be paired with 'A': {message}"):
            against([runs[0], run])
    assert against([runs[0], runs[4]]) == [(runs[4], runs[0])]
    with pytest.raises(ValueError, match="no run 'a' to be the reference; "):
        against(runs, ["a"])
