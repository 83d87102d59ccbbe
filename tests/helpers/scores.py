"""Scores without support vector machines, for tests of all that is around them."""

import zlib
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

#: Where runs look the scores up.
SVM_SCORES = "sega_anchor.protocols.unsupervised._evaluation.svm_scores"


def quick_scores(
    embedding: Tensor,
    labels: Tensor,
    *,
    folds: int,
    only: Sequence[int],
    random_state: int,
    on_fold: Callable[[int, dict[str, float]], None],
    **others: Any,
) -> None:
    """Tell scores that every bit of the embedding, the seed and the fold decide."""
    assert len(embedding) == len(labels) and set(only) <= set(range(folds))
    content = zlib.crc32(embedding.numpy().tobytes())
    for fold in only:
        drawn = zlib.crc32(f"{content} {random_state} {fold}".encode())
        test, validation = drawn % 1000 / 1000, drawn // 1000 % 1000 / 1000
        on_fold(fold, {"test": test, "validation": validation, "cost": 1.0})
