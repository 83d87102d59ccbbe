"""Checkpoints and states of training: what others can read, and what is refused."""

import struct
from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save, save_file
from torch import nn

from sega_anchor.training.checkpoint import load_encoder, read_about, save_encoder
from sega_anchor.training.state import TrainingState


def network(width: int = 2) -> nn.Module:
    layers = [("one", nn.Linear(3, width)), ("norm", nn.BatchNorm1d(width))]
    return nn.Sequential(OrderedDict(layers))


def same(one: nn.Module, two: nn.Module) -> bool:
    pairs = zip(one.state_dict().values(), two.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def test_plain_pytorch_reads_a_checkpoint(tmp_path: Path) -> None:
    ours, theirs = network(), network()
    save_encoder(tmp_path / "a.safetensors", ours, method="sega", epoch=3)
    theirs.load_state_dict(load_file(tmp_path / "a.safetensors"))
    assert same(ours, theirs)
    assert read_about(tmp_path / "a.safetensors") == {"method": "sega", "epoch": 3}


@pytest.mark.parametrize("prefix", ["", "gnn.", "module.gnn."])
def test_checkpoints_of_others_are_read(tmp_path: Path, prefix: str) -> None:
    theirs, ours = network(), network()
    tensors = {prefix + k: v for k, v in theirs.state_dict().items()}
    tensors["projection_head.0.weight"] = torch.zeros(2)
    torch.save(tensors, tmp_path / "graphcl_80.pth")
    assert load_encoder(tmp_path / "graphcl_80.pth", ours) == {}
    assert same(ours, theirs)


class Evil:
    def __reduce__(self):
        return print, ("executed",)


def test_bad_checkpoints_are_refused(tmp_path: Path, capsys) -> None:
    path = tmp_path / "x"
    with pytest.raises(ValueError, match="there is no checkpoint"):
        load_encoder(path, network())
    path.write_bytes(b"no tensors at all")
    with pytest.raises(ValueError, match="damaged or of another kind"):
        load_encoder(path, network())
    torch.save({"one.weight": Evil()}, path)
    with pytest.raises(ValueError, match="damaged or of another kind"):
        load_encoder(path, network())
    assert "executed" not in capsys.readouterr().out
    torch.save([1, 2], path)
    with pytest.raises(ValueError, match="damaged or of another kind"):
        load_encoder(path, network())
    save_encoder(path, network())
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ValueError, match="damaged or of another kind"):
        load_encoder(path, network())
    save_file({"other": torch.zeros(1)}, path)
    with pytest.raises(ValueError, match="is not one of Sequential: it lacks 7 of 7"):
        load_encoder(path, network())
    save_encoder(path, network(width=4))
    with pytest.raises(ValueError, match=r"'one.weight' has shape \(4, 3\)"):
        load_encoder(path, network())


def header(length: int, text: str = "{}") -> bytes:
    return struct.pack("<Q", length) + text.encode()


def described(about: str) -> bytes:
    return save({"one.weight": torch.zeros(2, 3)}, metadata={"sega_anchor": about})


@pytest.mark.parametrize(
    "content",
    [
        header(2**60),
        header(2**64 - 1),
        header(10**7, "{" + " " * (10**7 - 1)),
        header(10**6 + 8, '{"a": "' + "x" * (10**6 - 1) + '"}'),  # quoted in the reason
        described("[" * 10**5),
        described("[1]"),
        described("null"),
        described('{"hidden_channels": 1000000000}'),
        described('{"num_layers": 1000000000}'),
        described('{"hidden_channels": "many"}'),
        described('{"num_layers": null}'),
    ],
    ids=range(11),
)
def test_absurd_headers_are_refused_in_a_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged or of another kind") as caught:
        read_about(path)
    assert len(str(caught.value)) < 500


def test_a_flipped_bit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "encoder.safetensors"
    save_encoder(path, nn.Linear(2, 2))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="weights are not those that were written"):
        load_encoder(path, nn.Linear(2, 2))


def test_tensors_without_numbers_are_refused(tmp_path: Path) -> None:
    for tensor in (torch.zeros(2, 3).to_sparse(), torch.zeros(2, 3, device="meta")):
        torch.save({"one.weight": tensor}, tmp_path / "x.pth")
        with pytest.raises(ValueError, match="damaged or of another kind"):
            load_encoder(tmp_path / "x.pth", nn.ModuleDict({"one": nn.Linear(3, 2)}))


def test_a_state_brings_everything_back(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.Adam(model.parameters())
    generator = torch.Generator().manual_seed(1)
    state = TrainingState(tmp_path / "s", [model], [optimizer], [generator])
    model(torch.randn(4, 3)).sum().backward()
    optimizer.step()
    state.save(epoch=7)
    drawn = torch.rand(2, generator=generator), torch.rand(2)
    other = network()
    again = torch.optim.Adam(other.parameters())
    source = torch.Generator()
    restored = TrainingState(tmp_path / "s", [other], [again], [source])
    assert restored.load() == {"epoch": 7}
    assert same(model, other)
    assert torch.equal(drawn[0], torch.rand(2, generator=source))
    assert torch.equal(drawn[1], torch.rand(2))
    assert len(again.state) == len(optimizer.state) == 4
    state.discard()
    assert restored.load() == {}


@pytest.mark.parametrize("content", [b"", b"nonsense", None])
def test_a_damaged_state_is_left_out_with_a_warning(tmp_path: Path, content) -> None:
    state = TrainingState(tmp_path / "s", [network()], [])
    if content is None:
        TrainingState(tmp_path / "s", [network(5)], []).save(epoch=1)
    else:
        (tmp_path / "s").write_bytes(content)
    with pytest.warns(UserWarning, match="starting again"):
        assert state.load() == {}
