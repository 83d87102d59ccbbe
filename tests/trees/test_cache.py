import multiprocessing
import os
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import sega_anchor as sa
from sega_anchor.trees import build, build_many
from sega_anchor.trees import cache as cached
from sega_anchor.trees._flatten import flatten
from sega_anchor.trees.cache import TreeCache, Trees, content_key
from tests.helpers.forests import (
    METHODS,
    Stored,
    featured,
    one_by_one,
    same,
    some_graphs,
)
from tests.helpers.graphs import random_graphs


def test_what_is_kept_is_not_built_again(tmp_path, built, small_chunks) -> None:
    data, folder = some_graphs(), tmp_path / "new" / "trees"
    expected = one_by_one(data)
    for weight in (None, "w"):
        for height in (2, 3):
            for method in METHODS:
                options = {"height": height, "method": method, "weight": weight}
                expected = one_by_one(data, **options)
                built.clear()
                for threads in (4, 1):
                    found = sa.build_coding_trees(
                        data, **options, cache=folder, threads=threads
                    )
                    assert same(found, expected)
                    assert sum(built) == len(data)  # once, and nothing of the others
    assert not [path for path in folder.iterdir() if path.is_dir()]


def test_only_what_changed_is_built(tmp_path, built, small_chunks) -> None:
    data = some_graphs()
    sa.build_coding_trees(data, cache=tmp_path)
    built.clear()
    data[-1].edge_index = (data[-1].edge_index + 1) % 3
    assert same(sa.build_coding_trees(data, cache=tmp_path), one_by_one(data))
    assert len(built) == 1
    built.clear()
    sa.build_coding_trees(Stored(data), cache=tmp_path)
    assert built == []  # the content counts, not the container


def damaged(content: bytes, how: str, other: bytes) -> bytes:
    middle = len(content) // 2
    return {
        "empty": b"",
        "truncated": content[:-3],
        "flipped": content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
        "header": content[:12] + b"~" + content[13:],
        "middle": content[:middle]
        + bytes([content[middle] ^ 4])
        + content[middle + 1 :],
        "text": b"not at all what was written",
        "other": other,
    }[how]


HOW = ["empty", "truncated", "flipped", "header", "middle", "text", "other"]


@pytest.mark.parametrize("how", HOW)
def test_a_damaged_file_is_named_and_built_again(tmp_path, built, how: str) -> None:
    data = some_graphs()
    sa.build_coding_trees(data[:3], cache=tmp_path / "other")
    (other,) = (tmp_path / "other").iterdir()
    folder = tmp_path / "trees"
    expected = sa.build_coding_trees(data, cache=folder)
    (path,) = folder.iterdir()
    path.write_bytes(damaged(path.read_bytes(), how, other.read_bytes()))
    with pytest.warns(UserWarning, match=f"{path.name}.* are built again"):
        assert same(sa.build_coding_trees(data, cache=folder), expected)
    built.clear()
    assert same(sa.build_coding_trees(data, cache=folder), expected)  # as good as new
    assert built == []


def test_a_header_of_any_size_is_not_quoted(tmp_path) -> None:
    header = ('{"a": "' + "x" * 10**6 + '"}').encode()
    content = len(header).to_bytes(8, "little") + header
    (tmp_path / "key.safetensors").write_bytes(content)
    with pytest.warns(UserWarning, match="are built again") as caught:
        assert TreeCache(tmp_path).load("key", np.array([2]), 2) is None
    assert len(str(caught[0].message)) < 500


def test_no_flipped_bit_and_no_length_is_believed(tmp_path) -> None:
    data = featured()[2:3]
    whole = flatten(data)
    trees = Trees(*build.build_arrays(*whole, height=3, method="paper"))
    cache = TreeCache(tmp_path)
    cache.store("key", trees)
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    spoilt = [content[:n] for n in range(len(content))]
    for at in range(len(content)):
        for bit in (1, 128):
            one = bytes([content[at] ^ bit])
            spoilt.append(content[:at] + one + content[at + 1 :])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for wrong in spoilt:
            path.write_bytes(wrong)
            found = cache.load("key", whole.sizes, 3)
            assert found is None or all(map(np.array_equal, found, trees))
    path.write_bytes(content)
    assert cache.load("key", whole.sizes, 3) is not None


WRONG = {
    "another height": lambda t, sizes: (t, sizes, 4),
    "another graph": lambda t, sizes: (t, sizes[::-1].copy(), 3),
    "fewer graphs": lambda t, sizes: (t, sizes[1:], 3),
    "a parent outside": lambda t, sizes: (change(t, parent=(0, 10**6)), sizes, 3),
    "a parent below": lambda t, sizes: (change(t, parent=(8, 0)), sizes, 3),
    "a level skipped": lambda t, sizes: (change(t, level=(-1, 7)), sizes, 3),
    "no root": lambda t, sizes: (change(t, parent=(-1, 0)), sizes, 3),
    "pointers back": lambda t, sizes: (change(t, tree_ptr=(1, -5)), sizes, 3),
    "pointers short": lambda t, sizes: (change(t, tree_ptr=(-1, 5)), sizes, 3),
    "levels cut": lambda t, sizes: (t._replace(level=t.level[:-1]), sizes, 3),
    "no children": lambda *_: small([2, 2, 4, 4, -1], [0, 0, 1, 1, 2]),
    "levels mixed": lambda *_: small([2, 4, 3, 6, 5, 6, -1], [0, 0, 1, 2, 1, 2, 3]),
    "a matrix": lambda t, sizes: (t._replace(parent=t.parent[:, None]), sizes, 3),
}


