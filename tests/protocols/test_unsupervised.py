import dataclasses
import importlib
import json
import math
from typing import Any, get_type_hints

import pytest
import torch
from torch_geometric.data import Data, HeteroData

from adapters import graphcl
from sega_anchor import AddCodingTree, AnchorView, NTXent
from sega_anchor.datasets import SyntheticCommunities, load
from sega_anchor.evaluate import svm_scores
from sega_anchor.protocols import Options, Settings
from sega_anchor.protocols.features import HonestFeatures, PublishedFeatures
from sega_anchor.protocols.unsupervised._job import prepare_job
from sega_anchor.report import Evaluation, Result
from tests.helpers import scores
from tests.helpers.paths import real_data
from tests.helpers.records import rewrite
from tests.helpers.reference import reference

SHORT = {"seeds": 1, "epochs": 2, "evaluate_at": (1, 2), "batch_size": 16, "jobs": 1}


@pytest.fixture(scope="module")
def dataset() -> SyntheticCommunities:
    return SyntheticCommunities(num_graphs=45)


def run(dataset, **options):
    return graphcl.run(dataset, **{**SHORT, **options})


PAIRS = [  # of all values of two options each pair once
    ("honest", None, "anchor"),
    ("paper", True, "anchor"),
    ("paper", None, "both"),
    ("honest", True, "both"),
    ("honest", None, "none"),
    ("paper", True, "none"),
]


@pytest.mark.usefixtures("quick_scores")
@pytest.mark.parametrize(("protocol", "anchor", "degree"), PAIRS)
def test_a_run_measures_every_embedding(dataset, protocol, anchor, degree) -> None:
    result = run(dataset, anchor=anchor, protocol=protocol, degree=degree)
    names = ["G", "GT", "T"] if anchor else ["G"]
    assert result.candidates() == [(epoch, name) for epoch in (1, 2) for name in names]
    assert result.accuracy.candidates == 2 * len(names)
    assert [h["epoch"] for h in result.history[0]] == [1, 2]
    assert all(math.isfinite(h["loss"]) for h in result.history[0])
    widths = {name: tuple(e.shape) for name, e in result.embeddings.items()}
    expected = {"G": (45, 96), "T": (45, 96), "GT": (45, 192)}
    assert widths == {name: expected[name] for name in names}
    assert result.by_test().mean == max(
        result.of(*candidate).mean for candidate in result.candidates()
    )


@pytest.mark.parametrize("protocol", ["honest", "paper"])
def test_embeddings_are_scored_by_support_vector_machines(dataset, protocol) -> None:
    result = run(dataset, anchor=True, protocol=protocol, evaluate_at=(2,))
    for measured in result.evaluations:
        assert all(0 <= accuracy <= 1 for accuracy in measured.test)
        assert len(measured.test) == 10
        if protocol == "honest":  # published: other folds for every evaluation
            embedding = result.embeddings[measured.embedding]
            scores = svm_scores(embedding, dataset.y, random_state=0)
            assert measured.test == tuple(scores.test)
            assert measured.validation == tuple(scores.validation)


@pytest.mark.usefixtures("quick_scores")
def test_the_same_seed_gives_the_same_bits(dataset) -> None:
    state = torch.get_rng_state()
    first, second = (run(dataset, anchor=True) for _ in range(2))
    for name, embedding in first.embeddings.items():
        assert torch.equal(embedding, second.embeddings[name])
    assert first.evaluations == second.evaluations
    assert torch.equal(state, torch.get_rng_state())  # the caller's randomness is his


@pytest.mark.usefixtures("quick_scores")
def test_seeds_differ_and_one_more_seed_keeps_the_others(dataset) -> None:
    both = run(dataset, seeds=2)
    (one, two) = ([h["loss"] for h in both.history[seed]] for seed in (0, 1))
    assert one != two
    assert [h["loss"] for h in run(dataset).history[0]] == one


@pytest.mark.usefixtures("quick_scores")
def test_a_view_of_your_own_starts_anew_for_each_seed(dataset) -> None:
    view = AnchorView(1, height=3)
    cap = HonestFeatures(100, "anchor")(dataset[0]).tree_x.size(1)
    with pytest.raises(ValueError, match=f"in_channels=1, but {cap} is the number"):
        run(dataset, anchor=view)
    view = AnchorView(cap, height=3, loss=NTXent(temperature=0.5))
    before = [p.clone() for p in view.parameters()]
    result = run(dataset, anchor=view)
    assert all(map(torch.equal, before, view.parameters()))
    assert "T" in result.embeddings


