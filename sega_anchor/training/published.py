"""Published: what a method's authors fixed beside the method itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..evaluate import Folding, SVMKind

Visibility = Literal["anchor", "both", "none"]
Choice = Literal["test", "validation"]


@dataclass(frozen=True)
class Published:
    """The values a run takes where its :class:`Settings` leave them open.

    Args:
        epochs: training epochs.
        evaluate_at: epochs after which the embeddings are evaluated.
        batch_size: graphs per step.
        labels: who sees node labels (or a constant 1): "anchor" the tree's leaves
            only, "both" the graph encoder as well, "none" nobody (all see ones).
        degree: who sees one-hot degrees, likewise.
        count: whether the degree itself stands before its one-hot form.
        classifier: "rbf" kernel, or "linear" on standardised embeddings.
        shuffle: whether batches are drawn anew in each epoch; the honest protocol
            always does so.
        loops: self-loops a node has in the released code's graphs.
        attributes: whether the graph encoder sees continuous node attributes under
            ``protocol="paper"``.
        folding: how folds are drawn under ``protocol="paper"``, see
            :func:`~sega_anchor.evaluate.svm_scores`.
        choice: whether the reported epoch was chosen on test or on validation folds.
    """

    epochs: int = 20
    evaluate_at: tuple[int, ...] = (10, 20)
    batch_size: int = 128
    labels: Visibility = "both"
    degree: Visibility = "anchor"
    count: bool = False
    classifier: SVMKind = "rbf"
    shuffle: bool = True
    loops: int = 0
    attributes: bool = False
    folding: Folding = "stratified"
    choice: Choice = "test"
