"""JOAO: the distribution's update, heads and estimation against the released ones."""

import itertools
import math

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

from adapters import joao
from sega_anchor.augment import Chosen, Identity, NodeDrop, draw_choice
from sega_anchor.datasets import SyntheticCommunities
from tests.helpers.reference import reference


@pytest.fixture(scope="module")
def graphs() -> list[Data]:
    dataset = SyntheticCommunities(num_graphs=30)
    return [Data(x=g.x, edge_index=g.edge_index) for g in dataset]


@pytest.fixture(scope="module")
def batch(graphs) -> Batch:
    return Batch.from_data_list(graphs[:12])


def vector(values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.double)


@pytest.mark.parametrize("case", range(12))
def test_one_update_equals_the_released_one_and_the_exact_one(case: int) -> None:
    step = reference("joao_update")["single_steps"][case]
    old, losses, gamma = vector(step["P"]), vector(step["loss"]), step["gamma"]
    b = joao.ascended(old, losses, gamma)
    torch.testing.assert_close(b, vector(step["b"]), atol=2e-6, rtol=0)
    for projection, key in (
        ("bisection", "P_new"),
        ("exact", "P_exact_simplex_projection_of_b"),
    ):
        got = joao.updated(old, losses, gamma, projection=projection)
        torch.testing.assert_close(got, vector(step[key]), atol=2e-6, rtol=0)


def test_the_chain_equals_the_released_one() -> None:
    probabilities = vector([0.2] * 5)
    for step in reference("joao_update")["chain_gamma0.1_from_uniform"]:
        probabilities = joao.updated(
            probabilities, vector(step["loss"]), 0.1, projection="bisection"
        )
        expected = vector(step["P_new"])
        torch.testing.assert_close(probabilities, expected, atol=2e-6, rtol=0)


def test_a_run_of_the_released_code_is_retraced() -> None:
    run = reference("joao_update")["official_run_MUTAG_seed0_gamma0.1_first6_epochs"]
    before = [[0.2] * 5, *run["P"]]
    for old, losses, new in zip(before, run["loss"], run["P"], strict=False):
        got = joao.updated(vector(old), vector(losses), 0.1, projection="bisection")
        torch.testing.assert_close(got, vector(new), atol=1e-6, rtol=0)


def nearest(b: list[float]) -> list[float]:
    """The projection from its definition: try every support, keep the nearest."""
    best, where = math.inf, []
    for size in range(1, len(b) + 1):
        for support in itertools.combinations(range(len(b)), size):
            mu = (sum(b[i] for i in support) - 1) / size
            p = [b[i] - mu if i in support else 0.0 for i in range(len(b))]
            distance = sum((x - y) ** 2 for x, y in zip(p, b, strict=True))
            if min(p) >= 0 and distance < best:
                best, where = distance, p
    return where


def test_projection_equals_an_exhaustive_search() -> None:
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(50, 5, generator=generator, dtype=torch.double)
    rows[:10] *= 1e-3
    rows[10:20] += 100
    got = joao.project_to_simplex(rows)
    for row, p in zip(rows.tolist(), got.tolist(), strict=True):
        assert p == pytest.approx(nearest(row), abs=1e-9)
        rough = joao.bisect_to_simplex(vector(row)).tolist()
        assert rough == pytest.approx(p, abs=0.01)


def test_draws_follow_the_distribution_and_tell_what_they_chose(graphs) -> None:
    batch = Batch.from_data_list(graphs * 20)
    options = [Identity(), NodeDrop(0.5)]
    generator = torch.Generator().manual_seed(0)
    choice = draw_choice(torch.tensor([0.3, 0.7]), len(batch), generator)
    view = Chosen(options, choice)(batch, generator)
    assert choice.double().mean().item() == pytest.approx(0.7, abs=0.06)
    kept = view.ptr.diff() / batch.ptr.diff()
    assert torch.equal(kept == 1, choice == 0)


def test_what_has_no_chance_is_not_drawn(batch) -> None:
    class Never(Identity):
        def edit(self, draft, generator):
            raise AssertionError("drawn in vain")

    model = joao.JOAO(2)
    model.augmentations = [Identity(), *[Never()] * 4]
    model.probabilities = torch.tensor([1.0, 0.0, 0.0, 0.0, 0.0]).double()
    assert model.loss(batch).isfinite()


def test_the_distribution_starts_uniform_and_moves_to_what_costs_most(graphs) -> None:
    torch.manual_seed(0)
    model = joao.JOAO(2, generator=torch.Generator().manual_seed(0))
    assert model.probabilities.tolist() == pytest.approx([0.2] * 5)
    loader = DataLoader(graphs, 10)
    measured = model.end_of_epoch(loader)
    assert sum(measured["probabilities"]) == pytest.approx(1)
    worst = max(range(5), key=measured["augmentation_losses"].__getitem__)
    assert max(range(5), key=measured["probabilities"].__getitem__) == worst
    assert model.state_dict()["probabilities"].tolist() == measured["probabilities"]


