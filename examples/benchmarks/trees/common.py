"""What the benchmarks of trees share: samples, oracles, cells measured only once."""

import argparse
import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from torch_geometric.data import Data

from sega_anchor.datasets import load
from sega_anchor.trees.build import BUILDER_VERSION, TreeMethod

Json = dict[str, Any]
METHODS: tuple[TreeMethod, ...] = get_args(TreeMethod)
BEST: TreeMethod = next((m for m in METHODS if str(m) == "refined"), "paper")
TU_SETS = (
    "MUTAG",
    "PROTEINS",
    "NCI1",
    "DD",
    "IMDB-BINARY",
    "IMDB-MULTI",
    "COLLAB",
    "REDDIT-BINARY",
    "REDDIT-MULTI-5K",
)


class Cells:
    """Measurements, each kept as a JSON line as soon as it is there.

    A cell on file is not measured again: stop a benchmark and start it again, or start
    it to print the table of what is there. A line torn by a kill is measured anew.

    Args:
        benchmark: name of the file, without its ending.
        folder: where the file is kept; default: nowhere.
    """

    def __init__(self, benchmark: str, folder: str | None) -> None:
        self.path = None if folder is None else Path(folder) / f"{benchmark}.jsonl"
        self.known: dict[str, Json] = {}
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch()
            for line in filter(None, self.path.read_text().splitlines()):
                try:
                    cell = json.loads(line)
                    self.known[_name(cell["key"])] = cell["found"]
                except (ValueError, KeyError, TypeError):
                    print(f"set aside in {self.path}: {line[:60]!r}", file=sys.stderr)

    def measured(self, measure: Callable[[], Json], **key: Any) -> Json:
        """Return what is known of a cell, measuring it if it is not on file."""
        key["builder"] = BUILDER_VERSION
        name = _name(key)
        if name not in self.known:
            self.known[name] = measure()
            print(json.dumps(key), file=sys.stderr, flush=True)
            if self.path is not None:
                line = json.dumps({"key": key, "found": self.known[name]})
                with self.path.open("a") as file:
                    file.write(f"\n{line}\n")  # a torn line before it stays alone
        return self.known[name]


def _name(key: Json) -> str:
    return json.dumps(key, sort_keys=True)


def parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with the option that all benchmarks have."""
    made = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--results", help="folder of JSON lines; finished cells are kept")
    return made


def sample(name: str, most: int, archives: str | None) -> list[Data]:
    """Return at most so many graphs of a data set, drawn without repetition."""
    dataset = load(name, archives=archives)
    chosen = np.random.default_rng(0).permutation(len(dataset))[:most]
    return [dataset[int(i)] for i in np.sort(chosen)]


def oracle(name: str) -> Any:
    """Return a module of slow twins, which lie among the tests."""
    root = str(Path(__file__).resolve().parents[3])
    if root not in sys.path:
        sys.path.append(root)
    return importlib.import_module(f"tests.helpers.{name}")


def pairs(data: Data) -> list[tuple[int, int]]:
    """Return each edge of a graph once, loops left out."""
    ends = data.edge_index.sort(dim=0).values
    ends = torch.unique(ends[:, ends[0] != ends[1]], dim=1)
    return [(int(u), int(v)) for u, v in ends.t().tolist()]
