"""PackedLoader: batches of a packed set, in the order that PyG's loader would give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Generator
from torch.utils.data import BatchSampler, RandomSampler, Sampler
from torch_geometric.data import Batch, Data

from ..profile import phase
from .packed_graphs import PackedGraphs

#: Share of a GPU's free memory that a set may fill.
_SHARE = 0.5


class PackedLoader:
    """Iterate over batches of graphs that lie in memory, on a GPU or mapped from disk.

    The batches, and their order, are those of PyG's ``DataLoader`` with the same
    arguments, at a fraction of the time; give a data set once, then iterate as often as
    you like. A set that fits into half of the free memory of a GPU is kept there.
    Other sets, or transforms that draw anew in each epoch, want PyG's loader, which
    serves every method here as well.

    Args:
        graphs: packed graphs, or a list or data set to be packed, trees included.
        batch_size: graphs per batch, of all ranks together.
        shuffle: draw a new order for each epoch.
        generator: where orders are drawn from; default torch's own.
        sampler: which graphs to take in each epoch, in this order; not with shuffle.
        device: where batches are wanted.
        rank, ranks: of a distributed training; each rank gets its part of each batch,
            of the same size within one. All ranks need generators of the same seed. A
            last batch with less than two graphs a rank joins the one before.

    Raises:
        ValueError: for sizes or ranks that cannot be used, or graphs that do not pack.

    Example:
        >>> path = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 2]]))
        >>> loader = PackedLoader([path] * 5, batch_size=2, shuffle=True)
        >>> [batch.num_graphs for batch in loader]
        [2, 2, 1]
    """

    def __init__(
        self,
        graphs: PackedGraphs | Sequence[Data],
        batch_size: int = 1,
        shuffle: bool = False,
        generator: Generator | None = None,
        *,
        sampler: Sampler[int] | Sequence[int] | None = None,
        device: str | torch.device = "cpu",
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, got {batch_size!r}")
        if not 0 <= rank < ranks:
            raise ValueError(f"rank must be from 0 to {ranks - 1}, got {rank!r}")
        if batch_size < 2 * ranks and ranks > 1:
            raise ValueError(
                f"batch_size is {batch_size} for {ranks} ranks: give each at least 2"
            )
        if not isinstance(graphs, PackedGraphs):
            graphs = PackedGraphs.of(graphs).compact()
        self.device = torch.device(device)
        self.graphs = move_if_fits(graphs, self.device)
        if sampler is None:
            everything = range(len(graphs))
            sampler = everything
            if shuffle:
                sampler = RandomSampler(everything, generator=generator)
        elif shuffle:
            raise ValueError("give either a sampler or shuffle=True, not both")
        if len(sampler) < 2 * ranks and ranks > 1:  # type: ignore[arg-type]
            raise ValueError(f"there are too few graphs for {ranks} ranks: give 2 each")
        self.sampler = sampler
        self.batch_size = batch_size
        self.generator = generator
        self.rank = rank
        self.ranks = ranks

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        full, rest = divmod(len(self.sampler), self.batch_size)  # type: ignore[arg-type]
        return full + (rest > 0 and not (full and self._is_short(rest)))

    def __iter__(self) -> Iterator[Batch]:
        """Draw the order of an epoch and yield its batches."""
        # PyG's loader draws this number for its workers, before the order.
        torch.empty((), dtype=torch.int64).random_(generator=self.generator)
        parts: Iterator[list[int]] = iter(
            BatchSampler(self.sampler, self.batch_size, drop_last=False)
        )
        if self.ranks > 1:
            parts = self._shards(parts)
        for part in parts:
            with phase("loading"):
                batch = self.graphs.batch(part).to(self.device, non_blocking=True)
            yield batch

    def __repr__(self) -> str:
        """Name what decides the batches."""
        return (
            f"{type(self).__name__}({len(self.graphs)} graphs, "
            f"batch_size={self.batch_size}, "
            f"device={str(self.device)!r}, rank={self.rank} of {self.ranks})"
        )

    def _is_short(self, size: int) -> bool:
        return self.ranks > 1 and size < 2 * self.ranks

    def _shards(self, parts: Iterator[list[int]]) -> Iterator[list[int]]:
        """Yield this rank's part of each batch, a short last one joined to another."""
        held = next(parts, [])
        for part in parts:
            if self._is_short(len(part)):
                held = held + part
                break
            yield self._shard(held)
            held = part
        yield self._shard(held)

    def _shard(self, part: list[int]) -> list[int]:
        return torch.tensor(part).tensor_split(self.ranks)[self.rank].tolist()


def move_if_fits(graphs: PackedGraphs, device: torch.device) -> PackedGraphs:
    """Return the graphs on the device if they fit there with room to spare."""
    if device.type != "cuda" or graphs.device == device:
        return graphs
    free, _ = torch.cuda.mem_get_info(device)
    return graphs.to(device) if graphs.nbytes < _SHARE * free else graphs
