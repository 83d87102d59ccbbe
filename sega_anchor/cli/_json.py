"""What ``--json`` prints: results as plain dicts."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..report import Accuracy, Pair, Result, Tuned


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


def pair_json(pair: Pair) -> dict[str, Any]:
    """Return a method without and with the anchor, and what that gains."""
    from ..report import Gain

    accuracies = (r.by_validation() for r in (pair.baseline, pair.anchored))
    return {
        "baseline": result_json(pair.baseline),
        "anchored": result_json(pair.anchored),
        "gain": asdict(Gain.of(*accuracies)),
    }


def _path(result: Result | Tuned) -> str | None:
    return None if result.record is None else str(result.record)
