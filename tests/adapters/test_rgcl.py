"""RGCL: estimator, sampled views and loss against the released ones."""

import hashlib
import itertools
import json
import math
from collections import Counter

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from adapters import rgcl
from adapters.rgcl.views import drop_count
from sega_anchor import AddCodingTree, AnchorView
from sega_anchor.augment import Identity, Released, ViewDraft
from sega_anchor.backbones import GIN
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.protocols.settings import identity
from tests.helpers.reference import fill, forward_graph, reference


@pytest.fixture(scope="module")
def batch() -> Batch:
    dataset = SyntheticCommunities(num_graphs=12)
    return Batch.from_data_list([Data(x=g.x, edge_index=g.edge_index) for g in dataset])


def small() -> Data:
    x, edge_index, batch = forward_graph()
    return Batch(x=x, edge_index=edge_index, batch=batch, ptr=torch.tensor([0, 4, 7]))


def test_estimator_and_weighted_encoder_equal_the_released_ones() -> None:
    expected = reference("forward")
    data = small()
    probability = fill(rgcl.RationaleEstimator(3, 4, 3))(data)
    known = torch.tensor(expected["rgcl_explainer(3,4,3)"]["node_prob"]).double()
    torch.testing.assert_close(probability, known, atol=2e-6, rtol=0)
    encoder = fill(GIN(3, 4, 3))
    for key, weight in (
        ("with_node_imp", rgcl.pooling_weight(probability, data.batch)),
        ("without_node_imp", None),
    ):
        got = encoder.encode(data, weight)
        known = torch.tensor(expected["rgcl_encoder(3,4,3,all)"][key]).double()
        torch.testing.assert_close(got, known, atol=2e-6, rtol=0)


@pytest.mark.parametrize("rho", [0.9, 0.8])
def test_dropped_counts_equal_the_released_ones(rho: float) -> None:
    known = reference("rgcl_drop_num")[f"rho{rho}"]
    sizes = torch.tensor([int(n) for n in known])
    assert drop_count(sizes, rho, "released").tolist() == list(known.values())
    tenths = round(10 * (1 - rho))
    exact = [int(n) * tenths // 10 for n in known]
    assert drop_count(sizes, rho).tolist() == exact


def sequential(weight: list[float], take: int) -> dict[frozenset[int], float]:
    """Chances of each set when nodes are drawn one by one without replacement."""
    chances: Counter[frozenset[int]] = Counter()
    for order in itertools.permutations(range(len(weight)), take):
        chance, left = 1.0, sum(weight)
        for node in order:
            chance *= weight[node] / left
            left -= weight[node]
        chances[frozenset(order)] += chance
    return dict(chances)


@pytest.mark.parametrize("side", ["rationale", "complement"])
def test_views_keep_nodes_with_the_released_probabilities(side: str) -> None:
    known = reference("rgcl_sampling_probabilities")
    score = torch.tensor(known["score_half"])
    probability = known[f"{side}_p"]
    count = 20_000
    one = Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=5)
    data = Batch.from_data_list([one] * count)
    view = rgcl.RationaleView(score.repeat(count), rho=0.6, side=side)
    drawn = view.edit(ViewDraft.of(data), torch.Generator().manual_seed(0))
    rows = drawn.node.view(count, 5)
    found = Counter(frozenset(row.nonzero().view(-1).tolist()) for row in rows)
    for nodes, chance in sequential(probability, 3).items():
        assert found[nodes] / count == pytest.approx(chance, abs=0.015)


def test_complements_look_at_their_own_graph_only() -> None:
    """Beside a graph with larger scores, those of the first still decide."""
    score = torch.tensor([0.9, 0.9, 0.1, 0.05])
    count = 20_000
    one = Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=2)
    data = Batch.from_data_list([one] * (2 * count))
    view = rgcl.RationaleView(score.repeat(count), rho=0.5, side="complement")
    drawn = view.edit(ViewDraft.of(data), torch.Generator().manual_seed(0))
    _, _, best, other = drawn.node.view(count, 4).double().mean(dim=0).tolist()
    assert other == pytest.approx(0.051 / 0.052, abs=0.01)
    assert best == pytest.approx(0.001 / 0.052, abs=0.01)


