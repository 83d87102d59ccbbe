"""Which run is compared with which, seed by seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..protocols.settings import seed_numbers
from ..report import Pair
from ..utils.checks import did_you_mean
from ._complete import Cell
from ._run import Run

#: Settings that decide the folds of a seed, beside the data set.
_FOLDS = ("protocol", "folds", "distinct", "tasks")


def against(
    runs: Sequence[Run], references: Sequence[str] | None = None
) -> list[tuple[Run, Run]]:
    """Return pairs of a run and its reference: each run against each reference.

    Two references are compared with each other once.

    Args:
        runs: of different names.
        references: names of some of them; default the first.

    Raises:
        ValueError: for a name that no run has, or runs of other seeds or folds.

    Example:
        >>> from adapters import graphcl
        >>> runs = [Run(name, graphcl, {}) for name in "ABC"]
        >>> [(run.name, other.name) for run, other in against(runs, ["A", "C"])]
        [('B', 'A'), ('C', 'A'), ('B', 'C')]
    """
    known = {run.name: run for run in runs}
    if references is None:
        references = list(known)[:1]
    found: list[tuple[Run, Run]] = []
    for name in dict.fromkeys(references):
        if name not in known:
            guess = did_you_mean(name, known)
            raise ValueError(f"there is no run {name!r} to be the reference; {guess}")
        reference = known[name]
        others = [run for run in runs if run is not reference]
        found += [(run, reference) for run in others if (reference, run) not in found]
    for run, reference in found:
        _check_folds(run, reference)
    return found


def _check_folds(run: Run, reference: Run) -> None:
    """Raise ValueError unless equal seeds of the two draw equal folds."""
    both = (run, reference)
    values: dict[str, tuple[object, ...]] = {
        "setting": (run.setting, reference.setting)
    }
    for name in _FOLDS:
        values[name] = tuple(getattr(r.settings, name, None) for r in both)
    values["seeds"] = tuple(sorted(seed_numbers(r.settings.seeds)) for r in both)
    for name, (one, other) in values.items():
        if one != other:
            raise ValueError(
                f"run {run.name!r} cannot be paired with {reference.name!r}: {name} is "
                f"{one!r} and {other!r}; give both the same"
            )


def pair(cells: Iterable[Cell], versus: Sequence[tuple[Run, Run]]) -> list[Pair]:
    """Return the results of :func:`complete` in pairs, one data set after the other.

    Args:
        cells: of all runs that are paired.
        versus: pairs of a run and its reference, from :func:`against`.

    Raises:
        ValueError: for results whose folds are not the same.
    """
    found = {(cell.run.name, cell.dataset): cell.result for cell in cells}
    return [
        Pair(found[reference.name, dataset], found[run.name, dataset])
        for dataset in dict.fromkeys(dataset for _, dataset in found)
        for run, reference in versus
    ]
