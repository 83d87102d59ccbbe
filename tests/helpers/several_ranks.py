"""A script that torchrun starts: what test_distributed.py asks of several processes.

One start for all questions, for a start takes seconds. Rank 0 writes the answers.
"""

import io
import json
import runpy
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from unittest.mock import patch

import torch

from adapters import graphcl
from sega_anchor.cli import main
from sega_anchor.distributed import all_gather_object, is_main, process_group
from sega_anchor.loader import PackedLoader
from tests.helpers import fixed_views, norms
from tests.helpers.paths import EXAMPLES
from tests.helpers.scores import SVM_SCORES, quick_scores

SHORT = "--seeds 1 --epochs 2 --evaluate_at [2]"
COMMANDS = {
    "run": f"run joao synthetic --anchor --version 2 {SHORT} --results results",
    "run again": f"run joao synthetic --anchor --version 2 {SHORT} --results results",
    "too small": "run graphcl synthetic --batch_size 3 --seeds 1 --results null",
}


def measure() -> None:
    """Measure every method on this rank's part of a batch."""
    found = {}
    with fixed_views.without_chance():
        for name, model in fixed_views.models():
            model.share()
            graphs = fixed_views.graphs()
            (batch,) = PackedLoader(graphs, 9)
            found[name] = fixed_views.measured(model, batch)
    if is_main():
        torch.save(found, "found.pt")


def normalise() -> None:
    """Train every kind of BatchNorm on this rank's rows."""
    found = {name: norms.measured(case) for name, case in norms.CASES.items()}
    if is_main():
        torch.save(found, "norms.pt")


def example() -> int:
    """Run the example's loop."""
    sys.argv = ["several_processes"]
    runpy.run_path(str(EXAMPLES / "several_processes.py"), run_name="__main__")
    return 0


def stopped() -> int:
    """Let rank 0 stop a run, and go on; say how each rank has ended."""

    def stop(numbers: dict[str, object]) -> None:
        raise ZeroDivisionError

    options = {"seeds": 1, "epochs": 2, "evaluate_at": (), "results": "stopped"}
    try:
        graphcl.run("synthetic", on_epoch=stop if is_main() else None, **options)
    except (ZeroDivisionError, RuntimeError) as error:
        print(*all_gather_object(type(error).__name__))
    told: list[object] = []
    graphcl.run("synthetic", on_epoch=lambda n: told.append(n["epoch"]), **options)
    print(*all_gather_object(told))
    return 0


def keep(name: str, work: Callable[[], int]) -> None:
    """Write down the status of some work and what rank 0 said."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = work()
    if is_main():
        said = {"status": status, "out": out.getvalue(), "err": err.getvalue()}
        Path(f"{name}.json").write_text(json.dumps(said))


if __name__ == "__main__":
    with process_group("cpu"), patch(SVM_SCORES, quick_scores):
        measure()
        normalise()
        keep("example", example)
        keep("stopped", stopped)
        for command, words in COMMANDS.items():
            keep(command, partial(main, words.split()))
