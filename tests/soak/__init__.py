"""A soak: commands that are killed, starved, raced and fed rotten files, at random.

    python -m tests.soak --hours 2 --log soak.jsonl

Each trial runs one command to its end in spite of one kind of trouble, and then looks
whether the end is that of an undisturbed run: the same files, nothing finished lost on
the way, no traceback, no hang, nothing left behind. A line of the log for each trial
says what was wrong. ``--seed`` and ``--first`` repeat a trial, but for its moments.
"""

import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import torch

from sega_anchor.training import state
from tests.helpers.scores import SVM_SCORES, quick_scores

from .jobs import JOBS, write_inputs
from .trial import Trial, undisturbed
from .troubles import TROUBLES, may_mount


def soak(
    *,
    log: Path,
    seed: int = 0,
    hours: float = 2.0,
    first: int = 0,
    most: int = 10**9,
    jobs: Sequence[str] = tuple(JOBS),
) -> Counter[str]:
    """Make trials until the time is over.

    Args:
        log: where to add a line of JSON for each trial.
        seed: decides, with the number of the trial, what happens to whom.
        hours: no trial begins later.
        first: number of the first trial.
        most: how many there may be.
        jobs: names of the commands.

    Returns:
        How many trials of each trouble there were, "runs" in all, and "wrong" trials.
    """
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        torch.set_num_threads(1)  # a forked process has no others
        stack.enter_context(patch(SVM_SCORES, quick_scores))
        stack.enter_context(patch.object(state, "EVERY", 0.05))
        base = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        inputs = base / "inputs"
        write_inputs(inputs)
        known = {name: undisturbed(JOBS[name], base / name, inputs) for name in jobs}
        troubles = sorted(TROUBLES)
        if not may_mount(inputs):
            print("this user may not mount: no full disks", file=sys.stderr)
            troubles.remove("starved")
        until = time.monotonic() + 3600 * hours
        for number in range(first, first + most):
            if time.monotonic() > until:
                break
            chance = random.Random(f"{seed} {number}")
            name, trouble = chance.choice(sorted(jobs)), chance.choice(troubles)
            folder = base / f"trial {number}"
            seconds = known[name].seconds
            trial = Trial.new(JOBS[name], folder, inputs, seconds, chance)
            TROUBLES[trouble](trial)
            trial.end(trial.begin(), (0,))
            trial.compare(known[name])
            told = {"trial": number, "job": name, "trouble": trouble}
            told |= {"statuses": trial.statuses, "wrong": trial.wrong}
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(told) + "\n")
            counts[trouble] += 1
            counts["runs"] += len(trial.statuses)
            counts["wrong"] += bool(trial.wrong)
            shutil.rmtree(folder, ignore_errors=True)  # an orphan may write yet
    return counts
