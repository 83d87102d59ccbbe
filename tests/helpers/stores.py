"""A small folder of packed graphs."""

from pathlib import Path

import torch
from torch_geometric.data import Data

from sega_anchor.loader import PackedGraphs, PackedWriter


def store(folder: Path) -> list[Data]:
    """Pack three graphs, the last without edges, and return them."""
    edge_index = torch.tensor([[0, 1], [1, 0]])
    graphs = [Data(x=torch.rand(n, 2), edge_index=edge_index) for n in (2, 3)]
    graphs.append(Data(x=torch.rand(1, 2), edge_index=edge_index[:, :0]))
    writer = PackedWriter(folder, {})
    for graph in graphs:
        writer.append(PackedGraphs.of([graph]))
    writer.finish()
    return graphs