def test_views_have_the_released_counts_and_edges() -> None:
    values = reference("augmentations")
    known = values["rgcl(rho 0.8, one self-loop copy in)"]
    pairs = torch.tensor(values["graph"]["undirected_edges"]).t()
    loops = torch.arange(10).expand(2, 10)
    edge_index = torch.cat([pairs, pairs.flip(0), loops], dim=1)
    x = torch.tensor([[float(i), 1.0] for i in range(10)])
    data = Data(x=x, edge_index=edge_index)
    score = torch.tensor(known["score"])
    for side, key in (
        ("rationale", "drop_nodes_prob"),
        ("complement", "drop_nodes_cp"),
    ):
        drawn = rgcl.RationaleView(score, 0.8, side, rounding="released")
        seen = set()
        for seed in range(200):
            generator = torch.Generator().manual_seed(seed)
            view = Released(drawn, fallback=Identity())(data, generator)
            edges = sorted(view.edge_index.t().tolist())
            seen.add((tuple(view.x[:, 0].int().tolist()), str(edges)))
            assert view.num_nodes == 9  # int(10 * (1 - 0.8)) is 1
        for expected in known[key].values():
            nodes = tuple(int(row[0]) for row in expected["x"])
            assert (nodes, str(sorted(expected["edges"]))) in seen


def test_the_rest_is_what_the_rationale_leaves_in_number(batch) -> None:
    score = torch.rand(batch.num_nodes, generator=torch.Generator().manual_seed(0))
    for rho, side, complement, share in (
        (0.7, "rationale", "same", 0.7),
        (0.7, "complement", "same", 0.7),
        (0.7, "complement", "rest", 0.3),
    ):
        view = rgcl.RationaleView(score, rho, side, complement)(batch)
        dropped = drop_count(batch.ptr.diff(), rho)
        keep = dropped if share == 0.3 else batch.ptr.diff() - dropped
        assert torch.equal(view.ptr.diff(), keep)


def test_losses_equal_the_released_ones() -> None:
    values = reference("losses")
    x, y, z = (torch.tensor(values[name]).double() for name in "xyz")
    got = rgcl.rgcl_loss(x, y, z).item()
    assert got == pytest.approx(values["rgcl_unsup_x_aug=y_cp=z"], abs=2e-6)
    got = rgcl.rgcl_loss(x, y, z, 0.1, 0.1, form="transfer").item()
    known = values["rgcl_chem_loss_ra_T0.1_lamda0.1"]["total"]
    assert got == pytest.approx(known, abs=5e-6)


def slow_loss(x: Tensor, r: Tensor, c: Tensor, t: float, weight: float) -> float:
    """The unsupervised form, pair by pair."""

    def e(a: Tensor, b: Tensor) -> float:
        return math.exp((a @ b / a.norm() / b.norm()).item() / t)

    total = 0.0
    for i in range(len(x)):
        own = e(x[i], r[i])
        a = own / sum(e(x[i], r[j]) for j in range(len(x)))
        b = own / (own + sum(e(x[i], c[j]) for j in range(len(x))))
        total -= math.log(a + weight * b)
    return total / len(x)


@pytest.mark.parametrize("weight", [0.0, 0.1, 2.0])
def test_loss_equals_the_slow_twin(weight: float) -> None:
    generator = torch.Generator().manual_seed(0)
    x, r, c = torch.randn(3, 6, 4, generator=generator, dtype=torch.double)
    x.requires_grad_()
    got = rgcl.rgcl_loss(x, r, c, 0.3, weight)
    assert got.item() == pytest.approx(slow_loss(x.detach(), r, c, 0.3, weight))
    got.backward()
    assert x.grad is not None and torch.isfinite(x.grad).all()
    cold = rgcl.rgcl_loss(x, r, c, 1e-3, weight)  # exp(1000) would overflow
    assert math.isfinite(cold.item())


@pytest.mark.parametrize("form", ["unsupervised", "transfer"])
def test_zero_vectors_have_modest_gradients(form) -> None:
    x = torch.zeros(3, 4, requires_grad=True)
    r, c = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    rgcl.rgcl_loss(x, r, c, form=form).backward()
    assert x.grad is not None and 0 < x.grad.abs().max() < 100


