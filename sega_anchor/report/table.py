"""Markdown tables of results."""

from collections.abc import Sequence

from .result import Result

#: Characters in a line; a wider table is folded.
_WIDTH = 100


def table(header: Sequence[str], rows: Sequence[Sequence[str]], keys: int = 1) -> str:
    """Return a Markdown table with aligned columns.

    One of more than 100 characters in a line is folded: into several tables, one below
    the other, which all begin with the key columns.

    Args:
        header: of each column.
        rows: a string for each column.
        keys: how many columns say what a row is about.

    Example:
        >>> print(table(["set", "accuracy"], [["MUTAG", "88.1"]]))
        | set   | accuracy |
        | ----- | -------- |
        | MUTAG | 88.1     |
    """
    cells = [list(header), *map(list, rows)]
    width = [max(len(row[i]) for row in cells) for i in range(len(header))]
    parts: list[list[int]] = [[]]
    for column in range(keys, len(header)):
        beside = [*range(keys), *parts[-1], column]
        if parts[-1] and sum(width[i] + 3 for i in beside) + 1 > _WIDTH:
            parts.append([])
        parts[-1].append(column)
    folded = [[*range(min(keys, len(header))), *part] for part in parts]
    return "\n\n".join(
        _aligned([[row[i] for i in part] for row in cells], [width[i] for i in part])
        for part in folded
    )


def _aligned(cells: Sequence[Sequence[str]], width: Sequence[int]) -> str:
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(row, width, strict=True)) + " |"
        for row in cells
    ]
    lines.insert(1, "| " + " | ".join("-" * w for w in width) + " |")
    return "\n".join(lines)


def result_table(results: Sequence[Result]) -> str:
    """Return a table with a row for each result.

    Columns: accuracy on validation folds, by which to choose; test accuracy chosen on
    validation folds, to report; that chosen on test folds; number of candidates
    compared; then every embedding at the last epoch.
    """
    names = sorted({name for r in results for _, name in r.candidates()})
    header = ["method", "data set", "validation", "by validation", "by test"]
    header += ["compared", *(f"{name}, last epoch" for name in names), "seeds"]
    return table(header, [_row(result, names) for result in results], keys=2)


def _row(result: Result, names: Sequence[str]) -> list[str]:
    last = max(epoch for epoch, _ in result.candidates())
    chosen = result.by_validation()
    row = [
        str(result.config["label"]),
        str(result.config["dataset"]),
        str(result.validation),
        str(chosen),
        str(result.by_test()),
        str(chosen.candidates),
    ]
    for name in names:
        known = (last, name) in result.candidates()
        row.append(str(result.of(last, name)) if known else "-")
    return [*row, str(chosen.seeds)]
