"""published: the numbers of the paper's tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from ..utils.checks import check_choice

TableName = Literal["table1", "table2", "table3", "table4"]
#: Mean and standard deviation, in per cent.
Value = tuple[float, float]


@dataclass(frozen=True)
class PublishedRow:
    """A method in one of the paper's tables.

    Args:
        values: by column of the table; None where the paper has none.
        label: how records and tables of this package call the method; None if it is
            none of ours.
        average: over the columns, as printed.
        rank: mean rank over the columns, as printed.
    """

    values: Mapping[str, Value | None]
    label: str | None = None
    average: float | None = None
    rank: float | None = None


@dataclass(frozen=True)
class PublishedTable:
    """One of the paper's tables.

    Args:
        title: what it is about.
        setting: "unsupervised", "transfer" or "semi-supervised".
        datasets: for each column how :func:`~sega_anchor.datasets.load` calls it.
        rows: by the paper's name of the method.
    """

    title: str
    setting: str
    datasets: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, PublishedRow] = field(default_factory=dict)


@cache
def published(name: TableName) -> PublishedTable:
    """Return one of the paper's tables.

    Args:
        name: "table1" unsupervised, "table2" transfer, "table3" semi-supervised,
            "table4" one view of five methods replaced.

    Raises:
        ValueError: for another name.

    Source: Wu et al., ICML 2023.

    Example:
        >>> table = published("table1")
        >>> table.datasets["RED-B"], table.rows["SEGA"].values["RED-B"]
        ('REDDIT-BINARY', (90.21, 0.65))
    """
    check_choice("table", name, TableName)
    text = files(__package__).joinpath("published.json").read_text(encoding="utf-8")
    found = json.loads(text)["tables"][name]
    rows = {
        row: PublishedRow(
            {c: None if v is None else (v[0], v[1]) for c, v in one["values"].items()},
            one.get("label"),
            one.get("average"),
            one.get("rank"),
        )
        for row, one in found["rows"].items()
    }
    return PublishedTable(found["title"], found["setting"], found["datasets"], rows)


#: All tables by name.
TABLES: tuple[TableName, ...] = get_args(TableName)
