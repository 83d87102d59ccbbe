"""PackedLoader: batches of packed graphs, in the order that PyG's loader would give."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import torch
from torch import Generator, Tensor
from torch.utils.data import DataLoader, DistributedSampler, Sampler, SequentialSampler
from torch_geometric.data import Batch, Data
from typing_extensions import override

from .. import distributed
from ..profile import phase
from .packed_graphs import PackedGraphs, batch_of

#: Share of a GPU's free memory that a set may fill.
_SHARE = 0.5
#: Arguments of other loaders that have nothing to do here, as those have them.
_UNUSED = {
    "collate_fn": None,
    "exclude_keys": None,
    "follow_batch": None,
    "in_order": True,
    "multiprocessing_context": None,
    "num_workers": 0,
    "persistent_workers": False,
    "pin_memory": False,
    "pin_memory_device": "",
    "prefetch_factor": None,
    "timeout": 0,
    "worker_init_fn": None,
}


class PackedLoader(DataLoader[Batch]):
    """Iterate over batches of graphs that lie in memory, on a GPU or mapped from disk.

    The batches, and their order, are those of PyG's ``DataLoader`` with the same
    arguments, at a fraction of the time; give a data set once, then iterate as often as
    you like. A set that fits into half of the free memory of a GPU is kept there.
    Other sets, or transforms that draw again in each epoch, want PyG's loader.

    To resume within an epoch, keep ``loader.state_dict()`` and give it to
    ``loader.load_state_dict(...)``.

    On several ranks each gets its part of each batch, once there is a process group. A
    ``DistributedSampler``, by hand or from Lightning, and Accelerate's ``prepare``
    share out the graphs themselves: ``batch_size`` then is that of each rank.

    Args:
        dataset: packed graphs, or a list or data set to be packed.
        batch_size: graphs per batch, of all ranks together.
        shuffle: draw a new order for each epoch.
        generator: where orders are drawn from; default torch's own.
        sampler: which graphs to take in each epoch, in this order; not with shuffle.
            The same on all ranks, unless it is a ``DistributedSampler``.
        batch_sampler: which graphs to take in each batch, instead of all that.
        drop_last: leave out a last batch that is not full.
        min_batch_size: a last batch with fewer graphs joins the one before. BatchNorm
            over graphs, and a loss with negatives, need 2. (default: :obj:`1`)
        device: where batches are wanted.
        rank, world_size: each rank gets its part of each batch, of the same size within
            one and at least two graphs. Default those of the process group when an
            epoch begins, and then the order is that of rank 0; given by hand, all ranks
            need generators of the same seed. ``world_size=1`` gives all to each.
        unused: other arguments of PyG's loader, as long as they ask for nothing.

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
        dataset: PackedGraphs | Sequence[Data],
        batch_size: int = 1,
        shuffle: bool = False,
        generator: Generator | None = None,
        *,
        sampler: Sampler[int] | Sequence[int] | None = None,
        batch_sampler: Sampler[list[int]] | Iterable[list[int]] | None = None,
        drop_last: bool = False,
        min_batch_size: int = 1,
        device: str | torch.device = "cpu",
        rank: int | None = None,
        world_size: int | None = None,
        **unused: Any,
    ) -> None:
        _check_unused(unused)
        if batch_size is None or batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, got {batch_size!r}")
        if sampler is not None and shuffle:
            raise ValueError("give either a sampler or shuffle=True, not both")
        self.device = torch.device(device)
        self.min_batch_size = min_batch_size
        self.rank = rank
        self.world_size = world_size
        self._begun: Tensor | None = None  # the generator before the epoch under way
        self._done = 0  # batches of it
        self._resumed = False
        if not isinstance(dataset, PackedGraphs):
            dataset = PackedGraphs.of(dataset).compact()
        self.graphs = move_if_fits(dataset, self.device)
        super().__init__(
            self.graphs,
            batch_size,
            shuffle,
            sampler,
            batch_sampler,
            collate_fn=batch_of,  # for who reads the data set through torch's loader
            drop_last=drop_last,
            generator=generator,
        )
        self._place()

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        if self.batch_size is None:
            return len(self.batch_sampler)  # type: ignore[arg-type]
        return len(self._sizes(self._place()[1]))

    @override
    def __iter__(self) -> Iterator[Batch]:  # type: ignore[override]
        """Draw the order of an epoch, or resume one, and yield its batches."""
        rank, world_size = self._place()
        wholes = self._wholes(world_size)
        if self._resumed:
            wholes = self._again(wholes)
        else:
            self._begun, self._done = self._random.get_state(), 0
        self._resumed = False
        done = self._done
        for number, whole in enumerate(wholes, 1):
            if number <= done:
                continue
            part = torch.tensor(whole).tensor_split(world_size)[rank]
            with phase("loading"):
                batch = self.graphs.batch(part).to(self.device, non_blocking=True)
            self._done = number
            yield batch
        self._begun, self._done = None, 0  # what follows is the next epoch

    @property
    def _random(self) -> Generator:
        return self.generator or torch.default_generator

    def _again(self, wholes: Iterator[list[int]]) -> Iterator[list[int]]:
        """Draw the order of the epoch under way once more."""
        now = self._random.get_state()
        if self._begun is not None:
            self._random.set_state(self._begun)
        if self.generator is None:
            wholes = iter(list(wholes))
            self._random.set_state(now)  # is the network's too
        return wholes

    def _sizes(self, world_size: int) -> list[int]:
        """Return how many graphs each batch has, those of all ranks."""
        assert self.batch_size is not None
        full, rest = divmod(len(self.sampler), self.batch_size)  # type: ignore[arg-type]
        sizes = [self.batch_size] * full
        if rest and not self.drop_last:
            if full and rest < self._least(world_size):
                sizes[-1] += rest
            else:
                sizes.append(rest)
        return sizes

    def _wholes(self, world_size: int) -> Iterator[list[int]]:
        """Draw the graphs of each batch, those of all ranks."""
        # PyG's loader draws this number for its workers, before the order.
        torch.empty((), dtype=torch.int64).random_(generator=self._random)
        if self.batch_size is None:
            assert self.batch_sampler is not None
            yield from self.batch_sampler
            return
        order = iter(self.sampler)
        if world_size > 1 and self.world_size is None:
            order = iter(self._agreed(list(order)))
        for size in self._sizes(world_size):
            yield list(islice(order, size if size == self.batch_size else None))
        for _ in order:  # samplers may draw at their end
            pass

    def _agreed(self, order: list[int]) -> list[int]:
        """Return the order of rank 0, for generators of ranks may differ."""
        if isinstance(self.sampler, SequentialSampler):
            return order
        agreed: list[int] = distributed.broadcast_object(torch.tensor(order)).tolist()
        if agreed != order and not isinstance(self.sampler, Sampler):
            raise ValueError(
                "the ranks were given different graphs: give sampler=... the same on "
                "all, or world_size=1 if each is to have its own"
            )
        return agreed

    def _place(self) -> tuple[int, int]:
        """Return this process's rank and how many share each batch.

        Raises:
            ValueError: where they cannot.
        """
        world_size, rank = self.world_size, self.rank
        given = self.batch_sampler if self.batch_size is None else self
        is_shared_out = isinstance(getattr(given, "sampler", None), DistributedSampler)
        if is_shared_out and world_size not in (None, 1):
            raise ValueError(
                f"a DistributedSampler shares out the graphs: leave out {world_size=}"
            )
        if world_size is None:
            world_size = 1 if is_shared_out else distributed.world_size()
        if rank is None:
            rank = distributed.rank() if world_size > 1 else 0
        if not 0 <= rank < world_size:
            raise ValueError(f"rank must be from 0 to {world_size - 1}, got {rank!r}")
        if self.batch_size is None:
            if world_size > 1:
                raise ValueError(
                    f"batch_sampler would give all graphs to each of {world_size} "
                    "ranks: build it on a DistributedSampler, or pass world_size=1"
                )
            return rank, world_size
        least = self._least(world_size)
        if self.batch_size < least:
            each = f" for {world_size} ranks: give each at least 2, or world_size=1"
            raise ValueError(
                f"batch_size must be at least {least}, got {self.batch_size!r}"
                f"{each if world_size > 1 else ''}"
            )
        if world_size > 1 and len(self.sampler) < least:  # type: ignore[arg-type]
            raise ValueError(
                f"there are too few graphs for {world_size} ranks: give 2 each"
            )
        return rank, world_size

    def _least(self, world_size: int) -> int:
        """Return the smallest batch that is not joined to another."""
        return max(self.min_batch_size, 2 * world_size if world_size > 1 else 1)

    def state_dict(self) -> dict[str, Any]:
        """Return how far the epoch under way is, and what its order was drawn from.

        A random sampler must draw from the loader's generator, which is restored, or
        without one from torch's own, which is left as it is. Between two epochs the
        state says that a new one follows.

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
        return {"generator": self._begun, "done": self._done}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume, in the next iteration, where :meth:`state_dict` was taken."""
        self._begun, self._done = state["generator"], int(state["done"])
        self._resumed = self._begun is not None or self._done > 0

    def __repr__(self) -> str:
        """Name what decides the batches."""
        rank, world_size = self._place()
        return (
            f"{type(self).__name__}({len(self.graphs)} graphs, "
            f"batch_size={self.batch_size}, device={str(self.device)!r}, "
            f"rank={rank} of {world_size})"
        )


def _check_unused(given: dict[str, Any]) -> None:
    """Refuse what a loader without workers and collation cannot do."""
    for name, value in given.items():
        if name not in _UNUSED:
            raise TypeError(f"PackedLoader has no argument {name!r}")
        if value != _UNUSED[name] and value is not batch_of:
            raise ValueError(
                f"{name}={value!r} has nothing to do here, as batches are cut in this "
                "process: leave it out, or use torch_geometric.loader.DataLoader"
            )


def move_if_fits(graphs: PackedGraphs, device: torch.device) -> PackedGraphs:
    """Return the graphs on the device if they fit there with room to spare."""
    if device.type != "cuda" or graphs.device == device:
        return graphs
    free, _ = torch.cuda.mem_get_info(device)
    return graphs.to(device) if graphs.nbytes < _SHARE * free else graphs
