"""What the soak runs: each command on something small, in the working directory."""

import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sega_anchor import AddCodingTree, build_coding_trees
from sega_anchor.cli import main
from sega_anchor.datasets import load
from sega_anchor.loader import pack_dataset


@dataclass(frozen=True)
class Job:
    """A command.

    Args:
        work: does it, in the working directory; returns the exit status. The folder
            of inputs is beside it.
        kilobytes: about what it leaves.
    """

    work: Callable[[], int]
    kilobytes: int


def command(words: str) -> int:
    """Run a command line."""
    return main(words.split())


def trees_and_packing() -> int:
    """Build trees with a cache, and pack a data set; errors as commands have them."""
    try:
        dataset = load("TOY", root="data", archives="../inputs")
        build_coding_trees(dataset, height=3, cache="trees")
        dataset.transform = AddCodingTree(height=3)
        pack_dataset(dataset, "packed", chunk=20)
    except (ValueError, OSError) as error:
        print(f"sega-anchor: {error}", flush=True)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


_TOY = "TOY --archives ../inputs --root data --results results --folds 3"
_RUN = f"{_TOY} --epochs 3 --evaluate_at [1,3] --seeds"
_SMALL = "--epochs 3 --hidden_channels 32 --num_layers 2"
COMMANDS = {
    f"run graphcl {_RUN} 2 --anchor": 700,
    f"run joao {_RUN} 1 --anchor --version 2": 700,
    f"run adgcl {_RUN} 1": 700,
    f"run autogcl {_RUN} 1 --anchor": 700,
    f"run rgcl {_RUN} 1 --anchor": 700,
    f"compare {_RUN} 1 --methods graphcl": 700,
    f"semisupervised {_TOY} --pretrain_epochs 2 --epochs 2 --seeds 1": 400,
    "pretrain ../inputs/smiles.csv weights --checkpoints [1,3] --batch_size 50 "
    f"--packed packed {_SMALL}": 500,
    "finetune ../inputs/labels.csv --seeds 2 --results results --root data "
    f"{_SMALL}": 300,
    "tree ../inputs/edges.txt --height 3 --output tree.tsv --plot tree.svg": 200,
}
JOBS = {
    words.removeprefix("run ").split()[0]: Job(partial(command, words), kilobytes)
    for words, kilobytes in COMMANDS.items()
}
JOBS["library"] = Job(trees_and_packing, 500)


def write_inputs(folder: Path) -> None:
    """Write a TU archive, molecules, labels and an edge list."""
    folder.mkdir()
    chance = random.Random(0)
    _write_archive(folder / "TOY.zip", chance)
    molecules = ["".join(chance.choices("CCCCNO", k=3 + i % 12)) for i in range(200)]
    (folder / "smiles.csv").write_text("\n".join(["smiles", *molecules]) + "\n")
    # Rings of many sizes: the scaffolds that the parts are made of.
    rows = [f"{'N' * (i % 4)}C1{'C' * (2 + i // 4)}1,{i % 2}" for i in range(80)]
    (folder / "labels.csv").write_text("\n".join(["smiles,task", *rows]) + "\n")
    pairs = [(i, (i * 7 + k) % 60) for i in range(60) for k in (1, 2)]
    (folder / "edges.txt").write_text("".join(f"{u} {v}\n" for u, v in pairs))


def _write_archive(path: Path, chance: random.Random) -> None:
    edges, owners, labels, node = [], [], [], 0
    for graph in range(60):
        size = chance.randint(6, 12)
        cycle = [(i, (i + 1) % size) for i in range(size)]
        chords = [tuple(chance.sample(range(size), 2)) for _ in range(graph % 2 * 4)]
        for u, v in cycle + chords:
            edges += [
                f"{node + u + 1}, {node + v + 1}",
                f"{node + v + 1}, {node + u + 1}",
            ]
        owners += [str(graph + 1)] * size
        labels.append(str(graph % 2))
        node += size
    content = {
        "A": edges,
        "graph_indicator": owners,
        "graph_labels": labels,
        "node_labels": [str(chance.randrange(3)) for _ in range(node)],
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, lines in content.items():
            archive.writestr(f"TOY/TOY_{name}.txt", "\n".join(lines) + "\n")
