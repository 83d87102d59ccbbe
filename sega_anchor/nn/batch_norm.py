"""BatchNorm: the one of PyTorch, for single rows too, and over several processes."""

from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional
from typing_extensions import override

from ..utils.precision import widen


class BatchNorm(nn.BatchNorm1d):
    """BatchNorm that also takes a single row in training.

    One graph, or one atom, has no variance: it is normalised by the running
    statistics, where plain BatchNorm fails.
    """

    @override
    def forward(self, input: Tensor) -> Tensor:
        """Normalise ``(n, num_features)``, or ``(n, num_features, length)``."""
        single = input.numel() == self.num_features
        if self.training and single and self.running_mean is not None:
            return self.by_running(input)
        normalised: Tensor = super().forward(input)
        return normalised

    def by_running(self, input: Tensor) -> Tensor:
        """Normalise rows by the running statistics, which stay as they are."""
        return functional.batch_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            eps=self.eps,
        )


class SyncBatchNorm(BatchNorm):
    """BatchNorm over the rows of all processes, on any device.

    Each process tells the others how many rows it has, their mean and their squared
    distance from it; these are merged as by Chan et al. (1983), with gradients. Unlike
    torch's layer of this name it also runs on CPUs. In evaluation it is torch's
    BatchNorm1d, which asks no other process.
    """

    gather: Callable[[Tensor], Tensor]

    @classmethod
    def of(cls, norm: nn.BatchNorm1d, gather: Callable[[Tensor], Tensor]) -> Self:
        """Return a layer with the parameters, statistics, options and hooks of another.

        Args:
            norm: the layer; parameters and statistics are shared.
            gather: joins the rows of all processes, with gradients.
        """
        made = cls.__new__(cls)
        made.__dict__.update(norm.__dict__)
        made.gather = gather
        return made

    @override
    def forward(self, input: Tensor) -> Tensor:
        """Normalise ``(n, num_features)``, or ``(n, num_features, length)``.

        Raises:
            ValueError: for a single row in all processes, if there are no running
                statistics to normalise it by.
        """
        if not self.training:
            return super().forward(input)
        self._check_input_dim(input)
        wide = widen(input)
        rows = wide if wide.dim() == 2 else wide.transpose(1, 2).flatten(0, 1)
        mean = rows.sum(0) / max(len(rows), 1)  # a process may have none
        spread = (rows - mean).square().sum(0)
        size = rows.new_tensor([len(rows)])
        each = self.gather(torch.cat([mean, spread, size]).unsqueeze(0))
        means, spreads = each[:, : len(mean)], each[:, len(mean) : -1]
        sizes = each[:, -1:]
        total = sizes.detach().sum()
        if total < 2:
            return self._of_one_row(input)
        mean = (means * sizes).sum(0) / total
        spread = (spreads + sizes * (means - mean).square()).sum(0)
        self._track(mean.detach(), spread.detach() / (total - 1))
        scale = (spread / total + self.eps).rsqrt()
        scale = scale if self.weight is None else scale * self.weight
        normalised = (rows - mean) * scale
        normalised = normalised if self.bias is None else normalised + self.bias
        if wide.dim() == 3:
            length = wide.size(2)
            normalised = normalised.unflatten(0, (-1, length)).transpose(1, 2)
        return normalised.to(input.dtype)

    def _of_one_row(self, input: Tensor) -> Tensor:
        if self.running_mean is None:
            raise ValueError(
                "BatchNorm in training needs at least 2 rows in all processes together "
                f"or running statistics, got {tuple(input.shape)}: take larger batches"
            )
        return self.by_running(input)

    def _track(self, mean: Tensor, variance: Tensor) -> None:
        """Move the running statistics, which take the unbiased variance."""
        if not self.track_running_stats or self.running_mean is None:
            return
        assert self.running_var is not None
        share = self.momentum
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if share is None:  # the average of all batches
                share = 1.0 / float(self.num_batches_tracked)
        for running, found in ((self.running_mean, mean), (self.running_var, variance)):
            running.lerp_(found.to(running.dtype), share or 0.0)
