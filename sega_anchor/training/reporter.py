"""Reporter: who hears of each epoch: a bar, the log, the caller's function."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..distributed import broadcast_object, is_main, preserve_rng
from ..utils.progress import Pace, log_line, progress_bar
from .state import TrainingState

#: Called after each epoch with plain numbers and names, such as ``wandb.log``.
OnEpoch = Callable[[dict[str, Any]], object]


class Reporter:
    """Tells of the epochs of one training.

    Args:
        about: which training: its "phase", its "seed", perhaps its "fold". The title of
            the bar, the begin of each line and part of what ``on_epoch`` gets.
        epochs: how many there are.
        on_epoch: called on rank 0 after each epoch with ``about``, "epoch" and what was
            measured. If it raises, the state is saved and all ranks stop.

    Example:
        >>> reporter = Reporter({"phase": "training", "seed": 0}, 1, on_epoch=print)
        >>> for epoch in reporter.epochs(done=0):
        ...     reporter.tell(epoch, {"loss": 0.5}, TrainingState(None), {})
        {'phase': 'training', 'seed': 0, 'epoch': 1, 'loss': 0.5}
    """

    def __init__(
        self, about: dict[str, Any], epochs: int, on_epoch: OnEpoch | None = None
    ) -> None:
        self.about = about
        self._last = epochs
        self._on_epoch = on_epoch
        self._anybody = broadcast_object(on_epoch is not None)
        self._bar: Any = None
        self._pace = Pace()
        where = [f"{name} {value}" for name, value in about.items() if name != "phase"]
        self._title = ", ".join([str(about["phase"]), *where])

    def epochs(self, done: int) -> Iterator[int]:
        """Yield the numbers of the epochs that are left."""
        self._bar = progress_bar(
            range(done + 1, self._last + 1),
            desc=self._title.capitalize(),
            initial=done,
            total=self._last,
        )
        yield from self._bar

    def tell(
        self,
        epoch: int,
        measured: Mapping[str, Any],
        state: TrainingState,
        place: Mapping[str, Any],
        **shown: float,
    ) -> None:
        """Tell of an epoch.

        Args:
            epoch: its number.
            measured: what it measured; only plain numbers and names are told.
            state: saved if ``on_epoch`` raises, so that the run can be taken up.
            place: what it then keeps beside.
            shown: numbers for bar and log only.
        """
        told = {k: v for k, v in measured.items() if isinstance(v, int | float | str)}
        seen = {**told, **shown}
        self._bar.set_postfix({k: v for k, v in seen.items() if isinstance(v, float)})
        if self._pace.is_due(last=epoch == self._last):
            words = ", ".join(f"{k} {_short(v)}" for k, v in seen.items())
            log_line(f"{self._title}, epoch {epoch} of {self._last}: {words}")
        if self._anybody:
            self._call({**self.about, "epoch": epoch, **told}, state, place)

    def _call(
        self, told: dict[str, Any], state: TrainingState, place: Mapping[str, Any]
    ) -> None:
        error: BaseException | None = None
        if self._on_epoch is not None and is_main():
            try:
                with preserve_rng("cpu"):  # what it draws is its own affair
                    self._on_epoch(told)
            except BaseException as raised:
                error = raised
        if broadcast_object(error is not None):  # the state is saved by all ranks
            state.save(**place)
            raise error or RuntimeError("on_epoch has stopped the run on rank 0")


def _short(value: float | str) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
