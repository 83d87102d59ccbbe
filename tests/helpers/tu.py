"""Archives in the format of the TU collection."""

import zipfile
from collections.abc import Iterable
from pathlib import Path

from torch_geometric.data import Data


def write_tu(folder: Path, name: str, graphs: Iterable[Data]) -> Path:
    """Write labelled graphs as NAME.zip; return the folder."""
    folder.mkdir(exist_ok=True)
    edges, indicator, labels, first = [], [], [], 1
    for number, graph in enumerate(graphs, 1):
        edges += [f"{u + first}, {v + first}" for u, v in graph.edge_index.t().tolist()]
        indicator += [str(number)] * graph.num_nodes
        labels.append(str(int(graph.y)))
        first += graph.num_nodes
    parts = {"A": edges, "graph_indicator": indicator, "graph_labels": labels}
    with zipfile.ZipFile(folder / f"{name}.zip", "w") as file:
        for part, lines in parts.items():
            file.writestr(f"{name}/{name}_{part}.txt", "\n".join(lines) + "\n")
    return folder
