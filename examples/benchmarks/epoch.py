"""Seconds of one SEGA training epoch (batch 128, node drop, height 3).

    python examples/benchmarks/epoch.py NCI1 --archives DIR

The trees are built beforehand, as in training; loading and collating are counted.
"""

from __future__ import annotations

import argparse
import statistics

import torch

from adapters import graphcl


def main() -> None:
    """Print the median over the epochs of each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--archives", default=None)
    parser.add_argument("--epochs", type=int, default=5)
    given = parser.parse_args()
    for dataset in given.datasets:
        result = graphcl.run(
            dataset,
            anchor=True,
            config=graphcl.Config(height=3),
            archives=given.archives,
            seeds=1,
            epochs=given.epochs,
            evaluate_at=(),
        )
        seconds = [epoch["seconds"] for epoch in result.history[0]]
        print(
            f"{dataset}: median {statistics.median(seconds):.2f} s, "
            f"first {seconds[0]:.2f} s, {torch.get_num_threads()} threads",
            flush=True,
        )


if __name__ == "__main__":
    main()
