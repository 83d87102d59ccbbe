"""digest: packed graphs, known by their content."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .packed_graphs import PackedGraphs


def digest(graphs: PackedGraphs, **beside: Tensor | Sequence[str] | None) -> str:
    """Return a digest of all that graphs hold, so that no result serves others.

    It covers every field by name, type, shape and values, and where each graph begins;
    the types in which :meth:`PackedGraphs.compact` keeps them make no difference.

    Args:
        graphs: in memory, on a GPU or mapped from disk.
        beside: what else decides, by name, such as labels or a split.

    Example:
        >>> from torch_geometric.data import Data
        >>> pair = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))
        >>> graphs = PackedGraphs.of([pair, pair])
        >>> digest(graphs)
        '2 graphs, sha256 758fb38961b591ee'
        >>> digest(graphs) == digest(graphs.compact())
        True
        >>> digest(graphs) == digest(graphs, labels=torch.tensor([0, 1]))
        False
    """
    graphs = graphs.compact()
    columns = {name: graphs.columns[name] for name in graphs.fields}
    used = {"node"}.union(*({c.rows, c.shift} for c in columns.values()))
    values = {name: list(each) for name, each in graphs.values.items()}
    words = [graphs.kind.__name__, {n: repr(c) for n, c in columns.items()}, values]
    parts: dict[str, Any] = {
        "words": json.dumps(words, sort_keys=True, default=lambda v: type(v).__name__),
        **{f"field {name}": field for name, field in graphs.fields.items()},
        **{f"ptr {name}": ptr for name, ptr in graphs.ptr.items() if name in used},
        **{f"beside {name}": value for name, value in beside.items()},
    }
    found = hashlib.sha256()
    for name, part in sorted(parts.items()):
        if not isinstance(part, Tensor):
            text = json.dumps(part).encode()
            part = torch.frombuffer(bytearray(text), dtype=torch.uint8)
        found.update(f"|{name} {part.dtype} {list(part.shape)}|".encode())
        found.update(part.cpu().reshape(-1).view(torch.uint8).numpy().data)
    return f"{len(graphs)} graphs, sha256 {found.hexdigest()[:16]}"
