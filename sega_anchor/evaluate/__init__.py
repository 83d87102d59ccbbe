"""Evaluation of embeddings and encoders: published scores, splits, baselines."""

from .baselines import STATISTICS as STATISTICS
from .baselines import feature_histogram as feature_histogram
from .baselines import graph_statistics as graph_statistics
from .baselines import standardise as standardise
from .roc_auc import mean_roc_auc as mean_roc_auc
from .scores import COSTS as COSTS
from .scores import INNER_FOLDS as INNER_FOLDS
from .scores import Folding as Folding
from .scores import SVMKind as SVMKind
from .scores import SVMScores as SVMScores
from .scores import svm_scores as svm_scores
from .weisfeiler_lehman import distinct_graphs as distinct_graphs
from .weisfeiler_lehman import wl_classes as wl_classes
from .weisfeiler_lehman import wl_colours as wl_colours
from .weisfeiler_lehman import wl_embedding as wl_embedding
from .weisfeiler_lehman import wl_kernel as wl_kernel
