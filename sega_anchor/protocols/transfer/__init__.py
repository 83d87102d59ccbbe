"""The transfer protocol: learn from many graphs without labels, then from another set.

    from sega_anchor.protocols import transfer
    transfer.pretrain("zinc.csv.gz", "checkpoints/sega", pretraining="sega")
    transfer.finetune("bbbp", "checkpoints/sega/epoch100.safetensors").by_validation()

Source: Hu et al., ICLR 2020, repository snap-stanford/pretrain-gnns; You et al.,
NeurIPS 2020, repository Shen-Lab/GraphCL, transferLearning_MoleculeNet_PPI. SEGA's code
for this setting was never released: it is reconstructed from the paper.
"""

from ._config import FinetuneConfig as FinetuneConfig
from ._config import PretrainConfig as PretrainConfig
from ._domains import DOMAINS as DOMAINS
from ._domains import Domain as Domain
from ._finetune import check as check
from ._finetune import finetune as finetune
from ._pretrain import pretrain as pretrain

#: What the paper chooses among on validation data, beside the checkpoint.
SEARCH = {"lr": (0.01, 0.001, 0.0001)}

#: The setting ends in a fine-tuning: this is what :mod:`sega_anchor.experiments` runs.
Config, run = FinetuneConfig, finetune
