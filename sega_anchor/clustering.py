"""CodingTreeClustering: communities of a coding tree, as scikit-learn clusters."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.neighbors import kneighbors_graph
from sklearn.utils.validation import validate_data
from typing_extensions import override

from .trees.build import TreeMethod, build_coding_tree, check_build
from .trees.entropy import structural_entropy
from .trees.groups import tree_groups
from .utils.checks import check_choice

Affinity = Literal["nearest_neighbors", "precomputed"]


class CodingTreeClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters are the communities of a graph in its coding tree.

    The number of clusters need not be known: it is that of the tree's nodes at a level.

    Args:
        n_clusters: how many clusters, see :func:`~sega_anchor.tree_groups`; default:
            the communities at ``level``, as many as there are.
        height: level of the root, at least 2.
        level: which level of the tree, from 1 to ``height - 1``; not read where
            ``n_clusters`` is given.
        method: see :func:`~sega_anchor.build_coding_tree`.
        affinity: ``"nearest_neighbors"`` makes a graph of features: each sample is
            joined to its nearest neighbours, by an edge of weight 1 where both are
            neighbours of each other, else 0.5. With ``"precomputed"`` X is an adjacency
            matrix, dense or sparse, whose weights are not negative.
        n_neighbors: how many neighbours, all others if there are fewer.

    Attributes:
        labels_: the cluster of each sample, ``(n_samples,)``.
        tree_: the :class:`~sega_anchor.CodingTree` of the graph.
        entropy_: structural entropy of the graph under the tree, in bits.
        affinity_matrix_: the graph, a sparse matrix ``(n_samples, n_samples)``.
        n_features_in_: number of columns of X.
        feature_names_in_: names of columns, where X has them and all are strings.

    Example:
        >>> import numpy as np
        >>> points = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
        >>> CodingTreeClustering(n_neighbors=2).fit_predict(points)
        array([0, 0, 0, 1, 1, 1])
        >>> graph = np.abs(points - points.T) < 1
        >>> CodingTreeClustering(affinity="precomputed").fit(graph).labels_
        array([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        height: int = 2,
        level: int = 1,
        method: TreeMethod = "refined",
        affinity: Affinity = "nearest_neighbors",
        n_neighbors: int = 10,
    ) -> None:
        self.n_clusters = n_clusters
        self.height = height
        self.level = level
        self.method = method
        self.affinity = affinity
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: object = None) -> CodingTreeClustering:
        """Build the graph, its tree and the clusters.

        Args:
            X: features ``(n_samples, n_features)``, or an adjacency matrix, see
                ``affinity``; dense or sparse.
            y: not read.

        Raises:
            ValueError: for options or X of another kind than described above.
        """
        height = self._check()
        X = validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2
        )
        graph = self._graph(X)
        count, n = self.n_clusters, graph.shape[0]
        if count is not None and count > n:
            raise ValueError(
                f"n_clusters must be at most n_samples, got {count} with n_samples={n}"
            )
        self.affinity_matrix_ = graph
        self.tree_ = build_coding_tree(graph, height=height, method=self.method)
        self.entropy_ = structural_entropy(self.tree_, graph)
        if count is None:
            labels = self.tree_.partition(int(self.level))
        else:
            labels = tree_groups(self.tree_, graph, k=int(count))
        self.labels_ = labels.numpy()
        return self

    def _check(self) -> int:
        """Check the options; return the height, which may be an integer of NumPy."""
        height: Any = self.height
        height = int(height) if isinstance(height, Integral) else height
        check_build(height, self.method)
        check_choice("affinity", self.affinity, get_args(Affinity))
        if self.n_clusters is not None:
            _check_positive("n_clusters", self.n_clusters)
        _check_positive("n_neighbors", self.n_neighbors)
        if not isinstance(self.level, Integral) or not 1 <= self.level < height:
            raise ValueError(
                f"level must be an integer from 1 to height - 1, {height - 1}, got "
                f"{self.level!r}"
            )
        return height

    def _graph(self, X: Any) -> Any:
        """Return the weights of edges between samples."""
        if self.affinity == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"a precomputed X must be square, got shape {X.shape}: pass "
                    "affinity='nearest_neighbors' for features"
                )
            lowest = X.data if issparse(X) else X
            if lowest.size and lowest.min() < 0:
                raise ValueError(
                    "Negative values in data: a precomputed X must hold similarities, "
                    f"got {lowest.min()}; pass np.exp(-distance) for distances"
                )
            return csr_array(X)
        count = min(self.n_neighbors, X.shape[0] - 1)
        nearest = csr_array(kneighbors_graph(X, count))
        return (nearest + nearest.T) / 2

    @override
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        given = self.affinity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = given
        return tags


def _check_positive(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
