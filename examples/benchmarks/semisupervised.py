"""A tenth of the labels: no pre-training, GraphCL and SEGA side by side.

    python examples/benchmarks/semisupervised.py PROTEINS NCI1 --seeds 3 --archives DIR

What is on record in --results is not computed again.
"""

import argparse

from sega_anchor.protocols import semisupervised
from sega_anchor.report import Tuned, tuned_table


def main() -> None:
    """Print a row for each data set and pre-training as it comes, then the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--protocol", default="honest")
    parser.add_argument("--results", default="results")
    parser.add_argument("--archives", default=None)
    given = parser.parse_args()
    names = ("seeds", "protocol", "results", "archives")
    options = {name: getattr(given, name) for name in names}
    rows: list[Tuned] = []
    for dataset in given.datasets:
        for pretraining in semisupervised.LABELS:
            rows.append(semisupervised.run(dataset, pretraining=pretraining, **options))
            print(repr(rows[-1]), flush=True)
    print(tuned_table(rows))


if __name__ == "__main__":
    main()
