"""BatchNorm: the one of PyTorch, for single rows too, and over several processes."""

from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional
from typing_extensions import override


class BatchNorm(nn.BatchNorm1d):
    """BatchNorm that also takes a single row in training.

    One graph, or one atom, has no variance: it is normalised by the running
    statistics, where plain BatchNorm fails.
    """

    @override
    def forward(self, input: Tensor) -> Tensor:
        """Normalise rows ``(n, num_features)``."""
        if self.training and input.size(0) == 1:
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
    torch's layer of this name it also runs on CPUs.
    """

    gather: Callable[[Tensor], Tensor]

    @classmethod
    def of(cls, norm: nn.BatchNorm1d, gather: Callable[[Tensor], Tensor]) -> Self:
        """Return a layer with the parameters and statistics of another.

        Args:
            norm: the layer; parameters are shared.
            gather: joins the rows of all processes, with gradients.
        """
        made = cls(norm.num_features, norm.eps, norm.momentum)
        made.weight, made.bias = norm.weight, norm.bias
        made.running_mean, made.running_var = norm.running_mean, norm.running_var
        made.num_batches_tracked = norm.num_batches_tracked
        made.gather = gather
        return made.train(norm.training)

    @override
    def forward(self, input: Tensor) -> Tensor:
        """Normalise rows ``(n, num_features)``."""
        if not self.training:
            return self.by_running(input)
        mean = input.mean(0)
        spread = (input - mean).square().sum(0)
        size = input.new_tensor([len(input)])
        each = self.gather(torch.cat([mean, spread, size]).unsqueeze(0))
        means, spreads = each[:, : len(mean)], each[:, len(mean) : -1]
        sizes = each[:, -1:]
        total = sizes.detach().sum()
        if total == 1:
            return self.by_running(input)
        mean = (means * sizes).sum(0) / total
        spread = (spreads + sizes * (means - mean).square()).sum(0)
        self._track(mean.detach(), spread.detach() / (total - 1))
        scale = (spread / total + self.eps).rsqrt() * self.weight
        normalised: Tensor = (input - mean) * scale + self.bias
        return normalised

    def _track(self, mean: Tensor, variance: Tensor) -> None:
        """Move the running statistics, which take the unbiased variance."""
        assert self.running_mean is not None and self.running_var is not None
        assert self.num_batches_tracked is not None
        self.num_batches_tracked += 1
        momentum = self.momentum or 0.1
        self.running_mean.lerp_(mean, momentum)
        self.running_var.lerp_(variance, momentum)
