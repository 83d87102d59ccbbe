"""Mean structural entropy and building time of coding trees.

    python examples/benchmarks/trees.py MUTAG NCI1 --archives DIR

Times are CPU time of ``build_coding_tree`` on one graph after the other, its Python
wrapper included, compilation excluded.
"""

from __future__ import annotations

import argparse
import time
from typing import get_args

from sega_anchor import build_coding_tree, structural_entropy
from sega_anchor.datasets import load
from sega_anchor.minimise import Method
from sega_anchor.report import table


def main() -> None:
    """Print a row for each data set, method and height."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--archives", default=None)
    parser.add_argument("--graphs", type=int, default=400, help="at most so many")
    given = parser.parse_args()
    rows = []
    for name in given.datasets:
        data = load(name, archives=given.archives)
        graphs = [(g.edge_index, g.num_nodes) for g in data[: given.graphs]]
        for method in get_args(Method):
            for height in (2, 3, 4, 5):
                build_coding_tree(*graphs[0], height=height, method=method)
                began = time.process_time()
                trees = [
                    build_coding_tree(*graph, height=height, method=method)
                    for graph in graphs
                ]
                micro = (time.process_time() - began) / len(graphs) * 1e6
                pairs = zip(trees, graphs, strict=True)
                bits = [structural_entropy(tree, edges) for tree, (edges, _) in pairs]
                mean = sum(bits) / len(bits)
                rows.append([name, method, str(height), f"{mean:.4f}", f"{micro:.0f}"])
    print(table(["data set", "method", "height", "mean bits", "µs a graph"], rows))


if __name__ == "__main__":
    main()
