"""Seconds of one training epoch of each method, with its published batch size.

    python examples/benchmarks/epoch.py NCI1 --archives DIR
    python examples/benchmarks/epoch.py NCI1 --methods graphcl --anchor --archives DIR

The trees are built beforehand, as in training; loading and collating are counted.
"""

import argparse
import statistics

import torch

from adapters import adgcl, autogcl, graphcl, joao, rgcl

METHODS = {
    "adgcl": (adgcl.run, adgcl.Config(height=3)),
    "joao": (joao.run, joao.Config(height=3)),
    "joaov2": (joao.run, joao.Config(height=3, version=2)),
    "autogcl": (autogcl.run, autogcl.Config(height=3)),
    "rgcl": (rgcl.run, rgcl.Config(height=3)),
    "graphcl": (graphcl.run, graphcl.Config(height=3)),
}


def main() -> None:
    """Print the median over the epochs of each data set and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--anchor", action="store_true")
    parser.add_argument("--archives", default=None)
    parser.add_argument("--epochs", type=int, default=5)
    given = parser.parse_args()
    for dataset in given.datasets:
        for name in given.methods:
            run, config = METHODS[name]
            result = run(
                dataset,
                anchor=given.anchor,
                config=config,
                archives=given.archives,
                seeds=1,
                epochs=given.epochs,
                evaluate_at=(),
            )
            seconds = [epoch["seconds"] for epoch in result.history[0]]
            print(
                f"{dataset}, {result.config['label']}: "
                f"median {statistics.median(seconds):.2f} s, first {seconds[0]:.2f} s, "
                f"{torch.get_num_threads()} threads",
                flush=True,
            )


if __name__ == "__main__":
    main()
