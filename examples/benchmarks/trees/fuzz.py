"""Random small graphs through every method and height: is every tree sound?

    python examples/benchmarks/trees/fuzz.py --graphs 1000000 --results OUT

Sound: built without an error, every invariant of ``CodingTree``, entropy a number, not
negative and not above the flat tree's, and for "refined" not above a smaller height's.
For other methods such rises are counted, and so are trees of "refined" above another
method's. Tolerance 1e-9 of the flat tree's bits. Seed and number make a graph: start
at --first to go on or, with --graphs 1, to see one again.
"""

from collections import Counter
from functools import partial

import numpy as np
from checks import Bools, Floats, Joined, Trees, defects
from common import METHODS, Cells, Json, parser
from random_graphs import Graph, Graphs, is_weighted, join, make
from tqdm import tqdm

from sega_anchor.report import table
from sega_anchor.trees.build import TreeMethod, build_arrays

HEIGHTS = (2, 3, 4, 5)
CHUNK = 10_000
TOLERANCE = 1e-9
HARMLESS = ("rises", "above")  # beginnings of what is counted and is no failure


def main() -> None:
    """Print what was found; exit with 1 if a tree is unsound."""
    options = parser(__doc__)
    options.add_argument("--graphs", type=int, default=10**6)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    cells = Cells("fuzz", given.results)
    counts: Counter[str] = Counter()
    examples: dict[str, int] = {}
    end = given.first + given.graphs
    for first in tqdm(range(given.first, end, CHUNK), disable=None, leave=False):
        last = min(first + CHUNK, end)
        found = cells.measured(
            partial(examine, given.seed, first, last),
            seed=given.seed,
            first=first,
            last=last,
            methods=METHODS,
        )
        for what, numbers in found.items():
            counts[what] += numbers["count"]
            if what not in examples:
                examples[what] = numbers["first"]
                print(f"{what}: {make(given.seed, numbers['first'])}", flush=True)
    asked = f"{given.graphs} graphs from {given.first}, seed {given.seed}"
    print(f"{asked}, methods {METHODS}, heights {HEIGHTS}")
    rows = [[what, str(n), str(examples[what])] for what, n in sorted(counts.items())]
    print(table(["found", "graphs", "first"], rows) if rows else "Nothing found.")
    raise SystemExit(any(not what.startswith(HARMLESS) for what in counts))


def examine(seed: int, first: int, last: int) -> Json:
    """Return how many graphs have which defect, and the first that does."""
    numbered = [(number, make(seed, number)) for number in range(first, last)]
    found: dict[str, list[int]] = {}
    for weighted in (False, True):
        some = [one for one in numbered if is_weighted(one[1]) == weighted]
        for what, where in _examine([graph for _, graph in some]).items():
            found.setdefault(what, []).extend(some[i][0] for i in where)
    return {
        what: {"count": len(numbers), "first": min(numbers)}
        for what, numbers in found.items()
        if numbers
    }


def _examine(graphs: list[Graph]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    arrays = join(graphs)
    joined = Joined(*arrays)
    flat = joined.flat_entropy()
    slack = TOLERANCE * flat
    bits: dict[tuple[str, int], Floats] = {}
    for method in METHODS:
        least = np.full(len(graphs), np.inf)
        for height in HEIGHTS:
            name = f"{method}, height {height}"
            trees = _build(graphs, arrays, method, height, found)
            if trees is None or _note(
                found, name, defects(trees, joined.sizes, height)
            ):
                continue
            now = bits[method, height] = joined.entropy(trees, height)
            outside = ~((now >= -slack) & (now <= flat + slack))
            _note(found, name, {"entropy out of range": outside})
            rise = "must not rise" if str(method) == "refined" else "rises"
            _note(found, name, {rise: now > least + slack})
            least = np.minimum(now, least)
    for (rival, height), other in bits.items():
        refined = bits.get(("refined", height), other)
        _note(found, f"height {height}", {f"above {rival}": refined > other + slack})
    return found


def _note(found: dict[str, list[int]], name: str, bad: dict[str, Bools]) -> bool:
    """Remember which graphs have a defect; True if any has."""
    for what, where in bad.items():
        found[f"{what}: {name}"] = np.flatnonzero(where).tolist()
    return any(where.any() for where in bad.values())


def _build(
    graphs: list[Graph],
    arrays: Graphs,
    method: TreeMethod,
    height: int,
    found: dict[str, list[int]],
) -> Trees | None:
    """Build all trees, or find out which graphs raise an error."""
    try:
        return Trees(*build_arrays(*arrays, height=height, method=method))
    except Exception:
        for i, graph in enumerate(graphs):
            try:
                build_arrays(*join([graph]), height=height, method=method)
            except Exception as error:
                what = f"{type(error).__name__}: {method}, height {height}"
                found.setdefault(what, []).append(i)
        return None


if __name__ == "__main__":
    main()
