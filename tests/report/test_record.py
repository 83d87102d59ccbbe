"""Records that several runs write at once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sega_anchor.report import Record, Result, load, record
from sega_anchor.report.record import identity_digest, read_record
from tests.helpers.records import rewrite

CONFIG = {"label": "SEGA", "dataset": "MUTAG"}
WRITER = """
import sys
from sega_anchor.report import Record, Result, load, record
from sega_anchor.report.record import identity_digest, read_record
from tests.helpers.records import rewrite
record = Record({"label": "SEGA", "dataset": "MUTAG"}, sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for fold in range(50):
    record.seed_entry(int(sys.argv[2])).setdefault("test", {})[str(fold)] = 0.5
    record.save()
"""


def seeds(folder: Path) -> dict:
    (path,) = folder.glob("*.json")
    found: dict = json.loads(path.read_text())["seeds"]
    for entry in found.values():
        assert entry.pop("versions")["torch"]
    return found


def test_a_run_that_began_earlier_keeps_the_seeds_of_a_later_one(tmp_path) -> None:
    stopped, whole = Record(CONFIG, tmp_path), Record(CONFIG, tmp_path)
    for seed in range(3):
        whole.seed_entry(seed)["complete"] = True
    whole.save()
    evaluations = stopped.seed_entry(0).setdefault("evaluations", {})
    evaluations["10/G"] = {"test": {"0": 0.5}}
    stopped.save()
    expected = {"evaluations": {"10/G": {"test": {"0": 0.5}}}, "complete": True}
    assert seeds(tmp_path) == {
        "0": expected,
        "1": {"complete": True},
        "2": {"complete": True},
    }
    # Whoever holds an entry sees what is added to it.
    assert stopped.seed_entry(0)["evaluations"] is evaluations


def test_a_new_version_of_a_package_finds_what_was_measured(tmp_path, monkeypatch):
    old = Record(CONFIG, tmp_path)
    old.seed_entry(0)["complete"] = True
    old.save()
    monkeypatch.setattr(record, "version", lambda name: "99")
    new = Record({**CONFIG, "label": CONFIG["label"]}, tmp_path)
    new.seed_entry(1)["complete"] = True
    new.save()
    (path,) = tmp_path.glob("*.json")
    found = read_record(path)["seeds"]
    assert found["0"]["versions"]["numpy"] != "99" == found["1"]["versions"]["numpy"]


def test_what_only_describes_does_not_name_the_file() -> None:
    one = {"label": "SEGA", "dataset": "MUTAG", "lr": 0.1}
    assert identity_digest(one) == identity_digest({**one, "label": "mine"})
    assert identity_digest(one) != identity_digest({**one, "lr": 0.2})


def written(folder: Path, **changes) -> Path:
    """A record with some parts of the file changed, left out where they are None."""
    own = Record(CONFIG, folder)
    own.seed_entry(0)["complete"] = True
    own.save()
    assert own.path is not None
    content = {**json.loads(own.path.read_text()), **changes}
    content = {name: value for name, value in content.items() if value is not None}
    if "checksum" in content:
        rewrite(own.path, content)
    else:
        own.path.write_text(json.dumps(content))
    return own.path


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"schema": None}, "before 0.2, which drew other bits for a seed"),
        ({"schema": "sega-anchor record 9"}, "its schema is 'sega-anchor record 9'"),
        ({"schema": None, "checksum": None}, "no record that this version reads"),
        ({"checksum": None}, "does not hold what was written"),
        ({"seeds": []}, "does not hold what was written"),
    ],
)
def test_foreign_and_damaged_files_are_refused_with_a_reason(
    tmp_path: Path, changes: dict, reason: str
) -> None:
    path = written(tmp_path, **changes)
    for read in (read_record, load, Result.load):
        with pytest.raises(ValueError, match=reason):
            read(path)
    # A run sets it aside, and measures again.
    with pytest.warns(UserWarning, match=f"{reason}.* is now"):
        Record(CONFIG, tmp_path)
    assert list(tmp_path.glob("*.unreadable")) and not path.exists()


@pytest.mark.parametrize("text", ["", "[1, 2]", "no JSON", "\udcff"])
def test_what_is_no_record_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match=r"some\.json .*record"):
        load(path)


@pytest.mark.parametrize(
    ("kind", "shape", "size"),
    [("F4", [2], 1), ("U8", [0, 2**63], 0), ("F32", [2**40], 2**42)],
)
def test_embeddings_of_strange_types_and_sizes_are_none(
    tmp_path: Path, kind: str, shape: list[int], size: int
) -> None:
    record = Record({"label": "GraphCL", "dataset": "TOY"}, tmp_path)
    about = {"T": {"dtype": kind, "shape": shape, "data_offsets": [0, size]}}
    header = json.dumps(about).encode()
    content = len(header).to_bytes(8, "little") + header + bytes(min(size, 1))
    record.sibling_path("seed0.safetensors").write_bytes(content)
    assert record.embeddings(0) == {}


@pytest.mark.slow
def test_two_processes_write_one_record(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in range(2)
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    folds = {str(fold): 0.5 for fold in range(50)}
    assert seeds(tmp_path) == {"0": {"test": folds}, "1": {"test": folds}}