def test_records_are_resumed_and_never_mixed(
    dataset, tmp_path, monkeypatch, quick_scores
) -> None:
    result = run(dataset, anchor=True, results=tmp_path)
    (path,) = tmp_path.glob("*.json")
    assert path == result.record
    content = json.loads(path.read_text())
    assert content["config"]["lr"] == 0.01
    assert content["config"]["anchor"].startswith("AnchorView")
    assert content["seeds"]["0"]["versions"]["torch"]

    # As after a kill: one embedding only half evaluated, the seed not complete.
    seed = content["seeds"]["0"]
    seed["complete"] = False
    del seed["evaluations"]["2/GT"]["test"]["9"]
    rewrite(path, content)
    calls = []

    def counted(*arguments, **options):
        calls.append(options["only"])
        return scores.quick_scores(*arguments, **options)

    monkeypatch.setattr(scores.SVM_SCORES, counted)
    again = run(dataset, anchor=True, results=tmp_path)
    assert calls == [[9]]
    assert again.evaluations == result.evaluations

    calls.clear()
    third = run(dataset, anchor=True, results=tmp_path)
    assert third.accuracy == result.accuracy
    assert calls == []
    for name, embedding in result.embeddings.items():
        assert torch.equal(embedding, third.embeddings[name])
    run(dataset, anchor=True, results=tmp_path, config=graphcl.Config(lr=0.001))
    assert calls == [list(range(10))] * 6
    assert len(list(tmp_path.glob("*.json"))) == 2


def content(graphs, anchor: Any = True, **options) -> str:
    settings = Settings(**{**SHORT, **options})
    return prepare_job(
        graphcl.GraphCL, graphs, anchor, graphcl.Config(), settings, "cpu"
    ).record.config["content"]


def changed(dataset, name: str, value: Any) -> list[Data]:
    """Return the graphs, one of which has another value."""
    graphs = [data.clone() for data in dataset]
    graphs[7][name] = value(graphs[7])
    return graphs


def test_a_record_serves_no_other_graphs(dataset) -> None:
    again = SyntheticCommunities(num_graphs=45)
    assert content(again) == content(dataset)
    for name, value in {
        "x": lambda data: data.x.flip(1),
        "edge_index": lambda data: data.edge_index[:, 2:],
        "y": lambda data: data.y + 1,
    }.items():
        assert content(changed(dataset, name, value)) != content(dataset)
    assert content(dataset, None) != content(dataset, True)  # has no trees


def test_a_record_covers_what_only_the_leaves_see(dataset) -> None:
    other = changed(dataset, "x", lambda data: data.x.flip(1))
    options = {"labels": "anchor", "degree": "both"}
    assert content(other, **options) != content(dataset, **options)
    assert content(other, None, **options) == content(dataset, None, **options)


def test_a_record_covers_the_weights_of_trees(dataset) -> None:
    def weigh(data: Data, low: float = 0.01) -> torch.Tensor:
        half = (data.edge_index < data.num_nodes // 2).all(dim=0)
        return torch.where(half, torch.tensor(1.0), torch.tensor(low))

    weighted = [data.clone().update({"weight": weigh(data)}) for data in dataset]
    equal = changed(weighted, "weight", lambda data: weigh(data, 1.0))
    views = [
        AnchorView(103, transform=AddCodingTree(height=3, weight=name))
        for name in ("weight", None)
    ]
    assert content(equal, views[0]) != content(weighted, views[0])
    assert content(equal, views[1]) == content(weighted, views[1])  # looks at none


def test_without_evaluation_no_labels_are_needed(dataset) -> None:
    bare = [Data(x=graph.x, edge_index=graph.edge_index) for graph in dataset[:12]]
    result = run(bare, anchor=True, evaluate_at=())
    assert result.embeddings["GT"].shape == (12, 192)
    assert "accuracy=None" in repr(result)
    with pytest.raises(ValueError, match="nothing was evaluated"):
        _ = result.accuracy


@pytest.mark.usefixtures("quick_scores")
def test_an_unreadable_record_is_set_aside(dataset, tmp_path) -> None:
    result = run(dataset, results=tmp_path)
    assert result.record is not None
    text = result.record.read_text()
    other = text.replace('"lr": 0.01', '"lr": 0.02')
    other_epoch = text.replace('"epoch": 1', '"epoch": 7')
    for damaged in (text[:100], other, other_epoch, "[]"):
        result.record.write_text(damaged)
        with pytest.warns(UserWarning, match=r"record.* it is now .*\.unreadable"):
            again = run(dataset, results=tmp_path)
        assert again.evaluations == result.evaluations
        assert len(list(tmp_path.glob("*.unreadable"))) == 1


@pytest.mark.usefixtures("quick_scores")
@pytest.mark.parametrize("name", ["seed0", "seed0-weights"])
def test_damaged_files_of_a_record_are_made_again(name: str, dataset, tmp_path) -> None:
    result = run(dataset, results=tmp_path)
    (path,) = tmp_path.glob(f"*-{name}.safetensors")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"?")  # a number
    with pytest.warns(UserWarning, match="is damaged: training again"):
        again = run(dataset, results=tmp_path)
    assert path.read_bytes() == whole
    assert again.evaluations == result.evaluations
    assert torch.equal(again.embeddings["G"], result.embeddings["G"])


