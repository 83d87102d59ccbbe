"""Figures of single runs: learning curves, maps of embeddings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from ..accuracy import Floats
from ..collect import Cell, Measured
from ..load import load
from ..result import Result
from ._graphs import class_of_graphs
from ._svg import Figure, accent, canvas, class_colour, error_points, svg

#: So many graphs, spread over the set, are points of a map.
_DRAWN = 250
_STYLES = {"G": "-", "T": ":", "GT": "--"}
_NAMES = {
    "G": "solid: graph encoder",
    "T": "dotted: tree encoder",
    "GT": "dashed: both",
}
#: Lines of fine-tuning.
_PARTS = {"test": "solid", "validation": "dashed"}


def learning_curves(cells: Sequence[Cell], accents: dict[str, int]) -> Iterator[Figure]:
    """Yield, for each cell, scores and loss by epoch of the configuration chosen."""
    for cell in cells:
        one = cell.best.measured
        loss = _losses(one)
        epochs = one.result.candidates() if isinstance(one.result, Result) else ()
        if len(loss) < 2 and not _curves(one) and len({e for e, _ in epochs}) < 2:
            continue
        rows = 1 + (len(loss) > 1)
        drawing, axes = canvas(rows, 1, 1.3 + 1.0 * rows, squeeze=False)
        colour = accent(accents[cell.label])
        _draw_scores(axes[0, 0], one, colour)
        if rows > 1:
            axes[1, 0].plot(range(1, len(loss) + 1), loss, color=colour)
            axes[1, 0].set_ylabel("loss")
            axes[1, 0].set_xlabel("epoch of pre-training" if _curves(one) else "epoch")
        for ax in drawing.axes:
            ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        title = f"{cell.label} on {cell.dataset}, protocol {cell.protocol}"
        text = svg(drawing, f"Learning curves: {title}, {cell.setting}")
        caption = f"{cell.setting.capitalize()}; mean over {len(one.seeds)} seeds."
        caption += _key(one)
        yield Figure(title, text, (cell.dataset,), (cell.label,), caption)


def maps(cells: Sequence[Cell], accents: dict[str, int]) -> Iterator[Figure]:
    """Yield, for each method with an anchor, its embeddings beside those without."""
    here = [cell for cell in cells if cell.setting == "unsupervised"]
    known = {(cell.protocol, cell.dataset, cell.label): cell for cell in here}
    for (protocol, dataset, label), cell in known.items():
        other = known.get((protocol, dataset, without_anchor(label)))
        if other is None or other is cell:
            continue
        drawing, axes = canvas(1, 2, 2.1)
        classes = class_of_graphs(dataset)
        both = [_embedding(one) for one in (other, cell)]
        if any(one is None for one in both):
            continue
        for ax, points, one in zip(axes, both, (other, cell), strict=True):
            assert points is not None
            _draw_map(ax, points, classes)
            ax.set_title(one.label, wrap=True)
        title = f"{dataset}, protocol {protocol}"
        shown = "colours: classes" if classes is not None else "the set is not here"
        text = svg(drawing, f"Map of embeddings: {label}, {title}")
        caption = (
            f"The graph encoder's embedding, last epoch of the last seed; {shown}."
        )
        yield Figure(title, text, (dataset,), (label, other.label), caption, False)


def without_anchor(label: str) -> str:
    """Return the label of the same method without the anchor.

    Example:
        >>> without_anchor("SEGA-JOAO"), without_anchor("SEGA, degrees: both")
        ('JOAO', 'GraphCL, degrees: both')
    """
    if label.startswith("SEGA-"):
        return label.removeprefix("SEGA-")
    head, comma, rest = label.partition(",")
    return f"GraphCL{comma}{rest}" if head == "SEGA" else label


def _losses(one: Measured) -> Floats:
    """Return the mean loss of each epoch over seeds, as far as all have it."""
    each = [
        [epoch["loss"] for epoch in epochs if "loss" in epoch]
        for epochs in one.result.history.values()
    ]
    length = min(map(len, each))
    mean: Floats = np.array([losses[:length] for losses in each]).mean(axis=0)
    return mean


def _curves(one: Measured) -> dict[str, Floats]:
    return {} if isinstance(one.result, Result) else one.result.curves


def _draw_scores(axes: Any, one: Measured, colour: str) -> None:
    result = one.result
    if isinstance(result, Result):
        for name in _embeddings(result):
            epochs = [epoch for epoch, other in result.candidates() if other == name]
            each = [result.of(epoch, name) for epoch in epochs]
            error_points(
                axes,
                epochs,
                [accuracy.mean for accuracy in each],
                [accuracy.std for accuracy in each],
                colour,
                linestyle=_STYLES.get(name, "-"),
            )
        axes.set_ylabel("test accuracy, %")
        axes.set_xlabel("epoch")
    else:
        for part, style in _PARTS.items():
            curve = result.curves.get(part)
            if curve is not None and curve.min() >= 0:  # semi-supervised: minus a loss
                mean = 100 * curve.mean(axis=(0, 1))
                epochs = list(range(1, len(mean) + 1))
                axes.plot(epochs, mean, color=colour, linestyle=style)
        axes.set_ylabel("score, %")
        axes.set_xlabel("epoch of fine-tuning")


def _embeddings(result: Result) -> list[str]:
    """Return the embeddings that were evaluated, in the order of a legend."""
    known = {name for _, name in result.candidates()}
    return [*(name for name in _NAMES if name in known), *sorted(known - {*_NAMES})]


def _key(one: Measured) -> str:
    """Return which line is which, where there are several."""
    if isinstance(one.result, Result):
        names = [_NAMES.get(name, name) for name in _embeddings(one.result)]
    else:
        shown = [p for p, curve in one.result.curves.items() if curve.min() >= 0]
        names = [f"{line}: {p}" for p, line in _PARTS.items() if p in shown]
    return f" {'; '.join(names).capitalize()}." if len(names) > 1 else ""


def _embedding(cell: Cell) -> Floats | None:
    """Return the graph encoder's embeddings of a cell on two principal axes."""
    from sklearn.decomposition import PCA

    result = load(cell.best.measured.path)
    if not isinstance(result, Result) or "G" not in result.embeddings:
        return None
    x = result.embeddings["G"].double().numpy()
    if min(x.shape) < 2 or not np.isfinite(x).all() or not x.std(axis=0).any():
        return None
    points: Floats = PCA(2, random_state=0).fit_transform(x)
    return points


def _draw_map(axes: Any, points: Floats, classes: Any) -> None:
    chosen = np.unique(np.linspace(0, len(points) - 1, _DRAWN).astype(int))
    known = classes is not None and len(classes) == len(points)
    of = np.array([int(classes[i]) if known else 0 for i in chosen])
    style = {"linestyle": "none", "markersize": 2.6, "markeredgewidth": 0, "alpha": 0.7}
    for one in np.unique(of):
        x, y = points[chosen[of == one]].T
        axes.plot(x, y, marker="o", color=class_colour(one), clip_on=False, **style)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
