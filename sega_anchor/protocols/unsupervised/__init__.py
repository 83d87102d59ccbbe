"""The unsupervised protocol: learn without labels, then ask an SVM what was learnt.

A ``Job`` is what the seeds of a configuration share, ``_training`` trains one of them,
``_evaluation`` scores its embeddings, ``_run`` puts the result together; ``baseline``
scores vectors that nobody trained.
"""

from . import baseline as baseline
from ._run import adapter as adapter
from ._run import run as run
