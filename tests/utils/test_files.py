"""Files that are written whole, folders that are tried first."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sega_anchor.utils import check_writable, write_atomically
from tests.helpers.paths import ROOT

#: Writes one file again and again until it is killed.
WRITER = """
import sys
from pathlib import Path
from sega_anchor.utils import write_atomically
print("ready", flush=True)
while True:
    write_atomically(Path(sys.argv[1]), bytes(20_000_000))
"""


def left(folder: Path) -> list[Path]:
    """What kills have left of files half written."""
    return sorted(folder.glob(".*"))


@pytest.mark.slow
def test_what_a_kill_leaves_goes_with_the_next_run(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    for _ in range(20):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(file)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.1)
        child.kill()
        child.communicate()
        if left(tmp_path) and file.exists():
            break
    assert left(tmp_path)  # a kill came amid writing: the test means something
    check_writable(tmp_path)
    assert list(tmp_path.iterdir()) == [file]
    assert file.stat().st_size == 20_000_000


def interrupted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Leave what a kill of this process would leave."""
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *_: None)
        patch.setattr(Path, "unlink", lambda *_, **__: None)
        write_atomically(folder / "training.state", b"half")
    (found,) = left(folder)
    return found


def test_a_file_of_a_living_process_stays(tmp_path: Path, monkeypatch) -> None:
    found = interrupted(tmp_path, monkeypatch)
    check_writable(tmp_path)
    assert found.exists()


def test_a_file_of_another_machine_stays_for_a_day(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("platform.node", lambda: f"not {socket.gethostname()}")
    monkeypatch.setattr(os, "getpid", lambda: 2**22 + 1)  # no process has it
    found = interrupted(tmp_path, monkeypatch)
    monkeypatch.undo()
    check_writable(tmp_path)
    assert found.exists()
    then = time.time() - 25 * 3600
    os.utime(found, (then, then))
    check_writable(tmp_path)
    assert not found.exists()


def test_two_containers_with_equal_process_ids_do_not_collide(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 1)
    first = interrupted(tmp_path, monkeypatch)
    write_atomically(tmp_path / "training.state", b"whole")
    assert first.exists()
    assert (tmp_path / "training.state").read_bytes() == b"whole"


def test_other_hidden_files_stay(tmp_path: Path) -> None:
    for name in (".lock", ".notes.tmp", ".a.0123abcd-x-0123abcd.tmp"):
        (tmp_path / name).touch()
    check_writable(tmp_path)
    assert len(left(tmp_path)) == 3


def test_a_full_disk_leaves_the_old_file_and_names_it(full_disk, tmp_path) -> None:
    file = tmp_path / "record.json"
    write_atomically(file, b"old")
    full_disk(after=0)
    with pytest.raises(OSError, match=r"No space left.*record\.json"):
        write_atomically(file, b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["record.json"]
    assert file.read_bytes() == b"old"


def test_a_full_disk_is_found_before_work_starts(full_disk, tmp_path: Path) -> None:
    full_disk(after=0)
    with pytest.raises(ValueError, match=r"cannot be written \(No space left"):
        check_writable(tmp_path)
