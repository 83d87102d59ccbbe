"""Which layers several processes share; what they compute is in test_distributed.py."""

import pytest
import torch
from torch import nn
from torch_geometric.nn import BatchNorm as PyGBatchNorm

from sega_anchor.nn import BatchNorm, SyncBatchNorm
from sega_anchor.training.parallel import parallel, synchronise
from tests.helpers.norms import CASES


class Foreign(nn.BatchNorm1d):
    """Another's layer, which does what it likes."""


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", CASES)
def test_all_options_stay(name: str, device: str) -> None:
    norm = CASES[name].norm()
    layer = synchronise(norm, device)
    ours = device == "cpu" or isinstance(norm, BatchNorm)
    assert type(layer) is (SyncBatchNorm if ours else nn.SyncBatchNorm)
    assert layer.extra_repr() == norm.extra_repr()
    assert layer.weight is norm.weight
    assert layer.bias is norm.bias
    for key, value in norm.state_dict().items():
        assert torch.equal(layer.state_dict()[key], value)


def test_layers_are_found_wherever_they_are() -> None:
    shared = nn.BatchNorm1d(3)
    model = nn.ModuleDict(
        {"list": nn.ModuleList([shared, shared]), "pyg": PyGBatchNorm(3)}
    ).eval()
    synchronise(model)
    first, second = model["list"]
    assert first is second
    for layer in (first, model["pyg"].module):
        assert type(layer) is SyncBatchNorm
        assert not layer.training


def test_other_layers_stay_and_are_named_in_one_warning() -> None:
    kept = {
        "image": nn.BatchNorm2d(3),
        "foreign": Foreign(3),
        "lazy": nn.LazyBatchNorm1d(),
        "volume": nn.BatchNorm3d(3),
    }
    silent = {"torch": nn.SyncBatchNorm(3), "layer": nn.LayerNorm(3)}
    model = nn.ModuleDict({**kept, **silent, "plain": nn.BatchNorm1d(3)})
    with pytest.warns(UserWarning) as caught:
        synchronise(model)
    (warning,) = caught
    for name, layer in kept.items():
        assert model[name] is layer
        assert f"{name} ({type(layer).__name__})" in str(warning.message)
    for name, layer in silent.items():
        assert model[name] is layer
        assert f"{name} (" not in str(warning.message)
    assert type(model["plain"]) is SyncBatchNorm
    synchronise(nn.ModuleDict({"plain": model["plain"]}))  # and nothing to name


def test_a_single_process_changes_nothing() -> None:
    model = nn.Sequential(nn.BatchNorm1d(3), Foreign(3))
    assert parallel(model) is model
    assert type(model[0]) is nn.BatchNorm1d
