"""The anchor view: tree encoder, loss, and the two joined with a tree transform."""

from .anchor_view import AnchorView as AnchorView
from .anchor_view import degree_features as degree_features
from .batch_norm import BatchNorm as BatchNorm
from .batch_norm import SyncBatchNorm as SyncBatchNorm
from .nt_xent import NTXent as NTXent
from .nt_xent import nt_xent as nt_xent
from .nt_xent import products as products
from .nt_xent import unit as unit
from .tree_encoder import Readout as Readout
from .tree_encoder import TreeEncoder as TreeEncoder
