"""TrainingState: where a training stood, so that a kill costs minutes."""

from __future__ import annotations

import copy
import io
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from ..report import write_atomically

#: Seconds between two saves within an epoch.
EVERY = 60.0


class TrainingState:
    """A file that holds all that a training needs to go on with the same bits.

    Modules, optimisers, generators (torch's own among them) and what the loop says of
    its place. The file is replaced atomically and read without unpickling code.

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
        modules: Sequence[nn.Module],
        optimizers: Sequence[Optimizer],
        generators: Sequence[torch.Generator] = (),
    ) -> None:
        self.path = path
        self.modules = modules
        self.optimizers = optimizers
        self.generators = generators
        self._saved = time.monotonic()

    def is_due(self) -> bool:
        """Return whether the last save lies so far back that it is time for another."""
        return self.path is not None and time.monotonic() - self._saved > EVERY

    def save(self, **place: Any) -> None:
        """Write everything, with what the loop wants to know again."""
        if self.path is None:
            return
        buffer = io.BytesIO()
        torch.save({"place": place, **self._content()}, buffer)
        write_atomically(self.path, buffer.getvalue())
        self._saved = time.monotonic()

    def load(self) -> dict[str, Any]:
        """Put everything back; return what the loop had said, or nothing.

        A file that cannot be read as such a state is left out with a warning, and the
        training begins anew.
        """
        if self.path is None or not self.path.exists():
            return {}
        before = copy.deepcopy(self._content())
        try:
            content = torch.load(self.path, map_location="cpu", weights_only=True)
            self._restore(content)
            return dict(content["place"])
        except Exception as error:
            # torch's reader raises whatever it stumbles over.
            self._restore(before)
            warnings.warn(
                f"{self.path} is no state of this training ({error}); starting again",
                stacklevel=2,
            )
            return {}

    def discard(self) -> None:
        """Delete the file: the training is finished."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _content(self) -> dict[str, Any]:
        return {
            "modules": [module.state_dict() for module in self.modules],
            "optimizers": [one.state_dict() for one in self.optimizers],
            "generators": [one.get_state() for one in self.generators],
            "global": torch.get_rng_state(),
        }

    def _restore(self, content: dict[str, Any]) -> None:
        for module, values in zip(self.modules, content["modules"], strict=True):
            module.load_state_dict(values)
        pairs = zip(self.optimizers, content["optimizers"], strict=True)
        for optimizer, values in pairs:
            optimizer.load_state_dict(values)
        for generator, values in zip(
            self.generators, content["generators"], strict=True
        ):
            generator.set_state(values)
        torch.set_rng_state(content["global"])
