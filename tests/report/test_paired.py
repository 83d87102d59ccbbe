"""Differences: against brute force and scipy, and how often chance passes them."""

import itertools

import numpy as np
import pytest
from scipy import stats

from sega_anchor.report import Difference, correct, holm, sign_flip_test


def by_brute_force(values: list[float]) -> float:
    choices = itertools.product((-1, 1), repeat=len(values))
    sums = [abs(np.dot(signs, values)) for signs in choices]
    return float(np.mean([s >= abs(sum(values)) - 1e-9 for s in sums]))


@pytest.mark.parametrize("seed", range(10))
def test_the_sign_flip_test_counts_every_choice_of_signs(seed: int) -> None:
    random = np.random.RandomState(seed)
    for size in (1, 2, 3, 7, 10):
        values = random.normal(0.5, 1, size)
        assert sign_flip_test(values) == pytest.approx(by_brute_force(list(values)))
        tied = random.randint(-2, 3, size) / 10  # accuracies are: sums with many ties
        assert sign_flip_test(tied) == pytest.approx(by_brute_force(list(tied)))


def test_the_sign_flip_test_is_scipys() -> None:
    values = np.random.RandomState(0).normal(0.3, 1, 12)
    found = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip_test(values) == pytest.approx(found.pvalue)


def test_20_seeds_are_exact_and_more_than_40_refused() -> None:
    assert sign_flip_test(np.arange(1.0, 21)) == 2.0**-19
    assert sign_flip_test(np.ones(40)) == 2.0**-39
    with pytest.raises(ValueError, match="takes 1 to 40 differences, got 41: give few"):
        sign_flip_test(np.ones(41))


def test_holm_by_hand() -> None:
    # 4 * 0.005; 3 * 0.01; 2 * 0.03; 1 * 0.04, but not below the one before
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_the_corrected_t_test_by_its_formula() -> None:
    random = np.random.RandomState(0)
    one, other = random.rand(2, 5, 10)  # 5 seeds, 10 folds: trained on 9, tested on 1
    each = 100 * (one - other).ravel()
    error = np.sqrt((1 / 50 + 1 / 9) * each.var(ddof=1))
    found = Difference.of(one, other).graphs
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(each.mean()) / error, 49))
    wide = stats.t.ppf(0.975, 49) * error
    assert (found.low, found.high) == pytest.approx(
        (each.mean() - wide, each.mean() + wide)
    )
    plain = stats.ttest_rel(one.ravel(), other.ravel())
    assert found.p_value > plain.pvalue  # folds share their graphs


def test_the_interval_over_seeds_is_students() -> None:
    one, other = np.random.RandomState(0).rand(2, 5, 10)
    means = 100 * (one - other).mean(axis=1)
    found = Difference.of(one, other)
    expected = stats.ttest_1samp(means, 0).confidence_interval(0.95)
    assert (found.seeds.low, found.seeds.high) == pytest.approx(tuple(expected))
    assert found.values == pytest.approx(tuple(means))
    assert found.seeds.p_value == sign_flip_test(means)


def test_what_cannot_be_tested_is_left_out() -> None:
    one, other = np.random.RandomState(0).rand(2, 3, 10)
    assert Difference.of(one[:1], other[:1]).seeds is None  # a single seed
    assert Difference.of(one[:, :1], other[:, :1]).graphs is None  # nothing but means
    same = Difference.of(one, one)
    assert (same.seeds.p_value, same.graphs.p_value) == (1.0, 1.0)
    with pytest.raises(ValueError, match="2 and 3 seeds of 10 and 10 folds"):
        Difference.of(one, other[:2])


def test_correct_counts_each_rule_for_itself() -> None:
    scores = np.random.RandomState(0).rand(4, 6, 10)
    found = correct([Difference.of(one, scores[0]) for one in scores[1:]])
    for rule in ("seeds", "graphs"):
        inferences = [d.by(rule) for d in found]
        assert [i.adjusted for i in inferences] == holm([i.p_value for i in inferences])
    assert correct([]) == []


def rate(p_values: list[float]) -> float:
    return float(np.mean(np.array(p_values) <= 0.05))


def test_equal_methods_differ_over_seeds_in_5_of_100_tables() -> None:
    draws = np.random.RandomState(0).standard_t(4, (2000, 10))  # not even normal
    assert 0.035 < rate([sign_flip_test(draw) for draw in draws]) < 0.06


def test_what_a_table_resolves_is_found_in_80_of_100() -> None:
    random = np.random.RandomState(0)
    none = np.zeros((20, 1))
    noise = random.normal(0, 0.01, (500, 20, 1))
    resolves = np.mean([Difference.of(one, none).seeds.resolves for one in noise])
    p_values = [sign_flip_test(100 * one[:, 0] + resolves) for one in noise]
    assert 0.75 < rate(p_values) < 0.85


def cross_validated(x: np.ndarray, y: np.ndarray, seeds: int) -> np.ndarray:
    """Accuracy of the nearer mean of the two classes, ``(seeds, 10 folds)``."""
    scores = np.empty((seeds, 10))
    for seed in range(seeds):
        fold = np.random.RandomState(seed).permutation(len(y)) % 10
        train = fold != np.arange(10)[:, None]
        means = [
            (train * (y == c)) @ x / (train * (y == c)).sum(axis=1) for c in (0, 1)
        ]
        near = abs(x - means[1][:, None]) < abs(x - means[0][:, None])
        scores[seed] = ((near == y) & ~train).sum(axis=1) / (~train).sum(axis=1)
    return scores


def test_equally_good_methods_differ_over_graphs_in_few_tables() -> None:
    """And over seeds in many: a sample of graphs may well suit one of them better."""
    random = np.random.RandomState(0)
    found = []
    for _ in range(300):
        y = np.arange(60) % 2
        one, other = random.normal(0.7 * y, 1, (2, 60))
        scores = (cross_validated(x, y, seeds=8) for x in (one, other))
        found.append(Difference.of(*scores))
    assert rate([d.graphs.p_value for d in found]) < 0.07
    assert rate([d.seeds.p_value for d in found]) > 0.5
