"""AD-GCL: networks, gates and the two halves of a step."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from adapters import adgcl
from sega_anchor import AnchorView
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.training import descend
from tests.helpers.reference import fill, forward_graph, reference


@pytest.fixture(scope="module")
def batch() -> Batch:
    graphs = list(SyntheticCommunities(num_graphs=12))
    return Batch.from_data_list([Data(x=g.x, edge_index=g.edge_index) for g in graphs])


def ones() -> Data:
    _, edge_index, batch = forward_graph()
    x = torch.ones(7, 1, dtype=torch.double)
    return Batch(x=x, edge_index=edge_index, batch=batch, ptr=torch.tensor([0, 4, 7]))


@pytest.mark.parametrize("weighted", [False, True])
def test_encoder_equals_the_released_one(weighted: bool) -> None:
    expected = reference("forward")["adgcl_tu_encoder(1,4,3 layers)"]
    weight = torch.tensor(expected["edge_weight"]).double() if weighted else None
    got = fill(adgcl.WeightedGIN(1, 4, 3)).encode(ones(), weight)
    values = torch.tensor(expected["weighted" if weighted else "unweighted"]).double()
    torch.testing.assert_close(got, values, atol=2e-6, rtol=0)


def test_view_learner_equals_the_released_one() -> None:
    expected = reference("forward")["adgcl_view_learner"]["edge_logits"]
    got = fill(adgcl.ViewLearner(1, 4, 3, edge_channels=5))(ones())
    torch.testing.assert_close(got, torch.tensor(expected).double(), atol=2e-6, rtol=0)


def test_gate_and_regulariser_equal_the_released_ones() -> None:
    values = reference("adgcl_gate")
    weight = adgcl.gate(
        torch.tensor(values["edge_logits"]), uniform=torch.tensor(values["uniform_u"])
    )
    torch.testing.assert_close(
        weight, torch.tensor(values["edge_weight"]), atol=2e-6, rtol=0
    )
    graph_of = torch.tensor(values["batch"])[torch.tensor(values["edge_index"])[0]]
    got = adgcl.regulariser(weight, graph_of, num_graphs=3)
    assert got.item() == pytest.approx(values["reg"], abs=2e-6)


def test_regulariser_equals_a_plain_loop() -> None:
    weight = torch.rand(9, generator=torch.Generator().manual_seed(0))
    graph_of = torch.tensor([0, 0, 2, 2, 2, 2, 4, 4, 4])  # 1, 3 and 5 have no edges
    means = []
    for number in range(6):
        those = [
            1 - w for w, g in zip(weight.tolist(), graph_of, strict=True) if g == number
        ]
        if those:
            means.append(sum(those) / len(those))
    got = adgcl.regulariser(weight, graph_of, num_graphs=6).item()
    assert got == pytest.approx(sum(means) / len(means))
    nothing = adgcl.regulariser(weight[:0], graph_of[:0], num_graphs=2)
    assert nothing.item() == 0.0


def test_gates_stay_inside_for_every_draw() -> None:
    extreme = torch.tensor([0.0, 1.0 - 2**-24, 1.0, 0.5])
    for bias in (1e-4, 1e-6):
        noise = adgcl.gate(torch.zeros(4), bias=bias, uniform=extreme)
        assert ((noise > 0) & (noise < 1)).all()
        assert noise[0].item() == pytest.approx(1 - bias, abs=bias / 10)
        assert noise[2].item() == pytest.approx(bias, rel=0.2)  # float32 rounds here
    logits = torch.tensor([-30.0, 30.0, -30.0, 30.0]).requires_grad_()
    weight = adgcl.gate(logits, uniform=extreme)
    weight.sum().backward()
    assert torch.isfinite(weight).all()
    assert logits.grad is not None and torch.isfinite(logits.grad).all()


def test_a_hot_gate_is_near_one_half_and_bad_values_are_refused() -> None:
    logits = torch.tensor([4.0])
    draw = torch.tensor([0.5])  # no noise
    hot = adgcl.gate(logits, temperature=2.0, uniform=draw).item()
    assert hot == pytest.approx(1 / (1 + math.exp(-2.0)), abs=1e-6)
    for bias in (0.0, 0.5, 1e-9):
        with pytest.raises(ValueError, match=r"bias must lie in \[1e-6, 0.5\), got"):
            adgcl.gate(logits, bias=bias)
    with pytest.raises(ValueError, match="temperature must be positive, got 0"):
        adgcl.gate(logits, temperature=0)


def test_a_larger_logit_keeps_more_and_directions_are_drawn_apart() -> None:
    generator = torch.Generator().manual_seed(0)
    low = adgcl.gate(torch.full((10_000,), -2.0), generator)
    high = adgcl.gate(torch.full((10_000,), 2.0), generator)
    # P(w > 1/2) = P(logistic noise > -l) = sigmoid(l)
    for weight, logit in ((low, -2.0), (high, 2.0)):
        share = (weight > 0.5).double().mean().item()
        assert share == pytest.approx(1 / (1 + math.exp(-logit)), abs=0.02)
    assert low.unique().numel() > 9_000


def slow_encoder(model: adgcl.WeightedGIN, data: Data, weight: Tensor) -> Tensor:
    """Edge by edge, in eval mode; both graphs' sums of every layer, side by side."""
    h = list(data.x)
    pooled = []
    for place, layer in enumerate(model.layers):
        linear, _, out, norm = layer
        total = [v.clone() for v in h]
        for (i, j), w in zip(data.edge_index.t().tolist(), weight, strict=True):
            total[j] = total[j] + w * h[i]
        h = []
        for v in total:
            v = out.weight @ (linear.weight @ v + linear.bias).clamp(min=0) + out.bias
            v = (v - norm.running_mean) / (norm.running_var + norm.eps).sqrt()
            v = v * norm.weight + norm.bias
            h.append(v if place == len(model.layers) - 1 else v.clamp(min=0))
        graphs = [
            [v for v, g in zip(h, data.batch, strict=True) if g == k] for k in (0, 1)
        ]
        pooled.append(torch.stack([torch.stack(members).sum(0) for members in graphs]))
    return torch.cat(pooled, dim=1)


