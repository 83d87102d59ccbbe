"""Models whose gradients, and BatchNorm layers, all processes share."""

from inspect import signature
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from ..distributed import gather, gather_group, world_size
from ..nn.batch_norm import SyncBatchNorm


def parallel(model: nn.Module, device: str = "cpu") -> nn.Module:
    """Return what to call for a forward pass whose gradients all ranks share.

    BatchNorm layers of the model become synchronised ones, in place; its parameters
    become those of rank 0.

    Args:
        model: on its device, in the same state on all ranks.
        device: where.
    """
    if world_size() == 1:
        return model
    synchronise(model)
    gather_group()  # made by all ranks at the same moment
    ids = None if device == "cpu" else [torch.device(device)]
    # Buffers are equal on all ranks. torch 2.13 renamed the argument.
    known = signature(DistributedDataParallel).parameters
    new, old = "forward_sync_buffers", "broadcast_buffers"
    options: dict[str, Any] = {new if new in known else old: False}
    return DistributedDataParallel(
        model, device_ids=ids, find_unused_parameters=True, **options
    )


def synchronise(model: nn.Module) -> None:
    """Let every BatchNorm layer of a model see the rows of all ranks, in place.

    Example:
        >>> layers = nn.Sequential(nn.BatchNorm1d(3))
        >>> synchronise(layers)
        >>> type(layers[0]).__name__
        'SyncBatchNorm'
    """
    for module in model.modules():
        for name, child in module.named_children():
            if isinstance(child, nn.BatchNorm1d):
                setattr(module, name, SyncBatchNorm.of(child, gather))
