"""Batches out of packed graphs, in memory, on a GPU or mapped from disk."""

from .on_disk import PackedWriter as PackedWriter
from .on_disk import open_packed as open_packed
from .pack_dataset import pack_dataset as pack_dataset
from .packed_graphs import PackedGraphs as PackedGraphs
from .packed_loader import PackedLoader as PackedLoader
