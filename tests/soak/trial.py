"""Trial: one command brought to its end in spite of trouble, and what was wrong."""

import hashlib
import json
import random
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

from .jobs import Job
from .runs import Run, start

#: What no command may ever print.
FORBIDDEN = ("Traceback", "Exception ignored", "Fatal Python error")

Content = dict[str, object]


@dataclass(frozen=True)
class Whole:
    """What an undisturbed run leaves behind, and how long it takes.

    Args:
        files: by name, what they hold; None for what varies from run to run.
        seconds: of the run.
    """

    files: Content
    seconds: float


@dataclass
class Trial:
    """One command, in a folder of its own.

    Args:
        job: the command.
        folder: where it works, with ``home`` and ``inputs`` in it.
        seconds: how long it takes.
        chance: decides everything.
    """

    job: Job
    folder: Path
    seconds: float
    chance: random.Random
    statuses: list[int | None] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    done: Content = field(default_factory=dict)
    is_rotten: bool = False

    @classmethod
    def new(
        cls, job: Job, folder: Path, inputs: Path, seconds: float, chance: random.Random
    ) -> "Trial":
        """Make the folder of a trial, with inputs of its own."""
        (folder / "home").mkdir(parents=True)
        shutil.copytree(inputs, folder / "inputs")
        return cls(job, folder, seconds, chance)

    @property
    def home(self) -> Path:
        """The working directory of the command."""
        return self.folder / "home"

    def begin(self) -> Run:
        """Start the command."""
        return start(self.job.work, self.home)

    def moment(self) -> float:
        """Some seconds into a run, seldom behind its end."""
        return self.chance.uniform(0.0, 1.1 * self.seconds)

    def end(self, run: Run, expected: tuple[int, ...] = (0, 2)) -> int | None:
        """Wait for a run and judge how it ended: 2 is an error said in one line."""
        status = run.wait(30 + 20 * self.seconds)
        said = run.said().replace("\r", "\n")
        self.statuses.append(status)
        errors = [x for x in said.splitlines() if x.startswith("sega-anchor:")]
        if any(word in said for word in FORBIDDEN):
            self.wrong.append(f"traceback: {said[-1500:]}")
        elif status is None:
            self.wrong.append(f"hang: {said[-3000:]}")
        elif status not in expected:
            self.wrong.append(f"status {status}: {said[-600:]}")
        elif status == 2 and len(errors) != 1:
            self.wrong.append(f"not one line: {said[-600:]}")
        self.look()
        return status

    def look(self) -> None:
        """Note what is finished; complain if what was is no more."""
        now = finished(self.home)
        lost = [k for k, v in self.done.items() if now.get(k, ...) != v]
        if lost and not self.is_rotten:
            self.wrong.append(f"lost: {lost[:5]}")
        self.done = now

    def compare(self, whole: Whole) -> None:
        """Complain of all that is not as an undisturbed run leaves it."""
        expected, here = whole.files, files(self.home)
        left = here.keys() - expected.keys()
        if self.is_rotten:  # what was unreadable is set aside
            left = {name for name in left if not name.endswith(".unreadable")}
        shared = expected.keys() & here.keys()
        found = {
            "changed": {n for n in shared if expected[n] not in (None, here[n])},
            "missing": expected.keys() - here.keys(),
            "left behind": left,
        }
        self.wrong += [f"{w}: {sorted(names)}" for w, names in found.items() if names]


def undisturbed(job: Job, folder: Path, inputs: Path) -> Whole:
    """Run a job twice without trouble."""
    found = []
    for number in range(2):
        trial = Trial.new(job, folder / str(number), inputs, 60.0, random.Random(0))
        began = time.monotonic()
        run = trial.begin()
        trial.end(run, (0,))
        seconds = time.monotonic() - began
        if trial.wrong:
            raise RuntimeError(f"{job}: {trial.wrong} {run.said()}")
        found.append(files(trial.home))
    one, other = found
    if one.keys() != other.keys():
        raise RuntimeError(f"{job} leaves {one.keys() ^ other.keys()} once only")
    return Whole({k: v if other[k] == v else None for k, v in one.items()}, seconds)


def files(home: Path) -> Content:
    """Return what each file holds."""
    found = (p for p in home.rglob("*") if p.is_file())
    return {str(p.relative_to(home)): read(p) for p in found}


def read(path: Path) -> object:
    """Return what a file holds: JSON without times, or a digest."""
    content = path.read_bytes()
    if path.suffix == ".json":
        try:
            return timeless(json.loads(content))
        except ValueError:
            pass
    return hashlib.sha256(content).hexdigest()


def timeless(content: object) -> object:
    """Return JSON without what differs from run to run."""
    if isinstance(content, dict):
        varying = ("seconds", "checksum")
        return {k: timeless(v) for k, v in content.items() if k not in varying}
    return [timeless(v) for v in content] if isinstance(content, list) else content


def finished(home: Path) -> Content:
    """Return each measured number of each record, times too, and each checkpoint."""
    done: Content = {}

    def walk(name: str, content: object) -> None:
        if isinstance(content, dict):
            for key, value in content.items():
                walk(f"{name}/{key}", value)
        elif isinstance(content, float):
            done[name] = content

    for path in home.glob("results/*.json"):
        try:
            walk(path.name, json.loads(path.read_bytes())["seeds"])
        except ValueError:  # rotten
            pass
    for path in home.glob("*/epoch*.safetensors"):
        done[path.name] = read(path)
    return done