def test_released_scores_counts_and_clean_up() -> None:
    released = rgcl.RGCL.released(rgcl.Config())
    assert released.variant == "released"
    assert rgcl.RGCL.released(rgcl.Config(variant="paper")).variant == "paper"
    score = torch.full((10,), 0.1)  # no number of half precision
    loops = torch.arange(10).expand(2, 10)
    data = Data(x=torch.ones(10, 1), edge_index=loops)
    drawn = rgcl.RGCL(1, released).view(score, "rationale")
    assert torch.equal(drawn.augmentation.score, score.half().float())
    assert not torch.equal(drawn.augmentation.score, score)
    view = drawn(data)
    assert (view.num_nodes, view.num_edges) == (10, 0)  # int(10 * (1 - 0.9)) is 0
    plain = rgcl.RGCL(1).view(score, "rationale")
    assert torch.equal(plain.score, score)
    view = plain(data)
    assert (view.num_nodes, view.num_edges) == (9, 9)


def test_views_are_drawn_from_the_generator_alone(batch) -> None:
    torch.manual_seed(0)
    model = rgcl.RGCL(2)
    losses = []
    for seed, other in ((0, 1), (0, 2), (1, 2)):
        model.generator = torch.Generator().manual_seed(seed)
        torch.manual_seed(other)
        losses.append(model.loss(batch).item())
    assert losses[0] == losses[1] != losses[2]


class FixedAnchor(AnchorView):
    """Stands in for an anchor, and gives the same vectors whatever the trees."""

    def forward(self, data: Data, x: Tensor | None = None) -> Tensor:
        generator = torch.Generator().manual_seed(9)
        return torch.randn(data.num_graphs, 96, generator=generator)


def model_of(config: rgcl.Config, anchored: bool) -> rgcl.RGCL:
    """Return a model in eval mode: encodings do not depend on how often one encodes."""
    torch.manual_seed(0)
    anchor = FixedAnchor(2, height=2, quantities=config.quantities)
    model = rgcl.RGCL(2, config, anchor if anchored else None)
    model.generator = torch.Generator().manual_seed(5)
    return model.eval()


@pytest.mark.parametrize(
    ("form", "replaces", "expected"),
    [
        ("unsupervised", None, ["original", "rationale"]),
        ("unsupervised", "original", ["tree", "rationale"]),
        ("unsupervised", "rationale", ["original", "tree"]),
        ("transfer", None, ["rationale", "rationale"]),
        ("transfer", "original", ["tree", "rationale"]),
        ("transfer", "rationale", ["rationale", "tree"]),
    ],
)
def test_both_sides_of_the_loss_are_what_they_are_said_to_be(
    batch, form, replaces, expected
) -> None:
    """Views are drawn in the order of the sides, then the complement."""
    config = rgcl.Config(rho=0.6, form=form, replaces=replaces or "original")
    model = model_of(config, anchored=replaces is not None)
    got = model.loss(batch)
    model.generator.manual_seed(5)
    score, sides, seen = model.score(batch), [], []
    for kind in [*expected, "complement"]:
        if kind == "tree":
            sides.append(model.anchor(batch))
            continue
        view = batch
        if kind != "original":
            view = model.view(score, kind)(batch, model.generator)
            seen.append(view.edge_index.tolist())
        sides.append(model.project(view))
    assert got.item() == pytest.approx(rgcl.rgcl_loss(*sides, form=form).item())
    assert all(one != other for one, other in itertools.combinations(seen, 2))


@pytest.mark.parametrize("form", ["unsupervised", "transfer"])
@pytest.mark.parametrize("replaces", ["original", "rationale"])
def test_the_side_of_the_graph_is_asked_for_tree_statistics(
    batch, monkeypatch, form, replaces
) -> None:
    config = rgcl.Config(form=form, replaces=replaces, quantities=True)
    model = model_of(config, anchored=True)
    projected, asked = [], []
    project = model.project
    monkeypatch.setattr(
        model, "project", lambda data: projected.append(project(data)) or projected[-1]
    )
    monkeypatch.setattr(
        model.anchor, "prediction", lambda z, _: asked.append(z) or z.new_zeros(())
    )
    model.loss(AddCodingTree(2)(batch))
    (z,) = asked
    assert torch.equal(z, projected[0])
    assert len(projected) == 2  # what stands against the tree, and the complement


