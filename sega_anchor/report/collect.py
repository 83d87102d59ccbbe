"""collect: all records of a folder, by what they are alternatives of."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from .accuracy import Accuracy
from .load import load
from .record import read_record
from .result import Choice, Result
from .tuned import Tuned

#: In the order of tables.
_SETTINGS = ("unsupervised", "semi-supervised", "transfer")


@dataclass(frozen=True)
class Measured:
    """A record: one configuration, and what its seeds measured.

    Args:
        path: the file.
        result: of the seeds that are complete, without embeddings.
        under_way: number of seeds that are begun and not complete.
        version: of sega-anchor, that of the last seed.
    """

    path: Path
    result: Result | Tuned
    under_way: int
    version: str

    @property
    def config(self) -> dict[str, Any]:
        """The whole configuration."""
        return self.result.config

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that are complete."""
        return tuple(self.result.history)

    @property
    def candidates(self) -> int:
        """How many numbers competed: epochs times embeddings."""
        return self._by_test.candidates

    def compete(self, choice: Choice) -> tuple[float, Accuracy] | None:
        """Return what configurations are compared by, and the test score behind it.

        None if there is no validation data to choose on, as under "paper" in the
        semi-supervised setting.
        """
        if choice == "test":
            return self._by_test.mean, self._by_test
        return self._by_validation

    @cached_property
    def _by_test(self) -> Accuracy:
        return self.result.by_test()

    @cached_property
    def _by_validation(self) -> tuple[float, Accuracy] | None:
        if isinstance(self.result, Tuned) and "validation" not in self.result.curves:
            return None
        return self.result.validation.mean, self.result.by_validation()


@dataclass(frozen=True)
class Chosen:
    """The value of a cell: its accuracy, and the record that it is from."""

    accuracy: Accuracy
    measured: Measured


@dataclass(frozen=True)
class Cell:
    """A method on a data set: all configurations that were measured of it.

    Args:
        setting: "unsupervised", "semi-supervised" or "transfer".
        protocol: "honest" or "paper".
        label: how tables call the method.
        dataset: how :func:`~sega_anchor.datasets.load` calls it.
        measured: a record for each configuration.
    """

    setting: str
    protocol: str
    label: str
    dataset: str
    measured: tuple[Measured, ...]

    @property
    def candidates(self) -> int:
        """How many numbers competed: configurations times epochs times embeddings."""
        return sum(one.candidates for one in self.measured)

    @property
    def seeds(self) -> int:
        """How many seeds the configurations have from which the value is taken."""
        return max(len(one.seeds) for one in self.measured)

    @property
    def under_way(self) -> int:
        """How many seeds are begun and not complete."""
        return sum(one.under_way for one in self.measured)

    @property
    def best(self) -> Chosen:
        """Its value chosen on validation, on test where there is no other data."""
        found = self.chosen("validation") or self.chosen("test")
        assert found is not None
        return found

    def chosen(self, choice: Choice) -> Chosen | None:
        """Return the value of the cell, None if there is no validation data.

        A search gives most seeds to its best configurations: those of most seeds are
        compared, and all count as candidates.

        Args:
            choice: "test", the best mean TEST score of all configurations, epochs and
                embeddings, as the paper reports; "validation", the configuration of
                the best mean validation score with epoch and embedding chosen likewise.
        """
        best: tuple[float, Chosen] | None = None
        for one in self.measured:
            found = one.compete(choice)
            if found is None or len(one.seeds) < self.seeds:
                continue
            if best is None or found[0] > best[0]:  # the first of equals
                accuracy = replace(found[1], candidates=self.candidates)
                best = found[0], Chosen(accuracy, one)
        return None if best is None else best[1]


@dataclass(frozen=True)
class Collected:
    """What a folder of results holds.

    Args:
        folder: where.
        cells: in the order of setting, protocol, data set and label.
        left_out: by file, why it is in no cell.
    """

    folder: Path
    cells: list[Cell]
    left_out: dict[Path, str]

    @property
    def records(self) -> list[Measured]:
        """All records that are in a cell."""
        return [one for cell in self.cells for one in cell.measured]


def collect(folder: str | Path) -> Collected:
    """Read all records of a folder and put alternatives together.

    Records of one setting, protocol, label and data set are alternatives: they differ
    in height, learning rate or another option. Runs with a control in place of the
    coding tree are a method of their own. What is no record is named with the reason.

    Args:
        folder: where runs kept their records; folders inside it are not looked at.

    Raises:
        ValueError: if it is no folder, or holds no record of a complete seed.

    Example:
        >>> collect("no-such-folder")
        Traceback (most recent call last):
        ...
        ValueError: there is no folder 'no-such-folder': name one with records, ...
    """
    folder = Path(folder)
    if not folder.is_dir():
        name = repr(str(folder))
        what = f"{name} is a file" if folder.exists() else f"there is no folder {name}"
        raise ValueError(f"{what}: name one with records, what --results named before")
    groups: dict[tuple[str, str, str, str], list[Measured]] = defaultdict(list)
    left_out: dict[Path, str] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            one = _measured(path)
        except ValueError as error:
            left_out[path] = str(error).removeprefix(f"{path} ")
            continue
        config = one.config
        setting = config.get("setting", "unsupervised")
        protocol = config.get("protocol", "honest")
        groups[setting, protocol, config["dataset"], str(config["label"])].append(one)
    if not groups:
        reasons = [f"; {path.name} {why}" for path, why in [*left_out.items()][:1]]
        raise ValueError(
            f"{str(folder)!r} holds no record of a complete seed: name a folder that "
            f"--results named before{''.join(reasons)}"
        )
    cells = [
        Cell(setting, protocol, label, dataset, tuple(found))
        for (setting, protocol, dataset, label), found in sorted(
            groups.items(), key=lambda item: (_SETTINGS.index(item[0][0]), *item[0])
        )
    ]
    return Collected(folder, cells, left_out)


def _measured(path: Path) -> Measured:
    """Return a record; refuse one of which nothing can be said yet."""
    content = read_record(path)
    try:
        result = load(path)
        begun = content["seeds"]
        one = Measured(
            path,
            result if isinstance(result, Tuned) else replace(result, embeddings={}),
            len(begun) - len(result.history),
            [entry["versions"]["sega-anchor"] for entry in begun.values()][-1],
        )
        if not one.seeds:
            raise ValueError("holds no seed that is complete")
        if one.config.get("setting", _SETTINGS[0]) not in _SETTINGS:
            raise ValueError(f"is of an unknown setting, {one.config['setting']!r}")
        if isinstance(result, Result) and not result.evaluations:
            raise ValueError("holds no evaluation")
        one.config["label"], one.config["dataset"], one.compete("validation")
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"lacks what a record holds ({error!r})") from error
    return one
