"""Mean structural entropy of coding trees, by data set, height and method.

    python examples/benchmarks/trees/entropy.py MUTAG NCI1 --archives DIR --results OUT

A row holds the mean bits of each method and, against "authors", of how many graphs the
tree is lower and of how many higher (by more than 1e-9). At height 2 also the mean of
the best of 30 restarts of plain local moves, on a sample of at most --restarts graphs,
and by how many percent of it each method's mean on the same sample lies above.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from common import METHODS, TU_SETS, Cells, Json, parser, sample
from numpy.typing import NDArray
from restarts import best_of_restarts
from torch_geometric.data import Data

from sega_anchor import build_coding_trees, structural_entropy
from sega_anchor.report import table
from sega_anchor.trees.build import TreeMethod

HEIGHTS = (2, 3, 4, 5)


def main() -> None:
    """Print the table of what is measured."""
    options = parser(__doc__)
    options.add_argument("datasets", nargs="*", default=TU_SETS)
    options.add_argument("--archives")
    options.add_argument("--graphs", type=int, default=10**9, help="at most so many")
    options.add_argument("--restarts", type=int, default=200, help="sample, 0 for none")
    given = options.parse_args()
    cells = Cells("entropy", given.results)
    rows, gaps = [], []
    for name in given.datasets:
        graphs = sample(name, given.graphs, given.archives)
        asked = {"dataset": name, "graphs": len(graphs)}
        for height in HEIGHTS:
            found = cells.measured(
                partial(compare, graphs, height),
                height=height,
                methods=METHODS,
                **asked,
            )
            rows.append([name, str(len(graphs)), str(height), *_shown(found)])
        if given.restarts:
            few = sample(name, min(given.restarts, given.graphs), given.archives)
            best = cells.measured(
                partial(_best, few),
                dataset=name,
                restarts=30,
                graphs=len(few),
            )["bits"]
            gaps.append([name, str(len(few)), *_gaps(few, np.array(best))])
    header = [f"{m}{what}" for m in METHODS for what in (", bits", ": lower, higher")]
    print(table(["data set", "graphs", "height", *header], rows))
    if gaps:
        header = [f"{method} above" for method in METHODS]
        print("\n" + table(["data set", "graphs", "best of 30, bits", *header], gaps))


def bits(graphs: Sequence[Data], height: int, method: TreeMethod) -> list[float]:
    """Return the entropy of each graph's tree."""
    trees = build_coding_trees(graphs, height, method=method)
    return [
        structural_entropy(tree, data.edge_index)
        for tree, data in zip(trees, graphs, strict=True)
    ]


def compare(graphs: Sequence[Data], height: int) -> Json:
    """Return the mean of each method, and how often it beats "authors" or loses."""
    found = {method: np.array(bits(graphs, height, method)) for method in METHODS}
    difference = {method: found[method] - found["authors"] for method in METHODS}
    return {
        method: {
            "mean": float(found[method].mean()),
            "lower": int((difference[method] < -1e-9).sum()),
            "higher": int((difference[method] > 1e-9).sum()),
        }
        for method in METHODS
    }


def _shown(found: Json) -> list[str]:
    cells = []
    for method in METHODS:
        one = found[method]
        cells += [f"{one['mean']:.6f}", f"{one['lower']}, {one['higher']}"]
    return cells


def _best(graphs: Sequence[Data]) -> Json:
    return {"bits": [best_of_restarts(g.edge_index, g.num_nodes) for g in graphs]}


def _gaps(graphs: Sequence[Data], best: NDArray[np.float64]) -> list[str]:
    shown = [f"{best.mean():.6f}"]
    for method in METHODS:
        found = np.array(bits(graphs, 2, method))
        above = (found.mean() / best.mean() - 1) * 100
        lower, higher = (found < best - 1e-9).sum(), (found > best + 1e-9).sum()
        shown.append(f"{above:+.3f} % ({lower} graphs below, {higher} above)")
    return shown


if __name__ == "__main__":
    main()
