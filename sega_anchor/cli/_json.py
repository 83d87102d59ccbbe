"""What ``--json`` prints: results as plain dicts."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..experiments import Cell
    from ..report import Accuracy, Difference, Pair, Result, Tuned


def accuracy_json(accuracy: Accuracy) -> dict[str, Any]:
    """Return a mean in per cent, its spread, and the value of each seed."""
    return {"mean": accuracy.mean, "std": accuracy.std, **asdict(accuracy)}


def result_json(result: Result) -> dict[str, Any]:
    """Return configuration, the numbers to choose by and to report, and the record."""
    found: dict[str, Any] = {"config": result.config, "seeds": list(result.history)}
    if result.evaluations:
        found["validation"] = accuracy_json(result.validation)
        found["by_validation"] = accuracy_json(result.by_validation())
        found["by_test"] = accuracy_json(result.by_test())
    return {**found, "record": _path(result)}


def tuned_json(result: Tuned) -> dict[str, Any]:
    """Return the same of a fine-tuning, and the score after the last epoch."""
    found: dict[str, Any] = {"config": result.config, "seeds": list(result.history)}
    if "validation" in result.curves:
        found["validation"] = accuracy_json(result.validation)
        found["by_validation"] = accuracy_json(result.by_validation())
    found["by_test"] = accuracy_json(result.by_test())
    found["last"] = accuracy_json(result.last())
    return {**found, "record": _path(result)}


def cell_json(cell: Cell) -> dict[str, Any]:
    """Return a run on a data set: its result, and what was chosen by validation."""
    choice = {
        "chosen": cell.chosen.choice,
        "alternatives": [one.choice for one in cell.run.alternatives],
        "compared": list(cell.compared),
    }
    from ..report import Tuned

    found = cell.result
    of = tuned_json(found) if isinstance(found, Tuned) else result_json(found)
    return {"run": cell.run.name, **of, "choice": choice}


def pair_json(pair: Pair, difference: Difference) -> dict[str, Any]:
    """Return by how much a result differs from its reference, by both rules."""
    return {
        "dataset": pair.reference.config["dataset"],
        "reference": pair.reference.config["label"],
        "run": pair.result.config["label"],
        "mean": difference.mean,
        **asdict(difference),
    }


def _path(result: Result | Tuned) -> str | None:
    return None if result.record is None else str(result.record)
