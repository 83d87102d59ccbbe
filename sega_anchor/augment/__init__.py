"""GraphCL's views of a graph, drawn for a whole batch at once.

An augmentation edits a `ViewDraft` (which nodes and columns stay, what `x` and
`edge_index` become); calling it turns data into a draft and the edited draft into a
new batch. A column is a column of `edge_index`, that is one direction of an edge.

    view = NodeDrop(ratio=0.2)(batch, torch.Generator().manual_seed(0))

Sources: You et al., Graph Contrastive Learning with Augmentations (NeurIPS 2020),
and, where it differs, the code released with GraphCL and SEGA.
"""

from sega_anchor.augment._attribute_mask import AttributeMask
from sega_anchor.augment._draft import Augmentation, ViewDraft
from sega_anchor.augment._edge_perturb import EdgePerturb
from sega_anchor.augment._identity import Identity
from sega_anchor.augment._named import augmentation
from sega_anchor.augment._node_drop import NodeDrop
from sega_anchor.augment._random_choice import Chosen, RandomChoice, draw_choice
from sega_anchor.augment._released import Released
from sega_anchor.augment._subgraph import Subgraph

__all__ = [
    "AttributeMask",
    "Augmentation",
    "Chosen",
    "EdgePerturb",
    "Identity",
    "NodeDrop",
    "RandomChoice",
    "Released",
    "Subgraph",
    "ViewDraft",
    "augmentation",
    "draw_choice",
]
