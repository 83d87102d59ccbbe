"""Milliseconds a graph: each method, the authors' algorithm in plain Python, igraph.

    python examples/benchmarks/trees/speed.py MUTAG REDDIT-BINARY --archives DIR

Each graph is given to all contestants in turn, --repeat times, and the best time of
each counts, so that noise hits all alike; one thread; compilation excluded. Counted is
``build_coding_tree`` on an edge list with all its checks, the plain stand-in on a dense
matrix (its own input), and igraph on graphs made beforehand. The stand-in is left out
after --limit seconds; its ratio is over the graphs that both saw. Needs python-igraph.
"""

import gc
import time
from collections.abc import Callable
from functools import partial

import igraph  # type: ignore[import-untyped]
import numpy as np
from common import BEST, METHODS, TU_SETS, Cells, Json, oracle, pairs, parser, sample
from torch_geometric.data import Data

from sega_anchor import build_coding_tree
from sega_anchor.report import table

Contestant = Callable[[], object]


def main() -> None:
    """Print times and ratios."""
    options = parser(__doc__)
    options.add_argument("datasets", nargs="*", default=TU_SETS)
    options.add_argument("--archives")
    options.add_argument("--graphs", type=int, default=200, help="at most so many")
    options.add_argument("--heights", type=int, nargs="+", default=[2, 3, 5])
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--limit", type=float, default=60, help="s for the stand-in")
    given = options.parse_args()
    cells = Cells("speed", given.results)
    rows, ratios = [], []
    for name in given.datasets:
        graphs = sample(name, given.graphs, given.archives)
        found = cells.measured(
            partial(race, graphs, given.heights, given.repeat, given.limit),
            dataset=name,
            graphs=len(graphs),
            heights=given.heights,
            methods=METHODS,
            repeat=given.repeat,
        )
        for contestant, ms in found.items():
            figures = [str(len(ms)), f"{np.mean(ms):.3f}", f"{np.median(ms):.3f}"]
            rows.append([name, contestant, *figures])
        ratios += [
            [name, str(height), *_ratios(found, height)] for height in given.heights
        ]
    print(table(["data set", "contestant", "graphs", "mean ms", "median ms"], rows))
    header = [f"{BEST} / leiden", "paper / fastgreedy", f"plain authors / {BEST}"]
    print("\n" + table(["data set", "height", *header], ratios))


def race(graphs: list[Data], heights: list[int], repeat: int, limit: float) -> Json:
    """Return the milliseconds of each contestant on each graph."""
    found: dict[str, list[float]] = {}
    spent = 0.0
    for data in [graphs[0], *graphs]:  # the first one twice, to compile
        warm = not found
        entrants = _entrants(data, heights, plain=spent < limit)
        times = {name: _best(run, repeat) for name, run in entrants.items()}
        spent += repeat * sum(t for name, t in times.items() if "plain" in name)
        for name, seconds in times.items():
            found.setdefault(name, [])
            if not warm:
                found[name].append(round(seconds * 1e3, 5))
    return dict(found)


def _entrants(data: Data, heights: list[int], plain: bool) -> dict[str, Contestant]:
    edges = pairs(data)
    graph = igraph.Graph(data.num_nodes, edges)
    matrix = np.zeros((data.num_nodes, data.num_nodes))
    matrix[tuple(np.array(edges).reshape(-1, 2).T)] = 1
    dense = (matrix + matrix.T).tolist()
    authors = oracle("released_tree").coding_tree
    found: dict[str, Contestant] = {
        "leiden": partial(graph.community_leiden, objective_function="modularity"),
        "fastgreedy": partial(graph.community_fastgreedy),
        "fastgreedy, clustering": lambda: graph.community_fastgreedy().as_clustering(),
    }
    for height in heights:
        for method in METHODS:
            found[f"{method}, {height}"] = partial(
                build_coding_tree,
                data.edge_index,
                data.num_nodes,
                height=height,
                method=method,
            )
        if plain:
            found[f"plain authors, {height}"] = partial(authors, dense, height)
    return found


def _best(run: Contestant, repeat: int) -> float:
    gc.disable()
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    gc.enable()
    return min(times)


def _ratios(found: Json, height: int) -> list[str]:
    """Ratios of sums over the graphs that both saw."""
    shown = []
    for above, below in (
        (f"{BEST}, {height}", "leiden"),
        (f"paper, {height}", "fastgreedy"),
        (f"plain authors, {height}", f"{BEST}, {height}"),
    ):
        common = min(len(found[above]), len(found[below]))
        ratio = sum(found[above][:common]) / sum(found[below][:common])
        shown.append(f"{ratio:.3g}")
    return shown


if __name__ == "__main__":
    main()
