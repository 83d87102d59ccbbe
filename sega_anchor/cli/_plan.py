"""What ``sega-anchor reproduce`` runs: rows and columns of a table, and the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import yaml

from ..utils.checks import did_you_mean
from ._runs_file import load_any, make_run

if TYPE_CHECKING:
    from ..experiments import Run

TargetName = Literal["table1", "table2", "table3", "table4", "rbbt", "height"]
Search = Literal["none", "small", "paper"]


@cache
def _content() -> dict[str, Any]:
    text = files(__package__).joinpath("reproduce.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


@dataclass(frozen=True)
class Plan:
    """The rows and columns of a table or figure.

    Args:
        title: what it is about.
        lines: options of each row by its name, as a file of runs has them.
        columns: names of data sets by the paper's name of the column.
        references: the row that a row is compared with, by its name.
    """

    title: str
    lines: Mapping[str, Mapping[str, Any]]
    columns: Mapping[str, str]
    references: Mapping[str, str]

    @classmethod
    def of(cls, name: TargetName, only: Sequence[str] | None = None) -> Plan:
        """Return the plan of a table or figure.

        Args:
            name: which.
            only: names of rows, columns or data sets; default all of them.

        Raises:
            ValueError: for a name that is none of these.

        Example:
            >>> plan = Plan.of("table1", ["SEGA", "RED-B", "MUTAG"])
            >>> list(plan.lines), plan.columns
            (['SEGA'], {'MUTAG': 'MUTAG', 'RED-B': 'REDDIT-BINARY'})
        """
        from ..report import published

        content = _content()[name]
        paper = published(content["datasets"])
        rows, columns = content["runs"], paper.datasets
        wanted = set(only or ())
        names = {*columns, *columns.values()}
        for one in wanted - names - {*rows}:
            guess = did_you_mean(one, sorted({*rows, *columns}))
            raise ValueError(f"{name} has no row or column {one!r}; {guess}")
        if wanted & {*rows}:
            rows = {row: line for row, line in rows.items() if row in wanted}
        if wanted & names:
            columns = {c: d for c, d in columns.items() if wanted & {c, d}}
        return cls(paper.title, rows, columns, content["against"])

    def runs(self, search: Search, defaults: Mapping[str, Any]) -> list[Run]:
        """Return the rows as runs, with the alternatives that a search compares.

        Args:
            search: "none" takes what is published, "small" compares the heights of
                coding trees, "paper" all that the paper says was searched.
            defaults: options of all runs, as far as their methods know them.
        """
        runs = []
        for row, line in self.lines.items():
            options = {**searched(line, search), **line}
            if line["method"] == "transfer":  # that came before
                options.pop("pretraining", None)
            runs.append(make_run("reproduce", row, options, defaults))
        return runs

    def against(self, runs: Sequence[Run]) -> list[tuple[Run, Run]]:
        """Return pairs of a row and its reference, as far as both are here."""
        known = {run.name: run for run in runs}
        return [
            (known[row], known[other])
            for row, other in self.references.items()
            if row in known and other in known
        ]


def searched(line: Mapping[str, Any], search: Search) -> dict[str, list[Any]]:
    """Return the alternatives that a search compares for a row.

    Example:
        >>> searched({"method": "graphcl", "anchor": True}, "small")
        {'height': [2, 3, 4, 5]}
    """
    sets = getattr(load_any(line["method"]), "SEARCH", {})
    wanted = {"none": set(), "small": {"height"}, "paper": set(sets)}[search]
    if not (line.get("anchor") or line.get("pretraining") == "sega"):
        wanted -= {"height"}
    return {name: list(values) for name, values in sets.items() if name in wanted}


def hours(
    line: Mapping[str, Any],
    run: Run,
    dataset: str,
    choose_on: int,
    finalists: int,
) -> float:
    """Return about how long a row on a data set takes on one core.

    Pre-training for table2, which all its columns share, is not counted.

    Args:
        line: the options of the row.
        run: the row with its alternatives.
        dataset: name of the data set.
        choose_on: on how many seeds alternatives are compared.
        finalists: how many of them get all seeds.
    """
    rates = _content()["rates"]
    graphs, nodes, edges = _content()["sizes"][dataset]
    ratio, epochs, evaluations = rates[line["method"]]
    if evaluations:  # the other settings count several trainings
        epochs = run.options.get("epochs") or epochs
        if run.options.get("evaluate_at") is not None:
            evaluations = len(run.options["evaluate_at"])
    epoch = rates["graph"] + rates["node"] * nodes + 2 * rates["edge"] * edges
    training = ratio * epochs * graphs * epoch * 1e-6
    embeddings = 3 if line.get("anchor") else 1
    scores = evaluations * embeddings * rates["folds"] * (graphs / 1000) ** 2
    return float(trainings(run, choose_on, finalists) * (training + scores) / 3600)


def trainings(run: Run, choose_on: int, finalists: int) -> int:
    """Return how often a row is trained on a data set."""
    from ..protocols.settings import seed_numbers

    many, seeds = len(run.alternatives), len(seed_numbers(run.settings.seeds))
    if many == 1:
        return seeds
    finalists = min(finalists, many)
    return finalists * seeds + (many - finalists) * min(choose_on, seeds)
