"""What a merge of two adjacent modules is worth."""

import numpy as np

from ..._kernels.jit import helper
from .types import Whole

# Not literals: a kernel is to be compiled once for all rules.
COMBINE = np.int64(0)  # the exact gain of COMBINE
AUTHORS = np.int64(1)  # the two-level merge, every volume plus one
MERGE = np.int64(2)  # the two-level merge


@helper
def score(
    rule: Whole,
    vol1: float,
    in1: float,
    log1: float,
    vol2: float,
    in2: float,
    log2: float,
    between: float,
    total: float,
    log_total: float,
) -> float:
    """Return the score of a merge, lower first.

    COMBINE: minus the exact gain of COMBINE, (2c/V) log2(V / (vol1 + vol2)). Others:
    the change of two-level entropy when two modules fuse, times V in MERGE.
    """
    if rule == MERGE:
        return (
            (in1 + in2 + 2.0 * between) * np.log2(vol1 + vol2)
            - in1 * log1
            - in2 * log2
            - 2.0 * between * log_total
        )
    if rule == COMBINE:
        return -2.0 * between * np.log2(total / (vol1 + vol2)) / total
    v1 = vol1 + 1.0
    v2 = vol2 + 1.0
    v12 = v1 + v2
    return (
        in1 * np.log2(v12 / v1)
        + in2 * np.log2(v12 / v2)
        - 2.0 * between * np.log2(total / v12)
    ) / total
