"""AD-GCL: networks, gates and the two halves of a step."""

import math

import pytest
import torch
from oracles import reference
from test_encoders import fill, graph
from torch import Tensor
from torch_geometric.data import Batch, Data

from adapters import adgcl
from sega_anchor.datasets import SyntheticCommunities


@pytest.fixture(scope="module")
def batch() -> Batch:
    graphs = list(SyntheticCommunities(num_graphs=12))
    return Batch.from_data_list([Data(x=g.x, edge_index=g.edge_index) for g in graphs])


def ones() -> Data:
    _, edge_index, batch = graph()
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


def test_gates_are_finite_for_every_draw() -> None:
    extreme = torch.tensor([0.0, 1.0 - 2**-24, 0.5]).repeat(3)
    logits = torch.tensor([-30.0, 0.0, 30.0]).repeat_interleave(3).requires_grad_()
    weight = adgcl.gate(logits, uniform=extreme)
    weight.sum().backward()
    assert torch.isfinite(weight).all()
    assert torch.isfinite(logits.grad).all()


def test_a_larger_logit_keeps_more_and_directions_are_drawn_apart() -> None:
    generator = torch.Generator().manual_seed(0)
    low = adgcl.gate(torch.full((10_000,), -2.0), generator)
    high = adgcl.gate(torch.full((10_000,), 2.0), generator)
    # P(w > 1/2) = P(logistic noise > -l) = sigmoid(l)
    for weight, logit in ((low, -2.0), (high, 2.0)):
        share = (weight > 0.5).double().mean().item()
        assert share == pytest.approx(1 / (1 + math.exp(-logit)), abs=0.02)
    assert low.unique().numel() > 9_000


def state(model: torch.nn.Module) -> list[Tensor]:
    return [parameter.clone() for parameter in model.parameters()]


def test_each_half_of_a_step_moves_its_own_networks_only(batch) -> None:
    torch.manual_seed(0)
    model = adgcl.ADGCL(2, generator=torch.Generator().manual_seed(0)).train()
    before = state(model)
    model._climb(batch)
    changed = {
        name
        for (name, parameter), old in zip(model.named_parameters(), before, strict=True)
        if not torch.equal(parameter, old)
    }
    assert changed
    assert all(name.startswith("learner.") for name in changed)
    learner = state(model.learner)
    model.loss(batch).backward()
    assert all(p.grad is not None for p in model.encoder.parameters())
    for parameter, old in zip(model.learner.parameters(), learner, strict=True):
        assert torch.equal(parameter, old)


def test_the_learner_climbs_and_the_encoder_descends(batch) -> None:
    torch.manual_seed(0)
    model = adgcl.ADGCL(2, adgcl.Config(view_lr=0.01), None, torch.Generator())
    measured = [model.step(batch) for _ in range(60)]
    assert model.training and model.learner.training
    assert measured[-1]["loss"] < measured[0]["loss"]
    # lambda = 5 makes dropping edges dear: the learner learns to keep them
    assert measured[-1]["regulariser"] < measured[0]["regulariser"] - 0.05
    free = adgcl.ADGCL(2, adgcl.Config(view_lr=0.01, reg_lambda=0.0), None)
    lost = [free.step(batch)["regulariser"] for _ in range(60)]
    assert lost[-1] > measured[-1]["regulariser"] + 0.1


def test_graphs_without_edges_and_single_graphs_work() -> None:
    empty = torch.empty(2, 0, dtype=torch.long)
    graphs = [Data(x=torch.ones(n, 1), edge_index=empty) for n in (1, 3)]
    model = adgcl.ADGCL(1)
    measured = model.step(Batch.from_data_list(graphs))
    assert all(math.isfinite(value) for value in measured.values())
    assert model.eval().encode(graphs[1]).shape == (1, 32)


def test_layerwise_readout_widens_encoder_and_anchor(batch) -> None:
    config = adgcl.Config(readout="layerwise")
    anchor = adgcl.ADGCL.default_anchor(2, config)
    model = adgcl.ADGCL(2, config, anchor)
    batch = anchor.transform(batch)
    assert math.isfinite(model.step(batch)["loss"])
    assert model.eval().embed(batch)["GT"].shape == (12, 320)


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
