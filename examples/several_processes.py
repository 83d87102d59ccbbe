"""Your own loop on several GPUs or processes, started by torchrun.

One node with four GPUs, then two such nodes (the same line on each, N = 0 and 1):

    torchrun --nproc-per-node 4 examples/several_processes.py --device cuda
    torchrun --nnodes 2 --node-rank N --nproc-per-node 4 \
        --rdzv-backend c10d --rdzv-id sega --rdzv-endpoint FIRST_NODE:29500 \
        examples/several_processes.py --device cuda

Every adapter and protocol of this package is shared in the same way, without any code:

    torchrun --nproc-per-node 4 -m sega_anchor run rgcl NCI1 --anchor --device cuda
    torchrun --nproc-per-node 4 -m sega_anchor pretrain zinc.csv.gz ckpt --device cuda

Without GPUs the processes talk through gloo; without torchrun there is one process.
"""

import argparse

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

import sega_anchor as sa
from sega_anchor.augment import NodeDrop
from sega_anchor.backbones import GIN
from sega_anchor.datasets import load
from sega_anchor.distributed import process_group, rank, rank_generator, world_size
from sega_anchor.loader import PackedLoader
from sega_anchor.training import parallel


class Contrast(nn.Module):
    """Your own encoder and loss, with the anchor as one of the two views."""

    def __init__(self, in_channels: int, generator: torch.Generator) -> None:
        super().__init__()
        self.encoder = GIN(in_channels)
        negatives_of_all = sa.NTXent(temperature=0.2, gather=True)
        self.anchor = sa.AnchorView(in_channels, loss=negatives_of_all)
        self.generator = generator

    def forward(self, data: Data) -> Tensor:
        """Return the loss of the whole batch, the same on every rank."""
        view = NodeDrop(ratio=0.2)(data, self.generator)
        return self.anchor.loss(self.encoder.encode(view), data)


def main() -> None:
    """Train for some epochs; rank 0 prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epochs", type=int, default=5)
    given = parser.parse_args()
    with process_group(given.device) as device:
        torch.manual_seed(0)
        dataset = load("synthetic")
        model = Contrast(dataset.num_features, rank_generator(0, device)).to(device)
        loader = PackedLoader(
            model.anchor.transform.map(dataset),
            batch_size=64,  # of all ranks together
            shuffle=True,
            generator=torch.Generator().manual_seed(0),  # the same on all
            device=device,
        )
        shared = parallel(model, device)  # DDP, BatchNorm over all ranks
        optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
        for epoch in range(1, given.epochs + 1):
            for data in loader:
                optimizer.zero_grad()
                loss = shared(data)
                loss.backward()
                optimizer.step()
            if rank() == 0:
                print(f"epoch {epoch}, {world_size()} ranks: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