@pytest.mark.parametrize("readout", ["last", "layerwise"])
def test_encoder_equals_a_plain_loop(readout) -> None:
    torch.manual_seed(0)
    x, edge_index, batch = forward_graph()
    data = Batch(x=x, edge_index=edge_index, batch=batch, ptr=torch.tensor([0, 4, 7]))
    model = adgcl.WeightedGIN(3, 4, 3, readout).double()
    model(x, edge_index)  # moves the running statistics off 0 and 1
    model.eval()
    weight = torch.rand(edge_index.size(1), dtype=torch.double)
    expected = slow_encoder(model, data, weight)
    if readout == "last":
        expected = expected[:, -4:]
    torch.testing.assert_close(model.encode(data, weight), expected)


def test_both_losses_are_the_released_one(monkeypatch: pytest.MonkeyPatch) -> None:
    values = reference("losses")
    x, y = (torch.tensor(values[key]).double() for key in "xy")
    data = Batch(
        x=torch.ones(4, 1),
        edge_index=torch.tensor([[0, 1], [1, 0]]),
        batch=torch.arange(4),
        ptr=torch.arange(5),
    )
    model = adgcl.ADGCL(1)
    monkeypatch.setattr(
        model, "project", lambda _, weight=None: x if weight is None else y
    )
    assert model.loss(data).item() == pytest.approx(values["adgcl_T0.2_sym"], abs=2e-6)
    value, lost = model.view_loss(data)
    expected = values["adgcl_T0.2_sym"] - 5 * lost.item()
    assert value.item() == pytest.approx(expected, abs=2e-6)


def plain_loss(x: Tensor, y: Tensor) -> Tensor:
    """Both directions, from cosines and exponentials."""
    total = torch.zeros((), dtype=x.dtype)
    n = len(x)
    cosine = torch.nn.functional.cosine_similarity(x[:, None], y[None], dim=2)
    e = (cosine / 0.2).exp()
    for i in range(n):
        others = [j for j in range(n) if j != i]
        total = total - (e[i, i] / e[i, others].sum()).log()
        total = total - (e[i, i] / e[others, i].sum()).log()
    return total / (2 * n)


def plain_step(model: adgcl.ADGCL, data: Batch, optimizers: list) -> None:
    """The released order of work, with every gradient computed and most thrown away."""
    main, view = optimizers
    for training in ("view", "model"):
        model.train(training == "model")
        model.learner.train(training == "view")
        model.zero_grad()
        z = model.project(data)
        logits = model.learner(data)
        u = torch.rand(logits.shape, generator=model.generator)
        eps = (1e-4 - (1 - 1e-4)) * u + (1 - 1e-4)
        weight = (eps.log() - (1 - eps).log() + logits).sigmoid()
        if training == "model":
            weight = weight.detach()
        loss = plain_loss(z, model.project(data, weight))
        graph_of = data.batch[data.edge_index[0]]
        shares = [(1 - weight[graph_of == g]).mean() for g in graph_of.unique()]
        if training == "view":
            (-(loss - 5.0 * torch.stack(shares).mean())).backward()
            view.step()
        else:
            loss.backward()
            main.step()


