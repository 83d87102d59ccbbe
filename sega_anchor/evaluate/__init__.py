"""What the embeddings are worth: support vector machines, the field's protocols."""

from .scores import COSTS as COSTS
from .scores import Classifier as Classifier
from .scores import Folding as Folding
from .scores import SVMScores as SVMScores
from .scores import svm_scores as svm_scores

__all__ = ["COSTS", "Classifier", "Folding", "SVMScores", "svm_scores"]