def test_records_of_before_the_anchor_could_replace_the_rationale_are_found() -> None:
    known = identity(rgcl.Config())
    text = json.dumps(known, sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "384f256d0e18d11d"
    other = identity(rgcl.Config(replaces="rationale"))
    assert other == {**known, "replaces": "rationale"}


def test_titles_tell_what_is_compared() -> None:
    title = rgcl.RGCL.title
    assert title(rgcl.Config()) == "RGCL"
    assert title(rgcl.Config(replaces="rationale")) == "RGCL, replaces: rationale"
    assert title(rgcl.Config(form="transfer")) == "RGCL, form: transfer"


@pytest.mark.parametrize("form", ["unsupervised", "transfer"])
@pytest.mark.parametrize("replaces", ["original", "rationale"])
def test_with_an_anchor_the_views_train_the_estimator(batch, form, replaces) -> None:
    torch.manual_seed(0)
    config = rgcl.Config(height=2, form=form, replaces=replaces)
    anchor = rgcl.RGCL.default_anchor(2, config)
    graphs = [anchor.transform(g) for g in batch.to_data_list()]
    data = Batch.from_data_list(graphs)
    model = rgcl.RGCL(2, config, anchor)
    model.loss(data).backward()
    for part in (model.estimator, model.encoder, model.head, anchor):
        assert all(p.grad is not None for p in part.parameters())
    assert any(p.grad.abs().max() > 1e-6 for p in model.estimator.parameters())
    assert all(p.grad is None for p in model.scorer.parameters())
    losses = [model.step(data)["loss"] for _ in range(20)]
    assert sum(losses[-5:]) < sum(losses[:5])


def test_the_estimator_learns_through_weights_and_scores_change_once_an_epoch(
    batch,
) -> None:
    torch.manual_seed(0)
    model = rgcl.RGCL(2, generator=torch.Generator().manual_seed(0))
    before = model.scorer(batch)
    losses = [model.step(batch)["loss"] for _ in range(40)]
    assert sum(losses[-5:]) < sum(losses[:5])
    assert model.training and not model.scorer.training
    assert torch.equal(model.scorer(batch), before)
    assert not torch.allclose(model.eval().estimator(batch), before, atol=1e-4)
    model.train().end_of_epoch([batch])
    assert torch.equal(model.scorer(batch), model.eval().estimator(batch))
    assert not model.scorer(batch).requires_grad
    again = rgcl.RGCL(2, rgcl.Config(refresh="step"))
    again.step(batch)
    first = again.scorer(batch)
    again.loss(batch)  # also in somebody else's loop
    assert not torch.equal(again.scorer(batch), first)


def test_single_and_edgeless_graphs_work() -> None:
    empty = torch.empty(2, 0, dtype=torch.long)
    graphs = [Data(x=torch.ones(n, 1), edge_index=empty) for n in (1, 3)]
    model = rgcl.RGCL(1, rgcl.Config(complement="rest"))
    data = Batch.from_data_list(graphs)
    rest = model.view(torch.ones(4), "complement")(data)
    assert rest.ptr.diff().tolist() == [1, 1]  # a tenth of 1 and 3 nodes is none
    assert math.isfinite(model.step(data)["loss"])
    assert model.eval().encode(graphs[1]).shape == (1, 96)
    assert math.isfinite(model.loss(graphs[1]).item())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rho": 0.0}, "rho is 0.0; give the share of nodes to keep"),
        ({"complement_weight": -1.0}, "weight must not be negative, got -1.0"),
        ({"form": "both"}, "form must be 'unsupervised' or 'transfer', got 'both'"),
        (
            {"replaces": "view"},
            "replaces must be 'original' or 'rationale', got 'view'",
        ),
        ({"complement": "all"}, "complement must be 'same' or 'rest', got 'all'"),
        ({"variant": "none"}, "variant must be 'paper' or 'released', got 'none'"),
        ({"refresh": "never"}, "refresh must be 'epoch' or 'step', got 'never'"),
    ],
)
def test_bad_values_are_refused(values: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rgcl.Config(**values)


def test_scores_of_another_batch_are_refused(batch) -> None:
    with pytest.raises(ValueError, match=r"score has shape \(3,\), but the batch has"):
        rgcl.RationaleView(torch.ones(3))(batch)
    with pytest.raises(ValueError, match="must all have shape"):
        rgcl.rgcl_loss(torch.ones(2, 3), torch.ones(2, 3), torch.ones(3, 3))