def test_steps_equal_the_released_order_of_work() -> None:
    """In double precision, where Adam does not blow up rounding."""
    graphs = [
        Data(x=g.x.double(), edge_index=g.edge_index)
        for g in SyntheticCommunities(num_graphs=5)
    ]
    lone = Data(x=graphs[0].x[:1], edge_index=torch.empty(2, 0, dtype=torch.long))
    data = Batch.from_data_list([*graphs[:3], lone, *graphs[3:]])
    models = []
    for _ in range(2):
        torch.manual_seed(0)
        seeded = torch.Generator().manual_seed(7)
        models.append(adgcl.ADGCL(2, adgcl.Config(), None, seeded).double())
    fast, slow = models
    encoder = [*slow.encoder.parameters(), *slow.head.parameters()]
    optimizers = [
        torch.optim.Adam(encoder, lr=0.001),
        torch.optim.Adam(slow.learner.parameters(), lr=0.001),
    ]
    start = copied(fast)
    for _ in range(3):
        fast.step(data)
        plain_step(slow, data, optimizers)
    for name, value in slow.state_dict().items():
        torch.testing.assert_close(
            fast.state_dict()[name], value, atol=1e-5, rtol=0, msg=name
        )
    assert moved(fast, start) == {"encoder", "head", "learner"}


def moved(model: torch.nn.Module, before: dict[str, Tensor]) -> set[str]:
    """The networks of which a parameter differs from what it was."""
    return {
        name.split(".")[0]
        for name, parameter in model.named_parameters()
        if not torch.equal(parameter, before[name])
    }


def copied(model: torch.nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}


@pytest.mark.parametrize("anchored", [False, True])
def test_each_half_of_a_step_moves_its_own_networks(
    batch, monkeypatch: pytest.MonkeyPatch, anchored: bool
) -> None:
    config = adgcl.Config()
    anchor = adgcl.ADGCL.default_anchor(2, config) if anchored else None
    data = batch if anchor is None else anchor.transform(batch)
    model = adgcl.ADGCL(2, config, anchor)
    between = {}

    def spy(loss: Tensor, *optimizers: torch.optim.Optimizer) -> None:
        between.update(copied(model))
        descend(loss, *optimizers)

    monkeypatch.setattr("sega_anchor.training.method.descend", spy)
    before = copied(model)
    model.step(data)
    trained = {"encoder", "head", "anchor"} if anchored else {"encoder", "head"}
    assert moved(model, between) == trained
    model.load_state_dict(between)
    assert moved(model, before) == {"learner"}
    # BatchNorm counts the passes in train mode: none where it is not trained
    passes = {"learner": 1, "encoder": 1 if anchored else 2, "anchor": 1}
    counts = {
        (name.split(".")[0], value.item())
        for name, value in between.items()
        if name.endswith("num_batches_tracked")
    }
    assert counts == {(name, passes[name]) for name in trained - {"head"} | {"learner"}}


class GraphAsAnchor(AnchorView):
    """Stands in for an anchor, but returns what the anchor would replace."""

    replaced: Any

    def forward(self, data: Data, x: Tensor | None = None) -> Tensor:
        result: Tensor = self.replaced(data)
        return result


def test_the_anchor_is_the_only_difference_in_both_halves(batch) -> None:
    losses = []
    for anchored in (False, True):
        anchor = GraphAsAnchor(2, height=2) if anchored else None
        torch.manual_seed(0)
        seeded = torch.Generator().manual_seed(0)
        model = adgcl.ADGCL(2, adgcl.Config(), anchor, seeded)
        if anchor is not None:
            object.__setattr__(anchor, "replaced", model.project)
        value, lost = model.view_loss(batch)
        losses.append([value.item(), lost.item(), model.loss(batch).item()])
    assert losses[0] == pytest.approx(losses[1], abs=1e-6)


def test_the_anchor_stands_in_both_halves(batch) -> None:
    """What only the tree sees changes both losses."""
    anchor = adgcl.ADGCL.default_anchor(2, adgcl.Config())
    data = anchor.transform(batch)
    torch.manual_seed(0)
    seeded = torch.Generator()
    model = adgcl.ADGCL(2, adgcl.Config(), anchor, seeded).eval()
    losses = []
    for scale in (1.0, -1.0):
        seeded.manual_seed(0)
        data.tree_x = scale * data.x
        losses.append((model.view_loss(data)[0].item(), model.loss(data).item()))
    assert losses[0][0] != losses[1][0]
    assert losses[0][1] != losses[1][1]


