"""Baselines, and accuracy on distinct graphs, through the evaluation of methods."""

import hashlib
import json

import pytest
import torch
from torch_geometric.data import Batch, Data

from adapters import graphcl
from sega_anchor import AddRandomTree, AnchorView
from sega_anchor.cli import main
from sega_anchor.datasets import SyntheticCommunities, load
from sega_anchor.evaluate import svm_scores, wl_embedding
from sega_anchor.protocols import Settings, semisupervised, transfer
from sega_anchor.protocols.settings import identity
from sega_anchor.protocols.transfer._config import decisive
from sega_anchor.protocols.unsupervised import baseline
from sega_anchor.protocols.unsupervised._job import prepare_job
from tests.helpers import scores
from tests.helpers.paths import real_data

TITLES = {
    "statistics": "Statistics",
    "degrees": "Degree histogram",
    "labels": "Label histogram",
    "histograms": "Histograms",
    "wl": "WL kernel",
    "trees": "Tree statistics",
}


@pytest.fixture(scope="module")
def dataset() -> SyntheticCommunities:
    return SyntheticCommunities(num_graphs=45)


def run(dataset, kind, **options):
    config = baseline.Config(kind) if isinstance(kind, str) else kind
    return baseline.run(dataset, config=config, **{"seeds": 1, "jobs": 1, **options})


@pytest.mark.usefixtures("quick_scores")
@pytest.mark.parametrize("protocol", ["honest", "paper"])
@pytest.mark.parametrize("kind", TITLES)
def test_every_kind_is_evaluated_once(dataset, kind, protocol) -> None:
    result = run(dataset, kind, protocol=protocol, seeds=2)
    assert result.config["label"] == TITLES[kind]
    assert result.candidates() == [(0, "G")]
    assert result.history == {0: [], 1: []}
    assert result.embeddings["G"].shape[0] == 45
    assert result.embeddings["G"].isfinite().all()


def test_folds_and_machine_are_those_of_methods(dataset) -> None:
    result = run(dataset, "wl", seeds=[2])
    x = wl_embedding(Batch.from_data_list([*dataset]))
    expected = svm_scores(x, dataset.y, random_state=2)
    (found,) = result.evaluations
    assert found.test == tuple(expected.test)
    assert found.validation == tuple(expected.validation)


def two_labels() -> list[Data]:
    """Paths of two nodes, with one-hot labels."""
    edge_index = torch.tensor([[0, 1], [1, 0]])
    return [
        Data(x=torch.eye(2)[[i % 2, 0]], edge_index=edge_index, y=torch.tensor([i % 2]))
        for i in range(40)
    ]


@pytest.mark.usefixtures("quick_scores")
def test_histograms_show_labels_and_degrees() -> None:
    graphs = two_labels()
    expected = {
        "labels": [[2, 0], [1, 1]],
        "degrees": [[2, 0, 2], [2, 0, 2]],  # how many nodes, of degree 0, of degree 1
        "histograms": [[2, 0, 0, 2], [1, 1, 0, 2]],
    }
    for kind, rows in expected.items():
        found = run(graphs, kind, max_degree=1).embeddings["G"]
        assert found[:2].tolist() == rows
    hidden = run(graphs, "labels", labels="none")
    assert hidden.embeddings["G"][:2].tolist() == [[2], [2]]
    assert hidden.config["label"] == "Label histogram, labels: none"


@pytest.mark.usefixtures("quick_scores")
def test_tree_statistics_are_those_of_the_trees_that_are_given(dataset) -> None:
    plain = run(dataset, baseline.Config("trees", height=3))
    assert plain.embeddings["G"].shape == (45, 30 * 4)
    view = AnchorView(1, height=3, transform=AddRandomTree(height=3))
    other = run(dataset, baseline.Config("trees", height=3), anchor=view)
    assert not torch.equal(other.embeddings["G"], plain.embeddings["G"])
    assert other.config["trees"].startswith("AddRandomTree")
    shuffled = run(dataset, baseline.Config("trees", height=3, tree="shuffled"))
    assert shuffled.config["label"] == "Tree statistics, shuffled"
    assert not torch.equal(shuffled.embeddings["G"], plain.embeddings["G"])


