"""``sega-anchor run``: one method on one data set."""

from dataclasses import fields
from typing import Any

from jsonargparse import ArgumentParser, Namespace

from ._json import result_json
from ._methods import load_method, load_methods
from ._parser import Parser, add_common, add_profile


def add_arguments(parser: ArgumentParser) -> None:
    """Give the parser a subcommand for each method."""
    from ..protocols import Settings

    chooser = parser.add_subcommands(dest="method")
    for name, module in load_methods().items():
        title = (module.__doc__ or "").split("\n")[0]
        one = Parser(description=title)
        one.add_argument("dataset", type=str, help="TU set by name, or 'synthetic'")
        one.add_argument(
            "--anchor", action="store_true", help="put the anchor view in (SEGA)"
        )
        one.add_class_arguments(module.Config)
        one.add_class_arguments(Settings)
        one.set_defaults({"results": "results"})
        add_common(one)
        add_profile(one)
        chooser.add_subcommand(name, one, help=title)


def run(chosen: Namespace) -> dict[str, Any]:
    """Train and evaluate the method; print what comes out and return it."""
    from ..protocols import Settings
    from ..report import result_table

    module = load_method(chosen.method)
    given = chosen[chosen.method]
    config = module.Config(**{f.name: given[f.name] for f in fields(module.Config)})
    options = {f.name: given[f.name] for f in fields(Settings)}
    result = module.run(given.dataset, anchor=given.anchor, config=config, **options)
    if result.evaluations:
        print(result_table([result]))
        print(
            "\nAccuracy in per cent, mean ± standard deviation over seeds of the mean "
            f"over {given.folds} folds."
        )
    if given.results:
        print(f"Record: {result.record}")
    return result_json(result)
