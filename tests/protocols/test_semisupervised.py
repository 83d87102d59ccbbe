"""The semi-supervised protocol, from its splits to a run that was interrupted."""

import numpy as np
import pytest
import torch
from sklearn.model_selection import StratifiedKFold
from torch_geometric.data import Data

import sega_anchor as sa
from sega_anchor.augment import AttributeMask, EdgePerturb, Subgraph
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.loader.packed_graphs import PackedGraphs
from sega_anchor.protocols.semisupervised import Config, _run, run, split
from sega_anchor.report import Tuned, tuned_table
from sega_anchor.training.contrast import Contrast

FEW = {"seeds": 1, "pretrain_epochs": 2, "epochs": 3}
FEW |= {"hidden_channels": 16, "batch_size": 25}  # three batches an epoch


@pytest.fixture(scope="module")
def dataset() -> SyntheticCommunities:
    return SyntheticCommunities(num_graphs=75)


def test_honest_parts_are_disjoint_and_stratified() -> None:
    labels = torch.tensor([0] * 300 + [1] * 100)
    tests = []
    for fold in range(10):
        train, validation, test = split(labels, fold, 0.1, "honest", seed=3)
        assert not set(train.tolist()) & set(validation.tolist() + test.tolist())
        assert not set(validation.tolist()) & set(test.tolist())
        assert len(validation) == len(test) == 40
        assert len(train) == 32  # a tenth of eight folds
        assert labels[train].sum() == 8
        tests.append(test)
    assert sorted(torch.cat(tests).tolist()) == list(range(400))


def test_published_parts_follow_the_released_rule() -> None:
    labels = torch.arange(330) % 3
    y = labels.numpy()
    folds = list(StratifiedKFold(10, shuffle=True, random_state=12345).split(y, y))
    for fold, (rest, test) in enumerate(folds):
        parts = StratifiedKFold(10, shuffle=True, random_state=12345)
        labelled = next(iter(parts.split(rest, y[rest])))[1]
        found = split(labels, fold, 0.1, "paper", seed=7)
        assert found[0].tolist() == rest[labelled].tolist()
        assert len(found[1]) == 0
        assert found[2].tolist() == test.tolist()


@pytest.mark.parametrize("part", ["none", "graphcl", "sega"])
def test_every_pretraining_gives_a_curve_for_each_fold(dataset, part: str) -> None:
    result = run(dataset, pretraining=part, **FEW)
    assert result.curves["test"].shape == (1, 10, 3)
    assert 0 <= result.curves["test"].min() <= result.curves["test"].max() <= 1
    assert result.by_validation().candidates == 3
    assert len(result.history[0]) == (0 if part == "none" else 2)
    assert result.config["label"] in tuned_table([result])


def test_pretraining_changes_what_fine_tuning_starts_from(dataset) -> None:
    curves = [
        run(dataset, pretraining=part, **FEW).curves["validation"]
        for part in ("none", "graphcl", "sega")
    ]
    assert not np.allclose(curves[0], curves[1])
    assert not np.allclose(curves[1], curves[2])


def test_controls_take_the_place_of_the_graphs_trees(dataset) -> None:
    losses = {
        name: run(dataset, tree=name, height=2, **FEW).history[0][0]["loss"]
        for name in (None, "refined", "shuffled", "random")
    }
    assert losses[None] == losses["refined"]
    assert len(set(losses.values())) == 3


def test_an_encoder_is_pretrained_against_quantities(dataset) -> None:
    plain, seeing = (
        run(dataset, quantities=on, height=2, **FEW) for on in (False, True)
    )
    assert "quantities=True" in seeing.config["anchor"]
    assert plain.history[0][0]["loss"] != seeing.history[0][0]["loss"]


def test_same_seed_same_bits_and_the_callers_randomness_untouched(dataset) -> None:
    before = torch.get_rng_state()
    first, second = (run(dataset, pretraining="sega", **FEW) for _ in range(2))
    assert torch.equal(before, torch.get_rng_state())
    for part in first.curves:
        assert (first.curves[part] == second.curves[part]).all()
    assert [h["loss"] for h in first.history[0]] == [
        h["loss"] for h in second.history[0]
    ]


