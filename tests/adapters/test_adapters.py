"""What all adapters promise: one shape, one protocol, one line of difference."""

import dataclasses
import importlib
import inspect
import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

from sega_anchor import AnchorView
from sega_anchor.cli._methods import BUILT_IN as METHODS
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.protocols.features import HonestFeatures
from sega_anchor.training import Method

SHORT = {"seeds": 1, "epochs": 2, "evaluate_at": (2,), "batch_size": 16, "jobs": 1}
#: An adapter and values of its Config, under the name that tables give it.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "GraphCL": ("graphcl", {}),
    "AD-GCL": ("adgcl", {}),
    "JOAO": ("joao", {}),
    "JOAOv2": ("joao", {"version": 2}),
    "AutoGCL": ("autogcl", {"hidden_channels": 16}),
    "RGCL": ("rgcl", {}),
}


@pytest.fixture(scope="module")
def dataset() -> SyntheticCommunities:
    return SyntheticCommunities(num_graphs=45)


def adapter(title: str) -> tuple[Any, Any]:
    name, values = CASES[title]
    module = importlib.import_module(f"adapters.{name}")
    return module, module.Config(**values)


def method_of(title: str) -> type[Method[Any]]:
    module, _ = adapter(title)
    (found,) = {
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Method)
    }
    return found


def test_the_command_knows_every_adapter() -> None:
    assert sorted({name for name, _ in CASES.values()}) == sorted(METHODS)


@pytest.mark.usefixtures("quick_scores")
@pytest.mark.parametrize(("protocol", "anchor"), [("honest", None), ("paper", True)])
@pytest.mark.parametrize("title", CASES)
def test_a_run_measures_every_embedding(dataset, title, protocol, anchor) -> None:
    module, config = adapter(title)
    result = module.run(
        dataset, anchor=anchor, config=config, protocol=protocol, **SHORT
    )
    expected = "SEGA" if title == "GraphCL" else f"SEGA-{title}"
    assert result.config["label"] == (expected if anchor else title)
    names = ["G", "GT", "T"] if anchor else ["G"]
    assert result.candidates() == [(epoch, name) for epoch in (2,) for name in names]
    assert all(math.isfinite(h["loss"]) for h in result.history[0])
    assert all(torch.isfinite(e).all() for e in result.embeddings.values())
    if anchor:  # the tree stands in for a projection of the graph: same width
        assert result.embeddings["T"].shape == result.embeddings["G"].shape


@pytest.mark.usefixtures("quick_scores")
@pytest.mark.parametrize(("protocol", "anchor"), [("honest", True), ("paper", None)])
@pytest.mark.parametrize("title", CASES)
def test_untrained_networks_are_evaluated_once(
    dataset, title, protocol, anchor
) -> None:
    module, config = adapter(title)
    options = {**SHORT, "epochs": 0, "evaluate_at": None, "protocol": protocol}
    result = module.run(dataset, anchor=anchor, config=config, **options)
    assert {epoch for epoch, _ in result.candidates()} == {0}
    assert result.history == {0: []}
    expected = "SEGA" if title == "GraphCL" else f"SEGA-{title}"
    assert result.config["label"] == f"{expected if anchor else title}, untrained"
    assert result.embeddings["G"].isfinite().all()


@pytest.mark.parametrize("title", CASES)
def test_the_same_seed_gives_the_same_bits(dataset, title) -> None:
    module, config = adapter(title)
    options = {**SHORT, "evaluate_at": ()}
    state = torch.get_rng_state()
    first, second = (
        module.run(dataset, anchor=True, config=config, **options).embeddings
        for _ in range(2)
    )
    for name, embedding in first.items():
        assert torch.equal(embedding, second[name])
    assert torch.equal(state, torch.get_rng_state())  # the caller's randomness is his


