"""Record: the configuration and the measurements of a run, as JSON on disk."""

import hashlib
import json
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from filelock import FileLock
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from ..utils.files import write_atomically

Json = dict[str, Any]
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

    The name of the file contains a digest of configuration and versions, so an equal
    run continues from it and a different one never touches it. Several processes may
    write one record: each keeps what the others have measured. An unreadable file is
    renamed, and the work is done again.

    Args:
        config: JSON-serialisable configuration; "label" and "dataset" name the file.
        folder: folder of the file; default: no file.

    Example:
        >>> record = Record({"label": "SEGA", "dataset": "MUTAG"})
        >>> record.seed_entry(seed=0)["epochs"] = 20
        >>> record.seed_entry(seed=0)
        {'epochs': 20}
    """

    def __init__(self, config: Json, folder: str | Path | None = None) -> None:
        self.config = config
        self.versions = versions()
        identity = {"config": config, "versions": self.versions}
        text = json.dumps(identity, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        plain = re.sub(r"[^\w.+-]", "_", f"{config['label']}-{config['dataset']}")
        name = f"{plain}-{digest}.json"
        self.path = None if folder is None else Path(folder) / name
        self._seeds: dict[str, Json] = {}
        if self.path is not None:
            self._read(self.path)

    def _read(self, path: Path) -> None:
        """Add what is on disk and not in memory."""
        if not path.exists():
            return
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            fill(self._seeds, dict(content["seeds"]))
        except (ValueError, KeyError, TypeError):
            path.replace(path.with_suffix(".unreadable"))

    def seed_entry(self, seed: int) -> Json:
        """Return the measurements of a seed, a dict to be filled."""
        return self._seeds.setdefault(str(seed), {})

    def save(self) -> None:
        """Write the record to its folder, if it has one, and what others wrote there.

        Equal seeds measure equal numbers, so whoever came first does not matter.
        """
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.path.with_name(f".{self.path.name}.lock")):
            self._read(self.path)
            content = {
                "config": self.config,
                "versions": self.versions,
                "seeds": self._seeds,
            }
            text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
            write_atomically(self.path, text.encode())

    def sibling_path(self, name: str) -> Path | None:
        """Return the path of a file that belongs to the record, if it has a folder."""
        return self.path and self.path.with_name(f"{self.path.stem}-{name}")

    def save_embeddings(self, seed: int, embeddings: dict[str, Tensor]) -> None:
        """Save the embeddings of a seed beside the record, as safetensors."""
        path = self.sibling_path(f"seed{seed}.safetensors")
        if path is not None:
            write_atomically(path, save(embeddings))

    def embeddings(self, seed: int) -> dict[str, Tensor]:
        """Return the saved embeddings of a seed, empty if there are none."""
        path = self.sibling_path(f"seed{seed}.safetensors")
        if path is None:
            return {}
        try:
            return load(path.read_bytes())
        except (OSError, SafetensorError):
            return {}