@pytest.mark.parametrize("steps", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_an_interrupted_run_goes_on_to_the_same_bits(
    steps: int, dataset, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**FEW, "pretraining": "sega"}
    whole = run(dataset, **options)
    monkeypatch.setattr("sega_anchor.training.state.EVERY", -1.0)
    plain, left = Contrast.step, [steps]

    def stop(self, data):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return plain(self, data)

    monkeypatch.setattr(Contrast, "step", stop)
    with pytest.raises(KeyboardInterrupt):
        run(dataset, results=str(tmp_path), **options)
    steps_taken = []

    def count(self, data):
        steps_taken.append(1)
        return plain(self, data)

    monkeypatch.setattr(Contrast, "step", count)
    resumed = run(dataset, results=str(tmp_path), **options)
    # Three batches an epoch, two epochs; what was done is not done again.
    assert len(steps_taken) == 6 - (steps - 1)
    for part in whole.curves:
        assert (whole.curves[part] == resumed.curves[part]).all()
    assert not list(tmp_path.glob("*.state"))


def test_a_kill_at_the_write_of_the_record_repeats_no_fold(
    dataset, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**FEW, "pretraining": "none", "folds": 4, "results": str(tmp_path)}
    scored, plain = [], _run.accuracy

    def count(outputs, labels):
        scored.append(1)
        return plain(outputs, labels)

    def killed(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(_run, "accuracy", count)
    with monkeypatch.context() as patched:
        patched.setattr("sega_anchor.report.Record.save", killed)
        with pytest.raises(KeyboardInterrupt):
            run(dataset, **options)
    run(dataset, **options)
    assert len(scored) == 4 * FEW["epochs"]
    # A state that a kill has left behind its record goes with the next call.
    (record,) = tmp_path.glob("*.json")
    for name in ("seed0", "seed0-fold1"):
        record.with_name(f"{record.stem}-{name}.state").write_bytes(b"")
    run(dataset, **options)
    assert not list(tmp_path.glob("*.state*"))


def test_an_interrupted_fold_goes_on_to_the_same_bits(
    dataset, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**FEW, "pretraining": "none"}
    whole = run(dataset, **options)
    monkeypatch.setattr("sega_anchor.training.state.EVERY", -1.0)
    plain, left = _run.accuracy, [8]

    def stop(outputs, labels):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return plain(outputs, labels)

    monkeypatch.setattr(_run, "accuracy", stop)
    with pytest.raises(KeyboardInterrupt):
        run(dataset, results=str(tmp_path), **options)
    monkeypatch.setattr(_run, "accuracy", plain)
    resumed = run(dataset, results=str(tmp_path), **options)
    for part in whole.curves:
        assert (whole.curves[part] == resumed.curves[part]).all()
    # And what is finished is only read.
    monkeypatch.setattr(_run, "run_finetuning", None)
    again = run(dataset, results=str(tmp_path), **options)
    assert (again.curves["test"] == whole.curves["test"]).all()


def test_published_protocol_has_no_validation(dataset) -> None:
    result = run(dataset, pretraining="none", protocol="paper", **FEW)
    assert set(result.curves) == {"test"}
    assert result.score == result.by_test()
    with pytest.raises(ValueError, match="keeps no validation fold"):
        result.by_validation()


def test_the_anchor_is_the_only_difference(dataset) -> None:
    """With an anchor that repeats the other view, SEGA's loss is that of two views."""
    graphs = PackedGraphs.of(list(dataset)[:8])
    batch = graphs.batch(torch.arange(8))
    encoder = sa.backbones.GIN(batch.x.size(1), 8, 2)
    view = sa.AnchorView(batch.x.size(1), 8, 16, height=2)
    identity = sa.augment.Identity()
    with_anchor = Contrast(encoder, identity, view, temperature=0.5)
    z = with_anchor.head(encoder.encode(batch))
    with_anchor.anchor.forward = lambda data, x=None: z
    without = Contrast(encoder, identity, temperature=0.5)
    without.head = with_anchor.head
    assert torch.allclose(with_anchor.loss(batch), without.loss(batch), atol=1e-6)


def drawn(name: str, x: torch.Tensor, edges: torch.Tensor, **options) -> Data:
    config = Config(augmentation=name, **options)
    generator = torch.Generator().manual_seed(0)
    return config.view()(Data(x=x, edge_index=edges), generator)


def test_published_masks_hold_the_mean_of_their_graph() -> None:
    x = torch.arange(40.0).view(20, 2) ** 2
    edges = torch.tensor([[0, 1], [1, 0]])
    for options, count in (({}, 4), ({"strength": 0.5}, 10)):
        view = drawn("mask_nodes", x, edges, protocol="paper", **options)
        changed = (view.x != x).any(dim=1)
        assert changed.sum() == count
        assert torch.allclose(view.x[changed], x.mean(dim=0))
    honest = drawn("mask_nodes", x, edges)
    changed = (honest.x != x).any(dim=1)
    assert not torch.isclose(honest.x[changed], x.mean(dim=0)).any()


def test_published_perturbation_adds_as_many_pairs_as_it_drops() -> None:
    ends = torch.arange(100)
    edges = torch.stack([ends, (ends + 1) % 100])
    edges = torch.cat([edges, edges.flip(0)], dim=1)
    view = drawn("pedges", torch.ones(100, 1), edges, protocol="paper")
    assert view.num_edges == 200
    old = {*map(tuple, edges.t().tolist())}
    kept = [pair for pair in map(tuple, view.edge_index.t().tolist()) if pair in old]
    assert 160 <= len(kept) < 170  # a random pair is hardly ever an edge
    # And so do the mixed augmentations, beside stars and means.
    for name in ("random3", "random4"):
        parts = Config(augmentation=name, protocol="paper").view().augmentations
        assert EdgePerturb(0.2, "directed", add=True) in parts
        assert Subgraph(0.2, "star") in parts
        assert (AttributeMask(0.2, "mean") in parts) == (name == "random4")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pretraining": "segaa"}, "pretraining must be 'none', 'graphcl' or 'sega'"),
        ({"label_rate": 0.3}, "label_rate must be one part in a whole number"),
        ({"label_rate": 0.0}, "label_rate must be one part in a whole number"),
        ({"augmentation": "dnode"}, "augmentation must be 'dnodes'"),
        ({"height": 1}, "height must be an integer of at least 2"),
        ({"batch_size": 1}, "batch_size must be at least 2"),
        ({"pretrain_lr": -1.0}, "pretrain_lr must be positive"),
        ({"seeds": 0}, "seeds must be at least 1"),
        ({"protocol": "honst"}, "protocol must be"),
    ],
)
def test_values_are_refused_before_any_work(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Config(**options)


def test_an_unknown_option_is_guessed(dataset) -> None:
    with pytest.raises(ValueError, match="no option 'pretrain'; did you mean 'pretr"):
        run(dataset, pretrain="sega")


def test_seeds_may_be_listed(dataset) -> None:
    two = run(dataset, **{**FEW, "seeds": 2})
    one = run(dataset, **{**FEW, "seeds": [1]})
    assert list(one.history) == [1]
    assert (one.curves["test"] == two.curves["test"][1:]).all()


def test_a_set_too_small_for_the_label_rate_is_refused(dataset) -> None:
    with pytest.raises(ValueError, match="label_rate"):
        run(dataset, label_rate=0.001, **FEW)


def test_choices_of_an_epoch() -> None:
    validation = np.array([[[1, 3, 2], [5, 1, 1]]])
    test = np.array([[[0.1, 0.2, 0.9], [0.4, 0.5, 0.6]]])
    result = Tuned({}, {"validation": validation, "test": test})
    assert result.by_validation().mean == pytest.approx(100 * (0.2 + 0.4) / 2)
    assert result.by_test().mean == pytest.approx(100 * (0.9 + 0.6) / 2)
    assert result.last().mean == pytest.approx(100 * (0.9 + 0.6) / 2)
    assert (result.by_validation().candidates, result.last().candidates) == (3, 1)


def test_a_damaged_encoder_is_pretrained_again(dataset, tmp_path) -> None:
    first = run(dataset, results=tmp_path, **FEW)
    (path,) = tmp_path.glob("*-seed0.safetensors")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))  # a weight
    with pytest.warns(UserWarning, match="is damaged: training again"):
        again = run(dataset, results=tmp_path, **FEW)
    assert path.read_bytes() == whole
    assert again.score == first.score
