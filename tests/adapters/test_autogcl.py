"""AutoGCL: the view generator, the two objectives, and what an anchor replaces."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch_geometric.data import Batch, Data

from adapters import autogcl, graphcl
from sega_anchor import AddCodingTree, AnchorView, nt_xent
from sega_anchor.datasets import SyntheticCommunities
from tests.helpers.reference import fill, forward_graph, reference


@pytest.fixture(scope="module")
def dataset() -> list[Data]:
    graphs = SyntheticCommunities(num_graphs=45)
    return [Data(x=g.x, edge_index=g.edge_index) for g in graphs]


@pytest.fixture(scope="module")
def batch(dataset) -> Batch:
    return Batch.from_data_list(dataset[:8])


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def small(**values: Any) -> autogcl.Config:
    return autogcl.Config(**{"hidden_channels": 16, "num_layers": 2, **values})


def model_of(config: autogcl.Config, anchor: AnchorView | None = None):
    torch.manual_seed(0)
    return autogcl.AutoGCL(2, config, anchor, seeded())


# The view generator


def test_logits_equal_the_released_ones() -> None:
    values = reference("forward")["autogcl_node_weight_encoder(3,4)"]["logits"]
    x, edge_index, _ = forward_graph()
    generate = fill(autogcl.ViewGenerator(3, 4))
    got = generate.logits(Data(x=x, edge_index=edge_index))
    expected = torch.tensor(values).double()
    torch.testing.assert_close(got, expected, atol=2e-6, rtol=0)


def test_the_default_widths_are_the_released_ones() -> None:
    linear = [
        tuple(p.shape)
        for name, p in autogcl.ViewGenerator(7).named_parameters()
        if name.startswith("convs") and p.dim() == 2
    ]
    assert linear == [(128, 7), (128, 128), (128, 128), (2, 128)]


@pytest.mark.parametrize("columns", [2, 3])
def test_gumbel_softmax_equals_that_of_torch(columns: int) -> None:
    weight = torch.randn(50, columns, generator=seeded(1))
    found = []
    for draw in (
        lambda logits: autogcl.gumbel_softmax(logits),
        lambda logits: functional.gumbel_softmax(logits, hard=True),
    ):
        logits = torch.randn(50, columns, generator=seeded()).requires_grad_()
        torch.manual_seed(3)
        choice = draw(logits)
        (choice * weight).sum().backward()
        found.append((choice.detach(), logits.grad))
    (ours, ours_grad), (theirs, theirs_grad) = found
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(ours_grad, theirs_grad)
    assert ours_grad.abs().max() > 0
    assert ours.unique().tolist() == [0.0, 1.0]  # exact, unlike torch's rounded sums


def test_draws_follow_the_softmax_and_leave_the_global_state_alone() -> None:
    logits = torch.tensor([0.0, 1.0, -1.0]).expand(30_000, 3)
    state = torch.get_rng_state()
    share = autogcl.gumbel_softmax(logits, seeded()).mean(dim=0)
    assert torch.equal(state, torch.get_rng_state())
    torch.testing.assert_close(share, logits[0].softmax(dim=0), atol=0.01, rtol=0)


@pytest.mark.parametrize("mask", [False, True])
def test_a_view_equals_a_plain_loop(batch, mask: bool) -> None:
    generate = autogcl.ViewGenerator(2, 8, mask)
    before = batch.clone()
    view, keep = generate(batch, seeded())
    with torch.no_grad():
        choice = autogcl.gumbel_softmax(generate.logits(batch), seeded())
    picked = choice.argmax(dim=1).tolist()
    assert set(picked) == ({0, 1, 2} if mask else {0, 1})
    mean = sum(map(sum, batch.x.tolist())) / batch.x.numel()
    for node, pick in enumerate(picked):
        row = batch.x[node].tolist()
        expected = {0: row, 1: [0.0, 0.0], 2: [mean, mean]}[pick]
        assert view.x[node].tolist() == pytest.approx(expected)
        assert keep[node].item() == (0.0 if pick == 1 else 1.0)
    edges = [
        (u, v)
        for u, v in batch.edge_index.t().tolist()
        if picked[u] != 1 and picked[v] != 1
    ]
    assert list(map(tuple, view.edge_index.t().tolist())) == edges
    assert 0 < len(edges) < batch.num_edges
    assert torch.equal(view.batch, batch.batch)  # dropped nodes stay, as isolated ones
    assert view.num_graphs == batch.num_graphs
    assert torch.equal(batch.x, before.x)
    assert torch.equal(batch.edge_index, before.edge_index)


@pytest.mark.parametrize("mask", [False, True])
def test_gradients_reach_the_logits_through_features_and_keep(batch, mask) -> None:
    for use in (lambda view: view.data.x, lambda view: view.keep):
        generate = autogcl.ViewGenerator(2, 8, mask)
        out = use(generate(batch, seeded()))
        out.square().sum().backward()
        for conv in generate.convs:
            assert conv.nn[0].weight.grad.abs().max() > 0


def test_masked_features_carry_no_gradient(batch) -> None:
    generate = autogcl.ViewGenerator(2, 8, mask=True)
    view = generate(batch, seeded())
    (gradient,) = torch.autograd.grad(view.data.x.sum(), view.keep)
    choice = autogcl.gumbel_softmax(generate.logits(batch), seeded())
    masked = choice[:, 2] == 1
    assert masked.any() and (gradient[masked] == 0).all()
    assert (gradient[~masked] == 1).all()  # dropped nodes too: one-hot rows sum to 1


def test_views_repeat_with_the_seed(batch) -> None:
    generate = autogcl.ViewGenerator(2, 8)
    first, again, other = (generate(batch, seeded(s)) for s in (0, 0, 1))
    assert torch.equal(first.data.x, again.data.x)
    assert torch.equal(first.data.edge_index, again.data.edge_index)
    assert not torch.equal(first.keep, other.keep)


def test_single_and_edgeless_graphs_have_views(dataset) -> None:
    generate = autogcl.ViewGenerator(2, 8).eval()
    single, keep = generate(dataset[0], seeded())
    assert single.num_graphs == 1
    assert single.num_nodes == len(keep) == dataset[0].num_nodes
    empty = torch.empty(2, 0, dtype=torch.long)
    graphs = [Data(x=torch.ones(n, 2), edge_index=empty) for n in (1, 3)]
    view, _ = generate(Batch.from_data_list(graphs), seeded())
    assert view.batch.tolist() == [0, 1, 1, 1]
    assert view.edge_index.shape == (2, 0)
    assert generate(graphs[0], seeded()).data.x.shape == (1, 2)


# The method


def test_the_contrastive_objective_equals_the_released_loss(monkeypatch) -> None:
    """The fixed pair, whatever the projections are: the reference matrices here."""
    values = reference("losses")
    x, y = (torch.tensor(values[name], dtype=torch.double) for name in "xy")
    model = model_of(autogcl.Config(objective="contrastive"))
    projections = iter((x, y))
    monkeypatch.setattr(model, "project", lambda data: next(projections))
    nodes = Data(x=torch.ones(2, 2), edge_index=torch.tensor([[0, 1], [1, 0]]))
    expected = values["autogcl_loss_cl_T0.5_sym"]
    assert model.loss(nodes).item() == pytest.approx(expected, abs=2e-6)


def test_the_released_objective_equals_a_plain_reading(batch) -> None:
    """Draws views 1 and 2, then a pair with replacement; all nine pairs occur."""
    model = model_of(small())
    model.eval()  # encodings then do not depend on how often one encodes
    pairs = set()
    for seed in range(60):
        model.generator = seeded(seed)
        got = model.loss(batch)
        rng = seeded(seed)
        one, two = (generate(batch, rng) for generate in model.view_generators)
        a, b = torch.randint(3, (2,), generator=rng).tolist()
        pairs.add((a, b))
        z = [model.project(data) for data in (batch, one.data, two.data)]
        differ = sum(
            (i - j) ** 2
            for i, j in zip(one.keep.tolist(), two.keep.tolist(), strict=True)
        )
        expected = nt_xent(z[a], z[b], 0.5, symmetric=True).item()
        expected += 1 - differ / batch.num_nodes
        assert got.item() == pytest.approx(expected, abs=1e-5)
    assert len(pairs) == 9


def test_only_what_the_pair_needs_is_encoded(batch, monkeypatch) -> None:
    model = model_of(small())
    seen: list[Data] = []
    encode = model.encoder.encode
    monkeypatch.setattr(
        model.encoder, "encode", lambda data: seen.append(data) or encode(data)
    )
    counts = set()
    for _ in range(20):
        seen.clear()
        model.loss(batch)
        assert len({id(data) for data in seen}) == len(seen)
        counts.add(len(seen))
    assert counts == {1, 2}


def gradients(module: torch.nn.Module) -> list[Tensor]:
    return [p.grad for p in module.parameters() if p.grad is not None]


def test_the_similarity_term_pushes_the_views_apart(batch) -> None:
    """Both generators are trained by it, even where the pair shows neither view."""
    model = model_of(small())
    model.generator = seeded(
        next(s for s in range(999) if self_pair(model, batch, s) == [0, 0])
    )
    model.loss(batch).backward()
    for generate in model.view_generators:
        assert max(g.abs().max() for g in gradients(generate)) > 0


def self_pair(model: autogcl.AutoGCL, batch: Batch, seed: int) -> list[int]:
    rng = seeded(seed)
    for generate in model.view_generators:
        generate(batch, rng)
    pair: list[int] = torch.randint(3, (2,), generator=rng).tolist()
    return pair


class ViewAsAnchor(AnchorView):
    """Stands in for an anchor, but returns what the anchor would replace."""

    replaced: Any

    def forward(self, data: Data, x: Tensor | None = None) -> Tensor:
        result: Tensor = self.replaced(data)
        return result


@pytest.mark.parametrize("mask", [False, True])
def test_the_anchor_is_the_only_difference(batch, mask: bool) -> None:
    """With the second generator's view in the anchor's place the losses coincide."""
    config = small(objective="contrastive", mask=mask)
    baseline = model_of(config)
    expected = baseline.loss(batch).item()
    anchor = ViewAsAnchor(2, height=2)
    model = model_of(config, anchor)
    (kept,) = model.view_generators
    second = baseline.view_generators[1]
    for mine, theirs in zip(
        kept.parameters(), baseline.view_generators[0].parameters(), strict=True
    ):
        assert torch.equal(mine, theirs)  # the first generator is the one that stays
    object.__setattr__(
        anchor,
        "replaced",
        lambda data: model.project(second(data, model.generator).data),
    )
    assert model.loss(batch).item() == pytest.approx(expected, abs=1e-6)
    other = model_of(small(objective="contrastive", temperature=0.1, mask=mask))
    assert other.loss(batch).item() != pytest.approx(expected, abs=1e-2)


class FixedAnchor(AnchorView):
    """Stands in for an anchor, and gives the same vectors whatever the trees."""

    def forward(self, data: Data, x: Tensor | None = None) -> Tensor:
        return torch.randn(data.num_graphs, 32, generator=seeded(9))


def test_the_released_objective_draws_the_tree_as_one_of_three(
    batch, monkeypatch
) -> None:
    """Draws view 1, then a pair with replacement: no term that pushes views apart.

    Tree statistics are asked of what meets the tree, and of nothing else.
    """
    config = small(objective="released", height=2, quantities=True)
    anchor = FixedAnchor(2, height=2, quantities=True)
    model = model_of(config, anchor).eval()
    asked: list[Tensor] = []
    monkeypatch.setattr(
        anchor, "prediction", lambda z, _: asked.append(z) or torch.tensor(100.0)
    )
    data = AddCodingTree(2)(batch)
    pairs = set()
    for seed in range(60):
        model.generator = seeded(seed)
        asked.clear()
        got = model.loss(data).item()
        rng = seeded(seed)
        (generate,) = model.view_generators
        view = generate(batch, rng).data
        a, b = torch.randint(3, (2,), generator=rng).tolist()
        pairs.add((a, b))
        z = [model.project(batch), model.project(view), anchor(batch)]
        expected = nt_xent(z[a], z[b], 0.5, symmetric=True).item()
        if 2 in (a, b) and a != b:
            torch.testing.assert_close(asked, [z[min(a, b)]])
            expected += 100
        else:
            assert not asked
        assert got == pytest.approx(expected, abs=1e-5)
    assert len(pairs) == 9


def test_the_released_objective_trains_with_an_anchor(dataset) -> None:
    config = small(objective="released", height=2, quantities=True)
    options = {"seeds": 1, "epochs": 4, "evaluate_at": (), "batch_size": 15}
    results = [
        autogcl.run(dataset, anchor=True, config=chosen, **options)
        for chosen in (config, config, small(height=2, quantities=True))
    ]
    embeddings = [result.embeddings["GT"] for result in results]
    assert torch.equal(embeddings[0], embeddings[1])  # same seed, same bits
    assert not torch.equal(embeddings[0], embeddings[2])
    assert embeddings[0].isfinite().all()
    assert all(0 < epoch["keep"] < 1 for epoch in results[0].history[0])
    label = "SEGA-AutoGCL, objective: released, quantities"
    assert results[0].config["label"] == label


@pytest.mark.parametrize("anchored", [False, True])
def test_a_step_moves_every_network(batch, anchored: bool) -> None:
    config = small(objective="contrastive", height=2)
    anchor = autogcl.AutoGCL.default_anchor(2, config) if anchored else None
    model = model_of(config, anchor)
    data = batch if anchor is None else anchor.transform(batch)
    before = {name: p.clone() for name, p in model.named_parameters()}
    measured = model.step(data)
    assert math.isfinite(measured["loss"])
    assert 0 < measured["keep"] < 1
    moved = {
        name.split(".")[0]
        for name, p in model.named_parameters()
        if not torch.equal(p, before[name])
    }
    assert moved == {"encoder", "head", "view_generators"} | (
        {"anchor"} if anchored else set()
    )
    assert len(model.view_generators) == (1 if anchored else 2)


@pytest.mark.parametrize(
    ("values", "still"),
    [
        ({"lr": 1e-30}, "encoder"),
        ({"generator_lr": 1e-30}, "view_generators"),
        ({"anchor_lr": 1e-30}, "anchor"),
    ],
)
def test_each_learning_rate_serves_its_own_networks(batch, values, still) -> None:
    config = small(height=2, **values)
    anchor = autogcl.AutoGCL.default_anchor(2, config)
    model = model_of(config, anchor)
    before = {name: p.clone() for name, p in model.named_parameters()}
    model.step(anchor.transform(batch))
    for name in ("encoder", "view_generators", "anchor"):
        change = max(
            (p - before[key]).abs().max().item()
            for key, p in model.named_parameters()
            if key.startswith(name)
        )
        assert (change < 1e-20) == (name == still)


@pytest.mark.slow
@pytest.mark.parametrize("anchored", [False, True])
@pytest.mark.parametrize("objective", ["released", "contrastive"])
def test_training_lowers_the_loss(dataset, objective: str, anchored: bool) -> None:
    config = small(height=2, objective=objective)
    anchor = autogcl.AutoGCL.default_anchor(2, config) if anchored else None
    batch = Batch.from_data_list(dataset)
    data = batch if anchor is None else anchor.transform(batch)
    model = model_of(config, anchor)
    losses = [model.step(data)["loss"] for _ in range(180)]
    # The loss of a drawn pair depends on the pair: look at many.
    assert sum(losses[-30:]) / 30 < sum(losses[:30]) / 30 - 0.1


def test_graphs_without_edges_and_trailing_batches_train() -> None:
    empty = torch.empty(2, 0, dtype=torch.long)
    graphs = [Data(x=torch.ones(n, 2), edge_index=empty) for n in (1, 3)]
    for some in (graphs, graphs[1:]):
        for objective in ("released", "contrastive"):
            model = model_of(small(objective=objective))
            data = Batch.from_data_list(some)
            assert all(math.isfinite(model.step(data)["loss"]) for _ in range(5))
    model.step(graphs[1])
    assert model.eval().embed(graphs[0])["G"].shape == (1, 32)


def test_default_anchor_and_published_values() -> None:
    config = autogcl.Config(height=3)
    anchor = autogcl.AutoGCL.default_anchor(7, config)
    model = autogcl.AutoGCL(5, config, anchor)
    assert anchor.head[0].in_features == model.head[0].in_features == 640
    for anchored in (False, True):
        published = autogcl.AutoGCL.published(config, anchored)
        assert (published.epochs, published.evaluate_at) == (30, (10, 20, 30))
        features = published.features
        assert (features.degree, features.raw_degree) == ("both", True)
        assert (features.attributes, features.loops) == (True, 0)
        assert (published.batch_size, published.shuffle) == (128, True)
        assert published.choice == "test"


class Named(list[Data]):
    """Graphs that pass for a set of the tables."""

    def __init__(self, name: str, graphs: list[Data]) -> None:
        super().__init__(graphs)
        self.name = name


@pytest.mark.parametrize("protocol", ["honest", "paper"])
@pytest.mark.parametrize("name", ["MUTAG", "DD", "REDDIT-BINARY", "REDDIT-MULTI-5K"])
def test_degrees_are_capped_at_100_on_all_sets(dataset, protocol, name) -> None:
    options = {"protocol": protocol, "seeds": 1, "epochs": 0, "evaluate_at": ()}
    graphs = Named(name, dataset)
    found = [
        autogcl.run(graphs, config=small(), **options, **given).config["features"]
        for given in ({}, {"max_degree": 7}, {"max_degree": 0})
    ]
    for features, cap in zip(found, (100, 7, 0), strict=True):
        assert f"max_degree={cap}," in features
    other = graphcl.run(graphs, **options).config["features"]
    assert f"max_degree={100 if name == 'MUTAG' else 10}," in other


def test_a_run_logs_the_keep_rate(dataset) -> None:
    result = autogcl.run(
        dataset,
        anchor=True,
        config=small(height=2, mask=True),
        seeds=1,
        epochs=2,
        evaluate_at=(),
    )
    assert all(0 < epoch["keep"] <= 1 for epoch in result.history[0])
    assert result.embeddings["GT"].shape == (45, 64)


def test_titles_tell_the_objectives_apart() -> None:
    title = autogcl.AutoGCL.title
    assert title(autogcl.Config()) == "AutoGCL"
    for objective in ("released", "contrastive"):
        named = title(small(objective=objective))
        assert named == f"AutoGCL, objective: {objective}"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: autogcl.Config(objective="naive"),
            "objective must be 'released' or 'contrastive', got 'naive'",
        ),
        (
            lambda: autogcl.Config(generator_lr=0.0),
            r"generator_lr must be positive, got 0\.0",
        ),
        (
            lambda: autogcl.ViewGenerator(0),
            "in_channels must be at least 1, got 0",
        ),
        (
            lambda: autogcl.ViewGenerator(1, 0),
            "hidden_channels must be at least 1, got 0",
        ),
        (
            lambda: autogcl.ViewGenerator(1)(Data(num_nodes=2)),
            "the graphs have no features x",
        ),
    ],
)
def test_bad_values_are_refused(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
