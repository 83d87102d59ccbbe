"""A tenth of the labels: no pre-training, GraphCL and SEGA side by side.

    python examples/semisupervised.py            # a small synthetic set, a minute
    python examples/semisupervised.py PROTEINS   # any TU set

Everything is kept in the folder results: stop at any time and start again.
"""

import sys

from sega_anchor.protocols import semisupervised
from sega_anchor.report import tuned_table


def main() -> None:
    """Print accuracies in per cent."""
    dataset = sys.argv[1] if len(sys.argv) > 1 else "synthetic"
    results = [
        semisupervised.run(
            dataset,
            pretraining=pretraining,
            seeds=1,
            pretrain_epochs=20,
            epochs=30,
            results="results",
        )
        for pretraining in ("none", "graphcl", "sega")
    ]
    print(tuned_table(results))


if __name__ == "__main__":
    main()
