"""The semi-supervised protocol: all graphs without labels, then few with them.

    from sega_anchor.protocols import semisupervised
    semisupervised.run("PROTEINS", pretraining="sega", seeds=3).by_validation()

Source: You et al., NeurIPS 2020, repository Shen-Lab/GraphCL, semisupervised_TU; Wu et
al., ICML 2023, whose code for this setting was never released: it is reconstructed from
the paper.
"""

from ._config import LABELS as LABELS
from ._config import Config as Config
from ._config import Pretraining as Pretraining
from ._run import run as run
from ._split import check as check
from ._split import split as split

#: What the paper chooses among on validation data.
SEARCH = {
    "lr": (0.01, 0.001, 0.0001),
    "pretrain_epochs": (20, 40, 60, 80, 100),
    "height": (2, 3, 4, 5),
}
