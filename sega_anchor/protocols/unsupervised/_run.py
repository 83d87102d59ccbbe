"""run: train and evaluate a method over seeds; adapter: the ``run`` of one method."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from torch import Tensor
from torch_geometric.data import Data
from typing_extensions import Unpack

from ...distributed import broadcast_object, is_main, preserve_rng, process_group
from ...nn import AnchorView
from ...report import Result
from ...training import Method, MethodConfig, OnEpoch, TrainingState
from ...utils.locks import one_at_a_time
from ...utils.progress import log_line, log_shown
from ..prepare import announce
from ..settings import Options, Settings, check_options, seed_numbers
from ._evaluation import evaluations
from ._job import Job, Task, prepare_job
from ._training import Training

#: The history of a seed, and its embeddings by name.
Measured = tuple[list[dict[str, Any]], dict[str, Tensor]]


def run(
    method: type[Method[Any]],
    dataset: str | Sequence[Data],
    anchor: AnchorView | bool | None,
    config: Any,
    settings: Settings,
    on_epoch: OnEpoch | None = None,
) -> Result:
    """Train and evaluate a method over seeds; every adapter's ``run`` ends here.

    Args:
        method: the class to train.
        dataset: a name for :func:`~sega_anchor.datasets.load`, or labelled graphs.
        anchor: None or False for the baseline, True for the method's default anchor,
            or an anchor view whose copies, with new weights, serve each seed.
        config: the method's hyper-parameters.
        settings: what all runs have in common.
        on_epoch: called after each epoch, see :func:`adapter`.

    Returns:
        The result; with ``settings.results`` it is also on disk, and what is found
        there is not computed again.

    Raises:
        ValueError: before any training, for data or settings that cannot be used.
    """
    with process_group(settings.device) as device, preserve_rng(device), log_shown():
        job = prepare_job(method, dataset, anchor, config, settings, device)
        seeds = seed_numbers(settings.seeds)
        announce(job.record, len(job.graphs), seeds, job.epochs, device)
        embeddings: dict[str, Tensor] = {}
        for seed in seeds:
            work = partial(_train, job, seed, on_epoch)
            embeddings = finish_seed(job, seed, work)
    return make_result(job, embeddings)


def _train(job: Job, seed: int, on_epoch: OnEpoch | None) -> Measured:
    return Training(job, seed, on_epoch).finish()


def finish_seed(
    task: Task, seed: int, work: Callable[[], Measured]
) -> dict[str, Tensor]:
    """Do the work of one seed, unless that is on record; return the last embeddings."""
    record = task.record
    state = record.sibling_path(f"seed{seed}.state")
    with one_at_a_time(state):
        record.refresh()
        known = record.seed_entry(seed)
        is_complete = known.get("complete", False) and record.has_whole_files(seed)
        if broadcast_object(is_complete):
            embeddings = record.embeddings(seed)
            log_line(f"seed {seed}: on record")
        else:
            known["history"], embeddings = work()
            if is_main():
                record.finish(seed, embeddings)
        TrainingState(state).discard()  # where it is on record, a kill has left it
    # Rank 0 has evaluated; the others learn of it here.
    known.update(broadcast_object(known))
    return broadcast_object(embeddings)


def make_result(task: Task, embeddings: dict[str, Tensor]) -> Result:
    """Return what all seeds have measured."""
    seeds = seed_numbers(task.settings.seeds)
    return Result(
        task.record.config,
        [one for seed in seeds for one in evaluations(task, seed)],
        {seed: task.record.seed_entry(seed)["history"] for seed in seeds},
        embeddings,
        task.labels,
        task.record.path,
    )


C_contra = TypeVar("C_contra", bound=MethodConfig, contravariant=True)


class Run(Protocol, Generic[C_contra]):
    """How the ``run`` of every adapter is called; see :func:`adapter`."""

    def __call__(
        self,
        dataset: str | Sequence[Data],
        *,
        anchor: AnchorView | bool | None = None,
        config: C_contra | None = None,
        on_epoch: OnEpoch | None = None,
        **options: Unpack[Options],
    ) -> Result:
        """Train the method without labels and evaluate it."""


def adapter(method: type[Method[C_contra]], notes: str = "") -> Run[C_contra]:
    """Return the ``run`` function of a method.

    Args:
        method: the class.
        notes: what users should know beside the common text.

    Example:
        >>> from adapters.graphcl import GraphCL
        >>> run = adapter(GraphCL)
        >>> result = run("synthetic", anchor=True, seeds=1, epochs=1, evaluate_at=())
        >>> sorted(result.embeddings)
        ['G', 'GT', 'T']
    """

    def run_method(
        dataset: str | Sequence[Data],
        *,
        anchor: AnchorView | bool | None = None,
        config: C_contra | None = None,
        on_epoch: OnEpoch | None = None,
        **options: Unpack[Options],
    ) -> Result:
        check_options(options, Settings, method.config_class)
        chosen = method.config_class() if config is None else config
        return run(method, dataset, anchor, chosen, Settings(**options), on_epoch)

    run_method.__name__ = run_method.__qualname__ = "run"
    run_method.__module__ = method.__module__
    run_method.__doc__ = _DOC.format(name=method.name, notes=notes)
    return run_method


_DOC = """Train {name}, with or without an anchor, without labels and evaluate it.
{notes}
Args:
    dataset: name of a data set, or labelled graphs.
    anchor: None for {name} as published, True for SEGA on top of it, or your own anchor
        view; the loss is the method's own.
    config: hyper-parameters of the method, its ``Config``.
    on_epoch: called after each epoch that is trained with one dict of plain numbers and
        names, such as ``wandb.log``: "phase", "seed", "epoch", "loss", "seconds", and,
        where the epoch was evaluated, "validation", which is what ``result.validation``
        of this seed would be by then. If it raises, the run stops, and with ``results``
        the same call goes on behind that epoch.
    options: fields of :class:`~sega_anchor.protocols.Settings`.

Returns:
    Accuracies (``result.validation`` to choose by, ``result.accuracy`` to report),
    embeddings, history and configuration.

Raises:
    ValueError: before any training, for data or settings that cannot be used.
"""
