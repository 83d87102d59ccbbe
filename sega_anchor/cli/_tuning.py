"""The commands ``sega-anchor semisupervised``, ``pretrain`` and ``finetune``."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from ._json import tuned_json

# What only one command needs is imported there, so that the others start soon.
if TYPE_CHECKING:
    from ..report import Tuned


def add_semisupervised(parser: ArgumentParser) -> None:
    """Add what ``semisupervised`` takes."""
    from ..protocols.semisupervised import Config

    parser.add_argument("dataset", type=str, help="TU set by name, or 'synthetic'")
    parser.add_class_arguments(Config)
    parser.set_defaults({"results": "results"})


def semisupervised(chosen: Namespace) -> dict[str, Any]:
    """Run the semi-supervised protocol; print what comes out and return it."""
    from ..protocols import semisupervised as protocol

    options = _options(chosen, protocol.Config)
    return _print(protocol.run(chosen.dataset, **options), "Accuracy")


def add_pretrain(parser: ArgumentParser) -> None:
    """Add what ``pretrain`` takes."""
    from ..protocols.transfer import PretrainConfig

    parser.add_argument(
        "source", type=str, help="SMILES file, or folder of protein networks"
    )
    parser.add_argument("folder", type=str, help="folder for the checkpoints")
    parser.add_class_arguments(PretrainConfig)


def pretrain(chosen: Namespace) -> dict[str, Any]:
    """Pre-train an encoder; print where it is and return what was measured."""
    from ..protocols import transfer

    options = _options(chosen, transfer.PretrainConfig)
    checkpoint = transfer.pretrain(chosen.source, chosen.folder, **options)
    print(checkpoint)
    log = checkpoint.with_name("pretraining.json")
    found = json.loads(log.read_text(encoding="utf-8"))
    return {
        "config": found["about"],
        "history": found["history"],
        "checkpoint": str(checkpoint),
        "record": str(log),
    }


def add_finetune(parser: ArgumentParser) -> None:
    """Add what ``finetune`` takes."""
    from ..protocols.transfer import FinetuneConfig

    parser.add_argument(
        "dataset",
        type=str,
        help="one of MoleculeNet's eight sets, CSV file of SMILES and labels, or "
        "folder of protein networks",
    )
    parser.add_class_arguments(FinetuneConfig)
    parser.set_defaults({"results": "results"})


def finetune(chosen: Namespace) -> dict[str, Any]:
    """Fine-tune an encoder; print what comes out and return it."""
    from ..protocols import transfer

    options = _options(chosen, transfer.FinetuneConfig)
    result = transfer.finetune(chosen.dataset, **options)
    return _print(result, "Mean ROC-AUC over tasks")


def _options(chosen: Namespace, config: type[Any]) -> dict[str, Any]:
    return {field.name: chosen[field.name] for field in fields(config)}


def _print(result: Tuned, what: str) -> dict[str, Any]:
    from ..report import tuned_table

    print(tuned_table([result]))
    print(
        f"\n{what} in per cent, mean ± standard deviation over seeds; the epoch\n"
        "chosen on validation is the number to believe."
    )
    if result.record is not None:
        print(f"Record: {result.record}")
    return tuned_json(result)
