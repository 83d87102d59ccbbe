"""Record: the configuration and the measurements of a run, as JSON on disk."""

import hashlib
import json
import re
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from ..utils.files import file_digest, write_atomically
from ..utils.locks import one_at_a_time

Json = dict[str, Any]

#: What the files are, and which version of docs/records.md they follow.
SCHEMA = "sega-anchor record 1"
#: One more whenever a release gives other numbers for an equal configuration.
NUMBERS = 1
#: Entries of a configuration that describe and do not decide.
_DESCRIBING = {"label"}
_PACKAGES = ("sega-anchor", "torch", "torch-geometric", "numpy", "scikit-learn")


def versions() -> dict[str, str]:
    """Return the versions of the packages that results depend on."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a bare checkout
            found[name] = "unknown"
    return found


def fill(known: Json, found: Json) -> None:
    """Add to a dict of dicts what another one has beside.

    Example:
        >>> known = {"0": {"loss": 1}}
        >>> fill(known, {"0": {"loss": 2, "epochs": 3}, "1": {}})
        >>> known
        {'0': {'loss': 1, 'epochs': 3}, '1': {}}
    """
    for name, value in found.items():
        if isinstance(value, dict) and isinstance(known.get(name), dict):
            fill(known[name], value)
        else:
            known.setdefault(name, value)


class Record:
    """The measurements of a configuration, in memory and optionally on disk.

    The name of the file contains a digest of what decides the numbers, so an equal run
    continues from it and a different one never touches it. Versions of packages are
    noted with each seed and decide nothing: a new NumPy finds what was measured with
    the old one. Several processes may write one record: each keeps what the others
    have measured. A file that cannot be read, or holds other numbers than were
    written, is renamed with a warning, and the work is done again.

    Args:
        config: JSON-serialisable configuration; "label" and "dataset" name the file.
        folder: folder of the file, see docs/records.md; default: no file.

    Example:
        >>> record = Record({"label": "SEGA", "dataset": "MUTAG"})
        >>> record.seed_entry(seed=0)["epochs"] = 20
        >>> record.seed_entry(seed=0)
        {'epochs': 20}
    """

    def __init__(self, config: Json, folder: str | Path | None = None) -> None:
        self.config = config
        plain = re.sub(r"[^\w.+-]", "_", f"{config['label']}-{config['dataset']}")
        name = f"{plain}-{identity_digest(config)}.json"
        self.path = None if folder is None else Path(folder) / name
        self._seeds: dict[str, Json] = {}
        self.refresh()

    def _read(self, path: Path) -> None:
        """Add what is on disk and not in memory."""
        if not path.exists():
            return
        try:
            content = read_record(path)
            seeds = {key: dict(entry) for key, entry in content["seeds"].items()}
            fill(self._seeds, seeds)
        except (ValueError, TypeError) as error:
            aside = path.with_suffix(".unreadable")
            path.replace(aside)
            warnings.warn(
                f"{error}: it is now {aside.name}, and what it held is measured again",
                stacklevel=2,
            )

    def refresh(self) -> None:
        """Add what other processes have written since."""
        if self.path is not None:
            self._read(self.path)

    def seed_entry(self, seed: int) -> Json:
        """Return the measurements of a seed, a dict to be filled."""
        return self._seeds.setdefault(str(seed), {})

    def save(self) -> None:
        """Write the record to its folder, if it has one, and what others wrote there.

        Equal seeds measure equal numbers, so whoever came first does not matter.
        """
        if self.path is None:
            return
        with one_at_a_time(self.path):
            self._read(self.path)
            for entry in self._seeds.values():
                entry.setdefault("versions", versions())
            content: Json = {
                "schema": SCHEMA,
                "config": self.config,
                "seeds": self._seeds,
            }
            content["checksum"] = checksum(content)
            text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
            write_atomically(self.path, text.encode())

    def sibling_path(self, name: str) -> Path | None:
        """Return the path of a file that belongs to the record, if it has a folder."""
        return self.path and self.path.with_name(f"{self.path.stem}-{name}")

    def finish(self, seed: int, embeddings: dict[str, Tensor]) -> None:
        """Save that a seed is complete, and its embeddings, if any, beside the record.

        Baselines have none of their own: theirs are the same for all seeds.
        """
        known = self.seed_entry(seed)
        path = self.sibling_path(f"seed{seed}.safetensors")
        if path is not None and embeddings:
            write_atomically(path, save(embeddings))
            self.note_file(seed, path)
        known["complete"] = True
        self.save()

    def note_file(self, seed: int, path: Path) -> None:
        """Note the checksum of a file that belongs to a seed."""
        files = self.seed_entry(seed).setdefault("files", {})
        files[path.name] = file_digest(path)

    def has_whole_files(self, seed: int) -> bool:
        """Return whether the files of a seed, as far as they are there, are whole."""
        for name, digest in self.seed_entry(seed).get("files", {}).items():
            path = Path("") if self.path is None else self.path.with_name(name)
            if path.exists() and file_digest(path) != digest:
                warnings.warn(f"{path} is damaged: training again", stacklevel=2)
                return False
        return True

    def embeddings(self, seed: int) -> dict[str, Tensor]:
        """Return the saved embeddings of a seed, empty if there are none."""
        path = self.path
        return {} if path is None else read_embeddings(embeddings_path(path, seed))


def identity_digest(config: Json) -> str:
    """Return what names the file of a configuration: a digest of what decides numbers.

    Example:
        >>> one = {"method": "GraphCL", "dataset": "MUTAG", "lr": 0.01}
        >>> identity_digest({**one, "label": "my baseline"}) == identity_digest(one)
        True
    """
    deciding = {k: v for k, v in config.items() if k not in _DESCRIBING}
    text = json.dumps([SCHEMA, NUMBERS, deciding], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_record(path: str | Path) -> Json:
    """Return "config" and "seeds" of a record, as docs/records.md has them.

    Raises:
        ValueError: for a file that cannot be read, is no record, or is damaged, with
            the reason.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # not JSON, not text
        raise ValueError(f"{path} cannot be read as a record ({error})") from error
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema is None and isinstance(content, dict) and "checksum" in content:
        raise ValueError(
            f"{path} is a record of sega-anchor before 0.2, which drew other bits for "
            "a seed: measure again"
        )
    if schema != SCHEMA:
        raise ValueError(
            f"{path} is no record that this version reads: its schema is {schema!r}, "
            f"expected {SCHEMA!r}"
        )
    known = content.pop("checksum", None)
    parts = [content.get(name) for name in ("config", "seeds")]
    if known != checksum(content) or not all(isinstance(p, dict) for p in parts):
        raise ValueError(f"{path} is damaged: it does not hold what was written")
    return dict(content)


def embeddings_path(record: str | Path, seed: int) -> Path:
    """Return where the embeddings of a seed are, beside a record."""
    path = Path(record)
    return path.with_name(f"{path.stem}-seed{seed}.safetensors")


def read_embeddings(path: Path) -> dict[str, Tensor]:
    """Return the embeddings in a file, none if it cannot be read."""
    try:
        return load(path.read_bytes())
    # Types and sizes that torch does not know are no SafetensorError.
    except (OSError, SafetensorError, KeyError, TypeError, RuntimeError):
        return {}


def checksum(content: Json) -> str:
    """Return the SHA-256 of what a JSON file holds, however it is laid out."""
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
