"""LinearMachine: the linear support vector machine of AD-GCL's protocol."""

from collections.abc import Sequence
from dataclasses import dataclass

from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from .rbf import Floats, Indices


@dataclass(frozen=True)
class LinearMachine:
    """``LinearSVC(dual=False)`` on standardised features, with a search for C.

    Features are standardised once on the whole training part, inner folds included, as
    in the released code.

    Args:
        x: features, ``(num_graphs, channels)``.
        y: classes 0 to c - 1, ``(num_graphs,)``.
        inner_folds: number of inner folds, stratified and not shuffled.
        costs: candidate values of C.

    Source: repository susheels/adgcl, unsupervised/embedding_evaluation.py.
    """

    x: Floats
    y: Indices
    inner_folds: int
    costs: Sequence[float]

    def search(
        self, train: Indices, *tests: Indices
    ) -> tuple[list[float], float, float]:
        """Choose C on inner folds of ``train``, see :meth:`.RBFMachine.search`."""
        scaler = StandardScaler().fit(self.x[train])
        search = GridSearchCV(
            LinearSVC(dual=False, random_state=0),
            {"C": list(self.costs)},
            cv=self.inner_folds,
        )
        search.fit(scaler.transform(self.x[train]), self.y[train])
        accuracies = [
            float(search.score(scaler.transform(self.x[test]), self.y[test]))
            for test in tests
        ]
        return accuracies, float(search.best_score_), float(search.best_params_["C"])
