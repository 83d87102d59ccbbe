"""The transfer table: no pre-training, GraphCL and SEGA fine-tuned on MoleculeNet.

    python examples/benchmarks/transfer.py zinc_250k.csv.gz bbbp bace --molecules 50000

Both pre-trainings see the same molecules, a random sample of the file, in the same
order for the same number of steps. What is on record is not computed again.
"""

import argparse
import random
from pathlib import Path

from sega_anchor.datasets.molecules.smiles import iterate_smiles
from sega_anchor.protocols import transfer
from sega_anchor.report import Tuned, tuned_table
from sega_anchor.utils.files import write_atomically


def sample(source: str, count: int, folder: Path) -> Path:
    """Write a random sample of a SMILES file, in the order of the file."""
    path = folder / f"sample{count}.csv"
    if not path.exists():
        molecules = list(iterate_smiles(source))
        chosen = sorted(random.Random(0).sample(range(len(molecules)), count))
        lines = ["smiles", *(molecules[i] for i in chosen), ""]
        write_atomically(path, "\n".join(lines).encode())
    return path


def main() -> None:
    """Print a row for each data set and pre-training as it comes, then the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source")
    parser.add_argument("datasets", nargs="*")
    parser.add_argument("--molecules", type=int, default=50_000)
    parser.add_argument("--pretrain-epochs", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--results", default="results")
    parser.add_argument("--archives", default=None)
    given = parser.parse_args()
    folder = Path(given.results)
    source = sample(given.source, given.molecules, folder)
    checkpoints: list[Path | None] = [None]
    for method in ("graphcl", "sega"):
        place = folder / f"{method}-{given.molecules}-{given.pretrain_epochs}"
        checkpoints.append(
            transfer.pretrain(
                source,
                place,
                pretraining=method,
                epochs=given.pretrain_epochs,
                device=given.device,
                packed=str(folder / f"packed{given.molecules}"),
            )
        )
        print(checkpoints[-1], flush=True)
    names = ("epochs", "seeds", "device", "results", "archives")
    options = {name: getattr(given, name) for name in names}
    rows: list[Tuned] = []
    for dataset in given.datasets:
        for checkpoint in checkpoints:
            rows.append(transfer.finetune(dataset, checkpoint, **options))
            print(repr(rows[-1]), flush=True)
    print(tuned_table(rows))


if __name__ == "__main__":
    main()
