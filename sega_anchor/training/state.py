"""TrainingState: everything a training needs to resume after a kill."""

import copy
import hashlib
import io
import os
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from ..distributed import all_gather_object, broadcast_object, rank, world_size
from ..utils.files import write_atomically

#: Seconds between two saves within an epoch.
EVERY = 60.0
_DIGEST = 32  # bytes of a SHA-256, before what torch has written
_SELDOM = 20  # steps, or epochs, between two questions among several processes


class TrainingState:
    """A file from which an interrupted training resumes with the same bits.

    It holds modules, optimisers, generators (torch's own too) and what the loop
    passes to :meth:`save`. The file is replaced atomically, the one before it is kept,
    and reading it runs no code.

    Args:
        path: the file; None keeps nothing.
        modules: what is trained.
        optimizers: theirs.
        generators: where augmentations draw from.

    Example:
        >>> state = TrainingState(None, [nn.Linear(1, 1)], [])
        >>> state.save(epoch=3)
        >>> state.load()
        {}
    """

    def __init__(
        self,
        path: Path | None,
        modules: Sequence[nn.Module] = (),
        optimizers: Sequence[Optimizer] = (),
        generators: Sequence[torch.Generator] = (),
    ) -> None:
        self.path = path
        self.modules = modules
        self.optimizers = optimizers
        self.generators = generators
        self._saved = time.monotonic()
        self._asked = 0

    def is_due(self) -> bool:
        """Return whether the last save was more than a minute ago."""
        self._asked += 1
        if world_size() > 1 and self._asked % _SELDOM:
            return False  # to agree takes a message
        return broadcast_object(
            self.path is not None and time.monotonic() - self._saved > EVERY
        )

    def save(self, **place: Any) -> None:
        """Write everything, and the position that the loop will need again.

        With several processes all call this, and rank 0 writes.
        """
        if not broadcast_object(self.path is not None):
            return
        streams = all_gather_object(self._streams())
        if self.path is not None:
            buffer = io.BytesIO()
            torch.save({"place": place, "streams": streams, **self._content()}, buffer)
            content = buffer.getvalue()
            with suppress(FileNotFoundError):  # the first, or moved by another run
                os.replace(self.path, self._previous(self.path))
            write_atomically(self.path, hashlib.sha256(content).digest() + content)
        self._saved = time.monotonic()

    def load(self) -> dict[str, Any]:
        """Put everything back; return what the loop had said, or nothing.

        A file that cannot be read, or is of another training, is passed over with a
        warning: the one before it is used, or else the training starts again.
        """
        found: dict[str, Any] | None = None
        if self.path is not None:
            for path in (self.path, self._previous(self.path)):
                found = found or self._read(path)
        found = broadcast_object(found)
        if found is None:
            return {}
        self._restore(found, found["streams"][rank()])
        return dict(found["place"])

    def discard(self) -> None:
        """Delete the file, once the result of the training is on disk."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            self._previous(self.path).unlink(missing_ok=True)

    def _previous(self, path: Path) -> Path:
        return path.with_name(f"{path.name}.previous")

    def _read(self, path: Path) -> dict[str, Any] | None:
        """Return the content of a file, or None if it cannot be used."""
        if not path.exists():
            return None
        before = copy.deepcopy(self._content()), self._streams()
        try:
            raw = path.read_bytes()
            digest, stored = raw[:_DIGEST], raw[_DIGEST:]
            if digest != hashlib.sha256(stored).digest():  # torch looks at no checksum
                raise ValueError("it is damaged")
            content = torch.load(
                io.BytesIO(stored), map_location="cpu", weights_only=True
            )
            ranks = len(content["streams"])
            if ranks != world_size():
                raise ValueError(f"it is of {ranks} processes, here are {world_size()}")
            self._restore(content, content["streams"][0])
            dict(content["place"])
        except Exception as error:
            # A damaged file may raise almost anything in torch's reader.
            warnings.warn(
                f"{path} is no state of this training ({error}); going on from the "
                "one before it, or starting again",
                stacklevel=3,
            )
            return None
        finally:
            self._restore(*before)
        return dict(content)

    def _content(self) -> dict[str, Any]:
        return {
            "modules": [module.state_dict() for module in self.modules],
            "optimizers": [one.state_dict() for one in self.optimizers],
        }

    def _streams(self) -> dict[str, Any]:
        """Return the states of this process's random generators."""
        gpu = torch.cuda.is_available()
        return {
            "generators": [one.get_state() for one in self.generators],
            "global": torch.get_rng_state(),
            "cuda": torch.cuda.get_rng_state() if gpu else None,
        }

    def _restore(self, content: dict[str, Any], streams: dict[str, Any]) -> None:
        for module, values in zip(self.modules, content["modules"], strict=True):
            module.load_state_dict(values)
        pairs = zip(self.optimizers, content["optimizers"], strict=True)
        for optimizer, values in pairs:
            optimizer.load_state_dict(values)
        for generator, values in zip(
            self.generators, streams["generators"], strict=True
        ):
            generator.set_state(values)
        torch.set_rng_state(streams["global"])
        if streams["cuda"] is not None:
            torch.cuda.set_rng_state(streams["cuda"])
