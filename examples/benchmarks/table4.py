"""The paper's Table 4: five published methods, with and without the anchor.

    python examples/benchmarks/table4.py MUTAG PROTEINS IMDB-BINARY --archives DIR

As ``sega-anchor compare``, but evaluated after few epochs, since support vector
machines take most of the time (AD-GCL and RGCL were published with one evaluation in
every 5 epochs). Everything finished is on record: stop it and start it again, also
several at once for different --methods, and to print the table of what is there.
"""

import argparse
from pathlib import Path

from adapters import adgcl, autogcl, joao, rgcl
from sega_anchor.report import Pair, comparison_table, result_table

METHODS = {
    "adgcl": (adgcl.run, adgcl.Config()),
    "joao": (joao.run, joao.Config()),
    "joaov2": (joao.run, joao.Config(version=2)),
    "autogcl": (autogcl.run, autogcl.Config()),
    "rgcl": (rgcl.run, rgcl.Config()),
}

EVALUATE_AT = {"adgcl": (30, 60, 90, 120, 150), "rgcl": (20, 40)}


def main() -> None:
    """Run what is not on record and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--protocol", default="honest", choices=["honest", "paper"])
    parser.add_argument("--archives", default=None)
    parser.add_argument("--root", default=None)
    parser.add_argument("--results", default="results")
    parser.add_argument("--all", action="store_true", help="evaluate as published")
    given = parser.parse_args()
    pairs = []
    for dataset in given.datasets:
        for name in given.methods:
            run, config = METHODS[name]
            options = {
                "config": config,
                "evaluate_at": None if given.all else EVALUATE_AT.get(name),
                "protocol": given.protocol,
                "seeds": given.seeds,
                "archives": given.archives,
                "root": given.root,
                "results": given.results,
                "jobs": 1,
            }
            pairs.append(
                Pair(*(run(dataset, anchor=a, **options) for a in (None, True)))
            )
            print(f"{pairs[-1].result}, {pairs[-1].reference}", flush=True)
    text = [comparison_table(pairs), comparison_table(pairs, embedding="G")]
    text.append(comparison_table(pairs, choice="test"))
    text.append(result_table([r for p in pairs for r in (p.reference, p.result)]))
    name = f"table4-{given.protocol}.md"
    Path(given.results, name).write_text("\n\n".join(text) + "\n")
    print("\n\n".join(text))


if __name__ == "__main__":
    main()