@pytest.mark.parametrize("title", ["AD-GCL", "AutoGCL"])
def test_two_methods_train_alike_under_both_protocols_but_for_trees(
    dataset, title
) -> None:
    """As docs/guide.md says: nothing else in their released codes differs."""
    module, config = adapter(title)
    for anchor, tree, same in (
        (None, None, True),
        (True, None, False),
        (True, "refined", True),
    ):
        honest, paper = (
            module.run(
                dataset,
                anchor=anchor,
                config=dataclasses.replace(config, tree=tree, height=3),
                protocol=protocol,
                **{**SHORT, "evaluate_at": ()},
            ).embeddings
            for protocol in ("honest", "paper")
        )
        assert torch.equal(honest["G"], paper["G"]) == same


@pytest.mark.parametrize("title", CASES)
def test_every_method_takes_an_anchor_that_sees_quantities(dataset, title) -> None:
    module, config = adapter(title)
    config = dataclasses.replace(config, quantities=True, height=2)
    options = {**SHORT, "epochs": 2, "evaluate_at": ()}
    result = module.run(dataset, anchor=True, config=config, **options)
    assert "quantities=True" in result.config["anchor"]
    assert result.config["label"].endswith(", quantities")
    plain = module.run(
        dataset,
        anchor=True,
        config=dataclasses.replace(config, quantities=False),
        **options,
    )
    assert not torch.equal(result.embeddings["T"], plain.embeddings["T"])


@pytest.mark.parametrize("title", CASES)
def test_the_loss_asks_the_view_for_tree_statistics(dataset, title) -> None:
    _, config = adapter(title)
    config = dataclasses.replace(config, quantities=True, height=2)
    kind = method_of(title)
    losses = []
    for asks in (False, True):
        torch.manual_seed(0)
        view = kind.default_anchor(2, config)
        batch = Batch.from_data_list(view.transform.map(list(dataset)))
        model = kind(2, config, view, torch.Generator().manual_seed(0))
        if not asks:
            view.prediction = lambda *_: 0.0
        losses.append(model.loss(batch))
    contrast, asked = losses
    assert 0.5 < (asked - contrast).item() < 3  # standardised, and nothing learnt yet
    asked.backward()
    learnt = [p.grad for p in view.predictor.parameters()]
    assert all(grad is not None and bool(grad.any()) for grad in learnt)


@pytest.mark.parametrize("title", CASES)
def test_a_control_takes_the_place_of_the_graphs_trees(dataset, title) -> None:
    module, config = adapter(title)
    results = {
        name: module.run(
            dataset,
            anchor=True,
            config=dataclasses.replace(config, tree=name, height=2),
            **{**SHORT, "epochs": 1, "evaluate_at": ()},
        )
        for name in (None, "refined", "shuffled", "random")
    }
    own, *others = (result.embeddings["T"] for result in results.values())
    assert [torch.equal(own, other) for other in others] == [True, False, False]
    descriptions = [result.config["anchor"] for result in results.values()]
    assert descriptions[0] == descriptions[1]
    assert len(set(descriptions)) == 3
    expected = AnchorView(1, height=2)  # as in records of before there were controls
    assert repr(expected.transform) in descriptions[0]


def test_signatures_are_the_same() -> None:
    base = inspect.signature(adapter("GraphCL")[0].run).parameters
    for title in CASES:
        module, _ = adapter(title)
        given = dict(inspect.signature(module.run).parameters)
        given.pop("version", None)  # JOAO's shorthand
        assert list(given) == list(base)
        assert module.Config.__dataclass_params__.frozen
        assert module.SEARCH["height"] == (2, 3, 4, 5)
        known = {field.name for field in dataclasses.fields(module.Config)}
        assert set(module.SEARCH) <= known | {"batch_size"}