def test_finished_seeds_are_not_measured_again(
    dataset, tmp_path, monkeypatch, quick_scores
) -> None:
    result = run(dataset, "statistics", seeds=2, results=tmp_path)
    calls = []

    def counted(*arguments, **options):
        calls.append(options["random_state"])
        return scores.quick_scores(*arguments, **options)

    monkeypatch.setattr(scores.SVM_SCORES, counted)
    # What decides nothing here, as for all that are compared, changes no record.
    others = {"epochs": 5, "evaluate_at": (5,), "batch_size": 8, "degree": "both"}
    again = run(dataset, "statistics", seeds=3, results=tmp_path, **others)
    assert calls == [2]
    assert again.record == result.record
    assert again.evaluations[:2] == result.evaluations
    assert not list(tmp_path.glob("*.safetensors"))  # the same for all seeds


def test_the_command_runs_baselines(capsys, quick_scores, tmp_path) -> None:
    words = ["run", "baseline", "synthetic", "--kind", "wl", "--seeds", "2"]
    assert main([*words, "--results", str(tmp_path)]) == 0
    assert "| WL kernel | synthetic |" in capsys.readouterr().out
    assert main([*words, "--anchor", "--results", str(tmp_path)]) == 2
    assert "kind='wl' looks at no trees: leave the anchor" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: baseline.Config("best"), "kind must be 'statistics', .* got 'best'"),  # type: ignore[arg-type]
        (lambda: baseline.Config(iterations=-1), "iterations must be at least 0"),
        (lambda: baseline.Config(height=1), "height must be an integer"),
        (lambda: baseline.run("synthetic", kind="wl"), r"config=Config\(kind='wl'\)"),
        (lambda: run("synthetic", "wl", epochs=-1), "epochs must be at least 0"),
    ],
)
def test_bad_input_is_refused(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def with_twins(dataset) -> list[Data]:
    """The graphs, each followed by itself with its nodes in another order."""
    graphs = []
    for data in dataset:
        twin = data.clone()
        order = torch.arange(data.num_nodes).flip(0)
        twin.x, twin.edge_index = data.x[order], order[data.edge_index]
        graphs += [data, twin]
    return graphs


def test_distinct_graphs_are_evaluated_and_all_are_trained_on(dataset) -> None:
    graphs = with_twins(dataset)
    options = {"seeds": 1, "jobs": 1, "epochs": 1, "batch_size": 16}
    every = graphcl.run(graphs, **options)
    distinct = graphcl.run(graphs, distinct=True, **options)
    assert distinct.config["label"] == "GraphCL, distinct graphs"
    assert distinct.history[0][0]["loss"] == every.history[0][0]["loss"]
    assert torch.equal(distinct.embeddings["G"], every.embeddings["G"])
    (found,) = distinct.evaluations
    assert found.test != every.evaluations[0].test
    firsts = distinct.embeddings["G"][::2]
    assert found.test == tuple(svm_scores(firsts, dataset.y).test)


@pytest.mark.usefixtures("quick_scores")
def test_distinct_graphs_do_not_depend_on_what_encoders_see() -> None:
    """Two paths, told apart by labels alone, stay two with the labels hidden."""
    graphs = [g for data in two_labels()[:2] for g in [data] * 20]
    for kind, labels in (("labels", None), ("statistics", "none")):
        with pytest.raises(ValueError, match=r"10 graphs each, got \{0: 1, 1: 1\}"):
            run(graphs, kind, labels=labels, distinct=True)


def config(method: graphcl.Config | None = None, **options) -> dict:
    graphs = SyntheticCommunities(num_graphs=45)
    chosen, settings = method or graphcl.Config(), Settings(**options)
    job = prepare_job(graphcl.GraphCL, graphs, None, chosen, settings, "cpu")
    return job.record.config


def digest_of(content: dict) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_records_of_before_are_found() -> None:
    """Their names hold such a digest: those here are of code that knew no more."""
    assert digest_of(config()) == "6777cb6d62dc3419"
    pretraining = transfer.PretrainConfig(tree="refined")
    found = [
        digest_of(one)
        for one in (identity(semisupervised.Config()), decisive(pretraining))
    ]
    assert found == ["d75e6acdf4cc0ae8", "78bfa09d8047857e"]
    distinct = config(distinct=True)
    assert distinct["distinct"] is True
    assert distinct["content"] != config()["content"]
    assert config(graphcl.Config(quantities=True))["quantities"] is True


@pytest.mark.slow
def test_imdb_binary_has_537_distinct_graphs(tmp_path) -> None:
    settings = Settings(
        distinct=True, root=str(tmp_path), archives=str(real_data("tu"))
    )
    method = graphcl.GraphCL
    job = prepare_job(method, "IMDB-BINARY", None, graphcl.Config(), settings, "cpu")
    assert job.chosen is not None and len(job.chosen) == 537
    assert len(load("IMDB-BINARY", root=tmp_path)) == len(job.graphs) == 1000
