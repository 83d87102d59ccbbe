"""Initialisation of the published graph encoders."""

from torch import nn


def projection_head(channels: int, out_channels: int | None = None) -> nn.Sequential:
    """Return Linear - ReLU - Linear, initialised as in the published encoders."""
    width = out_channels or channels
    head = nn.Sequential(nn.Linear(channels, width), nn.ReLU(), nn.Linear(width, width))
    return head.apply(xavier)


def xavier(module: nn.Module) -> None:
    """Initialise a linear layer Xavier-uniform with zero bias; ignore other modules."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
