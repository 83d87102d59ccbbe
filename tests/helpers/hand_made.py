"""Records whose numbers are easy to compute by hand."""

from pathlib import Path
from typing import Any

import torch

from sega_anchor.report.record import Record

#: By epoch and embedding: test and validation accuracy of every fold.
Scores = dict[str, tuple[float, float]]
ANCHOR = "AnchorView(\n  transform={}, max_degree=None\n  (encoder): ..."
CODING = ANCHOR.format("AddCodingTree(height={height}, method='refined', weight=None)")
RANDOM = ANCHOR.format("AddRandomTree(height={height}, seed=0, branching=2)")


def unsupervised(
    folder: Path,
    label: str,
    dataset: str,
    scores: dict[int, Scores],
    under_way: tuple[int, ...] = (),
    graphs: int = 0,
    **options: Any,
) -> Path:
    """Write a record of two folds that score alike; return where it is.

    Args:
        folder: of the record.
        label: what tables call the method.
        dataset: name of the set.
        scores: by seed.
        under_way: seeds that are not complete.
        graphs: embeddings of so many are kept.
        options: of the configuration; a height gives it an anchor.
    """
    config = {"method": "GraphCL", "label": label, "dataset": dataset, "folds": 2}
    config |= {"protocol": "honest", "choice": "test", "anchor": None, "tree": None}
    if "height" in options:
        view = RANDOM if options.get("tree") == "random" else CODING
        config["anchor"] = view.replace("{height}", str(options["height"]))
    record = Record({**config, **options}, folder)
    for seed, measured in scores.items():
        entry = record.seed_entry(seed)
        entry["history"] = [{"epoch": 1, "loss": 2.0}, {"epoch": 2, "loss": 1.5 + seed}]
        entry["evaluations"] = {
            name: {"test": both(test), "validation": both(validation)}
            for name, (test, validation) in measured.items()
        }
        torch.manual_seed(seed)
        record.finish(seed, {"G": torch.randn(graphs, 4)} if graphs else {})
    for seed in under_way:
        record.seed_entry(seed)["history"] = []
    record.save()
    assert record.path is not None
    return record.path


def semisupervised(
    folder: Path,
    label: str,
    dataset: str,
    curves: dict[str, list[float]],
    **options: Any,
) -> Path:
    """Write a record of one seed and two folds with equal curves."""
    config = {"setting": "semi-supervised", "label": label, "dataset": dataset}
    record = Record({**config, "protocol": "honest", "folds": 2, **options}, folder)
    record.seed_entry(0)["folds"] = {"0": curves, "1": curves}
    record.save()
    assert record.path is not None
    return record.path


def both(score: float) -> dict[str, float]:
    """Return a score as that of each of the two folds."""
    return {"0": score, "1": score}