@pytest.mark.parametrize("title", CASES)
def test_the_method_works_in_a_loop_of_your_own(dataset, title) -> None:
    """Without run: any loader, trees built on the fly, two lines a batch."""
    _, config = adapter(title)
    features = HonestFeatures(10)
    graphs = [features(graph) for graph in dataset]
    for graph in graphs:
        graph.tree_x = graph.x
    torch.manual_seed(0)
    kind = method_of(title)
    anchor = kind.default_anchor(2, config)
    model = kind(2, config, anchor)
    before = [parameter.clone() for parameter in anchor.parameters()]
    loader = DataLoader([anchor.transform(graph) for graph in graphs], 15)
    for _ in range(2):
        for batch in loader:
            model.step(batch)
        model.end_of_epoch(loader)
    assert model.training
    moved = [
        not torch.equal(old, new)
        for old, new in zip(before, anchor.parameters(), strict=True)
    ]
    assert all(moved)
    single = model.eval().embed(anchor.transform(graphs[0]))
    together = model.embed(next(iter(loader)))
    for name in ("G", "T", "GT"):
        torch.testing.assert_close(
            single[name][0], together[name][0], atol=1e-4, rtol=1e-4
        )


class GraphAsAnchor(AnchorView):
    """Stands in for an anchor, but returns what the anchor would replace."""

    replaced: Any

    def forward(self, data: Data, x: Tensor | None = None) -> Tensor:
        result: Tensor = self.replaced(data)
        return result


@pytest.mark.parametrize("title", [t for t in CASES if t != "AutoGCL"])
def test_the_anchor_is_the_only_difference(dataset, title) -> None:
    """With the original graph's projection in its place the losses coincide.

    AutoGCL's anchor replaces a generated view: tests/test_autogcl.py.
    """
    _, config = adapter(title)
    features = HonestFeatures(10)
    batch = Batch.from_data_list([features(graph) for graph in dataset[:8]])
    losses = []
    for anchored in (False, True):
        anchor = GraphAsAnchor(13, height=2) if anchored else None
        torch.manual_seed(0)
        generator = torch.Generator().manual_seed(0)
        model = method_of(title)(2, config, anchor, generator)
        if anchor is not None:
            object.__setattr__(anchor, "replaced", model.project)
        losses.append(model.loss(batch).item())
    assert losses[0] == pytest.approx(losses[1], abs=1e-6)


@pytest.mark.parametrize("title", CASES)
def test_views_are_drawn_from_the_generator_alone(dataset, title) -> None:
    _, config = adapter(title)
    features = HonestFeatures(10)
    batch = Batch.from_data_list([features(graph) for graph in dataset[:8]])
    torch.manual_seed(0)
    generator = torch.Generator()
    model = method_of(title)(2, config, None, generator)
    losses = []
    for seed, other in ((0, 1), (0, 2), (3, 2)):
        generator.manual_seed(seed)
        torch.manual_seed(other)
        losses.append(model.loss(batch).item())
    assert losses[0] == losses[1] != losses[2]


@pytest.mark.parametrize("title", CASES)
@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("height", 1, "height must be an integer"),
        ("tree", "best", "got 'best'"),
        ("hidden_channels", 0, "hidden_channels must be positive, got 0"),
        ("num_layers", 0, "num_layers must be positive, got 0"),
        ("lr", -1.0, "lr must be positive, got -1.0"),
        ("anchor_lr", 0.0, "anchor_lr must be positive, got 0.0"),
        ("temperature", 0.0, "temperature must be positive, got 0.0"),
    ],
)
def test_bad_values_are_refused_before_training(title, field, value, message) -> None:
    module, config = adapter(title)
    with pytest.raises(ValueError, match=message):
        module.Config(**{**dataclasses.asdict(config), field: value})


def test_an_anchor_of_another_width_is_refused_before_training(dataset) -> None:
    module, _ = adapter("AutoGCL")
    leaves = HonestFeatures(100, "both", raw_degree=True)(dataset[0]).tree_x.size(1)
    with pytest.raises(ValueError, match="out_channels=96, but 640 is the width"):
        module.run(dataset, anchor=AnchorView(leaves), **SHORT)
