"""Drawings as inline SVG in the colours of the page, which follow its theme."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.figure import Figure as Drawing

#: Colours that stand for those of the page: :func:`svg` puts the latter in.
INK, RULE = "#000001", "#000002"
#: How many accents, of methods and of classes, style.css has.
ACCENTS, CLASSES = 8, 6
_METHOD, _CLASS = 0x10, 0x30

#: What holds while figures are drawn, see ``matplotlib.rc_context``.
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 8.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": RULE,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 8.0,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.4,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.0,
}


@dataclass(frozen=True)
class Figure:
    """A drawing on the page.

    Args:
        title: what it shows.
        svg: the drawing.
        datasets: on which filters keep it.
        methods: likewise.
        caption: what is what.
        keyed: whether the accents of the methods say what is what, too.
    """

    title: str
    svg: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    caption: str = ""
    keyed: bool = True


def accent(number: int) -> str:
    """Return the colour that stands for the accent of a method."""
    return f"#0000{_METHOD + number % ACCENTS:02x}"


def class_colour(number: int) -> str:
    """Return the colour that stands for that of a class of graphs."""
    return f"#0000{_CLASS + number % CLASSES:02x}"


def canvas(
    rows: int = 1, columns: int = 1, height: float = 2.3, **options: Any
) -> tuple[Drawing, Any]:
    """Return an empty drawing as wide as a phone, and its axes."""
    drawing = Drawing(figsize=(3.5, height), layout="constrained")
    drawing.patch.set_alpha(0)
    axes = drawing.subplots(rows, columns, **options)
    for one in drawing.axes:
        one.patch.set_alpha(0)
        one.tick_params(length=0)
    return drawing, axes


def svg(drawing: Drawing, title: str) -> str:
    """Return a drawing as an element of HTML.

    Args:
        drawing: of :func:`canvas`.
        title: said by screen readers.
    """
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": title}):
        drawing.savefig(content, format="svg", metadata=_NO_METADATA)
    text = content.getvalue().decode()
    text = text[text.index("<svg") :]
    for pattern, instead in _SHORTER:
        text = re.sub(pattern, instead, text, flags=re.DOTALL)
    # The size is that of the view box; the page says how wide.
    head, rest = text.split(">", 1)
    head = re.sub(r' (width|height|version)="[^"]*"', "", head)
    text = f'{head} role="img" aria-label="{_escape(title)}">{rest}'
    return re.sub(r"#0000([0-9a-f]{2})", _themed, text)


#: What a page has no use for, or says itself.
_SHORTER = (
    (r"<metadata>.*?</metadata>|<style.*?</style>", ""),
    (r' xmlns(:xlink)?="[^"]*"', ""),
    (r'(?<=<g) id="[^"]*"', ""),  # nothing refers to a group
    (r"font-family: [^;]*; ", ""),
    (r"(\d\.\d\d)\d+", r"\1"),
    (r"\s+", " "),
    (r"> <", "><"),
)
_NO_METADATA: Any = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def _themed(match: re.Match[str]) -> str:
    number = int(match[1], 16)
    if number >= _CLASS:
        return f"var(--class-{number - _CLASS})"
    if number >= _METHOD:
        return f"var(--accent-{number - _METHOD})"
    return "currentColor" if match[0] == INK else "var(--rule)"


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def error_points(
    axes: Any,
    x: Sequence[float],
    y: Sequence[float],
    spread: Sequence[float],
    colour: str,
    **style: Any,
) -> None:
    """Draw points joined by a line, each with its standard deviation."""
    axes.errorbar(x, y, yerr=spread, color=colour, marker="o", elinewidth=0.8, **style)
