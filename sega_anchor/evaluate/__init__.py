"""Evaluation of embeddings and encoders: the published scores and splits."""

from ..datasets.molecules.scaffold_split import scaffold_split as scaffold_split
from ..datasets.proteins.species_split import SpeciesSplit as SpeciesSplit
from ..datasets.proteins.species_split import species_split as species_split
from .roc_auc import mean_roc_auc as mean_roc_auc
from .scores import COSTS as COSTS
from .scores import Folding as Folding
from .scores import SVMKind as SVMKind
from .scores import SVMScores as SVMScores
from .scores import svm_scores as svm_scores

__all__ = [
    "COSTS",
    "Folding",
    "SVMKind",
    "SVMScores",
    "SpeciesSplit",
    "mean_roc_auc",
    "scaffold_split",
    "species_split",
    "svm_scores",
]