def trained(
    batch: Batch, seed: int, steps: int, **values: Any
) -> tuple[adgcl.ADGCL, list[dict[str, float]]]:
    config = adgcl.Config(hidden_channels=16, num_layers=2, view_lr=0.01, **values)
    torch.manual_seed(0)
    model = adgcl.ADGCL(2, config, None, torch.Generator().manual_seed(seed))
    return model, [model.step(batch) for _ in range(steps)]


@pytest.mark.slow
def test_the_learner_climbs_and_the_encoder_descends() -> None:
    batch = Batch.from_data_list(list(SyntheticCommunities(num_graphs=45)))
    _, measured = trained(batch, 0, 40)
    assert measured[-1]["loss"] < measured[0]["loss"] - 0.1
    # lambda = 5 makes dropping edges dear: the learner learns to keep them
    assert measured[-1]["regulariser"] < measured[0]["regulariser"] - 0.05
    _, free = trained(batch, 0, 40, reg_lambda=0.0)
    assert free[-1]["regulariser"] > measured[-1]["regulariser"] + 0.1


def test_the_same_seed_gives_the_same_bits(batch) -> None:
    (one, first), (two, second), (_, other) = (trained(batch, s, 4) for s in (0, 0, 1))
    assert first == second
    assert first != other
    for a, b in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.equal(a, b)
    state = torch.get_rng_state()
    one.step(batch)
    assert torch.equal(state, torch.get_rng_state())


def test_linear_layers_start_without_bias_and_xavier_wide() -> None:
    layers = [m for m in adgcl.ADGCL(1).modules() if isinstance(m, torch.nn.Linear)]
    assert len(layers) == 10 + 2 + 10 + 2
    for layer in layers:
        bound = math.sqrt(6 / (layer.in_features + layer.out_features))
        assert not layer.bias.any()
        assert 0.7 * bound < layer.weight.abs().max().item() <= bound


def test_a_step_restores_the_mode(batch) -> None:
    model = adgcl.ADGCL(2)
    for training in (False, True):
        model.train(training).step(batch)
        assert {module.training for module in model.modules()} == {training}


@pytest.mark.parametrize("anchored", [False, True])
def test_graphs_without_edges_and_single_graphs_train(anchored: bool) -> None:
    empty = torch.empty(2, 0, dtype=torch.long)
    pair = torch.tensor([[0, 1], [1, 0]])
    one, three = (Data(x=torch.ones(n, 1), edge_index=empty) for n in (1, 3))
    two = Data(x=torch.ones(2, 1), edge_index=pair)
    anchor = adgcl.ADGCL.default_anchor(1, adgcl.Config()) if anchored else None
    if anchor is not None:
        one, two, three = (anchor.transform(g) for g in (one, two, three))
    model = adgcl.ADGCL(1, adgcl.Config(), anchor)
    measured = model.step(Batch.from_data_list([one, three]))
    assert measured["regulariser"] == 0.0
    mixed = model.step(Batch.from_data_list([one, two, three]))
    assert 0.0 < mixed["regulariser"] < 1.0
    alone = model.step(two)  # not a batch, and without negatives
    assert alone["loss"] == 0.0
    values = [*measured.values(), *mixed.values(), *alone.values()]
    assert all(math.isfinite(value) for value in values)
    assert all(torch.isfinite(p).all() for p in model.parameters())
    assert model.eval().encode(three).shape == (1, 32)


def test_layerwise_readout_widens_the_embedding_only(batch) -> None:
    config = adgcl.Config(readout="layerwise")
    anchor = adgcl.ADGCL.default_anchor(2, config)
    model = adgcl.ADGCL(2, config, anchor)
    data = anchor.transform(batch)
    assert model.project(data).shape == anchor(data).shape == (12, 32)
    assert math.isfinite(model.step(data)["loss"])
    embeddings = model.eval().embed(data)
    assert embeddings["G"].shape == (12, 160)
    assert embeddings["T"].shape == (12, 32)


def test_what_the_authors_fixed() -> None:
    published = adgcl.ADGCL.published(adgcl.Config(), anchored=True)
    assert published.epochs == 150
    assert published.evaluate_at == tuple(5 * i for i in range(1, 31))
    assert (published.batch_size, published.shuffle) == (32, True)
    features = published.features
    assert (features.labels, features.degree, features.loops) == ("none", "anchor", 0)
    assert (published.classifier, published.choice) == ("linear", "validation")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"reg_lambda": -1.0}, "reg_lambda must not be negative, got -1.0"),
        ({"view_lr": 0.0}, "view_lr must be positive, got 0.0"),
        ({"readout": "mean"}, "readout must be 'last' or 'layerwise', got 'mean'"),
    ],
)
def test_bad_values_are_refused(values: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        adgcl.Config(**values)
