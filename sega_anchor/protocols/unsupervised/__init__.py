"""The unsupervised protocol: learn without labels, then ask an SVM what was learnt.

``_run`` is a configuration and what its seeds share, ``_training`` one seed.
"""

from ._run import run as run

__all__ = ["run"]
