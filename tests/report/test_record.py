"""Records that several runs write at once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sega_anchor.report import Record

CONFIG = {"label": "SEGA", "dataset": "MUTAG"}
WRITER = """
import sys
from sega_anchor.report import Record
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
