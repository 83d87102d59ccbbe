"""Which room of the package may know which other, read from the imports alone.

``ROOMS`` is the drawing: a room imports those in its row and no others. Imports count
wherever they stand, inside functions and under TYPE_CHECKING too.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import networkx
import pytest

from tests.helpers.paths import ROOT

ROOMS = {
    # kernels know nobody
    "_kernels": "",
    "trees/_kernels": "_kernels",
    # tools that serve any room
    "profile": "",
    "distributed": "",
    "utils": "_kernels distributed",
    # graph -> coding tree; draws itself too
    "trees": "trees/_kernels _kernels utils",
    "trees/draw": "trees utils",
    # tree -> clusters, as scikit-learn's estimators, which trees must not know
    "clustering": "trees utils",
    # tree -> anchor, graphs -> batches, graph -> view, graph -> vector
    "nn": "trees utils distributed",
    "loader": "trees utils _kernels profile distributed",
    "augment": "utils _kernels profile",
    "backbones": "nn utils",
    "datasets": "loader trees utils",
    # vectors -> scores -> tables
    "evaluate": "utils",
    "report": "utils",
    "report/page": "report trees datasets utils",
    # loops that know no protocol, the protocols, many runs, the words of the command
    "training": "nn loader augment backbones evaluate trees utils profile distributed",
    "protocols": "training datasets loader augment backbones evaluate report nn trees "
    "utils profile distributed",
    "experiments": "protocols datasets report utils",
    "cli": "sega_anchor experiments protocols training datasets report report/page "
    "trees trees/draw utils profile distributed _kernels trees/_kernels",
    # what a user sees first
    "versions": "datasets _kernels trees/_kernels",
    "sega_anchor": "nn trees clustering profile versions",
    "__main__": "cli",
}
ALLOWED = {room: set(others.split()) for room, others in ROOMS.items()}

LEARNING = (
    "torch.optim torch.nn torch.distributed torch.utils.data "
    "torch_geometric.nn torch_geometric.loader sklearn"
).split()


class Import(NamedTuple):
    """One imported thing: which file and line names which module, and what of it."""

    path: Path
    line: int
    module: str
    name: str | None  # None where the module itself is imported

    def __str__(self) -> str:
        what = self.module if self.name is None else f"{self.name} of {self.module}"
        return f"{self.path.relative_to(ROOT)}:{self.line} imports {what}"


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(path): path for path in (ROOT / "sega_anchor").rglob("*.py")}
ADAPTERS = {module_of(path): path for path in (ROOT / "adapters").rglob("*.py")}


def imports(path: Path) -> Iterator[Import]:
    """Yield all imports of a file, relative ones resolved."""
    here = module_of(path).split(".")
    package = here if path.name == "__init__.py" else here[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(path, node.lineno, alias.name, None)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                whole = f"{module}.{alias.name}"
                is_module = whole in FILES or whole in ADAPTERS
                found = (whole, None) if is_module else (module, alias.name)
                yield Import(path, node.lineno, *found)


INSIDE = [i for path in FILES.values() for i in imports(path)]
IN_ADAPTERS = [i for path in ADAPTERS.values() for i in imports(path)]


def room_of(module: str) -> str:
    """The room of one of our modules: its longest start that is a room."""
    parts = module.split(".")[1:]
    starts = ["/".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return next((start for start in starts if start in ROOMS), "sega_anchor")


def ours(found: Import) -> bool:
    return found.module.split(".")[0] == "sega_anchor"


def starts_with(module: str, names: list[str]) -> bool:
    return any(f"{module}.".startswith(f"{name}.") for name in names)


def check(violations: list[Import] | list[str]) -> None:
    """Fail with a list that can be worked through."""
    if violations:
        pytest.fail("\n".join(sorted({*map(str, violations)})), pytrace=False)


def cycles(arrows: set[tuple[str, str]]) -> list[str]:
    """Name, for each knot of modules or rooms, the shortest way around."""
    graph = networkx.DiGraph((a, b) for a, b in arrows if a != b)
    found = []
    for knot in networkx.strongly_connected_components(graph):
        if len(knot) > 1:
            ways = networkx.simple_cycles(graph.subgraph(knot))
            way = min(itertools.islice(ways, 1000), key=lambda way: (len(way), way))
            found.append(" -> ".join([*way, way[0]]))
    return found


def test_every_folder_is_a_room() -> None:
    top = {module.split(".")[1] for module in FILES if "." in module}
    assert top == {room.split("/")[0] for room in ROOMS} - {"sega_anchor"}


def test_the_drawing_has_no_circle() -> None:
    check(cycles({(room, other) for room in ALLOWED for other in ALLOWED[room]}))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_knows_only_the_rooms_in_its_row(room: str) -> None:
    known = {room, *ALLOWED[room]}
    own = [i for i in INSIDE if ours(i) and room_of(module_of(i.path)) == room]
    check([i for i in own if room_of(i.module) not in known])


def test_no_module_imports_itself_by_a_detour() -> None:
    check(cycles({(module_of(i.path), i.module) for i in INSIDE if ours(i)}))


def test_trees_know_no_training() -> None:
    below = [i for i in INSIDE if room_of(module_of(i.path)).startswith("trees")]
    check([i for i in below if starts_with(f"{i.module}.{i.name}", LEARNING)])


def test_only_kernels_import_numba() -> None:
    homes = ["sega_anchor._kernels", "sega_anchor.trees._kernels"]
    users = [i for i in INSIDE + IN_ADAPTERS if starts_with(i.module, ["numba"])]
    assert users
    check([i for i in users if not starts_with(module_of(i.path), homes)])


def test_the_library_never_imports_adapters() -> None:
    check([i for i in INSIDE if starts_with(i.module, ["adapters"])])


def names_of(path: Path) -> set[str]:
    """What a module offers: its ``__all__``, or else what it defines or exports."""
    defined = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [t.id for t in targets if isinstance(t, ast.Name)]
            if names == ["__all__"]:
                return set(ast.literal_eval(node.value))
            defined |= {*names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.ImportFrom):  # exported as ``name as name``
            defined |= {a.name for a in node.names if a.asname == a.name}
    return defined


def test_adapters_use_public_names_only() -> None:
    """``from sega_anchor[.package] import name``: what a method of yours can do too."""
    violations = []
    for found in IN_ADAPTERS:
        if not ours(found):
            continue
        package, name = found.module, found.name
        if name is None:  # a package as a name of the package above
            package, _, name = package.rpartition(".")
        public = package in FILES and name in names_of(FILES[package])
        if package.count(".") > 1 or "._" in package or name[:1] == "_" or not public:
            violations.append(found)
    check(violations)
