"""Which number is for choosing, which for reporting."""

import numpy as np
import pytest

from sega_anchor.report import (
    Evaluation,
    Pair,
    Result,
    Tuned,
    comparison_table,
    result_table,
    tuned_table,
)

EVALUATIONS = [
    Evaluation(0, 10, "G", test=(1.0, 0.0), validation=(0.5, 0.9)),
    Evaluation(0, 20, "G", test=(0.8, 0.6), validation=(0.6, 0.2)),
    Evaluation(1, 10, "G", test=(0.4, 0.4), validation=(0.3, 0.3)),
    Evaluation(1, 20, "G", test=(0.2, 0.2), validation=(0.7, 0.1)),
]
CURVES = {"validation": [[[0.1, 0.3, 0.2]]], "test": [[[0.5, 0.6, 0.7]]]}


def config(**options: str) -> dict[str, str]:
    names = {"label": "SEGA", "dataset": "MUTAG", "choice": "test"}
    return {**names, "protocol": "honest", **options}


def test_validation_is_that_of_the_candidate_chosen_on_validation() -> None:
    honest = Result(config(), EVALUATIONS)
    assert honest.validation.values == pytest.approx((75.0, 50.0))  # fold by fold
    assert honest.accuracy.values == pytest.approx((40.0, 30.0))
    assert honest.validation.candidates == honest.accuracy.candidates == 2
    paper = Result(config(protocol="paper"), EVALUATIONS)
    assert paper.validation.values == pytest.approx((70.0, 40.0))  # by the mean
    assert paper.by_validation().values == pytest.approx((50.0, 20.0))
    with pytest.raises(ValueError, match="name epochs in evaluate_at"):
        _ = Result(config(), []).validation


def test_the_accuracies_behind_a_choice_are_those_of_its_folds() -> None:
    honest = Result(config(), EVALUATIONS)
    assert honest.test_scores().tolist() == [[0.8, 0.0], [0.2, 0.4]]  # fold by fold
    assert honest.test_scores("test").tolist() == [[1.0, 0.0], [0.4, 0.4]]
    for scores, accuracy in (
        (honest.test_scores(), honest.by_validation()),
        (honest.test_scores("test", "G"), honest.by_test("G")),
    ):
        assert 100 * scores.mean(axis=1) == pytest.approx(accuracy.values)
    paper = Result(config(protocol="paper"), EVALUATIONS)  # other folds each time
    assert paper.test_scores().tolist() == [[0.5], [0.2]]
    assert paper.test_scores("test").shape == (2, 1)


def test_validation_of_fine_tuning_is_that_of_the_epoch_chosen() -> None:
    curves = {name: np.array(curve) for name, curve in CURVES.items()}
    tuned = Tuned(config(), curves)
    assert (str(tuned.validation), str(tuned.score)) == ("30.00", "60.00")
    del curves["validation"]
    with pytest.raises(ValueError, match='run with protocol="honest"'):
        _ = Tuned(config(protocol="paper"), curves).validation


def test_fine_tunings_are_paired_by_the_scores_that_their_protocol_reports() -> None:
    curves = {
        "validation": np.array([[[3, 2, 1], [1, 2, 3]], [[1, 3, 2], [2, 3, 1]]]),
        "test": np.arange(12).reshape(2, 2, 3) / 100,
    }

    def tuned(**options: str) -> Tuned:
        return Tuned(config(setting="transfer", **options), curves, {7: [], 5: []})

    honest = tuned()
    assert honest.test_scores().tolist() == [[0.0, 0.05], [0.07, 0.1]]
    last = tuned(protocol="paper", choice="last")
    assert last.test_scores().tolist() == [[0.02, 0.05], [0.08, 0.11]]
    for one in (honest, last, tuned(protocol="paper", choice="test")):
        by_fold = 100 * one.test_scores().mean(axis=1)
        assert by_fold == pytest.approx(one.score.values)
    # Seeds are met in their order, whatever that of the runs was.
    other = Tuned(honest.config, curves, {5: [], 7: []})
    assert honest.by_seed().test_scores().tolist() == [[0.07, 0.1], [0.0, 0.05]]
    pair = Pair(other, honest)
    assert pair.difference().values == pytest.approx((6.0, -6.0))
    assert "+0.00 ± 6.00" in comparison_table([pair])
    for reference, message in (
        (Result(config(), EVALUATIONS), "setting is 'transfer' and None"),
        (Tuned(honest.config, curves, {5: [], 6: []}), "their seeds are"),
        (last, "protocol is 'honest' and 'paper'"),
    ):
        with pytest.raises(ValueError, match=message):
            Pair(reference, honest)


def test_tables_show_what_to_choose_by_beside_what_to_report() -> None:
    found: dict[str, str] = {}  # a wide table is several, one below the other
    for part in result_table([Result(config(), EVALUATIONS)]).split("\n\n"):
        head, _, row = (line.strip("| ").split(" | ") for line in part.splitlines())
        names = (name.strip() for name in head)
        found |= zip(names, (cell.strip() for cell in row), strict=True)
    assert found["validation"] == "62.50 ± 12.50"
    assert found["by validation"] == "35.00 ± 5.00"
    curves = {name: np.array(curve) for name, curve in CURVES.items()}
    assert "| 30.00 " in tuned_table([Tuned(config(), curves)])
    # There the epoch is chosen by a loss, which is no accuracy.
    few = Tuned(config(setting="semi-supervised"), curves)
    assert "30.00" not in tuned_table([few])
