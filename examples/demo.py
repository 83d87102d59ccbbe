"""Does the anchor help? SEGA beside GraphCL and two controls on the embedded set.

The tree's leaves see one-hot degrees that the published graph encoder does not. With
``degree="both"`` all encoders see the same, so that what is left is the anchor's.
"""

import torch

from adapters import graphcl
from sega_anchor.report import Result, table

PUBLISHED, EQUAL = "as published", "equal"

#: What is run on which features: the anchor, its configuration, options of the run.
ROWS = [
    ("GraphCL", PUBLISHED, False, {}, {}),
    ("SEGA", PUBLISHED, True, {}, {}),
    ("GraphCL", EQUAL, False, {}, {}),
    ("SEGA", EQUAL, True, {}, {}),
    ("SEGA, quantities", EQUAL, True, {"quantities": True}, {}),
    ("its leaves shuffled", EQUAL, True, {"quantities": True, "tree": "shuffled"}, {}),
    ("untrained", EQUAL, False, {}, {"epochs": 0, "evaluate_at": (0,)}),
]


def main() -> None:
    """Run the rows and print the table as it comes out."""
    torch.set_num_threads(1)  # on graphs this small, threads only wait for each other
    lines = []
    for name, features, anchor, config, options in ROWS:
        result = graphcl.run(
            "synthetic",
            anchor=anchor,
            config=graphcl.Config(**config),
            degree="both" if features == EQUAL else None,
            seeds=3,
            **{"evaluate_at": (20,), **options},
        )
        embeddings = (embedding(result, kind) for kind in ("G", "T", "GT"))
        lines.append([name, features, str(result.accuracy), *embeddings])
    header = ["method", "features", "accuracy", "graph (G)", "tree (T)", "both (GT)"]
    print(table(header, lines))
    print(
        "\nAccuracy in per cent, mean ± standard deviation over 3 seeds; chance is\n"
        "33.3. First of the embedding chosen on validation folds, then of each.\n"
        "Equal features: degrees for both encoders, not for the tree's alone."
    )


def embedding(result: Result, kind: str) -> str:
    """Return the accuracy of an embedding, if the method has it."""
    found = [epoch for epoch, name in result.candidates() if name == kind]
    return str(result.of(max(found), kind)) if found else "-"


if __name__ == "__main__":
    main()
