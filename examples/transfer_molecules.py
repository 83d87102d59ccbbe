"""Pre-train on molecules without labels, fine-tune on others.

    python examples/transfer_molecules.py zinc.csv.gz bbbp

The first is any file of SMILES, the second one of MoleculeNet's sets or a CSV file of
SMILES and labels. Checkpoints and results are kept in folders of these names: stop at
any time and start again.
"""

import sys

from sega_anchor.protocols import transfer
from sega_anchor.report import tuned_table


def main(molecules: str, dataset: str) -> None:
    """Print ROC-AUC in per cent, without and with pre-training."""
    checkpoint = transfer.pretrain(molecules, "checkpoints/sega", epochs=2)
    results = [
        transfer.finetune(dataset, start, seeds=2, epochs=10, results="results")
        for start in (None, checkpoint)
    ]
    print(tuned_table(results))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python examples/transfer_molecules.py SMILES_FILE DATA_SET")
    main(*sys.argv[1:])
