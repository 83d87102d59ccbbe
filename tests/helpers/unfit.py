"""Batches whose indices do not fit, and everything that must refuse them."""

from typing import Any

import torch
from torch_geometric.data import Batch, Data

from sega_anchor.augment import (
    AttributeMask,
    Augmentation,
    Chosen,
    EdgePerturb,
    Identity,
    NodeDrop,
    RandomChoice,
    Released,
    Subgraph,
    augmentation,
)

EVERY: dict[str, Augmentation] = {
    "NodeDrop": NodeDrop(),
    "EdgePerturb": EdgePerturb(),
    "EdgePerturb, directed": EdgePerturb(mode="directed"),
    "EdgePerturb, adding": EdgePerturb(add=True),
    "Subgraph": Subgraph(),
    "Subgraph, star": Subgraph(mode="star"),
    "AttributeMask": AttributeMask(),
    "AttributeMask, mean": AttributeMask(mode="mean"),
    "Identity": Identity(),
    "RandomChoice": RandomChoice([NodeDrop(), Subgraph()]),
    "Chosen": Chosen([NodeDrop(), Identity()], torch.tensor([0, 1])),
    "Released": Released(NodeDrop()),
    "random4": augmentation("random4"),
}
PATH = [[0, 1, 2], [1, 2, 3]]

#: What is wrong with a batch of two paths of four nodes, and what is said of it.
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "beyond": (
        {"edge_index": [[0, 1, 9], [1, 2, 3]]},
        r"edge 2 joins nodes \[9, 3\], which are no two of 8 nodes in the same graph",
    ),
    "far beyond": ({"edge_index": [[0, 10**9], [1, 2]]}, r"edge 1 joins nodes \[10{9}"),
    "negative": ({"edge_index": [[0, 1], [1, -1]]}, r"edge 1 joins nodes \[1, -1\]"),
    "across": ({"edge_index": [[0, 3], [1, 4]]}, r"edge 1 joins nodes \[3, 4\]"),
    "floats": ({"edge_index": [[0.0], [1.0]]}, "edge_index must be int64 or int32"),
    "bools": ({"edge_index": [[True], [True]]}, "edge_index must be int64 or int32"),
    "three rows": ({"edge_index": [[0], [1], [2]]}, r"edge_index must be .*\(3, 1\)"),
    "one row": ({"edge_index": [0, 1]}, r"edge_index must be .*shape \(2,\)"),
    "unsorted": ({"batch": [0, 1, 0, 1, 0, 1, 0, 1]}, "batch must number the graphs"),
    "negative graph": ({"batch": [-1] * 4 + [0] * 4}, "batch must number the graphs"),
    "graph too far": ({"batch": [0] * 4 + [7] * 4}, "ptr is not where the graphs"),
    "huge graph": (
        {"batch": [0] * 4 + [10**12] * 4, "ptr": None},
        r"batch names graph 10{12}, but there are 8 nodes",
    ),
    "float batch": ({"batch": [0.0] * 4 + [1.0] * 4}, "batch must be int64 or int32"),
    "short batch": (
        {"batch": [0] * 4 + [1], "ptr": [0, 4, 5], "edge_index": [[0], [1]]},
        "x has 8 rows but batch 5",
    ),
    "stale ptr": ({"ptr": [0, 3, 8]}, "ptr is not where the graphs .*delete data.ptr"),
    "falling ptr": ({"ptr": [0, 9, 8]}, "ptr is not where the graphs"),
    "long ptr": ({"ptr": [0, 4, 9]}, "ptr is not where the graphs"),
    "float ptr": ({"ptr": [0.0, 4.0, 8.0]}, "ptr must be int64 or int32"),
}


def pair(**wrong: Any) -> Batch:
    path = Data(x=torch.rand(4, 2), edge_index=torch.tensor(PATH))
    batch = Batch.from_data_list([path, path])
    for name, value in wrong.items():
        if value is None:
            delattr(batch, name)
        else:
            batch[name] = torch.tensor(value)
    return batch
