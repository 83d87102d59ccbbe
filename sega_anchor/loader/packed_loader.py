"""PackedLoader: batches of packed graphs, in the order that PyG's loader would give."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import torch
from torch import Generator, Tensor
from torch.utils.data import RandomSampler, Sampler, SequentialSampler
from torch_geometric.data import Batch, Data

from .. import distributed
from ..profile import phase
from .packed_graphs import PackedGraphs

#: Share of a GPU's free memory that a set may fill.
_SHARE = 0.5


class PackedLoader:
    """Iterate over batches of graphs that lie in memory, on a GPU or mapped from disk.

    The batches, and their order, are those of PyG's ``DataLoader`` with the same
    arguments, at a fraction of the time; give a data set once, then iterate as often as
    you like. A set that fits into half of the free memory of a GPU is kept there.
    Other sets, or transforms that draw again in each epoch, want PyG's loader, which
    serves every method here as well.

    To resume within an epoch, keep ``loader.state_dict()`` and give it to
    ``loader.load_state_dict(...)``.

    Args:
        graphs: packed graphs, or a list or data set to be packed, trees included.
        batch_size: graphs per batch, of all ranks together.
        shuffle: draw a new order for each epoch.
        generator: where orders are drawn from; default torch's own.
        sampler: which graphs to take in each epoch, in this order; not with shuffle.
        min_batch_size: a last batch with fewer graphs joins the one before. BatchNorm
            over graphs, and a loss with negatives, need 2. (default: :obj:`1`)
        device: where batches are wanted.
        rank, world_size: each rank gets its part of each batch, of the same size within
            one and at least two graphs; all ranks need generators of the same seed.
            Default those of the process group; ``world_size=1`` gives all to each.

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
        min_batch_size: int = 1,
        device: str | torch.device = "cpu",
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        world_size = distributed.world_size() if world_size is None else world_size
        if rank is None:
            rank = distributed.rank() if world_size > 1 else 0
        least = max(min_batch_size, 2 * world_size if world_size > 1 else 1)
        if not 0 <= rank < world_size:
            raise ValueError(f"rank must be from 0 to {world_size - 1}, got {rank!r}")
        if batch_size < least:
            each = f" for {world_size} ranks: give each at least 2"
            raise ValueError(
                f"batch_size must be at least {least}, got {batch_size!r}"
                f"{each if world_size > 1 else ''}"
            )
        if sampler is not None and shuffle:
            raise ValueError("give either a sampler or shuffle=True, not both")
        if not isinstance(graphs, PackedGraphs):
            graphs = PackedGraphs.of(graphs).compact()
        self.device = torch.device(device)
        self.graphs = move_if_fits(graphs, self.device)
        if sampler is None:
            numbers = range(len(graphs))
            sampler = SequentialSampler(numbers)
            if shuffle:
                sampler = RandomSampler(numbers, generator=generator)
        self._length = len(sampler)  # type: ignore[arg-type]
        if world_size > 1 and self._length < least:
            raise ValueError(
                f"there are too few graphs for {world_size} ranks: give 2 each"
            )
        self.sampler = sampler
        self.batch_size = batch_size
        self.min_batch_size = least
        self.generator = generator
        self.rank = rank
        self.world_size = world_size
        self._begun: Tensor | None = None  # the generator before the epoch under way
        self._done = 0  # batches of it
        self._resumed = False

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        full, rest = divmod(self._length, self.batch_size)
        return full + (rest >= self.min_batch_size or (rest > 0 and not full))

    def __iter__(self) -> Iterator[Batch]:
        """Draw the order of an epoch, or resume one, and yield its batches."""
        if not self._resumed:
            self._begun = None if self.generator is None else self.generator.get_state()
            self._done = 0
        elif self.generator is not None and self._begun is not None:
            self.generator.set_state(self._begun)
        if not self._resumed or self.generator is not None:
            # PyG's loader draws this number for its workers, before the order.
            torch.empty((), dtype=torch.int64).random_(generator=self.generator)
        self._resumed = False
        done = self._done
        order = iter(self.sampler)
        for number in range(1, len(self) + 1):
            left = self._length - (number - 1) * self.batch_size
            is_odd = number == len(self) and left != self.batch_size
            whole = torch.tensor(
                list(islice(order, None if is_odd else self.batch_size))
            )
            if number <= done:
                continue
            part = whole.tensor_split(self.world_size)[self.rank]
            with phase("loading"):
                batch = self.graphs.batch(part).to(self.device, non_blocking=True)
            self._done = number
            yield batch
        next(order, None)  # samplers may draw at their end

    def state_dict(self) -> dict[str, Any]:
        """Return how far the epoch under way is, and what its order was drawn from.

        A random sampler must draw from the loader's generator, which is restored.

        Raises:
            ValueError: with ``shuffle=True`` and torch's own generator, which is not.

        Example:
            >>> pair = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))
            >>> loader = PackedLoader([pair] * 5, batch_size=2)
            >>> for batch in loader:
            ...     state = loader.state_dict()  # after the first batch
            ...     break
            >>> loader.load_state_dict(state)
            >>> len(list(loader)), len(list(loader))  # the rest, then a whole epoch
            (2, 3)
        """
        if isinstance(self.sampler, RandomSampler) and self.generator is None:
            raise ValueError(
                "the order is drawn from torch's own generator and cannot be found "
                "again: pass generator=torch.Generator().manual_seed(...)"
            )
        return {"generator": self._begun, "done": self._done}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume, in the next iteration, where :meth:`state_dict` was taken."""
        self._begun, self._done = state["generator"], int(state["done"])
        self._resumed = True

    def __repr__(self) -> str:
        """Name what decides the batches."""
        return (
            f"{type(self).__name__}({len(self.graphs)} graphs, "
            f"batch_size={self.batch_size}, device={str(self.device)!r}, "
            f"rank={self.rank} of {self.world_size})"
        )


def move_if_fits(graphs: PackedGraphs, device: torch.device) -> PackedGraphs:
    """Return the graphs on the device if they fit there with room to spare."""
    if device.type != "cuda" or graphs.device == device:
        return graphs
    free, _ = torch.cuda.mem_get_info(device)
    return graphs.to(device) if graphs.nbytes < _SHARE * free else graphs
