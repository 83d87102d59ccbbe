"""Published: what a method's authors fixed beside the method itself."""

from dataclasses import dataclass
from typing import Literal

from ..evaluate import Folding, SVMKind

Visibility = Literal["anchor", "both", "none"]
Choice = Literal["test", "validation"]


@dataclass(frozen=True)
class FeatureSpec:
    """What the two encoders see of a graph.

    Args:
        labels: who sees node labels (or a constant 1): "anchor" the tree's leaves
            only, "both" the graph encoder as well, "none" nobody (all see ones).
        degree: who sees one-hot degrees, likewise.
        max_degree: cap of the one-hot degree; None for that of SEGA's code, 10 in DD
            and the REDDIT sets, else 100.
        raw_degree: whether the degree itself stands before its one-hot form.
        attributes: whether the graph encoder sees continuous node attributes under
            ``protocol="paper"``.
        loops: self-loops a node has in the released code's graphs.
    """

    labels: Visibility = "both"
    degree: Visibility = "anchor"
    max_degree: int | None = None
    raw_degree: bool = False
    attributes: bool = False
    loops: int = 0


@dataclass(frozen=True)
class Published:
    """The values a run takes where its settings leave them open.

    Args:
        epochs: training epochs.
        evaluate_at: epochs after which the embeddings are evaluated.
        batch_size: graphs per step.
        features: what the encoders see.
        classifier: "rbf" kernel, or "linear" on standardised embeddings.
        shuffle: whether batches are drawn again in each epoch; the honest protocol
            always does so.
        folding: how folds are drawn under ``protocol="paper"``, see
            :func:`~sega_anchor.evaluate.svm_scores`.
        choice: whether the reported epoch was chosen on test or on validation folds.
    """

    epochs: int = 20
    evaluate_at: tuple[int, ...] = (10, 20)
    batch_size: int = 128
    features: FeatureSpec = FeatureSpec()
    classifier: SVMKind = "rbf"
    shuffle: bool = True
    folding: Folding = "stratified"
    choice: Choice = "test"
