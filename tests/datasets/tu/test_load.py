import errno
import os
import shutil
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest
from torch_geometric.data import InMemoryDataset
from torch_geometric.datasets import TUDataset

from sega_anchor.datasets import SyntheticCommunities, load
from sega_anchor.datasets.tu import _archive
from sega_anchor.protocols.prepare import find_graphs
from tests.helpers.paths import real_data

# Two triangles, an edgeless graph, and a self-loop and a repeated edge to be dropped.
TOY = {
    "A": "1, 2\n2, 1\n1, 3\n3, 1\n2, 3\n3, 2\n1, 2\n4, 5\n5, 4\n5, 6\n6, 5\n4, 6\n"
    "6, 4\n4, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n2\n3\n3\n",
    "graph_labels": "-1\n1\n1\n",
    "node_labels": "5\n5\n6\n6\n5\n5\n7\n7\n",
    "node_attributes": "".join(f"{i}.5, -1e-2\n" for i in range(8)),
}


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test reads or writes the user's folders, or the network."""
    monkeypatch.delenv("SEGA_ANCHOR_ARCHIVES", raising=False)
    monkeypatch.setenv("SEGA_ANCHOR_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)

    def offline(*args: object, **kwargs: object) -> None:
        raise urllib.error.URLError("no network in tests")

    monkeypatch.setattr(urllib.request, "urlopen", offline)


def pack(
    folder: Path,
    files: dict[str, str] | None = None,
    *,
    name: str = "TOY",
    prefix: str | None = None,
    method: int = zipfile.ZIP_DEFLATED,
) -> Path:
    """A zip of raw files in a folder, as the sets are published."""
    folder.mkdir(exist_ok=True)
    prefix = f"{name}/" if prefix is None else prefix
    with zipfile.ZipFile(folder / f"{name}.zip", "w", method) as file:
        for kind, text in (TOY if files is None else files).items():
            file.writestr(f"{prefix}{name}_{kind}.txt", text)
        file.writestr(f"{prefix}README.txt", "not data")
    return folder


def test_synthetic_needs_no_files(tmp_path: Path) -> None:
    assert isinstance(load("synthetic"), SyntheticCommunities)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("prefix", ["TOY/", "", "some/where/", "TOY\\"])
def test_toy_set(
    tmp_path: Path, method: int, prefix: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = pack(tmp_path / "zips", prefix=prefix, method=method)
    dataset = load("TOY", root=tmp_path / "root", archives=folder)
    assert isinstance(dataset, InMemoryDataset)
    assert (len(dataset), dataset.num_features, dataset.num_classes) == (3, 3, 2)
    assert [data.num_nodes for data in dataset] == [3, 3, 2]
    assert [data.num_edges for data in dataset] == [6, 6, 0]
    assert dataset.y.tolist() == [0, 1, 1]
    assert dataset[1].edge_index.tolist() == [[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]]
    assert dataset[2].x.tolist() == [[0, 0, 1], [0, 0, 1]]
    raw = tmp_path / "root" / "TOY" / "raw"
    assert sorted(p.name for p in raw.iterdir()) == sorted(f"TOY_{k}.txt" for k in TOY)
    assert capfd.readouterr() == ("", "")


def test_without_features_sizes_are_kept(tmp_path: Path) -> None:
    files = {k: TOY[k] for k in ("A", "graph_indicator", "graph_labels")}
    dataset = load("TOY", archives=pack(tmp_path / "zips", files))
    assert dataset[0].x is None
    assert [data.num_nodes for data in dataset] == [3, 3, 2]


def test_attributes_do_not_collide_in_the_cache(tmp_path: Path) -> None:
    folder = pack(tmp_path / "zips")
    for _ in range(2):
        with_attributes = load("TOY", archives=folder, use_node_attr=True)
        assert with_attributes[2].x[0].tolist() == pytest.approx([6.5, -0.01, 0, 0, 1])
        assert load("TOY", archives=folder)[2].x[0].tolist() == [0, 0, 1]


def test_the_cache_needs_no_archive(tmp_path: Path) -> None:
    folder = pack(tmp_path / "zips")
    load("TOY", archives=folder)
    (folder / "TOY.zip").unlink()
    assert len(load("TOY")) == 3
    assert len(load("TOY", archives=folder)) == 3


def test_relative_folders_and_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(tmp_path / "zips")
    monkeypatch.setenv("SEGA_ANCHOR_ARCHIVES", "zips")
    monkeypatch.setenv("SEGA_ANCHOR_DATA", "mine")
    assert len(load("TOY")) == 3
    assert (tmp_path / "mine" / "TOY" / "raw" / "TOY_A.txt").is_file()
    monkeypatch.setenv("SEGA_ANCHOR_ARCHIVES", "")
    assert len(load("TOY", root="other", archives="zips")) == 3


def test_member_names_lead_nowhere(tmp_path: Path) -> None:
    folder = pack(tmp_path / "zips", prefix="../../../")
    with zipfile.ZipFile(folder / "TOY.zip", "a") as file:
        file.writestr("../evil.txt", "evil")
        file.writestr("/TOY/../../TOY_evil.txt", "evil")
    load("TOY", root=tmp_path / "a" / "b", archives=folder)
    written = {p.parent.name for p in tmp_path.rglob("*.txt")}
    assert written == {"raw"}
    assert not list(tmp_path.rglob("*evil*"))


def test_an_interrupted_extraction_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, whole = pack(tmp_path / "zips"), zipfile.ZipFile.open

    def interrupted(file: zipfile.ZipFile, member: zipfile.ZipInfo) -> object:
        if "graph_labels" in member.filename:
            raise KeyboardInterrupt
        return whole(file, member)

    monkeypatch.setattr(zipfile.ZipFile, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load("TOY", archives=folder)
    assert not list((tmp_path / "data" / "TOY").iterdir())
    monkeypatch.undo()
    assert len(load("TOY", root=tmp_path / "data", archives=folder)) == 3


def test_a_refused_archive_may_be_replaced(tmp_path: Path) -> None:
    folder = pack(tmp_path / "zips", TOY | {"A": "1, 2\n3\n4, 5, 6\n"})
    with pytest.raises(ValueError, match=r"zips/TOY\.zip/TOY_A\.txt' .* line 2 is '3'"):
        load("TOY", archives=folder)
    assert not list((tmp_path / "data").rglob("*.*"))
    pack(folder)
    assert len(load("TOY", archives=folder)) == 3


def test_an_archive_that_unpacks_to_gigabytes_is_refused(tmp_path: Path) -> None:
    folder = pack(tmp_path / "zips")
    claim_a_size(folder / "TOY.zip", b"TOY_A.txt", 3_000_000_000)
    with pytest.raises(ValueError, match=r"TOY\.zip' would unpack to 3\.0 GB"):
        load("TOY", archives=folder)
    assert not list((tmp_path / "data").rglob("*.*"))


def claim_a_size(archive: Path, member: bytes, size: int) -> None:
    """Write another size of a member into the directory of an archive."""
    content = bytearray(archive.read_bytes())
    entry = content.index(b"PK\1\2")
    while member not in content[entry + 46 : entry + 66]:
        entry = content.index(b"PK\1\2", entry + 1)
    content[entry + 24 : entry + 28] = size.to_bytes(4, "little")
    archive.write_bytes(content)


def test_a_full_disk_leaves_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace(old: Path, new: Path) -> None:
        if new.name == "data.pt":
            raise OSError(errno.ENOSPC, "No space left on device")
        shutil.move(old, new)

    folder = pack(tmp_path / "zips")
    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(OSError, match="No space left"):
        load("TOY", archives=folder)
    assert not list(tmp_path.rglob("data.pt"))
    monkeypatch.undo()
    assert len(load("TOY", root=tmp_path / "data")) == 3


def test_what_a_kill_has_unpacked_goes_with_the_next_run(tmp_path: Path) -> None:
    folder, home = pack(tmp_path / "zips"), tmp_path / "data" / "TOY"
    child = os.fork()
    if not child:
        _archive.extract_archive(
            folder / "TOY.zip", "TOY", home / "raw", check=lambda raw: os._exit(9)
        )
    os.waitpid(child, 0)
    (left,) = home.iterdir()
    assert list(left.rglob("*.txt"))
    shutil.copytree(left, home / "processed" / left.name)  # as if amid its files
    load("TOY", archives=folder)
    assert sorted(path.name for path in home.iterdir()) == ["processed", "raw"]
    assert not list(home.rglob("*.tmp"))


def test_a_damaged_cache_is_made_again(tmp_path: Path) -> None:
    folder = pack(tmp_path / "zips")
    whole = load("TOY", archives=folder)
    cache = tmp_path / "data" / "TOY" / "processed" / "data.pt"
    content = cache.read_bytes()
    at = content.index(whole.y.numpy().tobytes())  # a label
    for damaged in (b"", content[:100], content[:at] + b"?" + content[at + 1 :]):
        cache.write_bytes(damaged)
        with pytest.warns(UserWarning, match=r"data\.pt is damaged and made again"):
            again = load("TOY")
        assert again.y.equal(whole.y) and cache.read_bytes() == content


def test_a_damaged_cache_of_others_is_refused(tmp_path: Path) -> None:
    load("TOY", archives=pack(tmp_path / "zips"))
    cache = tmp_path / "data" / "TOY" / "processed" / "data.pt"
    cache.with_name("data.pt.sha256").unlink()  # PyG's own has none
    cache.write_bytes(b"noise")
    with pytest.raises(ValueError, match=r"processed' cannot be read .* delete it"):
        load("TOY")


def test_another_process_may_be_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, whole = pack(tmp_path / "zips"), zipfile.ZipFile.open
    raw = tmp_path / "data" / "TOY" / "raw"

    def overtaken(file: zipfile.ZipFile, member: zipfile.ZipInfo) -> object:
        raw.mkdir(exist_ok=True)
        for kind, text in TOY.items():
            (raw / f"TOY_{kind}.txt").write_text(text)
        return whole(file, member)

    monkeypatch.setattr(zipfile.ZipFile, "open", overtaken)
    assert len(load("TOY", archives=folder)) == 3


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("PROTEIN", "PROTEINS"),
        ("mutag", "MUTAG"),
        ("GitHub", "GITHUB"),
        ("toys", "TOY"),
        ("syntetic", None),
    ],
)
def test_unknown_name(tmp_path: Path, name: str, close: str | None) -> None:
    folder = pack(tmp_path / "zips")
    pattern = rf"unknown data set '{name}'; did you mean '{close or 'synthetic'}'\?"
    with pytest.raises(ValueError, match=pattern):
        load(name, archives=folder)
    assert not (tmp_path / "data").exists()


def test_github_is_the_papers_name_of_github_stargazers(tmp_path: Path) -> None:
    folder = pack(tmp_path / "zips", name="github_stargazers")
    dataset = load("GITHUB", archives=folder)
    assert isinstance(dataset, TUDataset) and len(dataset) == 3
    assert [path.name for path in (tmp_path / "data").iterdir()] == [dataset.name]
    assert find_graphs("GITHUB", "honest", None, None)[0] == dataset.name  # one record
    shutil.rmtree(folder)
    assert len(load("github_stargazers")) == len(load("GITHUB")) == 3  # one cache
    with pytest.raises(ValueError, match=r"github_stargazers, GITHUB\. For any other"):
        load("NONE")
    with pytest.raises(ValueError, match="cannot download 'github_stargazers'"):
        load("GITHUB", root=tmp_path / "other")


@pytest.mark.parametrize("name", ["", "..", "../zips/TOY", "/TOY", "a b", "T\0Y"])
def test_a_name_is_no_path(tmp_path: Path, name: str) -> None:
    folder = pack(tmp_path / "zips")
    with pytest.raises(ValueError, match="unknown data set"):
        load(name, archives=folder)
    assert not (tmp_path / "data").exists()


def test_missing_archives_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="archives names the folder 'nowhere'"):
        load("MUTAG", archives="nowhere")
    monkeypatch.setenv("SEGA_ANCHOR_ARCHIVES", "nor/here")
    with pytest.raises(ValueError, match=r"SEGA_ANCHOR_ARCHIVES names .*'nor/here'"):
        load("MUTAG")


