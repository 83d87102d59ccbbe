"""``sega-anchor compare``: methods on data sets, paired seed by seed."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

from jsonargparse import ArgumentParser, Namespace

from ..utils.checks import did_you_mean
from ._json import cell_json, pair_json
from ._methods import load_method
from ._runs_file import read_runs

if TYPE_CHECKING:
    from ..experiments import Cell, Run
    from ..report.result import Choice

#: What is compared by default: a name, the adapter, what its Config is given.
COMPARED: dict[str, tuple[str, dict[str, Any]]] = {
    "graphcl": ("graphcl", {}),
    "adgcl": ("adgcl", {}),
    "joao": ("joao", {}),
    "joaov2": ("joao", {"version": 2}),
    "autogcl": ("autogcl", {}),
    "rgcl": ("rgcl", {}),
}


def add_arguments(parser: ArgumentParser) -> None:
    """Give the parser the arguments of ``sega-anchor compare``."""
    from ..protocols import Settings

    parser.add_argument("datasets", type=str, nargs="+", help="sets by name")
    parser.add_argument(
        "--methods",
        type=Literal[tuple(COMPARED)],
        nargs="+",
        help="what to compare with and without the anchor; default all",
    )
    parser.add_argument(
        "--runs",
        type=str | None,
        help="YAML file of what to compare instead, a name and its options a line, "
        "such as SEGA: {method: graphcl, anchor: true, height: [2, 3, 5]}; of a list "
        "of alternatives validation chooses, and all other options are defaults; "
        "methods are those of run, semisupervised, and transfer for fine-tuning",
    )
    parser.add_argument(
        "--only",
        type=str,
        nargs="+",
        help="names in the file that take part, in this order; default all",
    )
    parser.add_argument(
        "--reference",
        type=str,
        nargs="+",
        help="names in the file that all others are compared with; default the first",
    )
    parser.add_argument(
        "--choose_on", type=int, default=3, help="seeds on which alternatives compete"
    )
    parser.add_argument("--height", type=int, default=5, help="of the coding trees")
    parser.add_class_arguments(Settings)
    parser.set_defaults({"results": "results", "seeds": 3})


def run(chosen: Namespace) -> dict[str, Any]:
    """Run what is not on record, then print the tables; refuse what is missing first.

    Returns:
        All results and differences, as JSON knows them.

    Raises:
        ValueError: for data sets, runs or options that cannot be used.
    """
    from ..experiments import against, pair, summary
    from ..protocols import Settings
    from ..report import comparison_table, correct

    options = {f.name: chosen[f.name] for f in fields(Settings)}
    options["height"] = chosen.height
    if chosen.runs is None:
        for option in ("reference", "only"):
            if chosen[option]:
                raise ValueError(f"--{option} names runs of a file: give --runs too")
        versus = _with_and_without(chosen.methods or list(COMPARED), options)
        runs = [run for anchored, alone in versus for run in (alone, anchored)]
    else:
        if chosen.methods:
            raise ValueError("--methods and --runs both say what to compare: give one")
        runs = read_runs(chosen.runs, options)
        if chosen.only:
            runs = [_named(name, runs) for name in dict.fromkeys(chosen.only)]
        versus = against(runs, chosen.reference)
    cells = finish(runs, chosen.datasets, chosen.choose_on)
    pairs = pair(cells, versus)
    if chosen.runs is None:
        print("\nEpoch and embedding chosen on validation folds:\n")
        print(comparison_table(pairs))
        print("\nThe graph encoder's embedding alone (G), epoch chosen likewise:\n")
        print(comparison_table(pairs, embedding="G"))
        print("\nChosen on test folds, as the field reports:\n")
        print(comparison_table(pairs, choice="test"))
    print(f"\n{summary(cells, pairs)}")
    differences = correct([one.difference() for one in pairs])
    return {
        "runs": [cell_json(cell) for cell in cells],
        "pairs": list(map(pair_json, pairs, differences)),
    }


def finish(
    runs: list[Run],
    datasets: list[str],
    choose_on: int,
    finalists: int = 1,
    by: Choice = "validation",
) -> list[Cell]:
    """Run what is not on record, printing what is there; return it in order.

    Arguments are those of :func:`~sega_anchor.experiments.complete`.
    """
    from ..experiments import complete

    cells = []
    for cell in complete(runs, datasets, choose_on, finalists, by):
        what = f"{cell.result.config['label']}, {cell.dataset}"
        print(f"{what}: {cell.score}", flush=True)
        cells.append(cell)
    # Other processes may have changed the order.
    names = [run.name for run in runs]
    cells.sort(key=lambda c: (names.index(c.run.name), datasets.index(c.dataset)))
    return cells


def _named(name: str, runs: list[Run]) -> Run:
    """Return the run of a name."""
    known = {run.name: run for run in runs}
    if name not in known:
        raise ValueError(f"there is no run {name!r}; {did_you_mean(name, known)}")
    return known[name]


def _with_and_without(
    methods: list[str], options: dict[str, Any]
) -> list[tuple[Run, Run]]:
    """Return each method with the anchor beside the same without."""
    from ..experiments import Run

    found = []
    for name in methods:
        adapter, given = COMPARED[name]
        module = load_method(adapter)
        alone = Run(name, module, {**options, **given}, named=False)
        anchored = {**alone.options, "anchor": True}
        found.append((Run(f"{name}, anchor", module, anchored, named=False), alone))
    return found
