"""Seconds and peak memory of one tree, from a thousand to a million vertices.

    python examples/benchmarks/trees/scale.py --method paper --height 3 --results OUT

Chung-Lu graphs with exponent 2.5 and planted partitions (groups of 100, 80 % of the
edges inside) with mean degree 10, and a star, a path, a clique and isolated vertices.
Each case is a process of its own, killed after --limit seconds; compilation excluded.
Memory is the peak of the whole process, and what it had before the tree was begun.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from common import BEST, METHODS, Cells, Json, parser
from numpy.typing import NDArray
from torch import Tensor

from sega_anchor import build_coding_tree
from sega_anchor.report import table
from sega_anchor.trees.build import TreeMethod

FAMILIES = ("power-law", "planted")
EXTREMES = {"star": 100_001, "path": 1_000_000, "clique": 2_000, "isolated": 100_000}


def main() -> None:
    """Print a row for each case, then how the time grows."""
    options = parser(__doc__)
    options.add_argument("--method", default=BEST, choices=METHODS)
    options.add_argument("--height", type=int, default=3)
    options.add_argument("--most", type=int, default=10**6, help="vertices")
    options.add_argument("--limit", type=float, default=600, help="seconds a case")
    options.add_argument("--case", help=argparse.SUPPRESS)
    options.add_argument("--vertices", type=int, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.case:
        found = measure(given.case, given.vertices, given.method, given.height)
        print(json.dumps(found))
        return
    sizes = [10**e for e in range(3, 7) if 10**e <= given.most]
    cases = [(family, n) for family in FAMILIES for n in sizes]
    cases += [case for case in EXTREMES.items() if case[1] <= given.most]
    cells = Cells("scale", given.results)
    asked = {"method": given.method, "height": given.height, "limit": given.limit}
    rows: list[list[str]] = []
    seconds: dict[str, dict[int, float]] = {}
    for case, n in cases:
        run = partial(alone, case, n, **asked)
        one = cells.measured(run, case=case, vertices=n, **asked)
        rows.append([case, str(n), *_shown(one)])
        if one:
            seconds.setdefault(case, {})[n] = one["seconds"]
    header = ["case", "vertices", "edges", "seconds", "peak MB", "before MB"]
    print(table(header, rows))
    for family in FAMILIES:
        slope = exponent(seconds.get(family, {}))
        print(f"\n{family}: seconds grow as vertices ^ {slope}")


def alone(case: str, n: int, method: str, height: int, limit: float) -> Json:
    """Measure one case in a process of its own; nothing if it takes too long."""
    command = [sys.executable, __file__, "--case", case, "--vertices", str(n)]
    command += ["--method", method, "--height", str(height)]
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return {}
    return dict(json.loads(done.stdout))


def measure(case: str, n: int, method: TreeMethod, height: int) -> Json:
    """Build one tree and tell time and memory."""
    edge_index = _MAKE[case](n, np.random.default_rng(0))
    warm = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
    build_coding_tree(warm, height=height, method=method)
    before = _peak()
    began = time.perf_counter()
    build_coding_tree(edge_index, n, height=height, method=method)
    seconds = time.perf_counter() - began
    edges = edge_index.size(1)
    return {"edges": edges, "seconds": seconds, "peak": _peak(), "before": before}


def _peak() -> float:
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes / (2**20 if sys.platform == "darwin" else 2**10)


def power_law(n: int, random: np.random.Generator) -> Tensor:
    """Draw both ends of 5 n edges in proportion to expected degrees (Chung-Lu)."""
    share = np.cumsum((np.arange(n) + 1.0) ** (-1 / (2.5 - 1)))
    drawn = random.random((2, 5 * n)) * share[-1]
    return _simple(np.searchsorted(share, drawn, side="right"), n)


def planted(n: int, random: np.random.Generator) -> Tensor:
    """Draw 5 n edges: 4 n within groups of a hundred vertices, the others anywhere."""
    first = random.integers(n, size=5 * n)
    second = random.integers(n, size=5 * n)
    inside = slice(0, 4 * n)
    second[inside] = first[inside] // 100 * 100 + second[inside] % 100
    return _simple(np.stack([first, second]), n)


def _simple(ends: NDArray[np.int64], n: int) -> Tensor:
    low, high = ends.min(axis=0), ends.max(axis=0)
    code = np.unique((low * n + high)[low != high])
    return torch.from_numpy(np.stack([code // n, code % n]))


_MAKE: dict[str, Callable[[int, np.random.Generator], Tensor]] = {
    "power-law": power_law,
    "planted": planted,
    "star": lambda n, _: torch.stack(
        [torch.zeros(n - 1, dtype=torch.long), torch.arange(1, n)]
    ),
    "path": lambda n, _: torch.stack([torch.arange(n - 1), torch.arange(1, n)]),
    "clique": lambda n, _: torch.triu_indices(n, n, 1),
    "isolated": lambda n, _: torch.empty(2, 0, dtype=torch.long),
}


def exponent(seconds: dict[int, float]) -> str:
    """Slope of a line through the logarithms, from 10,000 vertices on."""
    known = {n: s for n, s in seconds.items() if n >= 10**4}
    if len(known) < 2:
        return "? (needs two sizes from 10,000 on)"
    slope = np.polyfit(np.log(list(known)), np.log(list(known.values())), 1)[0]
    return f"{slope:.2f} (from 10,000 on)"


def _shown(found: Json) -> list[str]:
    if not found:
        return ["-", "over the limit", "-", "-"]
    numbers = [
        f"{found['seconds']:.4f}",
        f"{found['peak']:.0f}",
        f"{found['before']:.0f}",
    ]
    return [str(found["edges"]), *numbers]


if __name__ == "__main__":
    main()