def test_estimation_is_the_mean_over_the_first_fifth_of_batches(graphs) -> None:
    torch.manual_seed(0)
    model = joao.JOAO(2)
    # Identity draws nothing: its loss can be computed beside.
    loader = DataLoader(graphs, 4)  # 8 batches, the last of 2: the first 2 count
    before = {k: v.clone() for k, v in model.state_dict().items()}
    got = model.estimate(loader)[4].item()
    assert model.training
    for key, value in model.state_dict().items():
        assert torch.equal(value, before[key])  # running statistics too
    batches = list(loader)[:2]
    model.eval()
    with torch.no_grad():
        plain = [model.losses(batch)[4].item() for batch in batches]
    assert got == pytest.approx(sum(plain) / 2, rel=1e-6)


def test_released_estimation_divides_by_whole_batches_and_moves_statistics(
    graphs,
) -> None:
    torch.manual_seed(0)
    model = joao.JOAO(2, joao.Config(estimation="released"))
    loader = DataLoader(graphs[:6], 4)  # 2 batches of 4 and 2, of which 1 counts
    before = model.encoder.norms[0].running_mean.clone()
    first = model.estimate(loader)[4].item()
    assert not torch.equal(before, model.encoder.norms[0].running_mean)
    whole = model.losses(next(iter(loader)))[4].item()
    assert first == pytest.approx(whole, rel=1e-5)
    short = DataLoader(graphs[:26], 5)  # 6 batches, the last of 1: the first 2 count
    assert model.estimate(short).isfinite().all()


def test_the_divisor_counts_graphs_or_released_whole_batches(
    graphs, monkeypatch
) -> None:
    loader = [Batch.from_data_list(graphs[:4]), Batch.from_data_list(graphs[4:6])] * 3
    for estimation, expected in (("exact", 3.0), ("released", 3.0 * 6 / 8)):
        model = joao.JOAO(2, joao.Config(estimation=estimation))
        monkeypatch.setattr(model, "losses", lambda _: torch.full((5,), 3.0))
        assert model.estimate(loader).tolist() == [expected] * 5


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("estimation", ["exact", "released"])
def test_single_graphs_and_empty_loaders(version, estimation) -> None:
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    single = Data(x=torch.ones(3, 2), edge_index=edge_index)
    model = joao.JOAO(2, joao.Config(version=version, estimation=estimation))
    assert model.step(single)["loss"] == 0  # no negatives
    measured = model.end_of_epoch([single])
    assert measured["probabilities"] == pytest.approx([0.2] * 5)
    with pytest.raises(ValueError, match="losses must be finite"):
        model.end_of_epoch([])


def released_graph() -> Data:
    """The graph of the reference views: a loop on all nodes but the last."""
    edges = reference("augmentations")["graph"]["undirected_edges"]
    columns = sorted({(a, b) for a, b in edges} | {(b, a) for a, b in edges})
    columns += [(i, i) for i in range(9)]
    x = torch.stack([torch.arange(10.0), torch.ones(10)], dim=1)
    return Data(x=x, edge_index=torch.tensor(columns).t())


def outcomes(index: int, count: int = 600) -> list[tuple[list[int], set]]:
    """The nodes and columns, by old names, of many views of that graph."""
    data = Batch.from_data_list([released_graph()] * count)
    augment = joao.Config(variant="released").augmentations()[index]
    view = augment(data, torch.Generator().manual_seed(0))
    name = view.x[:, 0].long()
    nodes = name.split(view.ptr.diff().tolist())
    pairs: list[set] = [set() for _ in nodes]
    graph = view.batch[view.edge_index[0]].tolist()
    for i, pair in zip(graph, name[view.edge_index].t().tolist(), strict=True):
        pairs[i].add(tuple(pair))
    return list(zip([n.tolist() for n in nodes], pairs, strict=True))


@pytest.mark.parametrize("seed", ["0", "2"])
@pytest.mark.parametrize(("index", "function"), [(0, "drop_nodes"), (2, "subgraph")])
def test_released_views_are_among_ours(index: int, function: str, seed: str) -> None:
    record = reference("augmentations")["joao_unsup(one self-loop copy in)"]
    expected = record[function][seed]["after_training_cleanup"]
    kept = expected["kept_nodes"]
    pairs = {(kept[a], kept[b]) for a, b in expected["edges"]}
    views = outcomes(index)
    assert (kept, pairs) in views
    sizes = {len(nodes) for nodes, _ in views}
    # Of 10 nodes 2 go, with the last if it lost its neighbour; a star has 2 to 4.
    assert sizes == ({7, 8} if index == 0 else {2, 3, 4})


