"""``sega-anchor compare``: methods with and without the anchor, as in Table 4."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

from jsonargparse import ArgumentParser, Namespace

from ._json import pair_json
from ._methods import load_method

if TYPE_CHECKING:
    from ..report import Pair

#: What ``compare`` compares: a name, the adapter, what its Config is given.
COMPARED: dict[str, tuple[str, dict[str, Any]]] = {
    "graphcl": ("graphcl", {}),
    "adgcl": ("adgcl", {}),
    "joao": ("joao", {}),
    "joaov2": ("joao", {"version": 2}),
    "autogcl": ("autogcl", {}),
    "rgcl": ("rgcl", {}),
}


def add_arguments(parser: ArgumentParser) -> None:
    """Give the parser the arguments of ``sega-anchor compare``."""
    from ..protocols import Settings

    parser.add_argument("datasets", type=str, nargs="+", help="TU sets by name")
    parser.add_argument(
        "--methods",
        type=Literal[tuple(COMPARED)],
        nargs="+",
        default=list(COMPARED),
        help="what to compare",
    )
    parser.add_argument("--height", type=int, default=5, help="of the coding trees")
    parser.add_class_arguments(Settings)
    parser.set_defaults({"results": "results", "seeds": 3})


def run(chosen: Namespace) -> dict[str, Any]:
    """Run every pair, then print the tables; refuse what is missing first.

    Returns:
        All pairs, as JSON knows them.

    Raises:
        ValueError: for data sets or options that cannot be used.
    """
    from ..datasets import load
    from ..protocols import Settings
    from ..protocols.settings import check_results, seed_numbers
    from ..report import comparison_table, result_table

    options = {f.name: chosen[f.name] for f in fields(Settings)}
    settings = Settings(**options)
    if settings.evaluate_at == ():
        raise ValueError("evaluate_at is empty: compare needs epochs to evaluate")
    if settings.evaluate_at and settings.epochs is None:
        raise ValueError(
            "evaluate_at is given without epochs, but the methods train for different "
            "numbers of epochs: give both, or neither for what was published"
        )
    check_results(settings.results)
    for dataset in chosen.datasets:  # refuse what is missing before any training
        load(dataset, root=settings.root, archives=settings.archives)
    pairs = [
        _run_pair(dataset, name, chosen.height, **options)
        for name in chosen.methods
        for dataset in chosen.datasets
    ]
    print("\nEpoch and embedding chosen on validation folds:\n")
    print(comparison_table(pairs))
    print("\nThe graph encoder's embedding alone (G), epoch chosen likewise:\n")
    print(comparison_table(pairs, embedding="G"))
    print("\nChosen on test folds, as the field reports:\n")
    print(comparison_table(pairs, choice="test"))
    print("\nEverything that was compared:\n")
    print(result_table([result for p in pairs for result in (p.baseline, p.anchored)]))
    print(
        f"\nAccuracy in per cent, mean ± standard deviation over "
        f"{len(seed_numbers(settings.seeds))} seeds\nof the mean over {settings.folds} "
        "folds; p of a two-sided paired t-test over seeds."
    )
    return {"pairs": [pair_json(pair) for pair in pairs]}


def _run_pair(dataset: str, name: str, height: int = 5, **options: Any) -> Pair:
    """Run one of COMPARED with and without the anchor, saying what comes out.

    Args:
        dataset: name of a data set.
        name: key of COMPARED.
        height: height of the coding trees.
        options: fields of :class:`~sega_anchor.protocols.Settings`.
    """
    from ..report import Pair

    adapter, given = COMPARED[name]
    module = load_method(adapter)
    config = module.Config(height=height, **given)
    results = []
    for anchor in (None, True):
        result = module.run(dataset, anchor=anchor, config=config, **options)
        print(f"{result.config['label']}, {dataset}: {result.accuracy}", flush=True)
        results.append(result)
    return Pair(*results)