def test_the_anchor_is_the_only_difference(dataset) -> None:
    """With the anchor's vectors replaced by the graph's own, the losses coincide."""
    features = HonestFeatures(10)
    data = [features(graph) for graph in dataset[:8]]
    from torch_geometric.data import Batch

    batch = Batch.from_data_list(data)
    losses = []
    for anchored in (False, True):
        torch.manual_seed(0)
        config = graphcl.Config()
        view = graphcl.GraphCL.default_anchor(13, config) if anchored else None
        torch.manual_seed(0)
        generator = torch.Generator().manual_seed(0)
        model = graphcl.GraphCL(2, config, view, generator)
        if view is not None:
            view.forward = lambda d, x=None, m=model: m.head(  # type: ignore[method-assign]
                m.encoder(d.x, d.edge_index, d.batch, d.num_graphs)
            )
        losses.append(model.loss(batch).item())
    assert losses[0] == pytest.approx(losses[1], abs=1e-6)


def evaluation(epoch: int, name: str, test: list, validation: list) -> Evaluation:
    return Evaluation(0, epoch, name, tuple(test), tuple(validation))


def test_the_two_choices_on_numbers_known_by_hand() -> None:
    evaluations = [
        evaluation(10, "G", [1.0, 0.0], [0.5, 0.9]),
        evaluation(20, "G", [0.8, 0.6], [0.6, 0.2]),
    ]
    result = Result({"protocol": "honest", "choice": "test"}, evaluations)
    assert result.by_validation().mean == pytest.approx(40.0)  # 0.8 and 0.0
    assert result.by_test().mean == pytest.approx(70.0)
    assert result.accuracy == result.by_validation()
    assert str(result.by_validation()) == "40.00"  # one seed has no spread
    other = Result({"protocol": "paper", "choice": "test"}, evaluations)
    assert other.by_validation().mean == pytest.approx(
        50.0
    )  # epoch 10 by mean validation
    assert other.accuracy == other.by_test()
    assert result.by_validation("G") == result.by_validation()
    with pytest.raises(ValueError, match="no embedding 'T' was evaluated"):
        result.by_test("T")
    with pytest.raises(ValueError, match=r"epoch 5 .* known: \[\(10, 'G'\)"):
        result.of(5, "G")


@pytest.mark.usefixtures("quick_scores")
@pytest.mark.parametrize("protocol", ["honest", "paper"])
def test_trees_come_with_the_fingerprints_of_their_graphs(dataset, protocol) -> None:
    # Released features add two self-loops to the nodes, which trees do not mind.
    width = HonestFeatures(100, "anchor")(dataset[0]).tree_x.size(1)
    view = AnchorView(width, height=3, strict=True)
    run(dataset, anchor=view, protocol=protocol)


@pytest.mark.slow
def test_published_features_equal_the_released_ones(tmp_path) -> None:
    facts = reference("features")
    mutag = load("MUTAG", root=tmp_path, archives=real_data("tu"))
    out = PublishedFeatures(100)(mutag[0])
    first = facts["MUTAG_graph0"]
    assert out.edge_index.size(1) == first["edge_index_columns_from_get"]
    loops = out.edge_index[:, out.edge_index[0] == out.edge_index[1]]
    assert loops.size(1) == first["self_loop_columns"]
    assert first["node_without_self_loop"] not in loops
    assert out.x.size(1) == first["x_dim"]
    assert out.tree_x.size(1) == first["deg_x_dim"]
    where = out.tree_x[:, first["x_dim"] :].argmax(dim=1)
    assert where.tolist() == first["onehot_degree_position"]

    proteins = load(
        "PROTEINS", root=tmp_path, archives=real_data("tu"), use_node_attr=True
    )
    out = PublishedFeatures(100, num_attributes=1)(proteins[0])
    first = facts["PROTEINS_graph0"]
    assert (out.x.size(1), out.tree_x.size(1)) == (first["x_dim"], first["deg_x_dim"])
    got = out.tree_x[:3, :5].tolist()
    assert got == first["deg_x_first5_of_first3_nodes"]


def test_options_name_the_fields_of_settings() -> None:
    hints = get_type_hints(Options)
    assert hints == {
        field.name: get_type_hints(Settings)[field.name]
        for field in dataclasses.fields(Settings)
    }


def test_seeds_may_be_listed(quick_scores) -> None:
    two = run("synthetic", seeds=2)
    one = run("synthetic", seeds=[1])
    assert list(one.history) == [1]
    assert one.accuracy.values == two.accuracy.values[1:]
    assert torch.equal(one.embeddings["G"], two.embeddings["G"])


