"""A script that torchrun starts: which graphs each rank is given, by whom."""

import json
import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import BatchSampler, DistributedSampler
from torch_geometric.data import Data

from sega_anchor.distributed import process_group
from sega_anchor.loader import PackedLoader

MANY = 21
EPOCHS = 2


def graphs() -> list[Data]:
    """Pairs of nodes that know their number."""
    edge_index = torch.tensor([[0, 1], [1, 0]])
    return [
        Data(x=torch.ones(2, 1), edge_index=edge_index, y=torch.tensor([i]))
        for i in range(MANY)
    ]


def seen(loader: Iterable[Any]) -> list[list[int]]:
    """Return the graphs of each batch of an epoch."""
    return [batch.y.tolist() for batch in loader]


def refusal(loader: Iterable[Any]) -> str:
    """Return what is said instead of a batch."""
    try:
        return str(seen(loader))
    except ValueError as error:
        return str(error)


def by_torch(rank: int) -> dict[str, Any]:
    """Return what loaders give that were made before there is a process group."""
    torch.manual_seed(rank)  # each rank has a generator of its own
    ours = PackedLoader(graphs(), 6, shuffle=True)
    plain = PackedLoader(graphs(), 6)
    different = PackedLoader(graphs(), 6, sampler=[*range(rank, MANY, 2), 0])
    listed = PackedLoader(
        graphs(), batch_sampler=BatchSampler(range(MANY), 3, drop_last=False)
    )
    with process_group("cpu"):
        sampler = DistributedSampler(ours.dataset, shuffle=True, drop_last=False)
        by_hand = PackedLoader(graphs(), 3, sampler=sampler)
        batches = BatchSampler(sampler, 3, drop_last=False)
        by_batch = PackedLoader(graphs(), batch_sampler=batches)
        return {
            "ours": [seen(ours) for _ in range(EPOCHS)],
            "plain": [seen(plain)],
            "by hand": [seen(by_hand)],
            "by batch": [seen(by_batch)],
            "different": refusal(different),
            "listed": refusal(listed),
        }


def by_lightning(rank: int) -> dict[str, Any]:
    """Return what a Trainer gives to a module, with a loader made before it starts."""
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)
            self.epochs: dict[str, list[list[list[int]]]] = {"fit": [], "predict": [[]]}

        def on_train_epoch_start(self) -> None:
            self.epochs["fit"].append([])

        def training_step(self, batch: Data, _: int) -> torch.Tensor:
            self.epochs["fit"][-1].append(batch.y.tolist())
            return self.layer(batch.x).mean()

        def predict_step(self, batch: Data, _: int) -> None:
            self.epochs["predict"][-1].append(batch.y.tolist())

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    def trainer(**how: Any) -> Any:
        return lightning.Trainer(
            accelerator="cpu",
            devices=2,
            strategy="ddp",
            max_epochs=EPOCHS,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=".",
            logger=False,
            **how,
        )

    module, found = Module(), {}
    loader = PackedLoader(graphs(), 4, shuffle=True, min_batch_size=2)
    first = trainer(enable_checkpointing=True)
    first.fit(module, loader)
    first.predict(module, PackedLoader(graphs(), 4))
    found.update(module.epochs)
    module = Module()
    ours = trainer(enable_checkpointing=False, use_distributed_sampler=False)
    ours.fit(module, PackedLoader(graphs(), 8, shuffle=True))
    return {**found, "ours": module.epochs["fit"]}


def by_accelerate(rank: int) -> dict[str, Any]:
    """Return what prepared loaders give."""
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    shuffled = accelerator.prepare(PackedLoader(graphs(), 4, shuffle=True))
    plain = accelerator.prepare(PackedLoader(graphs(), 3, world_size=1))
    found = {
        "shuffled": [seen(shuffled) for _ in range(EPOCHS)],
        "plain": [seen(plain)],
    }
    torch.distributed.destroy_process_group()
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    who, rank = sys.argv[1], int(os.environ["RANK"])
    work = {"torch": by_torch, "lightning": by_lightning, "accelerate": by_accelerate}
    Path(f"{who}{rank}.json").write_text(json.dumps(work[who](rank)))
