"""PackedLoader gives the batches of PyG's loader, or its shards, in the same order."""

import copy
from collections.abc import Iterable
from itertools import chain, islice

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import (
    DistributedSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GIN, global_add_pool

from sega_anchor import AddCodingTree, AnchorView
from sega_anchor.loader.epochs import EpochSampler
from sega_anchor.loader.packed_graphs import PackedGraphs
from sega_anchor.loader.packed_loader import PackedLoader, move_if_fits
from tests.helpers.graphs import assert_same, random_graphs


def treed(many: int) -> list[Data]:
    """Graphs with trees, labels and a number by which to know them."""
    tree = AddCodingTree(height=2)
    listed = [tree(g) for g in random_graphs([1 + i % 7 for i in range(many)])]
    for i, graph in enumerate(listed):
        graph.y = torch.tensor([i])
        graph.edge_attr = torch.full((graph.num_edges, 2), i / 3)
    return listed


GRAPHS = treed(23)
PACKED = PackedGraphs.of(GRAPHS)


def seeded(seed: int = 7) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def numbers(batches: Iterable[Batch]) -> list[list[int]]:
    return [batch.y.tolist() for batch in batches]


def same(one: Data, two: Data) -> None:
    assert type(one) is type(two)
    assert_same(one, two)
    if isinstance(one, Batch):
        assert one.num_graphs == two.num_graphs
        for part, other in zip(one.to_data_list(), two.to_data_list(), strict=True):
            same(part, other)


@pytest.mark.parametrize("batch_size", [1, 4, 23, 50])
@pytest.mark.parametrize("order", ["plain", "shuffled", "drawn", "weighted", "listed"])
def test_epochs_are_those_of_pyg(order: str, batch_size: int) -> None:
    loaders: list[Iterable[Batch]] = []
    for kind, data in ((PackedLoader, GRAPHS), (DataLoader, GRAPHS)):
        random = seeded()
        sampler = {
            "drawn": SubsetRandomSampler(range(3, 17), generator=random),
            "weighted": WeightedRandomSampler([0.2] * 23, 30, generator=random),
            "listed": [5, 5, 0, 22, 9],
        }.get(order)
        how = {"shuffle": order == "shuffled", "sampler": sampler, "generator": random}
        loaders.append(kind(data, batch_size=batch_size, **how))
    ours, theirs = loaders
    assert len(ours) == len(theirs)
    for epoch in range(5):
        # The second and the fourth are broken off.
        stop = 1 if epoch % 2 else None
        pairs = zip(islice(ours, stop), islice(theirs, stop), strict=True)
        met = 0
        for one, two in pairs:
            same(one, two)
            met += 1
        assert met == (1 if stop else len(ours))


def test_orders_of_torch_itself_are_those_of_pyg() -> None:
    found = []
    for kind in (PackedLoader, DataLoader):
        torch.manual_seed(3)
        loader = kind(GRAPHS, batch_size=5, shuffle=True)
        found.append([numbers(loader), numbers(loader), torch.rand(1).item()])
    assert found[0] == found[1]
    assert found[0][0] != found[0][1]


def test_batches_come_apart_into_the_graphs() -> None:
    apart = [g for b in PackedLoader(PACKED, 4) for g in b.to_data_list()]
    for one, two in zip(apart, GRAPHS, strict=True):
        same(one, two)


def test_packed_listed_and_compact_graphs_are_alike() -> None:
    for form in (GRAPHS, PACKED, PACKED.compact()):
        loader = PackedLoader(form, 6, shuffle=True, generator=seeded())
        first = next(iter(loader))
        second = next(iter(DataLoader(GRAPHS, 6, True, generator=seeded())))
        same(first, second)


@given(st.integers(6, 40), st.integers(1, 3), st.integers(0, 20), st.booleans())
def test_shards_joined_are_the_batches(
    many: int, ranks: int, more: int, shuffle: bool
) -> None:
    batch_size = 2 * ranks + more
    sampler = [i % 23 for i in range(many)] if not shuffle else None
    how = {"shuffle": shuffle, "sampler": sampler}
    (whole, *loaders) = [
        PackedLoader(
            PACKED, batch_size, rank=rank, world_size=of, generator=seeded(many), **how
        )
        for rank, of in [(0, 1), *((rank, ranks) for rank in range(ranks))]
    ]
    for _ in range(2):
        expected = numbers(whole)
        if ranks > 1 and len(expected) > 1 and len(expected[-1]) < 2 * ranks:
            last = expected.pop()
            expected[-1] += last
        shards = [numbers(loader) for loader in loaders]
        assert {len(loader) for loader in loaders} == {len(expected)}
        joined = [[*chain(*parts)] for parts in zip(*shards, strict=True)]
        assert joined == expected
        for parts in zip(*shards, strict=True):
            sizes = [len(part) for part in parts]
            assert ranks == 1 or min(sizes) >= 2
            assert max(sizes) - min(sizes) <= 1


def test_shards_are_neighbours() -> None:
    first, second = (PackedLoader(PACKED, 10, rank=i, world_size=2) for i in (0, 1))
    # Three graphs are too few for two ranks: they join the ten before.
    assert numbers(first) == [[0, 1, 2, 3, 4], [10, 11, 12, 13, 14, 15, 16]]
    assert numbers(second) == [[5, 6, 7, 8, 9], [17, 18, 19, 20, 21, 22]]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"batch_size": -3}, "batch_size must be at least 1, got -3"),
        ({"rank": 1}, "rank must be from 0 to 0, got 1"),
        (
            {"batch_size": 8, "rank": -1, "world_size": 2},
            "rank must be from 0 to 1, got -1",
        ),
        (
            {"batch_size": 8, "rank": 2, "world_size": 2},
            "rank must be from 0 to 1, got 2",
        ),
        (
            {"batch_size": 5, "world_size": 3},
            "at least 6, got 5 for 3 ranks: give each at",
        ),
        ({"batch_size": 60, "world_size": 12}, "too few graphs for 12 ranks"),
        (
            {"batch_size": 9, "world_size": 2, "sampler": [1, 2, 3]},
            "too few graphs for 2",
        ),
        ({"sampler": [1], "shuffle": True}, "either a sampler or shuffle=True, not bo"),
        ({"batch_size": None}, "batch_size must be at least 1, got None"),
        ({"num_workers": 2}, "num_workers=2 has nothing to do here.*DataLoader"),
        ({"collate_fn": list}, "collate_fn=.* has nothing to do here"),
        ({"follow_batch": ["x"]}, r"follow_batch=\['x'\] has nothing to do here"),
        (
            {
                "batch_size": 4,
                "world_size": 2,
                "sampler": DistributedSampler(GRAPHS, 2, 0),
            },
            "a DistributedSampler shares out the graphs: leave out world_size=2",
        ),
    ],
)
def test_bad_arguments_are_refused(how: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PackedLoader(GRAPHS, **how)


def test_it_is_a_loader_of_torch() -> None:
    loader = PackedLoader(GRAPHS, 5, num_workers=0, pin_memory=False)
    assert isinstance(loader, torch.utils.data.DataLoader)
    assert len(loader.dataset) == 23
    assert numbers(loader.__class__.__base__.__iter__(loader)) == numbers(loader)
    with pytest.raises(TypeError, match="no argument 'batchsize'"):
        PackedLoader(GRAPHS, batchsize=2)


@pytest.mark.parametrize("batch_size", [4, 23, 50])
def test_a_last_batch_is_dropped_as_pyg_drops_it(batch_size: int) -> None:
    how = {"batch_size": batch_size, "drop_last": True, "shuffle": True}
    ours = PackedLoader(PACKED, generator=seeded(), **how)
    theirs = DataLoader(GRAPHS, generator=seeded(), **how)
    for _ in range(2):
        assert numbers(ours) == numbers(theirs)
    assert len(ours) == len(theirs)


def test_batches_are_taken_from_a_batch_sampler() -> None:
    batches = [[3, 1], [0], [5, 5, 5]]
    assert numbers(PackedLoader(PACKED, batch_sampler=batches)) == batches


def test_a_distributed_sampler_is_taken_as_torch_takes_it() -> None:
    for rank in range(3):
        found = []
        for kind, data in ((PackedLoader, PACKED), (DataLoader, GRAPHS)):
            sampler = DistributedSampler(data, 3, rank, seed=4)
            loader = kind(data, batch_size=3, sampler=sampler)
            sampler.set_epoch(2)
            found.append((numbers(loader), len(loader)))
        assert found[0] == found[1]


def test_graphs_that_do_not_pack_are_refused() -> None:
    with pytest.raises(ValueError, match="there are no graphs to pack"):
        PackedLoader([])
    with pytest.raises(ValueError, match=r"graph 1 and graph 0 differ in .*'y'"):
        PackedLoader([GRAPHS[0], *random_graphs([3])])
    with pytest.raises(IndexError, match="there are 23 graphs, got index 23"):
        next(iter(PackedLoader(PACKED, sampler=[23])))


def test_the_loader_says_what_it_is() -> None:
    loader = PackedLoader(PACKED, 8, rank=1, world_size=2)
    assert repr(loader) == (
        "PackedLoader(23 graphs, batch_size=8, device='cpu', rank=1 of 2)"
    )
    assert move_if_fits(PACKED, torch.device("cpu")) is PACKED


def test_a_plain_loop_learns_the_same_with_either_loader() -> None:
    losses = []
    for kind in (PackedLoader, DataLoader):
        torch.manual_seed(0)
        anchor = AnchorView(1, hidden_channels=8, out_channels=8, height=2)
        encoder = GIN(1, 8, 2)
        optimizer = torch.optim.Adam([*anchor.parameters(), *encoder.parameters()])
        for data in kind(GRAPHS, batch_size=10, shuffle=True, generator=seeded()):
            z = global_add_pool(encoder(data.x, data.edge_index), data.batch)
            optimizer.zero_grad()
            loss = anchor.loss(z, data)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert losses[:3] == losses[3:]
    assert len(set(losses)) == 3


@pytest.mark.parametrize("order", ["plain", "shuffled", "drawn"])
@pytest.mark.parametrize("done", [1, 3, 6])
def test_a_stopped_epoch_is_resumed_and_the_next_is_the_same(
    order: str, done: int
) -> None:
    def loader() -> PackedLoader:
        sampler = EpochSampler(torch.arange(22, 0, -1), 5) if order == "drawn" else None
        shuffle = order == "shuffled"
        return PackedLoader(PACKED, 4, shuffle, seeded(), sampler=sampler)

    whole = loader()
    expected = numbers(whole), numbers(whole)
    stopped = loader()
    for _ in islice(stopped, done):
        state = copy.deepcopy(stopped.state_dict())
    resumed = loader()
    resumed.generator.set_state(stopped.generator.get_state())
    resumed.load_state_dict(state)
    assert numbers(resumed) == expected[0][done:]
    assert numbers(resumed) == expected[1]


def test_a_short_last_batch_joins_the_one_before() -> None:
    loader = PackedLoader(PACKED, 11, min_batch_size=2)
    assert [len(batch) for batch in numbers(loader)] == [11, 12]
    assert len(loader) == 2
    with pytest.raises(ValueError, match="batch_size must be at least 2, got 1"):
        PackedLoader(PACKED, 1, min_batch_size=2)


@pytest.mark.parametrize("done", [1, 3, 6])
def test_orders_of_torch_s_own_generator_are_found_again(done: int) -> None:
    torch.manual_seed(5)
    expected = numbers(PackedLoader(PACKED, 4, shuffle=True))
    torch.manual_seed(5)
    stopped = PackedLoader(PACKED, 4, shuffle=True)
    for _ in islice(stopped, done):
        state = copy.deepcopy(stopped.state_dict())
    resumed = PackedLoader(PACKED, 4, shuffle=True)
    resumed.load_state_dict(state)
    torch.manual_seed(6)
    before = torch.get_rng_state()
    assert numbers(resumed) == expected[done:]
    assert torch.equal(torch.get_rng_state(), before)
    assert len(numbers(resumed)) == 6


def test_a_state_between_epochs_begins_the_next() -> None:
    loader = PackedLoader(PACKED, 4, shuffle=True)
    list(loader)
    after = PackedLoader(PACKED, 4, shuffle=True)
    after.load_state_dict(loader.state_dict())
    assert len(numbers(after)) == 6


def test_resuming_draws_nothing_from_the_generator_of_torch() -> None:
    stopped = PackedLoader(PACKED, 4)
    next(iter(stopped))
    before = torch.get_rng_state()
    resumed = PackedLoader(PACKED, 4)
    resumed.load_state_dict(stopped.state_dict())
    assert numbers(resumed)[0] == [4, 5, 6, 7]
    assert torch.equal(torch.get_rng_state(), before)
