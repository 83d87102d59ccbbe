"""The methods that the command knows: ours, and those that other packages register."""

import sys
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

#: Entry points of this group name modules with a ``Config`` and a ``run``.
GROUP = "sega_anchor.methods"
BUILT_IN = ("adgcl", "autogcl", "graphcl", "joao", "rgcl")
#: What stands beside the methods and trains nothing.
_BASELINE = EntryPoint("baseline", "sega_anchor.protocols.unsupervised.baseline", GROUP)
_OURS = Path(__file__).parents[2] / "adapters"


def find_methods() -> dict[str, EntryPoint]:
    """Return the entry point of each method by name, none of them imported."""
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    # A bare checkout has no metadata; and nobody else's takes the place of ours.
    ours = {name: EntryPoint(name, f"adapters.{name}", GROUP) for name in BUILT_IN}
    return dict(sorted((found | ours | {"baseline": _BASELINE}).items()))


def load_method(name: str) -> Any:
    """Import the module of a method.

    Raises:
        ImportError: if that fails, or if another ``adapters`` hides ours: saying where
            it lies.
    """
    entry = find_methods()[name]
    if name in BUILT_IN:
        _refuse_other_adapters(name, find_spec("adapters"))
    module = entry.load()
    for needed in ("Config", "run"):
        if not hasattr(module, needed):
            raise ImportError(f"{entry.value} has no {needed}")
    return module


def load_methods() -> dict[str, Any]:
    """Import all methods; those of others that cannot be imported are left out."""
    loaded = {}
    for name, entry in find_methods().items():
        try:
            loaded[name] = load_method(name)
        except ImportError as error:
            if name in (*BUILT_IN, _BASELINE.name):
                raise
            package = entry.dist.name if entry.dist else "another package"
            print(
                f"sega-anchor: the method {name!r} of {package} is left out: {error}",
                file=sys.stderr,
            )
    return loaded


def _refuse_other_adapters(name: str, spec: ModuleSpec | None) -> None:
    """Raise ImportError if ``adapters.NAME`` would come from elsewhere, or nowhere."""
    if spec is None:
        return
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    places = places or [Path(str(spec.origin))]  # a module, adapters.py
    having = [p for p in places if (p / name).is_dir() or (p / f"{name}.py").is_file()]
    found = having[0] if having else places[0]
    if found.resolve() != _OURS.resolve():
        raise ImportError(
            f"{found} hides the adapters of sega-anchor in {_OURS}: rename it, or "
            "start in another folder; beside AdapterHub's package install the wheel"
        )