def labelled(count: int, classes: int = 2, **last: Any) -> list[Data]:
    """Edges with classes in turn; the last graph has other attributes, too."""
    edge_index = torch.tensor([[0, 1], [1, 0]])
    graphs = [
        Data(edge_index=edge_index, x=torch.ones(2, 2), y=torch.tensor([i % classes]))
        for i in range(count)
    ]
    graphs[-1].update(last)
    return graphs


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: run([]), "the data set is empty"),
        (lambda: run(labelled(18)), r"2 classes of 10 graphs each, got \{0: 9, 1: 9\}"),
        (lambda: run(labelled(20, 1)), "at least 2 classes"),
        (lambda: run(labelled(18), folds=2), "2 classes of 10 graphs each"),
        (lambda: run("synthetic", folds=1), "folds must be at least 2, got 1"),
        (lambda: run([Data(num_nodes=1)] * 20), "20 of 20 graphs have no label y"),
        (lambda: run(labelled(20, y=torch.tensor([0.5]))), r"y of graph 19 .*0\.5"),
        (lambda: run(labelled(20, y=torch.tensor([math.nan]))), "y of graph 19 .*nan"),
        (lambda: run(labelled(20, y="toxic")), "y of graph 19 .* got 'toxic'"),
        (
            lambda: run(labelled(20, x=torch.tensor([[1.0, math.inf]] * 2))),
            "features of graph 19 are not finite",
        ),
        (
            lambda: run(labelled(20, x=torch.ones(2, 3))),
            r"x of graph 19 is .* \(2, 3\), of graph 0",
        ),
        (lambda: run("NO-SUCH-SET"), "unknown data set 'NO-SUCH-SET'"),
        (lambda: run("synthetic", batch_size=1), "batch_size must be at least 2"),
        (lambda: run("synthetic", protocol="quick"), "protocol must be 'honest' or"),
        (lambda: run("synthetic", protocol=None), "protocol must be .* got None"),
        (lambda: run("synthetic", degree="all"), "degree must be"),
        (lambda: run("synthetic", evaluate_at=(3,)), "epochs from 0 to 2, got"),
        (lambda: run("synthetic", seeds=0), "seeds must be at least 1, got 0"),
        (lambda: run("synthetic", seeds=[]), "seeds must be a count or a list"),
        (lambda: run("synthetic", seeds=[1, 1]), r"different seeds.* got \[1, 1\]"),
        (lambda: run("synthetic", seeds=2.5), "seeds must be a count .* got 2.5"),
        (
            lambda: run("synthetic", temperature=0.5),
            r"use config=Config\(temperature=0.5\)",
        ),
        (lambda: run("synthetic", epoch=5), "no option 'epoch'; did you mean 'epochs'"),
        (lambda: run("synthetic", ancor=True), "did you mean 'anchor'"),
        (lambda: run("synthetic", tempertaure=1), "did you mean 'temperature'"),
        (lambda: run("synthetic", zzz=1), "no option 'zzz'; known: protocol, labels"),
        (lambda: run([HeteroData()] * 20), "got a HeteroData.*to_homogeneous"),
        (lambda: run(HeteroData()), "got a single HeteroData"),
        (lambda: run(Data()), "got a single Data"),
        (lambda: run("synthetic", max_degree=-1), "max_degree must not be negative"),
        (lambda: run("synthetic", device="gpu7"), "device must be a name .* 'gpu7'"),
        (lambda: graphcl.Config(height=1), "height must be an integer"),
        (
            lambda: graphcl.Config(augmentation="drop"),
            "augmentation must be .* got 'drop'",
        ),
        (lambda: graphcl.Config(strength=2.0), "ratio is 2.0"),
        (lambda: graphcl.Config(lr=0), "lr must be positive, got 0"),
        (lambda: graphcl.Config(temperature=-1), "temperature must be positive"),
        (lambda: graphcl.Config(tree="best"), "got 'best'"),  # type: ignore[arg-type]
    ],
)
def test_bad_input_is_refused_before_training(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("name", ["graphcl", "joao", "adgcl", "autogcl", "rgcl"])
def test_a_training_that_diverges_stops_at_its_epoch(name: str) -> None:
    module = importlib.import_module(f"adapters.{name}")
    epochs: list[int] = []
    options = {**SHORT, "epochs": 5, "evaluate_at": (5,)}
    with pytest.raises(ValueError, match="diverged, lower the learning rate"):
        module.run(
            "synthetic",
            config=module.Config(lr=1e30),
            on_epoch=lambda told: epochs.append(told["epoch"]),
            **options,
        )
    assert len(epochs) < 2
