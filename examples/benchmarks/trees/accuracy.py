"""Accuracy of SEGA by how its trees are built, beside the controls.

    python examples/benchmarks/trees/accuracy.py MUTAG --results OUT --archives DIR

The honest protocol: epoch and embedding chosen on validation folds. "shuffled" permutes
the leaves of the refined trees; "random" is the paper's RBBT ablation, two groups of
random vertices at each cut. What is on record in --results is not computed again.
"""

import argparse
from typing import get_args

from adapters import graphcl
from sega_anchor.report import table
from sega_anchor.trees import TreeName


def main() -> None:
    """Print a row for each data set and way to build trees."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--results", default="results")
    parser.add_argument("--archives", default=None)
    parser.add_argument("--height", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    options = {name: getattr(given, name) for name in ("results", "archives", "seeds")}
    rows = []
    for dataset in given.datasets:
        for tree in get_args(TreeName):
            config = graphcl.Config(height=given.height, tree=tree)
            result = graphcl.run(dataset, anchor=True, config=config, **options)
            rows.append([dataset, tree, str(result.accuracy)])
            print(*rows[-1], flush=True)
    print(table(["data set", "trees", "accuracy"], rows))


if __name__ == "__main__":
    main()
