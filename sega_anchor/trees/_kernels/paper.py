"""Algorithm 1 to the letter: COMBINE by the exact gain, DROP by the exact loss."""

import numpy as np

from ..._kernels.jit import kernel
from ..._kernels.types import Floats, Ints
from .agglomerate import EXACT, agglomerate
from .arrays import count_up, sum_of
from .drop import depth_of, drop
from .rules import COMBINE
from .types import CSR, new_dendrogram


@kernel
def paper(graph: CSR, degree: Floats, labels: Ints) -> None:
    """Fill ``labels``, the nested partitions of levels 1 to height - 1."""
    n = degree.size
    height = labels.shape[0] + 1
    out = new_dendrogram(degree)
    total = np.empty(1)
    total[0] = sum_of(degree)
    agglomerate(
        graph,
        degree,
        np.zeros(n),
        np.zeros(n, np.int64),
        total,
        COMBINE,
        EXACT,
        count_up(n),
        np.zeros(1),
        out,
    )
    drop(out, n, height, 0.0, n > 0)
    for v in range(n):
        # Read downwards from the root: a branch that ends early repeats its leaf.
        depth = depth_of(out.parent, v)
        a = v
        for d in range(height - 1, 0, -1):
            if d < depth:
                a = out.parent[a]
            labels[height - 1 - d, v] = a
