"""How close trees come to the optimum: small graphs against all trees there are.

    python examples/benchmarks/trees/optimum.py --graphs 1000 --results OUT

Random connected graphs of up to 8 vertices, among them trees, cycles and cliques, with
unit, integer and real weights. A row holds the share of graphs whose tree is optimal
(within 1e-9 bits), the mean and the largest gap. A tree below the optimum is an error.
"""

import random
from functools import partial

import numpy as np
import torch
from common import METHODS, Cells, Json, oracle, parser

from sega_anchor import build_coding_tree, structural_entropy
from sega_anchor.report import table

Weights = dict[tuple[int, int], float]
SHAPES = ("tree", "cycle", "clique", "sparse", "half", "dense")


def main() -> None:
    """Print a row for each height and method."""
    options = parser(__doc__)
    options.add_argument("--graphs", type=int, default=1000)
    options.add_argument("--heights", type=int, nargs="+", default=[2, 3])
    given = options.parse_args()
    cells = Cells("optimum", given.results)
    rows = []
    for height in given.heights:
        # In parts, so that a stop loses little.
        parts = [
            cells.measured(
                partial(gaps, first, height),
                height=height,
                first=first,
                methods=METHODS,
            )
            for first in range(0, given.graphs, 100)
        ]
        for method in METHODS:
            gap = np.concatenate([part[method] for part in parts])[: given.graphs]
            exact = int((gap < 1e-9).sum())
            row = [f"{exact / gap.size:.1%} of {gap.size}", f"{gap.mean():.6f}"]
            worst = int(gap.argmax())
            row.append(f"{gap[worst]:.6f} (graph {worst})")
            rows.append([str(height), method, *row])
    header = ["height", "method", "optimal", "mean gap, bits", "largest gap, bits"]
    print(table(header, rows))


def gaps(first: int, height: int) -> Json:
    """Return by how many bits each tree of a hundred graphs is above the optimum."""
    optimum = oracle("slow_trees").optimum
    found: dict[str, list[float]] = {method: [] for method in METHODS}
    for number in range(first, first + 100):
        n, weights = graph(number)
        edge_index = torch.tensor(list(weights)).t()
        weight = torch.tensor(list(weights.values()), dtype=torch.double)
        least = optimum(n, weights, height)
        for method in METHODS:
            tree = build_coding_tree(
                edge_index, n, weight, height=height, method=method
            )
            gap = structural_entropy(tree, edge_index, weight) - least
            if gap < -1e-9:
                raise RuntimeError(f"{method} is {gap} below the optimum: {weights}")
            found[method].append(gap)
    return dict(found)


def graph(number: int) -> tuple[int, Weights]:
    """Return a connected graph of 2 to 8 vertices; the number is its seed."""
    draw = random.Random(number)
    n, shape = draw.randint(2, 8), SHAPES[number % len(SHAPES)]
    chosen = {(draw.randrange(v), v) for v in range(1, n)}  # a random tree
    if shape == "cycle":
        chosen = {(v - 1, v) for v in range(1, n)} | {(0, n - 1)}
    density = {"clique": 1.0, "sparse": 0.2, "half": 0.5, "dense": 0.8}.get(shape, 0.0)
    every = [(u, v) for v in range(n) for u in range(v)]
    chosen |= {pair for pair in every if draw.random() < density}
    weigh = draw.choice([lambda: 1.0, lambda: draw.randint(1, 9), draw.random])
    order = draw.sample(range(n), n)
    return n, {
        (min(order[u], order[v]), max(order[u], order[v])): float(weigh())
        for u, v in sorted(chosen)
    }


if __name__ == "__main__":
    main()
