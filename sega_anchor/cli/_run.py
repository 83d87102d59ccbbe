"""``sega-anchor run``: one method on one data set."""

import importlib
from dataclasses import fields

from jsonargparse import ArgumentParser, Namespace

METHODS = ("adgcl", "autogcl", "graphcl", "joao", "rgcl")


def add_arguments(parser: ArgumentParser) -> None:
    """Give the parser a subcommand for each method."""
    from ..protocols import Settings

    chooser = parser.add_subcommands(dest="method")
    for name in METHODS:
        module = importlib.import_module(f"adapters.{name}")
        title = (module.__doc__ or "").split("\n")[0]
        one = ArgumentParser(description=title)
        one.add_argument("dataset", type=str, help="TU set by name, or 'synthetic'")
        one.add_argument(
            "--anchor", action="store_true", help="put the anchor view in (SEGA)"
        )
        one.add_class_arguments(module.Config)
        one.add_class_arguments(Settings)
        one.set_defaults({"results": "results"})
        add_profile(one)
        chooser.add_subcommand(name, one, help=title)


def run(chosen: Namespace) -> None:
    """Train and evaluate the method and print what comes out."""
    from ..protocols import Settings
    from ..report import result_table

    module = importlib.import_module(f"adapters.{chosen.method}")
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


def add_profile(parser: ArgumentParser) -> None:
    """Add ``--profile``."""
    parser.add_argument(
        "--profile", action="store_true", help="say at the end where the time went"
    )
