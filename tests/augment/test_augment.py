"""GraphCL's augmentations: against the released code's results and slow twins."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Generator, Tensor
from torch_geometric.data import Batch, Data

from sega_anchor import AddCodingTree
from sega_anchor.augment import (
    AttributeMask,
    Augmentation,
    EdgePerturb,
    Identity,
    NodeDrop,
    RandomChoice,
    Released,
    Subgraph,
    ViewDraft,
    augmentation,
)
from tests.helpers.reference import reference

Edges = list[tuple[int, int]]
NAMES = "none dnodes pedges pedges_add subgraph mask_nodes".split()
NAMES += "random2 random3 random4".split()
BOTH = [(name, variant) for name in NAMES for variant in ("released", "paper")]
LOOPS = {"sega(two self-loop copies in)": 2, "graphcl_unsup(one self-loop copy in)": 1}
RING = [(i, (i + 1) % 6) for i in range(6)] + [(2, 6), (6, 7), (7, 8), (8, 9)]
WHEEL = [(0, i) for i in range(1, 10)] + [(i, i % 9 + 1) for i in range(1, 10)]


def seeded(seed: int = 0) -> Generator:
    return torch.Generator().manual_seed(seed)


def graph(n: int, undirected: Edges, loops: int = 0) -> Data:
    """Both directions in lexicographic order, then loops on all but the last node."""
    columns = sorted({*undirected, *((b, a) for a, b in undirected)})
    columns += [(i, i) for i in range(n - 1)] * loops
    edge_index = torch.tensor(columns, dtype=torch.long).view(-1, 2).t().contiguous()
    x = torch.stack([torch.arange(n), torch.ones(n)], dim=1)
    name = torch.arange(len(columns))
    return Data(x=x, edge_index=edge_index, edge_attr=name, y=torch.tensor([n]))


def nodes(view: Data) -> list[int]:
    return [int(i) for i in view.x[:, 0]]


def columns(view: Data) -> Edges:
    return [(int(a), int(b)) for a, b in view.edge_index.t()]


def split(view: Batch) -> list[Data]:
    """Un-batch a view by ptr, checking that no column crosses graphs."""
    graphs = []
    for begin, end in pairwise(view.ptr.tolist()):
        inside = (view.edge_index >= begin) & (view.edge_index < end)
        assert torch.equal(inside[0], inside[1])
        edge_index = view.edge_index[:, inside[0]] - begin
        edge_attr = view.edge_attr[inside[0]]
        graphs.append(Data(view.x[begin:end], edge_index, edge_attr))
    return graphs


@dataclass(frozen=True)
class Fixed(Augmentation):
    """Strike out what the masks say: stands in for the released random draws."""

    edge: Tensor

    def edit(self, draft: ViewDraft, generator: Generator | None) -> ViewDraft:
        return replace(draft, edge=self.edge)


# ---------------------------------------------------------------- released results


@pytest.fixture(params=LOOPS)
def oracle(request: pytest.FixtureRequest) -> tuple[Data, dict[str, Any]]:
    record = reference("augmentations")
    undirected = [(a, b) for a, b in record["graph"]["undirected_edges"]]
    data = graph(record["graph"]["n"], undirected, LOOPS[request.param])
    return data, record[request.param]


def test_counts_equal_the_released(oracle: tuple[Data, dict[str, Any]]) -> None:
    data, record = oracle
    for seed in ("0", "2"):
        dropped = record["drop_nodes"][seed]["after_training_cleanup"]
        assert NodeDrop(0.1)(data).num_nodes == len(dropped["kept_nodes"])
        kept = record["permute_edges"][seed]["edges"]
        assert augmentation("pedges")(data).num_edges == len(kept)
        star = record["subgraph"][seed]["after_training_cleanup"]["kept_nodes"]
        assert augmentation("subgraph")(data).num_nodes <= len(star) == 3
        masked = torch.tensor(record["mask_nodes"][seed]["x"]) != data.x
        view = augmentation("mask_nodes")(data)
        assert (view.x != data.x).any(1).sum() == masked.any(1).sum() == 1
        assert view.num_edges == len(record["mask_nodes"][seed]["edges"])


@pytest.mark.parametrize("function", ["drop_nodes", "permute_edges", "subgraph"])
@pytest.mark.parametrize("seed", ["0", "2"])
def test_clean_up_equals_the_released(
    oracle: tuple[Data, dict[str, Any]], function: str, seed: str
) -> None:
    data, record = oracle
    left = Counter((a, b) for a, b in record[function][seed]["edges"])
    merged = function != "permute_edges"  # parallel columns were merged
    edge = []
    for column in columns(data):
        edge.append(left[column] > 0)
        left[column] -= not merged
    expected = record[function][seed]["after_training_cleanup"]
    view = Released(Fixed(torch.tensor(edge)))(data)
    assert nodes(view) == expected["kept_nodes"]
    edges = [(a, b) for a, b in expected["edges"]]
    assert columns(view) == (edges if merged else sorted(edges))


@pytest.mark.parametrize(
    "name", ["dnodes", "pedges", "pedges_add", "subgraph", "mask_nodes"]
)
def test_loops_go_with_the_clean_up_only(name: str) -> None:
    view = augmentation(name)(graph(10, RING, loops=2))
    assert view.has_self_loops() == (name not in ("dnodes", "subgraph"))


def test_last_node_without_loop_goes_with_its_only_neighbour() -> None:
    data = graph(10, RING, loops=2)
    views = split(augmentation("dnodes")(Batch.from_data_list([data] * 200), seeded()))
    lost = {frozenset(range(10)) - {*nodes(view)} for view in views}
    assert lost == {frozenset({i}) for i in range(10) if i != 8} | {frozenset({8, 9})}


def test_fallback_redraws_only_the_graphs_without_columns() -> None:
    pair = Batch.from_data_list([graph(20, RING, 1), graph(10, RING, 1)])
    edge = pair.batch[pair.edge_index[0]] == 1
    first, second = split(Released(Fixed(edge), cleanup=False)(pair, seeded()))
    assert first.num_nodes == 18
    assert set(first.edge_attr.tolist()) < set(range(pair[0].num_edges))
    assert first.num_edges > 0
    assert second.num_nodes == 10
    assert second.num_edges == pair[1].num_edges


def test_graphs_without_edges_keep_their_nodes() -> None:
    data = Batch.from_data_list([graph(3, []), graph(10, RING, 1), graph(1, [])])
    for name, variant in BOTH:
        view = augmentation(name, variant=variant)(data, seeded())
        sizes = view.ptr.diff().tolist()
        assert view.num_graphs == 3
        assert min(sizes) > 0
        if "subgraph" not in name and "random" not in name:
            assert sizes[::2] == [3, 1]


# ---------------------------------------------------------------------- slow twins


Near = dict[int, list[int]]


def star_twin(n: int, near: Near, ratio: float, rng: random.Random) -> frozenset[int]:
    start = rng.randrange(n)
    held = {start}
    for _ in range(n):
        if len(held) <= math.floor(ratio * n) and near[start]:
            held.add(rng.choice(near[start]))
    return frozenset(held)


def walk_twin(n: int, near: Near, ratio: float, rng: random.Random) -> frozenset[int]:
    at = rng.randrange(n)
    held = {at}
    for _ in range(n):
        others = [b for b in near[at] if b != at]
        if len(held) <= math.floor(ratio * n) and others:
            at = rng.choice(others)
            held.add(at)
    return frozenset(held)


def neighbourhood_twin(
    n: int, near: Near, ratio: float, rng: random.Random
) -> frozenset[int]:
    held = {rng.randrange(n)}
    for _ in range(n):
        around = sorted({b for a in held for b in near[a]})
        if len(held) <= math.floor(ratio * n) and around:
            held.add(rng.choice(around))
    return frozenset(held)


@pytest.mark.parametrize(
    ("mode", "twin"),
    [
        ("star", star_twin),
        ("walk", walk_twin),
        ("neighbourhood", neighbourhood_twin),
    ],
)
@pytest.mark.parametrize("edges", [RING, WHEEL, RING[:7]])
@pytest.mark.parametrize("ratio", [0.2, 0.55])
def test_subgraph_distribution(
    mode: Any, twin: Any, edges: Edges, ratio: float
) -> None:
    data = graph(10, edges, loops=1)
    trials = 6000
    view = Subgraph(ratio, mode)(Batch.from_data_list([data] * trials), seeded())
    kept = view.x[:, 0].long().tolist()
    ours = Counter(frozenset(kept[a:b]) for a, b in pairwise(view.ptr.tolist()))
    rng = random.Random(0)
    near = {i: sorted({b for a, b in columns(data) if a == i}) for i in range(10)}
    theirs = Counter(twin(10, near, ratio, rng) for _ in range(trials))
    # two samples of one law differ by about sqrt(kinds / trials)
    distance = sum(abs(ours[k] - theirs[k]) for k in ours | theirs) / 2 / trials
    assert distance < 1.2 * math.sqrt(len(ours | theirs) / trials)
    assert max(map(len, ours)) <= math.floor(ratio * 10) + 1


def test_nodes_are_dropped_uniformly() -> None:
    view = NodeDrop(0.2)(Batch.from_data_list([graph(10, RING)] * 4000), seeded())
    share = view.x[:, 0].long().bincount() / 4000
    assert torch.allclose(share, torch.tensor(0.8), atol=0.03)


def test_choice_follows_the_weights_graph_by_graph() -> None:
    data = Batch.from_data_list([graph(10, RING)] * 4000)
    options = [Identity(), NodeDrop(0.5), NodeDrop(0.9)]
    for weights, shares in ((None, [1 / 3] * 3), ([3, 0, 1], [0.75, 0, 0.25])):
        sizes = RandomChoice(options, weights)(data, seeded()).ptr.diff()
        found = torch.stack([(sizes == n).float().mean() for n in (10, 5, 1)])
        assert torch.allclose(found, torch.tensor(shares), atol=0.03)
        assert (found == 0).tolist() == [share == 0 for share in shares]


# ---------------------------------------------------------------------- properties


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    def one() -> Data:
        n = draw(st.integers(1, 14))
        node = st.integers(0, n - 1)
        pairs = draw(st.lists(st.tuples(node, node), max_size=25))
        edges = [(a, b) for a, b in pairs if a != b]
        return graph(n, edges, loops=draw(st.integers(0, 2)))

    return Batch.from_data_list([one() for _ in range(draw(st.integers(1, 5)))])


ratios = st.one_of(st.sampled_from([0.0, 0.1, 0.2, 0.29, 1.0]), st.floats(0, 1))
seeds = st.integers(0, 2**31)


def share(ratio: float, count: int) -> int:
    return math.floor(Fraction(ratio).limit_denominator(10**6) * count)


@given(batches(), ratios, seeds)
def test_node_drop(data: Batch, ratio: float, seed: int) -> None:
    for old, new in zip(
        data.to_data_list(), split(NodeDrop(ratio)(data, seeded(seed))), strict=True
    ):
        kept = nodes(new)
        assert len(kept) == max(old.num_nodes - share(ratio, old.num_nodes), 1)
        assert kept == sorted(set(kept))
        expected = [
            (i, kept.index(a), kept.index(b))
            for i, (a, b) in enumerate(columns(old))
            if a in kept and b in kept
        ]
        names = new.edge_attr.tolist()
        assert [(i, *c) for i, c in zip(names, columns(new), strict=True)] == expected


@given(batches(), ratios, seeds)
def test_directed_perturbation(data: Batch, ratio: float, seed: int) -> None:
    view = EdgePerturb(ratio, mode="directed")(data, seeded(seed))
    assert torch.equal(view.x, data.x)
    for old, new in zip(data.to_data_list(), split(view), strict=True):
        assert new.num_edges == old.num_edges - share(ratio, old.num_edges)
        assert torch.equal(new.edge_index, old.edge_index[:, new.edge_attr])
        assert new.edge_attr.tolist() == sorted(set(new.edge_attr.tolist()))


@given(batches(), ratios, seeds)
def test_directed_perturbation_with_added_pairs(
    data: Batch, ratio: float, seed: int
) -> None:
    view = EdgePerturb(ratio, mode="directed", add=True)(data, seeded(seed))
    bare = EdgePerturb(ratio, mode="directed")(data, seeded(seed))
    assert torch.equal(view.x, data.x)
    for old, new, less in zip(
        data.to_data_list(), split(view), split(bare), strict=True
    ):
        assert torch.equal(new.edge_attr, old.edge_attr)
        kept = set(less.edge_attr.tolist())  # the same columns are dropped
        for name, pair in zip(new.edge_attr.tolist(), columns(new), strict=True):
            assert name not in kept or pair == columns(old)[name]


def test_added_pairs_are_any_two_nodes() -> None:
    data = Batch.from_data_list([graph(3, [(0, 1)])] * 4000)
    view = EdgePerturb(1.0, mode="directed", add=True)(data, seeded())
    share = (view.edge_index % 3 * torch.tensor([[3], [1]])).sum(0).bincount() / 8000
    torch.testing.assert_close(share, torch.full((9,), 1 / 9), atol=0.02, rtol=0)


@given(batches(), ratios, seeds, st.sampled_from(["pedges", EdgePerturb]))
def test_undirected_perturbation(
    data: Batch, ratio: float, seed: int, build: Any
) -> None:
    """Edges go in both directions, and none comes: GraphCL alone adds some."""
    named = build == "pedges"
    perturb = augmentation(build, ratio, "paper") if named else build(ratio)
    view = perturb(data, seeded(seed))
    assert torch.equal(view.x, data.x)
    for old, new in zip(data.to_data_list(), split(view), strict=True):
        assert torch.equal(new.edge_index, old.edge_index[:, new.edge_attr])
        edges, kept = (
            {frozenset(c) for c in columns(g) if len({*c}) == 2} for g in (old, new)
        )
        assert len(edges) - len(kept) == share(ratio, len(edges))
        wanted = [c for c in columns(old) if len({*c}) == 1 or frozenset(c) in kept]
        assert columns(new) == wanted


@pytest.mark.parametrize("name", ["random3", "random4"])
def test_no_edge_comes_with_the_papers_choices(name: str) -> None:
    data = Batch.from_data_list([graph(10, RING)] * 100)
    view = augmentation(name, 0.5, "paper")(data, seeded())
    old = columns(graph(10, RING))
    for new in split(view):
        # A mask hides the numbers of nodes, but leaves all ten in their order.
        number = nodes(new) if new.num_nodes < 10 else range(10)
        found = [(number[a], number[b]) for a, b in columns(new)]
        assert found == [old[i] for i in new.edge_attr.tolist()]


@given(batches(), ratios, seeds, st.sampled_from(["pedges_add", EdgePerturb]))
def test_undirected_perturbation_with_added_pairs(
    data: Batch, ratio: float, seed: int, build: Any
) -> None:
    named = build == "pedges_add"
    perturb = augmentation(build, ratio, "paper") if named else build(ratio, add=True)
    view = perturb(data, seeded(seed))
    assert torch.equal(view.x, data.x)
    for old, new in zip(data.to_data_list(), split(view), strict=True):
        before, after = columns(old), columns(new)
        edges, kept = (
            {frozenset(c) for c in cs if len({*c}) == 2} for cs in (before, after)
        )
        dropped = share(ratio, len(edges))
        assert Counter(after) == Counter((b, a) for a, b in after)
        assert len(edges - kept) == dropped
        assert len(kept - edges) <= dropped
        assert [c for c in after if c[0] == c[1]] == [c for c in before if c[0] == c[1]]
        assert sum(a != b for a, b in after) == 2 * len(kept)
        for name, (a, b) in zip(new.edge_attr.tolist(), after, strict=True):
            assert (a, b) == before[name] or {a, b} not in edges
        assert new.edge_attr.tolist() == sorted(new.edge_attr.tolist())


@given(batches(), ratios, seeds, st.sampled_from(["noise", "mean"]))
def test_attribute_mask(data: Batch, ratio: float, seed: int, mode: Any) -> None:
    data.x = data.x + 0.25  # no node then has the mean row by accident, or n = 1
    view = AttributeMask(ratio, mode)(data, seeded(seed))
    assert torch.equal(view.edge_index, data.edge_index)
    for old, new in zip(data.to_data_list(), split(view), strict=True):
        changed = (old.x != new.x).any(dim=1)
        wanted = share(ratio, old.num_nodes)
        if mode == "noise":
            assert changed.sum() == wanted
        else:
            mean = old.x.mean(dim=0)
            assert torch.allclose(new.x[changed], mean)
            assert wanted - 1 <= changed.sum() <= wanted  # one may be the mean itself


@given(batches(), st.sampled_from(BOTH), seeds)
def test_every_view(data: Batch, key: tuple[str, Any], seed: int) -> None:
    augment = augmentation(key[0], variant=key[1])
    before = data.clone()
    view = augment(data, seeded(seed))
    for name, value in before.items():
        assert torch.equal(data[name], value)
    assert view.num_graphs == data.num_graphs
    assert view.ptr.diff().min() > 0
    assert torch.equal(view.ptr.diff(), view.batch.bincount())
    assert torch.equal(view.batch, view.batch.sort().values)
    assert torch.equal(view.y, data.y)
    assert len(view.x) == view.num_nodes == len(view.batch)
    assert len(view.edge_attr) == view.num_edges
    split(view)
    again = augment(data, seeded(seed))
    for name, value in view.items():
        assert torch.equal(again[name], value)


# ------------------------------------------------------------- details and mistakes


@pytest.mark.parametrize(("name", "variant"), BOTH)
def test_copies_in_a_batch_are_drawn_independently(name: str, variant: Any) -> None:
    data = Batch.from_data_list([graph(20, [(i, i + 1) for i in range(19)], 1)] * 30)
    views = split(augmentation(name, variant=variant)(data, seeded()))
    kinds = {(str(view.x), str(view.edge_index)) for view in views}
    assert len(kinds) > 10 or name == "none"


def test_generator_leaves_the_global_state_alone() -> None:
    data = graph(10, RING)
    state = torch.get_rng_state()
    augmentation("random4", variant="paper")(data, seeded())
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(3)
    first = NodeDrop(0.5)(data).x
    torch.manual_seed(3)
    assert torch.equal(NodeDrop(0.5)(data).x, first)


def test_counts_are_safe_against_rounding() -> None:
    assert int(0.29 * 100) == 28
    assert NodeDrop(0.29)(graph(100, [])).num_nodes == 71


def test_mean_row_and_noise() -> None:
    data = graph(2000, [(0, 1)])
    mean = AttributeMask(1.0, mode="mean")(Batch.from_data_list([data, graph(3, [])]))
    assert torch.allclose(mean.x[0], torch.tensor([999.5, 1.0]))
    assert torch.allclose(mean.x[-1], torch.tensor([1.0, 1.0]))
    noise = AttributeMask(1.0)(data, seeded()).x
    assert abs(noise.mean() - 0.5) < 0.03
    assert abs(noise.std() - 0.5) < 0.03


def test_a_view_carries_no_tree_and_needs_no_features() -> None:
    data = graph(10, RING)
    del data.x
    data.num_nodes, data.edge_weight = 12, torch.ones(data.num_edges)
    data.leaf_x = torch.ones(12, 2)
    data = AddCodingTree(2)(data)
    view = NodeDrop(0.5)(Batch.from_data_list([data, data]))
    wanted = {"edge_index", "batch", "ptr", "y", "edge_attr", "edge_weight"}
    assert set(view.keys()) == wanted
    assert view.num_nodes == len(view.batch) == 12
    assert len(view.edge_weight) == view.num_edges


def test_mistakes_are_named() -> None:
    for build in (NodeDrop, EdgePerturb, AttributeMask, Subgraph):
        for ratio in (-0.1, 1.5, math.nan):
            with pytest.raises(ValueError, match=f"ratio is {ratio}; give"):
                build(ratio=ratio)
    for build in (EdgePerturb, AttributeMask, Subgraph):
        with pytest.raises(ValueError, match=r"mode must be .*, got 'tree'"):
            build(mode="tree")
    with pytest.raises(
        ValueError, match=r"augmentation must be 'dnodes', .* got 'dnode'"
    ):
        augmentation("dnode")
    with pytest.raises(ValueError, match=r"variant must be .*, got 'new'"):
        augmentation("dnodes", variant="new")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="augmentations is empty"):
        RandomChoice([])
    for weights in ([1.0], [0.0, 0.0], [2.0, -1.0]):
        with pytest.raises(ValueError, match="one number >= 0 for each of the 2"):
            RandomChoice([Identity(), NodeDrop()], weights=weights)


def test_unfit_data_is_named() -> None:
    data = graph(10, RING)
    with pytest.raises(ValueError, match="int64; AttributeMask needs float"):
        AttributeMask()(Data(x=data.x.long(), edge_index=data.edge_index))
    with pytest.raises(ValueError, match="x is None; AttributeMask"):
        AttributeMask()(Data(edge_index=data.edge_index, num_nodes=10))
    with pytest.raises(ValueError, match="edge_index is None"):
        Identity()(Data(x=data.x))
    data.edge_attr = data.edge_attr[1:]
    with pytest.raises(ValueError, match="edge_attr has 19 rows but edge_index has 20"):
        Identity()(data)
