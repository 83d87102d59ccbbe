"""Folders of packed graphs that other hands have changed are refused, not read past."""

import json
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from sega_anchor.loader.on_disk import PackedWriter, open_packed
from tests.helpers.stores import store


def rewrite(path: Path, numbers: list[int]) -> None:
    """Write other numbers, with the checksum of these."""
    content = torch.tensor(numbers).numpy().tobytes()
    path.write_bytes(content)
    meta = path.with_name("meta.json")
    about = json.loads(meta.read_text())
    about["sums"][path.name] = zlib.crc32(content)
    meta.write_text(json.dumps(about))


@pytest.mark.parametrize("name", ["node.ptr", "edge_index", "x"])
def test_a_flipped_bit_is_noticed(name: str, tmp_path: Path) -> None:
    store(tmp_path / "s")
    path = tmp_path / "s" / f"{name}.bin"
    content = bytearray(path.read_bytes())
    content[-1] ^= 64
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{name}\.bin is damaged, .* write it again"):
        open_packed(tmp_path / "s")


@pytest.mark.parametrize("name", ["node", "edge"])
@pytest.mark.parametrize(
    "change",
    [
        lambda ptr: [-1, *ptr[1:]],
        lambda ptr: [1, *ptr[1:]],
        lambda ptr: [*ptr[:2], -5, ptr[3]],
        lambda ptr: [*ptr[:2], 2**40, ptr[3]],
        lambda ptr: [*ptr[:3], ptr[3] + 1],
        lambda ptr: [*ptr[:3], 2**40],
        lambda ptr: [0, ptr[2], ptr[1], ptr[3] - 1],
    ],
)
def test_pointers_that_lead_out_of_the_files_are_refused(
    name: str, change: Callable[[list[int]], list[int]], tmp_path: Path
) -> None:
    store(tmp_path / "s")
    path = tmp_path / "s" / f"{name}.ptr.bin"
    ptr = torch.from_file(str(path), size=4, dtype=torch.long).tolist()
    rewrite(path, change(ptr))
    with pytest.raises(ValueError, match=r"is damaged .*: delete the folder and write"):
        open_packed(tmp_path / "s")


@pytest.mark.parametrize("node", [-1, 2, 2**40])
def test_edges_out_of_their_graph_are_refused_when_they_are_read(
    node: int, tmp_path: Path
) -> None:
    graphs = store(tmp_path / "s")
    rewrite(tmp_path / "s" / "edge_index.bin", [0, 1, 1, 0, 0, 1, 1, 0])
    opened = open_packed(tmp_path / "s")
    assert torch.equal(opened.batch([0, 1])[1].edge_index, graphs[1].edge_index)
    rewrite(tmp_path / "s" / "edge_index.bin", [0, node, 1, 0, 0, 1, 1, 0])
    opened = open_packed(tmp_path / "s").compact()
    opened.batch([1, 2])
    for _ in range(2):
        with pytest.raises(ValueError, match=r"graph 0 names a node .* has 2: .*del"):
            opened.batch([1, 0])


def test_meta_of_other_hands_is_refused(tmp_path: Path) -> None:
    store(tmp_path / "s")
    path = tmp_path / "s" / "meta.json"
    for key, value in (
        ("rows", "tree"),
        ("dtype", "banana"),
        ("width", [3]),
        ("dim", None),
    ):
        meta = json.loads(path.read_text())
        meta["fields"]["x"][key] = value
        (tmp_path / "s" / "meta.json").write_text(json.dumps(meta))
        with pytest.raises(ValueError, match="is damaged"):
            open_packed(tmp_path / "s").batch([0])
        meta["fields"]["x"].update(rows="node", dtype="float32", width=[2], dim=0)
        path.write_text(json.dumps(meta))


def test_folders_of_before_say_what_to_do(tmp_path: Path) -> None:
    store(tmp_path / "s")
    path = tmp_path / "s" / "meta.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 1}))
    for way in (open_packed, lambda folder: PackedWriter(folder, {})):
        with pytest.raises(
            ValueError, match=r"\(1 instead of 3\): delete the folder and"
        ):
            way(tmp_path / "s")