@pytest.mark.parametrize("seed", ["0", "2"])
def test_released_views_that_keep_all_nodes_have_our_counts(seed: str) -> None:
    record = reference("augmentations")["joao_unsup(one self-loop copy in)"]
    data = released_graph()
    five = joao.Config(variant="released").augmentations()
    raw = five[1].augmentation(data)  # type: ignore[attr-defined]
    assert raw.num_edges == len(record["permute_edges"][seed]["edges"]) == 24
    masked = torch.tensor(record["mask_nodes"][seed]["x"]) != data.x
    view = five[3](data)
    assert (view.x != data.x).any(dim=1).sum() == masked.any(dim=1).sum() == 2
    loops = [augment(data).has_self_loops() for augment in five]
    assert loops == [False] * 5  # the clean-up follows even the identity
    assert five[4](data).num_edges == 20


def test_edges_are_dropped_and_none_is_added(batch) -> None:
    perturb = joao.Config(strength=0.5).augmentations()[1]
    view = perturb(batch, torch.Generator().manual_seed(0))
    left, given = ({*map(tuple, g.edge_index.t().tolist())} for g in (view, batch))
    assert left < given
    assert 0 <= len(left) - len(given) / 2 <= 2 * batch.num_graphs


@pytest.mark.parametrize("head", ["sample", "epoch"])
def test_version_2_trains_the_heads_that_views_go_through(batch, head: str) -> None:
    torch.manual_seed(0)
    config = joao.Config(version=2, head=head)
    model = joao.JOAO(2, config, None, torch.Generator().manual_seed(3))
    assert len(model.heads) == 5
    model.probabilities = torch.tensor([0.0, 0.5, 0.5, 0.0, 0.0]).double()
    model.epoch_head.fill_(3)
    model.loss(batch).backward()
    trained = {i for i, h in enumerate(model.heads) if h[0].weight.grad is not None}
    # The original graphs' head, and those of the drawn augmentations or of the epoch.
    assert trained == ({0, 1, 2} if head == "sample" else {0, 3})


def test_each_view_goes_through_its_own_head(batch) -> None:
    model = joao.JOAO(2, joao.Config(version=2)).eval()
    embedding = model.encode(batch)
    choice = torch.arange(12) % 5
    together = model._project_each(embedding, choice)
    for row, index in enumerate(choice.tolist()):
        alone = model.heads[index](embedding[row : row + 1])[0]
        torch.testing.assert_close(together[row], alone, atol=1e-4, rtol=1e-4)


def test_the_head_of_the_epoch_is_drawn_from_the_distribution(graphs) -> None:
    config = joao.Config(version=2, head="epoch", gamma=0.0)
    model = joao.JOAO(2, config, None, torch.Generator().manual_seed(0))
    model.probabilities = torch.tensor([0.0, 0.0, 1.0, 0.0, 0.0]).double()
    assert {model._draw_head() for _ in range(20)} == {2}


def test_training_lowers_the_loss(batch) -> None:
    torch.manual_seed(0)
    model = joao.JOAO(2, generator=torch.Generator().manual_seed(0))
    losses = [model.step(batch)["loss"] for _ in range(30)]
    assert sum(losses[-5:]) < sum(losses[:5])


def test_versions_have_their_published_rates_and_epochs() -> None:
    assert joao.Config().rates() == (0.01, 0.01)
    assert joao.Config(version=2).rates() == (0.001, 0.001)
    assert joao.Config(lr=0.5, anchor_lr=0.1).rates() == (0.5, 0.1)
    published = joao.JOAO.published(joao.Config(version=2), anchored=True)
    assert (published.epochs, published.evaluate_at) == (40, (20, 40))
    released = joao.JOAO.released(joao.Config(head="sample"))
    assert (released.head, released.projection) == ("sample", "bisection")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"version": 3}, "version must be 1 or 2, got 3"),
        ({"version": None}, "version must be 1 or 2, got None"),
        ({"gamma": -0.1}, "gamma must not be negative, got -0.1"),
        ({"beta": 0.0}, "beta must be positive, got 0.0"),
        ({"strength": 1.5}, "ratio is 1.5"),
        ({"projection": "rough"}, "projection must be 'exact' or 'bisection'"),
        ({"head": "last"}, "head must be 'sample' or 'epoch', got 'last'"),
    ],
)
def test_bad_values_are_refused(values: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        joao.Config(**values)


def test_a_diverged_loss_is_named() -> None:
    with pytest.raises(ValueError, match="losses must be finite"):
        joao.updated(vector([0.5, 0.5]), vector([math.nan, 1.0]), 0.1)


def test_an_exact_estimation_encodes_the_original_once(graphs) -> None:
    for estimation, passes in ((None, 1), ("released", 5)):
        model = joao.JOAO(2, joao.Config(estimation=estimation))
        count = []
        model.heads[0].register_forward_hook(lambda *_, to=count: to.append(1))
        model.estimate(DataLoader(graphs, 30))
        assert len(count) == passes + 5
