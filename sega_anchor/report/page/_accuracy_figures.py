"""Figures of accuracies: random trees, heights, entropies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..collect import Cell
from ..result import Choice
from ._graphs import Trees, mean_entropy, trees_of
from ._svg import Figure, accent, canvas, error_points, svg

_RANDOM = ", random tree"
#: The number that each protocol reports.
CHOICE: dict[str, Choice] = {"honest": "validation", "paper": "test"}


class Point(NamedTuple):
    """What the configurations of equal trees achieve."""

    trees: Trees
    mean: float
    std: float
    seeds: int


def random_trees(cells: Sequence[Cell], accents: dict[str, int]) -> Iterator[Figure]:
    """Yield, for each method, SEGA beside the same with randomly balanced trees."""
    for (setting, protocol, own), pairs in _with_random_trees(cells).items():
        drawing, axes = canvas(height=0.7 + 0.4 * len(pairs))
        for y, pair in enumerate(reversed(pairs)):
            for lift, fill, cell in zip(
                (0.12, -0.12), (None, "none"), pair, strict=True
            ):
                if (found := cell.chosen(CHOICE[protocol])) is not None:
                    axes.errorbar(
                        found.accuracy.mean,
                        y + lift,
                        xerr=found.accuracy.std,
                        fmt="o",
                        elinewidth=0.8,
                        color=accent(accents[cell.label]),
                        markerfacecolor=fill,
                    )
        datasets = [coding.dataset for coding, _ in pairs]
        axes.set_yticks(range(len(pairs)), datasets[::-1])
        axes.set_ylim(-0.6, len(pairs) - 0.4)
        axes.set_xlabel(_what(setting))
        title = f"{own} beside randomly balanced trees, protocol {protocol}"
        caption = f"At equal heights. {_chosen(protocol)}"
        labels = (own, own + _RANDOM)
        yield Figure(title, svg(drawing, title), tuple(datasets), labels, caption)


def _with_random_trees(
    cells: Sequence[Cell],
) -> dict[tuple[str, str, str], list[tuple[Cell, Cell]]]:
    """Return cells and the same with random trees, of the heights that both have.

    The keys are setting, protocol and label.
    """
    groups: dict[tuple[str, str, str], list[tuple[Cell, Cell]]] = defaultdict(list)
    known = {(c.setting, c.protocol, c.dataset, c.label): c for c in cells}
    for (setting, protocol, dataset, label), random in known.items():
        own = label.removesuffix(_RANDOM)
        coding = known.get((setting, protocol, dataset, own))
        if own == label or coding is None:
            continue
        equal = {one.trees.height for one in points_of(coding)}
        equal &= {one.trees.height for one in points_of(random)}
        if equal:
            pair = _at_heights(coding, equal), _at_heights(random, equal)
            groups[setting, protocol, own].append(pair)
    return groups


def heights(cells: Sequence[Cell], accents: dict[str, int]) -> Iterator[Figure]:
    """Yield, for each data set, accuracy against the height of the trees."""
    for (setting, protocol, dataset), found in _by_dataset(cells).items():
        series = {cell.label: points_of(cell) for cell in found}
        series = {
            label: points
            for label, points in series.items()
            if len({one.trees.height for one in points}) > 1
        }
        if not series:
            continue
        drawing, axes = canvas()
        for place, (label, points) in enumerate(series.items()):
            colour = accent(accents[label])
            ordered = sorted(points, key=lambda one: one.trees.height)
            aside = 0.06 * (place - (len(series) - 1) / 2)  # bars beside each other
            x = [one.trees.height + aside for one in ordered]
            style = "--" if label.endswith(_RANDOM) else "-"
            y, spread = [one.mean for one in ordered], [one.std for one in ordered]
            error_points(axes, x, y, spread, colour, linestyle=style)
        every = {one.trees.height for points in series.values() for one in points}
        axes.set_xticks(sorted(every))
        axes.set_xlabel("height of the trees")
        axes.set_ylabel(_what(setting))
        axes.margins(x=0.12)
        seeds = {one.seeds for points in series.values() for one in points}
        title = f"{dataset}, protocol {protocol}"
        caption = f"{_chosen(protocol)} Seeds: {_range(seeds)}."
        text = svg(drawing, f"Accuracy against height: {title}")
        yield Figure(title, text, (dataset,), tuple(series), caption)


def entropies(cells: Sequence[Cell], accents: dict[str, int]) -> Iterator[Figure]:
    """Yield, for each local data set, accuracy against the entropy of the trees."""
    for (setting, protocol, dataset), found in _by_dataset(cells).items():
        series = {}
        for cell in found:
            bits = [(mean_entropy(dataset, p.trees), p) for p in points_of(cell)]
            series[cell.label] = [(x, p) for x, p in bits if x is not None]
        series = {
            label: points
            for label, points in series.items()
            if len(points) > 1 or label.endswith(_RANDOM) or label + _RANDOM in series
        }
        if len({x for points in series.values() for x, _ in points}) < 2:
            continue
        drawing, axes = canvas()
        for label, points in series.items():
            x, y = [at for at, _ in points], [one.mean for _, one in points]
            spread = [one.std for _, one in points]
            hollow = {"markerfacecolor": "none"} if label.endswith(_RANDOM) else {}
            colour = accent(accents[label])
            error_points(axes, x, y, spread, colour, linestyle="none", **hollow)
            for at, one in points:
                axes.annotate(
                    str(one.trees.height),
                    (at, one.mean),
                    xytext=(3.5, 2.5),
                    textcoords="offset points",
                    fontsize=7,
                )
        axes.set_xlabel("mean structural entropy of the trees, bits")
        axes.set_ylabel(_what(setting))
        axes.margins(x=0.08)
        title = f"{dataset}, protocol {protocol}"
        caption = f"Numbers: height of the trees. {_chosen(protocol)}"
        text = svg(drawing, f"Accuracy against entropy: {title}")
        labels = tuple(label for label, points in series.items() if points)
        yield Figure(title, text, (dataset,), labels, caption)


def points_of(cell: Cell) -> list[Point]:
    """Return the value of a cell at each kind of trees, as if there were no other."""
    groups = defaultdict(list)
    for one in cell.measured:
        if (trees := trees_of(one.config)) is not None:
            groups[trees].append(one)
    points = []
    for trees, those in groups.items():
        found = replace(cell, measured=tuple(those)).chosen(CHOICE[cell.protocol])
        if found is not None:
            accuracy = found.accuracy
            points.append(Point(trees, accuracy.mean, accuracy.std, accuracy.seeds))
    return points


def _at_heights(cell: Cell, heights: set[int]) -> Cell:
    """Return a cell as if only trees of some heights had been tried."""
    kept = [
        one
        for one in cell.measured
        if (trees := trees_of(one.config)) is not None and trees.height in heights
    ]
    return replace(cell, measured=tuple(kept))


def _by_dataset(cells: Sequence[Cell]) -> dict[tuple[str, str, str], list[Cell]]:
    groups = defaultdict(list)
    for cell in cells:
        groups[cell.setting, cell.protocol, cell.dataset].append(cell)
    return groups


def _what(setting: str) -> str:
    return "ROC-AUC, %" if setting == "transfer" else "accuracy, %"


def _chosen(protocol: str) -> str:
    return f"Chosen on {CHOICE[protocol]}; bars: standard deviation over seeds."


def _range(numbers: set[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"
