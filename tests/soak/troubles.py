"""What can happen to a command: each function gets a trial and makes trouble."""

import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .trial import Trial


def killed(trial: Trial) -> None:
    """Kill the command a few times, alone or with its children."""
    for _ in range(trial.chance.randint(1, 4)):
        run = trial.begin()
        number = trial.chance.choice([9, 9, 15])
        run.send(number, trial.moment(), group=trial.chance.random() < 0.5)
        trial.end(run, (0, -number))


def interrupted(trial: Trial) -> None:
    """Press Ctrl-C."""
    run = trial.begin()
    run.send(2, trial.moment(), group=True)
    trial.end(run, (0, 130))


def starved(trial: Trial) -> None:
    """Let the disk be full for a while."""
    size = trial.chance.randint(4, max(8, trial.job.kilobytes * 5 // 4))
    with mounted(trial.home, f"{size}k") as resize:
        trial.end(trial.begin())
        resize("256m")
        trial.end(trial.begin(), (0,))
        keep = trial.folder / "kept"
        shutil.copytree(trial.home, keep)
    trial.home.rmdir()
    keep.rename(trial.home)


def raced(trial: Trial) -> None:
    """Run the command several times at once, in one folder; kill one, perhaps."""
    runs = []
    for _ in range(trial.chance.randint(2, 3)):
        runs.append(trial.begin())
        time.sleep(trial.chance.choice([0.0, trial.moment() / 2]))
    expected = [(0, 2)] * len(runs)
    if trial.chance.random() < 0.5:
        runs[0].send(9, trial.moment(), group=True)
        expected[0] = (0, 2, -9)
    for run, statuses in zip(runs, expected, strict=True):
        trial.end(run, statuses)


def rotten(trial: Trial) -> None:
    """Damage files of a run that was finished, or stopped."""
    run = trial.begin()
    if trial.chance.random() < 0.6:
        run.send(9, trial.moment(), group=True)
    trial.end(run, (0, -9))
    trial.is_rotten = True
    # Raw text files have no checksums: a wrong digit is a digit.
    found = [p for p in trial.home.rglob("*") if p.is_file() and p.parent.name != "raw"]
    number = min(len(found), trial.chance.randint(1, 2))
    for path in trial.chance.sample(sorted(found), number):
        damage(path, trial.chance)
    if trial.end(trial.begin()) == 2:  # refused in one line: begin anew
        shutil.rmtree(trial.home)
        trial.home.mkdir()


def misfed(trial: Trial) -> None:
    """Damage a data set's archive, then put a whole one in its place."""
    path = trial.folder / "inputs" / "TOY.zip"
    whole = path.read_bytes()
    damage(path, trial.chance)
    trial.end(trial.begin())
    path.write_bytes(whole)


TROUBLES: dict[str, Callable[[Trial], None]] = {
    work.__name__: work
    for work in (killed, interrupted, starved, raced, rotten, misfed)
}


def damage(path: Path, chance: random.Random) -> None:
    """Flip a bit, cut the end off, empty it, blank a block, or write noise."""
    content = bytearray(path.read_bytes())
    at = chance.randrange(len(content)) if content else 0
    kind = chance.choice(["flip", "cut", "empty", "blank", "noise"])
    if kind == "flip" and content:
        content[at] ^= 1 << chance.randrange(8)
    elif kind == "cut":
        del content[at:]
    elif kind == "blank":
        content[at : at + 512] = bytes(len(content[at : at + 512]))
    else:
        content = bytearray(chance.randbytes(50) if kind == "noise" else b"")
    path.write_bytes(content)


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[Callable[[str], None]]:
    """Put a folder on a disk of its own, for which a function sets another size.

    Raises:
        OSError, CalledProcessError: where this user may not.
    """

    def mount(options: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        subprocess.run(command, check=True, capture_output=True)

    mount(f"size={size}")
    try:
        yield lambda size: mount(f"remount,size={size}")
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def may_mount(folder: Path) -> bool:
    """Whether this user may mount."""
    try:
        with mounted(folder, "64k"):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False