def small(parent: list[int], level: list[int]) -> tuple[Trees, np.ndarray, int]:
    trees = Trees(np.array(parent), np.array(level), np.array([0, len(parent)]))
    return trees, np.array([2]), level[-1]


def change(trees: Trees, **entries: tuple[int, int]) -> Trees:
    for name, (at, value) in entries.items():
        array = getattr(trees, name).copy()
        array[at] = value
        trees = trees._replace(**{name: array})
    return trees


@pytest.mark.parametrize("how", WRONG)
def test_what_is_no_tree_of_these_graphs_is_refused(tmp_path, how: str) -> None:
    """Even under the right name and with a good checksum."""
    whole = flatten(featured())
    trees = Trees(*build.build_arrays(*whole, height=3, method="paper"))
    cache = TreeCache(tmp_path)
    cache.store("key", trees)
    assert all(map(np.array_equal, cache.load("key", whole.sizes, 3), trees))
    wrong, sizes, height = WRONG[how](trees, whole.sizes)
    cache.store("key", wrong)
    with pytest.warns(UserWarning, match="does not hold the trees of these graphs"):
        assert cache.load("key", sizes, height) is None


def test_trees_of_another_version_are_not_found(tmp_path, built, monkeypatch) -> None:
    data = some_graphs()
    sa.build_coding_trees(data, cache=tmp_path)
    monkeypatch.setattr(build, "BUILDER_VERSION", build.BUILDER_VERSION + 1)
    built.clear()
    assert same(sa.build_coding_trees(data, cache=tmp_path), one_by_one(data))
    assert sum(built) == len(data)


def test_the_key_tells_apart_what_gives_other_trees() -> None:
    base = flatten(some_graphs())
    moved = base._replace(sizes=np.append(base.sizes[1:], base.sizes[0]))
    weighted = flatten(some_graphs(), "w")
    keys = {
        content_key(graphs, height, method)
        for graphs in (base, moved, weighted, base.part(0, 4))
        for height in (2, 3)
        for method in METHODS
    }
    assert len(keys) == 8 * len(METHODS)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, built) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"cannot be written .*give another"):
        sa.build_coding_trees(some_graphs(), cache=tmp_path / "file" / "trees")
    assert built == []


def test_a_full_disk_costs_the_cache_not_the_trees(
    tmp_path, monkeypatch, small_chunks
) -> None:
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cached.os, "replace", full)
    data = some_graphs()
    with pytest.warns(UserWarning, match="No space left on device") as caught:
        found = sa.build_coding_trees(data, cache=tmp_path, threads=1)
    assert len(caught) == 1  # not one for each chunk
    assert same(found, one_by_one(data))
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_keeps_what_is_done(
    tmp_path, monkeypatch, small_chunks
) -> None:
    calls, stopped, in_time = [], threading.Event(), []

    def interrupted(*graphs, **options):
        calls.append(len(graphs[2]))
        if len(calls) == 4:
            raise KeyboardInterrupt
        if len(calls) in (2, 5):  # in work when the interruption arrives
            in_time.append(stopped.wait(20))
        return build_arrays(*graphs, **options)

    build_arrays = build.build_arrays
    monkeypatch.setattr(build, "build_arrays", interrupted)
    data = random_graphs([20] * 9)  # no two chunks alike
    with pytest.raises(KeyboardInterrupt):
        sa.build_coding_trees(data, cache=tmp_path, threads=2)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.safetensors")}
    stopped.set()
    for thread in threading.enumerate():
        if thread.name.startswith("ThreadPool"):
            thread.join(20)
    assert len(kept) == 2
    assert len(calls) <= 5  # what had not begun never began
    assert all(in_time)  # nor was anything waited for
    calls += [0] * 5
    assert same(sa.build_coding_trees(data, cache=tmp_path), one_by_one(data))
    assert kept == {path: path.stat().st_mtime_ns for path in kept}


def fill(folder: Path, barrier) -> None:
    build_many.CHUNK = 40
    data = some_graphs() * 5
    barrier.wait(100)
    if not same(sa.build_coding_trees(data, cache=folder), one_by_one(data)):
        os._exit(1)


@pytest.mark.slow
def test_two_processes_share_a_folder(tmp_path, small_chunks, built) -> None:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    other = context.Process(target=fill, args=(tmp_path, barrier))
    other.start()
    fill(tmp_path, barrier)
    other.join(100)
    assert other.exitcode == 0
    built.clear()
    sa.build_coding_trees(some_graphs() * 5, cache=tmp_path)
    assert built == []
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]
