"""Models whose gradients, and BatchNorm layers, all processes share."""

from inspect import signature
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parallel import DistributedDataParallel

from ..distributed import gather, gather_group, is_main, world_size
from ..nn.batch_norm import BatchNorm, SyncBatchNorm
from ..utils.checks import warn_caller

#: Layers that see the rows of all ranks already.
_SHARED = (SyncBatchNorm, nn.SyncBatchNorm)


def parallel(model: nn.Module, device: str = "cpu") -> nn.Module:
    """Return what to call for a forward pass whose gradients all ranks share.

    BatchNorm1d layers of the model become synchronised ones, see :func:`synchronise`;
    its parameters become those of rank 0.

    Args:
        model: on its device, in the same state on all ranks.
        device: where.
    """
    if world_size() == 1:
        return model
    model = synchronise(model, device)
    gather_group()  # made by all ranks at the same moment
    if not any(parameter.requires_grad for parameter in model.parameters()):
        return model  # there are no gradients to share
    ids = None if device == "cpu" else [torch.device(device)]
    # Buffers are equal on all ranks. torch 2.13 renamed the argument.
    known = signature(DistributedDataParallel).parameters
    new, old = "forward_sync_buffers", "broadcast_buffers"
    options: dict[str, Any] = {new if new in known else old: False}
    return DistributedDataParallel(
        model, device_ids=ids, find_unused_parameters=True, **options
    )


def synchronise(model: nn.Module, device: str = "cpu") -> nn.Module:
    """Let the BatchNorm1d layers of a model see the rows of all ranks.

    On a CPU they become :class:`~sega_anchor.nn.SyncBatchNorm`, on a GPU that of torch,
    with all their options. Other kinds of BatchNorm, subclasses among them, stay as
    they are, each rank with statistics of its own; a warning names them.

    Args:
        model: changed in place, unless it is itself such a layer.
        device: where it is.

    Returns:
        The model, or the layer in its place.

    Example:
        >>> layers = synchronise(nn.Sequential(nn.BatchNorm1d(3)))
        >>> type(layers[0]).__name__
        'SyncBatchNorm'
    """
    made: dict[nn.Module, nn.Module] = {}
    left = []
    for name, layer in list(model.named_modules(remove_duplicate=False)):
        if type(layer) in (nn.BatchNorm1d, BatchNorm):
            if layer not in made:
                made[layer] = _synchronised(layer, device)
            if not name:
                return made[layer]
            parent, _, child = name.rpartition(".")
            setattr(model.get_submodule(parent), child, made[layer])
        elif isinstance(layer, _BatchNorm) and not isinstance(layer, _SHARED):
            left.append(f"{name} ({type(layer).__name__})" if name else repr(layer))
    if left and is_main():
        warn_caller(
            "These layers normalise by the rows of their own process alone, not of the "
            f"whole batch: {', '.join(left)}. Take nn.BatchNorm1d, or on GPUs "
            "torch.nn.SyncBatchNorm"
        )
    return model


def _synchronised(layer: nn.Module, device: str) -> nn.Module:
    # torch's layer, for GPUs, is faster. But it spoils its running variance if all
    # ranks together have a single row, which our BatchNorm promises to normalise.
    if type(layer) is nn.BatchNorm1d and device != "cpu":
        converted: nn.Module = nn.SyncBatchNorm.convert_sync_batchnorm(layer)
        return converted
    assert isinstance(layer, nn.BatchNorm1d)
    return SyncBatchNorm.of(layer, gather)
