"""From which strength, depth or size on does a method see nested communities?

    python examples/benchmarks/synthetic.py strength --seeds 5
    python examples/benchmarks/synthetic.py depth 1 2 3 --seeds 5 --picture depth.pdf

One knob of the synthetic sets is turned, the others stay; see SyntheticCommunities. The
table and the picture show mean and standard deviation over seeds of the accuracy, with
everything chosen on validation folds. Everything finished is on record in the results
folder: stop it at any time and start it again.
"""

import argparse
from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from adapters import graphcl
from sega_anchor.protocols.unsupervised import baseline
from sega_anchor.report import Accuracy, table
from sega_anchor.trees.draw._palette import oklch

KNOBS = {
    "strength": (0, 0.2, 0.4, 0.6, 0.8, 1),
    "depth": (1, 2, 3, 4),
    "size": (3, 4, 6, 8, 12, 16),
}
AXES = {
    "strength": "strength: share of the edges between blocks that join siblings",
    "depth": "depth: nested levels, the outermost of which tells the classes apart",
    "size": "size: nodes in a block, each with one edge to another block",
}
CHANCE = 100 / 3


class Row(NamedTuple):
    """How a method is run, and the hue and the dashes of its line."""

    adapter: ModuleType
    anchor: bool
    config: dict[str, Any]
    options: dict[str, Any]
    hue: float
    line: str = "-"


METHODS = {
    "GraphCL": Row(graphcl, False, {}, {}, 250),
    "SEGA": Row(graphcl, True, {}, {}, 60),
    "SEGA, quantities": Row(graphcl, True, {"quantities": True}, {}, 20),
    "its leaves shuffled": Row(
        graphcl, True, {"quantities": True, "tree": "shuffled"}, {}, 340, ":"
    ),
    "untrained GIN": Row(graphcl, False, {}, {"epochs": 0}, 205, ":"),
    "tree statistics": Row(baseline, False, {"kind": "trees"}, {}, 145, "--"),
}


def main() -> None:
    """Run what is not on record, print the table and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("knob", choices=KNOBS)
    parser.add_argument("values", type=float, nargs="*", help="of the knob")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--degree", default="both", choices=["both", "anchor", "none"])
    parser.add_argument("--epochs", type=int, default=None)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--results", default="results")
    parser.add_argument("--picture", default=None, help="default: synthetic-KNOB.png")
    given = parser.parse_args()
    values = sorted(given.values or KNOBS[given.knob])
    found = {
        name: [measure(METHODS[name], f"{value:g}", given) for value in values]
        for name in given.methods
    }
    header = [given.knob, *(f"{value:g}" for value in values)]
    print(table(header, [[name, *map(str, row)] for name, row in found.items()]))
    print(f"\nAccuracy in per cent over {given.seeds} seeds; chance: {CHANCE:.1f}.")
    path = given.picture or f"synthetic-{given.knob}.png"
    draw(given.knob, values, found).savefig(path, dpi=200)
    print(f"Picture: {path}")


def measure(row: Row, value: str, given: argparse.Namespace) -> Accuracy:
    """Return the accuracy of a method where the knob has a value."""
    options = {"epochs": given.epochs, **row.options}
    return row.adapter.run(
        f"synthetic-{given.knob}-{value}",
        anchor=row.anchor,
        config=row.adapter.Config(**row.config),
        degree=given.degree,
        seeds=given.seeds,
        results=given.results,
        jobs=given.jobs,
        **options,
    ).accuracy


def draw(knob: str, values: list[float], found: dict[str, list[Accuracy]]) -> Figure:
    """Return a figure with a line for each method, named at its right end."""
    figure = Figure(figsize=(7.0, 3.8), layout="constrained")
    axes = figure.subplots()
    spread = values[-1] - values[0] or 1.0
    for i, (name, row) in enumerate(found.items()):
        style = METHODS[name]
        # Moved a little, so that bars at one value do not hide each other.
        x = [value + 0.006 * spread * (i - (len(found) - 1) / 2) for value in values]
        mean, std = [a.mean for a in row], [a.std for a in row]
        colour = oklch(0.62, 0.15, style.hue)
        axes.errorbar(x, mean, std, color=colour, ls=style.line, marker="o", ms=4)
    axes.axhline(CHANCE, color="0.55", lw=0.8, ls=(0, (4, 3)), zorder=0)
    axes.set(xlabel=AXES[knob], ylabel="accuracy in per cent", ylim=(25, 100))
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set_xlim(values[0] - 0.03 * spread, values[-1] + 0.03 * spread)
    axes.grid(axis="y", color="0.92", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    ends = {name: row[-1].mean for name, row in found.items()}
    colours = {name: oklch(0.52, 0.15, METHODS[name].hue) for name in found}
    name_lines(axes, {**ends, "chance": CHANCE}, {**colours, "chance": "0.45"})
    return figure


def name_lines(axes: Axes, ends: dict[str, float], colours: dict[str, Any]) -> None:
    """Write names beside the right ends of lines, apart from each other."""
    names = sorted(ends, key=ends.__getitem__)
    places = [ends[name] for name in names]
    for _ in range(100):
        for i, (below, above) in enumerate(pairwise(places)):
            push = max(0.0, 4.5 - (above - below)) / 2
            places[i : i + 2] = below - push, above + push
    for name, place in zip(names, places, strict=True):
        axes.annotate(
            name,
            (1.0, place),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=colours[name],
        )


if __name__ == "__main__":
    main()
