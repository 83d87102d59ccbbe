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
    return [_run(path, name, line, defaults) for name, line in content.items()]


def _run(path: str, name: Any, line: Any, defaults: Mapping[str, Any]) -> Run:
    from ..experiments import Run, option_types

    if not isinstance(name, str):
        raise ValueError(f"{path}: the name {name!r} is not text: put it in quotes")
    if not isinstance(line, dict) or "method" not in line:
        raise ValueError(
            f"{path}: run {name!r} has no method: write {name}: {{method: graphcl}}"
        )
    options = {str(option): value for option, value in line.items()}
    method = options.pop("method")
    known = {*find_methods(), *_SETTINGS}
    if method not in known:
        guess = did_you_mean(str(method), known)
        raise ValueError(
            f"{path}: run {name!r}: there is no method {method!r}; {guess}"
        )
    if method in _SETTINGS:
        module = import_module(f"..protocols.{method}", __package__)
    else:
        module = load_method(method)
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
