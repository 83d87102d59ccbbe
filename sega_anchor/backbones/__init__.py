"""The graph encoders of the published protocols.

``encode(data)`` returns one vector per graph of a batch or of a single graph, of width
``out_channels``. ``forward`` returns vectors of graphs too, but vectors of nodes for
molecules and proteins.
"""

from ._gin import GIN as GIN
from ._init import projection_head as projection_head
from ._init import xavier as xavier
from ._layers import GINLayer as GINLayer
from ._molecule_gin import MoleculeGIN as MoleculeGIN
from ._protein_gin import ProteinGIN as ProteinGIN
from ._resgcn import ResGCN as ResGCN
