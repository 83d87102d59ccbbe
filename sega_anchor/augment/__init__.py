"""GraphCL's views of a graph, drawn for a whole batch at once.

An augmentation edits a :class:`ViewDraft`: which nodes and columns stay, and the new
``x`` and ``edge_index``. Calling it turns data into a draft, and the edited draft into
a new batch. A column is a column of ``edge_index``, that is one direction of an edge.

    view = NodeDrop(ratio=0.2)(batch, torch.Generator().manual_seed(0))

Source: You et al., "Graph Contrastive Learning with Augmentations", NeurIPS 2020, and,
where it differs, the code released with GraphCL and SEGA.
"""

from ._attribute_mask import AttributeMask as AttributeMask
from ._edge_perturb import EdgePerturb as EdgePerturb
from ._identity import Identity as Identity
from ._named import augmentation as augmentation
from ._node_drop import NodeDrop as NodeDrop
from ._random_choice import Chosen as Chosen
from ._random_choice import RandomChoice as RandomChoice
from ._random_choice import draw_choice as draw_choice
from ._released import Released as Released
from ._subgraph import Subgraph as Subgraph
from ._view_draft import Augmentation as Augmentation
from ._view_draft import ViewDraft as ViewDraft
