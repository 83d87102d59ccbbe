"""The file of ``sega-anchor compare --runs``: the options of each run by its name."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import yaml
from typing_extensions import override

from ..utils.checks import did_you_mean
from ._methods import find_methods, load_method

if TYPE_CHECKING:
    from ..experiments import Run

#: Settings of their own, which stand beside the methods here.
_SETTINGS = ("semisupervised", "transfer")


def read_runs(path: str, defaults: Mapping[str, Any]) -> list[Run]:
    """Return the runs that a YAML file names.

    Args:
        path: of the file: name, then options, "method" among them.
        defaults: of options that a run does not name itself; those that its method
            does not know are left out.

    Raises:
        ValueError: for a file or a run that cannot be used, saying what to change.
        ImportError: for a method that cannot be imported.
    """
    try:
        with open(path, encoding="utf-8") as file:
            content = yaml.load(file, _Loader)  # a safe one
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        words = " ".join(str(error).split())
        raise ValueError(f"{path} is no YAML that can be read: {words}") from error
    if not isinstance(content, dict) or not content:
        raise ValueError(
            f"{path} names no run: write lines such as GraphCL: {{method: graphcl}}"
        )
    return [make_run(path, name, line, defaults) for name, line in content.items()]


def make_run(path: str, name: Any, line: Any, defaults: Mapping[str, Any]) -> Run:
    """Return the run of one line of a file.

    Args:
        path: of the file, for messages.
        name: of the run.
        line: its options, "method" among them.
        defaults: as in :func:`read_runs`.

    Raises:
        ValueError: for what cannot be used.
        ImportError: for a method that cannot be imported.
    """
    from ..experiments import Run, option_types

    if not isinstance(name, str):
        raise ValueError(f"{path}: the name {name!r} is not text: put it in quotes")
    if not isinstance(line, dict) or "method" not in line:
        raise ValueError(
            f"{path}: run {name!r} has no method: write {name}: {{method: graphcl}}"
        )
    options = {str(option): value for option, value in line.items()}
    method = options.pop("method")
    try:
        module = load_any(method)
    except ValueError as error:
        raise ValueError(f"{path}: run {name!r}: {error}") from None
    taken = option_types(module)
    shared = {
        option: value
        for option, value in defaults.items()
        if option in taken and value is not None  # which is left open
    }
    try:
        return Run(name, module, {**shared, **options})
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def load_any(name: Any) -> Any:
    """Import the module of a method, or of a setting of its own.

    Raises:
        ValueError: for a name that there is not.
        ImportError: for a method that cannot be imported.
    """
    if name in _SETTINGS:
        return import_module(f"..protocols.{name}", __package__)
    if name not in find_methods():
        guess = did_you_mean(str(name), {*find_methods(), *_SETTINGS})
        raise ValueError(f"there is no method {name!r}; {guess}")
    return load_method(name)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """PyYAML's safe loader, but a name given twice is an error."""

    @override
    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen and isinstance(key, yaml.ScalarNode):
                raise yaml.YAMLError(
                    f"line {key.start_mark.line + 1} gives {key.value!r} a second "
                    "time: rename one"
                )
            if isinstance(key, yaml.ScalarNode):
                seen.add(key.value)
        found: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return found
