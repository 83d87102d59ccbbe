"""The graph encoders of the published protocols.

Each has ``encode(data)``, one vector per graph of a PyG batch or of a single graph,
and ``out_channels``, the width of that vector. What ``forward`` takes and gives is
natural to each: vectors of graphs, or of nodes for molecules and proteins.
"""

from ._gin import GIN as GIN
from ._init import projection_head as projection_head
from ._init import xavier as xavier
from ._layers import GINLayer as GINLayer
from ._molecule_gin import MoleculeGIN as MoleculeGIN
from ._protein_gin import ProteinGIN as ProteinGIN
from ._resgcn import ResGCN as ResGCN

__all__ = [
    "GIN",
    "GINLayer",
    "MoleculeGIN",
    "ProteinGIN",
    "ResGCN",
    "projection_head",
    "xavier",
]
