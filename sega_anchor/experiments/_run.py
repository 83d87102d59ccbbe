"""Run: a method with options, some of them perhaps left to validation."""

from __future__ import annotations

import itertools
import types
from argparse import ArgumentError
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from jsonargparse import ArgumentParser

from ..protocols import Settings
from ..protocols.settings import Seeds
from ..report import Result, Tuned
from ..utils.checks import did_you_mean

#: What decides folds, files and places is the same for all alternatives.
_SINGLE = {"anchor", "protocol", "folds", "distinct", "device", "jobs"}
_SINGLE |= {"seeds", "root", "archives", "results"}
_SINGLE |= {"label_rate", "domain", "smiles_column"}

_PLAIN = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    tuple: "a list",
    Sequence: "a list",
}


def option_types(method: Any) -> dict[str, Any]:
    """Return the types of the options of a :class:`Run` by name.

    Example:
        >>> from sega_anchor.protocols import transfer
        >>> option_types(transfer)["lr"]
        <class 'float'>
    """
    kinds = [method.Config] if is_setting(method) else [method.Config, Settings]
    found = {} if is_setting(method) else {"anchor": bool}
    for kind in kinds:
        hints = get_type_hints(kind)
        found |= {field.name: hints[field.name] for field in fields(kind)}
    return found


def is_setting(method: Any) -> bool:
    """Return whether a ``Config`` holds all options, seeds and folders among them."""
    return "seeds" in {field.name for field in fields(method.Config)}


@dataclass(frozen=True, eq=False)
class Alternative:
    """One configuration, with nothing left to choose.

    Args:
        method: see :class:`Run`.
        config: hyper-parameters of the method.
        anchor: whether the anchor view is put in.
        settings: those of the protocol; the same as ``config`` where it holds them.
        choice: options of which there were several, and what they are here.
    """

    method: Any
    config: Any
    anchor: bool
    settings: Any
    choice: dict[str, Any]

    def run(self, dataset: str, seeds: Seeds) -> Result | Tuned:
        """Train and evaluate with some seeds, as far as they are not on record."""
        settings = self.settings
        options = {f.name: getattr(settings, f.name) for f in fields(settings)}
        if settings is not self.config:
            options |= {"anchor": self.anchor or None, "config": self.config}
        found: Result | Tuned = self.method.run(dataset, **{**options, "seeds": seeds})
        return found


@dataclass(frozen=True, eq=False)
class Run:
    """A method with its options: a line of a comparison.

    Args:
        name: what tables call it.
        method: module with a ``Config`` and a ``run``, as each adapter is one; or
            :mod:`~sega_anchor.protocols.semisupervised` or
            :mod:`~sega_anchor.protocols.transfer`, the latter for fine-tuning.
        options: fields of its ``Config`` by name; with an adapter also those of
            :class:`~sega_anchor.protocols.Settings`, and ``anchor``. A list where a
            single value is expected means alternatives.
        named: False lets tables call it as its method does.

    Raises:
        ValueError: for an option that there is not, or a value that cannot be used.

    Example:
        >>> from adapters import graphcl
        >>> run = Run("SEGA", graphcl, {"anchor": True, "height": [2, 3], "seeds": 20})
        >>> [one.choice for one in run.alternatives]
        [{'height': 2}, {'height': 3}]
        >>> from sega_anchor.protocols import transfer
        >>> run = Run("no pre-training", transfer, {"lr": [0.01, 0.001, 0.0001]})
        >>> [one.config.lr for one in run.alternatives]
        [0.01, 0.001, 0.0001]
    """

    name: str
    method: Any
    options: Mapping[str, Any]
    named: bool = True

    def __post_init__(self) -> None:
        """Refuse what cannot be used before any work starts."""
        _ = self.alternatives

    @cached_property
    def alternatives(self) -> tuple[Alternative, ...]:
        """All configurations that the options allow."""
        try:
            values = {name: self._values(name) for name in self.options}
            several = [name for name, found in values.items() if len(found) > 1]
            return tuple(
                self._alternative(dict(zip(values, one, strict=True)), several)
                for one in itertools.product(*values.values())
            )
        except ValueError as error:
            raise ValueError(f"run {self.name!r}: {error}") from None

    @property
    def settings(self) -> Any:
        """What all alternatives share of folds, seeds and folders."""
        return self.alternatives[0].settings

    @property
    def setting(self) -> str:
        """Which of the paper's settings it is of."""
        return str(getattr(self.settings, "setting", "unsupervised"))

    @cached_property
    def _types(self) -> dict[str, Any]:
        return option_types(self.method)

    @cached_property
    def _parser(self) -> ArgumentParser:
        parser = ArgumentParser(exit_on_error=False)
        for name, hint in self._types.items():
            parser.add_argument(f"--{name}", type=hint)
        return parser

    def _values(self, name: str) -> list[Any]:
        """Return the alternatives of an option, a single one as a rule."""
        if name not in self._types:
            guess = did_you_mean(name, self._types)
            raise ValueError(f"there is no option {name!r}; {guess}")
        given, hint = self.options[name], self._types[name]
        single = name in _SINGLE or _takes_lists(hint) or not isinstance(given, list)
        values = [given] if single else list(given)
        if not values:
            raise ValueError(f"{name} has no alternative: name one in its list")
        return [self._checked(name, value) for value in values]

    def _checked(self, name: str, value: Any) -> Any:
        """Return a value in the type of its option, such as tuples for lists."""
        try:
            return self._parser.parse_object({name: value})[name]
        except (ArgumentError, TypeError, ValueError):
            words = " or ".join(_words(self._types[name]))
            raise ValueError(f"{name} must be {words}, got {value!r}") from None

    def _alternative(self, options: dict[str, Any], several: list[str]) -> Alternative:
        choice = {name: options[name] for name in several}
        if is_setting(self.method):
            config = self.method.Config(**options)
            return Alternative(self.method, config, False, config, choice)
        known = {f.name for f in fields(Settings)}
        settings = Settings(**{k: v for k, v in options.items() if k in known})
        if settings.evaluate_at == ():
            raise ValueError("evaluate_at is empty: to compare, name epochs")
        if settings.evaluate_at and settings.epochs is None:
            raise ValueError(
                "evaluate_at is given without epochs, but the methods train for "
                "different numbers of epochs: give both, or neither for what was "
                "published"
            )
        own = {k: v for k, v in options.items() if k not in {*known, "anchor"}}
        return Alternative(
            self.method,
            self.method.Config(**own),
            bool(options.get("anchor", False)),
            settings,
            choice,
        )


def _takes_lists(hint: Any) -> bool:
    """Return whether a list is one value of a type, as of a tuple."""
    kinds = [get_origin(one) or one for one in _members(hint)]
    return any(kind in (list, tuple, Sequence) for kind in kinds)


def _members(hint: Any) -> list[Any]:
    if get_origin(hint) in (Union, types.UnionType):
        return [one for member in get_args(hint) for one in _members(member)]
    return [hint]


def _words(hint: Any) -> list[str]:
    """Return what values a type has, for a message."""
    words = []
    for one in _members(hint):
        if get_origin(one) is Literal:
            words += [repr(value) for value in get_args(one)]
        elif one is type(None):
            words.append("null")
        else:
            words.append(_PLAIN.get(get_origin(one) or one, str(one)))
    return words
