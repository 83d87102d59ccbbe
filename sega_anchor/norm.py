"""BatchNorm: the one of PyTorch, for single rows too."""

from __future__ import annotations

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
            return functional.batch_norm(
                input,
                self.running_mean,
                self.running_var,
                self.weight,
                self.bias,
                eps=self.eps,
            )
        normalised: Tensor = super().forward(input)
        return normalised
