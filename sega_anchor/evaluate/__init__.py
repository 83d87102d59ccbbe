"""Evaluation of embeddings and encoders: the published scores and splits."""

from .roc_auc import mean_roc_auc as mean_roc_auc
from .scores import COSTS as COSTS
from .scores import INNER_FOLDS as INNER_FOLDS
from .scores import Folding as Folding
from .scores import SVMKind as SVMKind
from .scores import SVMScores as SVMScores
from .scores import svm_scores as svm_scores
