"""Values that the authors' released code computed, and the inputs they are of."""

import functools
import json
import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

#: Names of graphs whose coding trees are among the values.
GRAPHS = (
    "path6 cycle6 star6 barbell3 two_k4 k5 disc_tri_tri disc_tri_edge_iso "
    "isolated_tail weighted5 edge2 path3 two_isolated petersen grid3x3 karate"
).split()


@functools.cache
def _values() -> dict[str, Any]:
    path = Path(__file__).parents[1] / "data" / "oracles.json"
    return json.loads(path.read_text())


def reference(key: str) -> Any:
    """One part of the values; ``explain`` in it says how they were computed."""
    return _values()[key]


def tensors(edges: list[list[float]]) -> tuple[Tensor, Tensor | None]:
    """The edges of a reference graph, with their weights if it has some."""
    pairs = [edge[:2] for edge in edges]
    edge_index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t()
    if edges and len(edges[0]) == 3:
        return edge_index, torch.tensor([edge[2] for edge in edges], dtype=torch.double)
    return edge_index, None


def forward_graph() -> tuple[Tensor, Tensor, Tensor]:
    """Features, edges and batch of the two graphs that went through the encoders."""
    values = reference("forward")["graph"]
    x = torch.tensor(
        [[math.sin(i + 2 * j) for j in range(3)] for i in range(7)], dtype=torch.double
    )
    return x, torch.tensor(values["edge_index"]), torch.tensor(values["batch"])


def fill(module: nn.Module) -> nn.Module:
    """Give linear layers the weights that the encoders had."""
    linear = [m for m in module.modules() if isinstance(m, nn.Linear)]
    chosen = {id(p) for m in linear for p in m.parameters()}
    q = 0
    for parameter in module.double().parameters():
        if id(parameter) in chosen:
            parameter.data = filled(q, list(parameter.shape))
            q += 1
    return module.eval()


def filled(q: int, shape: list[int]) -> Tensor:
    """The q-th tensor of weights."""
    t = torch.arange(math.prod(shape), dtype=torch.double)
    return (0.3 * torch.sin(1.7 * t + 0.9 * q + 0.5)).view(shape)