@pytest.mark.parametrize("kind", ["A", "graph_indicator", "graph_labels"])
def test_incomplete_archive(tmp_path: Path, kind: str) -> None:
    files = {k: v for k, v in TOY.items() if k != kind}
    with pytest.raises(ValueError, match=rf"TOY\.zip' lacks TOY_{kind}\.txt"):
        load("TOY", archives=pack(tmp_path / "zips", files))
    assert not list((tmp_path / "data").rglob("*.txt"))


def test_file_twice(tmp_path: Path) -> None:
    folder = pack(tmp_path / "zips")
    with zipfile.ZipFile(folder / "TOY.zip", "a") as file:
        file.writestr("other/TOY_A.txt", "1, 2\n")
    with pytest.raises(ValueError, match=r"holds 'TOY_A\.txt' twice"):
        load("TOY", archives=folder)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 14])
@pytest.mark.parametrize("damage", ["empty", "text", "truncated", "flipped"])
def test_corrupt_archive(tmp_path: Path, damage: str, method: int) -> None:
    archive = pack(tmp_path / "zips", method=method) / "TOY.zip"
    whole = archive.read_bytes()
    middle = whole.index(b"TOY_A.txt") + 25  # in the first member's content
    archive.write_bytes(
        {
            "empty": b"",
            "text": b"<html>not found</html>",
            "truncated": whole[: len(whole) // 2],
            "flipped": whole[:middle]
            + bytes([whole[middle] ^ 7])
            + whole[middle + 1 :],
        }[damage]
    )
    with pytest.raises(ValueError, match=r"TOY\.zip' cannot be read .*intact copy"):
        load("TOY", archives=archive.parent)
    assert not list((tmp_path / "data").rglob("*.txt"))


def test_a_foreign_raw_folder_is_left_alone(tmp_path: Path) -> None:
    raw = tmp_path / "data" / "TOY" / "raw"
    raw.mkdir(parents=True)
    (raw / "TOY_A.txt").write_text("1, 2\n")
    with pytest.raises(ValueError, match=r"not the complete set 'TOY'; remove it"):
        load("TOY", archives=pack(tmp_path / "zips"))
    assert (raw / "TOY_A.txt").read_text() == "1, 2\n"


def test_failed_download(tmp_path: Path) -> None:
    (tmp_path / "zips").mkdir()
    message = r"cannot download 'MUTAG'.*no network.*--archives DIR or SEGA_ANCHOR_ARCH"
    with pytest.raises(ValueError, match=message):
        load("MUTAG", archives="zips")
    assert not (tmp_path / "data").exists()


def test_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    pack(tmp_path / "site", name="MUTAG")
    monkeypatch.setattr(TUDataset, "url", (tmp_path / "site").as_uri())
    assert len(load("MUTAG", root=tmp_path / "data", archives=tmp_path)) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "graphs", "features", "classes", "nodes", "edges"),
    [
        ("MUTAG", 188, 7, 2, 17.93, 19.79),
        ("PROTEINS", 1113, 3, 2, 39.06, 72.82),
        ("IMDB-MULTI", 1500, 0, 3, 13.00, 65.94),
    ],
)
def test_real_sets(
    name: str, graphs: int, features: int, classes: int, nodes: float, edges: float
) -> None:
    dataset = load(name, root="root", archives=real_data("tu"))
    assert (len(dataset), dataset.num_features) == (graphs, features)
    assert dataset.num_classes == classes
    assert sum(d.num_nodes for d in dataset) / graphs == pytest.approx(nodes, abs=0.01)
    mean = sum(d.num_edges for d in dataset) / graphs / 2
    assert mean == pytest.approx(edges, abs=0.01)


@pytest.mark.slow
def test_real_attributes() -> None:
    assert load("PROTEINS", archives=real_data("tu")).num_features == 3
    assert (
        load("PROTEINS", archives=real_data("tu"), use_node_attr=True).num_features == 4
    )
