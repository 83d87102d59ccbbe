"""Molecules a second: trees of the ZINC molecules in a CSV file of SMILES.

    python examples/benchmarks/trees/throughput.py zinc_250k.csv.gz --cache DIR

Parsing SMILES (RDKit, the ``chem`` extra) is done once and kept in --cache. Counted is
``build_coding_trees`` on the whole list, from PyG graphs to trees, the best of --repeat
runs; compilation excluded.
"""

import csv
import gzip
import io
import time
from functools import partial
from pathlib import Path

import numpy as np
import torch
from common import METHODS, Cells, Json, parser
from numpy.typing import NDArray
from torch_geometric.data import Data

from sega_anchor import build_coding_trees
from sega_anchor.report import table
from sega_anchor.trees.build import TreeMethod
from sega_anchor.utils.files import write_atomically

Ints = NDArray[np.int64]


def main() -> None:
    """Print a row for each method, height and number of threads."""
    options = parser(__doc__)
    options.add_argument("csv", type=Path, help="gzipped, with a column smiles")
    options.add_argument("--cache", type=Path, required=True, help="of parsed graphs")
    options.add_argument("--graphs", type=int, default=10**9, help="the first so many")
    options.add_argument("--heights", type=int, nargs="+", default=[2, 3, 5])
    options.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    options.add_argument("--repeat", type=int, default=3)
    given = options.parse_args()
    graphs = molecules(given.csv, given.cache)[: given.graphs]
    cells = Cells("throughput", given.results)
    asked = [
        {"method": method, "height": height, "threads": threads}
        for method in given.methods
        for height in given.heights
        for threads in given.threads
    ]
    rows = []
    for one in asked:
        seconds = cells.measured(
            partial(_best, graphs, given.repeat, **one),
            **one,
            graphs=len(graphs),
            file=given.csv.name,
        )["seconds"]
        shown = [f"{seconds:.2f}", f"{len(graphs) / seconds:,.0f}"]
        rows.append([str(len(graphs)), *map(str, one.values()), *shown])
    header = ["molecules", "method", "height", "threads", "seconds", "a second"]
    print(table(header, rows))


def _best(
    graphs: list[Data], repeat: int, method: TreeMethod, height: int, threads: int
) -> Json:
    build_coding_trees(graphs[:10], height, method=method)  # compiles
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        build_coding_trees(graphs, height, method=method, threads=threads)
        times.append(time.perf_counter() - began)
    return {"seconds": min(times)}


def molecules(path: Path, cache: Path) -> list[Data]:
    """Return the bonds of every molecule, both directions, parsed or from the cache."""
    kept = cache / f"{path.name}.npz"
    if not kept.exists():
        with gzip.open(path, "rt", newline="") as file:
            smiles = [row["smiles"] for row in csv.DictReader(file)]
        buffer = io.BytesIO()
        edges, bonds, sizes = _parse(smiles)
        np.savez_compressed(buffer, edges=edges, bonds=bonds, sizes=sizes)
        write_atomically(kept, buffer.getvalue())
    with np.load(kept, allow_pickle=False) as arrays:
        ends = torch.from_numpy(arrays["edges"])
        bonds, sizes = arrays["bonds"].tolist(), arrays["sizes"].tolist()
    return [
        Data(edge_index=torch.cat([part, part.flip(0)], dim=1), num_nodes=n)
        for part, n in zip(torch.split(ends, bonds, dim=1), sizes, strict=True)
    ]


def _parse(smiles: list[str]) -> tuple[Ints, Ints, Ints]:
    """Bonds of all molecules, one behind the other; what RDKit refuses is left out."""
    from rdkit import Chem, rdBase
    from tqdm import tqdm

    rdBase.DisableLog("rdApp.*")
    edges, bonds, sizes = [], [], []
    for text in tqdm(smiles, desc="Parsing SMILES", disable=None, leave=False):
        molecule = Chem.MolFromSmiles(text)
        if molecule is None or molecule.GetNumAtoms() == 0:
            continue
        ends = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in molecule.GetBonds()]
        edges += ends
        bonds.append(len(ends))
        sizes.append(molecule.GetNumAtoms())
    flat = np.array(edges, np.int64).reshape(-1, 2).T
    return flat, np.array(bonds, np.int64), np.array(sizes, np.int64)


if __name__ == "__main__":
    main()
