"""Pairs: what may be paired, and the tables of them."""

import dataclasses

import numpy as np
import pytest
import torch

from sega_anchor.report import (
    Evaluation,
    Pair,
    Result,
    comparison_table,
    difference_table,
    result_table,
)


def result(label: str, dataset: str, tests: list[float]) -> Result:
    """One candidate, one fold, an accuracy for each seed."""
    evaluations = [
        Evaluation(seed, 20, "G", (test,), (0.5,)) for seed, test in enumerate(tests)
    ]
    config = {"label": label, "dataset": dataset, "protocol": "honest"}
    return Result({**config, "choice": "test"}, evaluations)


def folds(label: str, dataset: str, better: float, seeds: int = 4) -> Result:
    """One candidate, ten folds."""
    random = np.random.RandomState(len(label))
    evaluations = []
    for seed in range(seeds):
        test = 0.7 + better + 0.02 * random.randn(10)
        evaluations.append(Evaluation(seed, 20, "G", tuple(test), (0.5,) * 10))
    return dataclasses.replace(result(label, dataset, []), evaluations=evaluations)


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def test_the_table_has_the_papers_layout() -> None:
    pairs = [
        Pair(result("JOAO", name, [0.8, 0.9]), result("SEGA-JOAO", name, better))
        for name, better in (("MUTAG", [0.82, 0.94]), ("DD", [0.8, 0.9]))
    ]
    pairs.append(Pair(result("RGCL", "DD", [0.5]), result("SEGA-RGCL", "DD", [0.25])))
    cells = rows(comparison_table(pairs))
    assert cells[0] == ["method", "MUTAG", "DD"]
    assert cells[2:] == [
        ["JOAO", "85.00 ± 5.00", "85.00 ± 5.00"],
        ["SEGA-JOAO", "88.00 ± 6.00", "85.00 ± 5.00"],
        ["gain", "+3.00 ± 1.00, p = 0.5", "+0.00 ± 0.00, p = 1"],
        ["RGCL", "", "50.00"],
        ["SEGA-RGCL", "", "25.00"],
        ["gain", "", "-25.00"],
    ]


def test_wide_tables_are_folded_at_100_columns() -> None:
    names = ("github_stargazers", "REDDIT-MULTI-5K", "REDDIT-BINARY")
    methods = ("GraphCL", "AD-GCL", "JOAO", "JOAOv2", "AutoGCL", "RGCL")

    def spread(label: str, name: str, kinds: str) -> Result:
        scores = [
            Evaluation(seed, 20, kind, (0.5 + len(label) * seed**2 / 999,), (0.5,))
            for seed in range(3)
            for kind in kinds.split()
        ]
        return Result({**result(label, name, []).config}, scores)

    pairs = [
        Pair(spread(method, name, "G"), spread(f"SEGA-{method}", name, "G T GT"))
        for method in methods
        for name in (*names, "COLLAB")
    ]
    three = comparison_table(
        [p for p in pairs if p.reference.config["dataset"] in names]
    )
    both = result_table([r for p in pairs for r in (p.reference, p.result)])
    four = comparison_table(pairs)
    for text in (three, both, four, difference_table(pairs, "seeds")):
        assert max(map(len, text.splitlines())) <= 100
    parts = [part.splitlines() for part in four.split("\n\n")]
    assert len(parts) == 2
    assert [part[2].split("|")[1].strip() for part in parts] == ["GraphCL"] * 2
    assert "COLLAB" in parts[1][0]
    assert "github_stargazers |" in both.split("\n\n")[1]  # rows can be told apart


def test_differences_say_what_both_rules_find_corrected_over_the_table() -> None:
    pairs = [
        Pair(folds("GraphCL", name, 0.0), folds("SEGA", name, better))
        for name, better in (("MUTAG", 0.2), ("DD", 0.0))
    ]
    seeds = rows(difference_table(pairs, "seeds"))
    assert seeds[0][:4] == ["data set", "method", "against", "difference"]
    assert seeds[0][4:] == ["95 % interval", "p", "p, Holm", "resolves"]
    assert [row[:3] for row in seeds[2:]] == [
        ["MUTAG", "SEGA", "GraphCL"],
        ["DD", "SEGA", "GraphCL"],
    ]
    assert seeds[2][5:7] == ["0.12", "0.25"]  # 2 of 16 choices of signs; of two rows
    graphs = rows(difference_table(pairs, "graphs"))
    one = pairs[0].difference()
    assert graphs[2][3] == f"{one.mean:+.2f}"
    assert graphs[2][4] == f"{one.graphs.low:+.2f} to {one.graphs.high:+.2f}"
    assert graphs[2][6] == f"{2 * one.graphs.p_value:.2g}"
    alone = [Pair(folds("A", "DD", 0, seeds=1), folds("B", "DD", 0, seeds=1))]
    assert rows(difference_table(alone, "seeds"))[2][4:] == ["-"] * 4


def test_only_equal_seeds_and_folds_are_paired() -> None:
    one = folds("GraphCL", "DD", 0.0)

    def refused(message: str, other: Result) -> None:
        with pytest.raises(ValueError, match=f"cannot be paired: {message}"):
            Pair(one, other)

    refused(r"their seeds are \[0, 1, 2\] and \[0, 1, 2, 3\]", folds("S", "DD", 0, 3))
    refused("dataset is 'MUTAG' and 'DD'", folds("SEGA", "MUTAG", 0.0))
    for name, value in (("protocol", "paper"), ("folds", 5)):
        changed = {**one.config, name: value}
        refused(f"{name} is {value!r}", dataclasses.replace(one, config=changed))
    one = dataclasses.replace(one, labels=torch.tensor([0, 1, 1]))
    fewer = dataclasses.replace(one, labels=torch.tensor([0, 1]))
    refused("they were evaluated on other graphs", fewer)


def test_published_folds_differ_so_only_seeds_are_compared() -> None:
    pair = Pair(
        *(
            dataclasses.replace(one, config={**one.config, "protocol": "paper"})
            for one in (folds("GraphCL", "DD", 0.0), folds("SEGA", "DD", 0.1))
        )
    )
    for choice in ("validation", "test"):
        difference = pair.difference(choice)
        assert difference.graphs is None
        assert difference.seeds.p_value == 0.125
