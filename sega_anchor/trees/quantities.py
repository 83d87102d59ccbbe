"""Tree quantities: size, volume, cut and entropy term of every node of the trees."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.data.datapipes import functional_transform
from torch_geometric.transforms import BaseTransform
from torch_geometric.utils import scatter
from typing_extensions import override

from . import _kernels
from ._as_edges import read_weights
from .build import read_arrays
from .levels import REBUILD, TREE, TreeLevels, check_graphs, has_tree

#: The columns of :func:`tree_quantities`.
QUANTITIES = (
    "size",
    "volume",
    "cut",
    "cut_share",
    "volume_share",
    "entropy",
    "children",
)
NO_TREES = "the graph carries no coding tree: attach one with AddCodingTree"


def tree_quantities(data: Data, weight: str | None = None) -> Tensor:
    r"""Return what the trees of a graph or batch know of their graphs, node by node.

    With :math:`d_v` the weighted degree of vertex v and V the volume of its graph, the
    columns for tree node a, in the order of ``QUANTITIES``, are

    * size: how many vertices are below a,
    * volume :math:`vol_a = \sum_{v \le a} d_v`,
    * cut :math:`g_a`: weight of the edges with exactly one end below a,
    * cut share :math:`g_a / vol_a`, 0 without volume: the conductance of a as long as
      a holds at most half of the volume,
    * volume share :math:`vol_a / vol_{a^-}` of the parent's volume, 1 at roots, 0 if
      the parent has no volume,
    * entropy :math:`-(g_a / V) \log_2 (vol_a / vol_{a^-})` in bits, 0 at roots: their
      sum over a tree is its :func:`~sega_anchor.structural_entropy`,
    * children: how many there are, 0 at leaves.

    Args:
        data: a graph or batch with trees, from ``AddCodingTree`` for one.
        weight: name of an edge attribute that holds edge weights; default: unweighted.

    Returns:
        ``(num_tree_nodes, 7)``, a row for each entry of ``data.coding_tree["level"]``.

    Raises:
        ValueError: without trees, without the edge attribute, and for trees that were
            built from another graph.

    Source: Li and Pan, "Structural information and dynamical complexity of networks",
    2016.

    Example:
        >>> from sega_anchor import AddCodingTree
        >>> path = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]), num_nodes=4)
        >>> pair = tree_quantities(AddCodingTree(height=2)(path))[4]
        >>> dict(zip(QUANTITIES[:4], [round(x, 3) for x in pair.tolist()]))
        {'size': 2.0, 'volume': 3.0, 'cut': 1.0, 'cut_share': 0.333}
    """
    _check(data)
    return _quantities(data, weight)


def _check(data: Data) -> None:
    """Raise ValueError unless there are trees, and they fit their graphs."""
    if not has_tree(data):
        raise ValueError(NO_TREES)
    check_graphs(data)


def _quantities(data: Data, weight: str | None) -> Tensor:
    level, offset = data[TREE]["level"], data[TREE]["parent"]
    size, volume, cut, children = _measure(data, weight).to(level.device)
    up = torch.arange(len(level), device=level.device) + offset
    above = volume[up]
    share = torch.where(above > 0, volume / above, 0.0)
    share[offset == 0] = 1.0
    whole = volume[_roots(offset)]
    bits = torch.where(cut > 0, -(cut / whole) * share.log2(), 0.0)
    cut_share = torch.where(volume > 0, cut / volume, 0.0)
    columns = size, volume, cut, cut_share, share, bits, children
    return torch.stack(columns, dim=1).float()


def _measure(data: Data, weight: str | None) -> Tensor:
    """Return size, volume, cut and number of children, ``(4, num_tree_nodes)``."""
    if data.edge_index is None:
        raise ValueError(f"the graph has no edge_index, got {data}")
    if weight is not None and weight not in data:
        raise ValueError(f"the graph has no edge attribute {weight!r}")
    level, offset = (data[TREE][key].cpu().long() for key in ("level", "parent"))
    own = None if weight is None else read_weights(data[weight])
    edges, n, numbers = read_arrays(data.edge_index, data.num_nodes, own)
    # Not rounded as for a tree: graphs of a batch may differ in the unit of weights.
    graph = _kernels.simple_csr(edges[0], edges[1], numbers, n)
    parts = level.contiguous().numpy(), offset.contiguous().numpy()
    found = _kernels.tree_volumes(graph, *parts)
    if not found.size:
        raise ValueError(f"{TREE} does not fit the graph. {REBUILD}")
    return torch.from_numpy(found)


def _roots(offset: Tensor) -> Tensor:
    """Return the position of the root of each node; each tree ends with its root."""
    at = (offset == 0).nonzero().view(-1)
    below = at.diff(prepend=at.new_tensor([-1]))
    return at.repeat_interleave(below)


def tree_statistics(data: Data, weight: str | None = None) -> Tensor:
    r"""Return a vector of fixed length for each graph: moments of its quantities.

    For each level the logarithm of the number of nodes and the entropy of the level in
    bits, and mean, standard deviation, least and largest value of what
    :func:`scaled` makes of each quantity.

    Args:
        data: a graph or batch whose trees have one height.
        weight: as in :func:`tree_quantities`.

    Returns:
        ``(num_graphs, 30 * (height + 1))``, the leaves' level first.

    Raises:
        ValueError: as in :func:`tree_quantities`, and for trees of several heights.

    Example:
        >>> from sega_anchor import AddCodingTree
        >>> path = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]), num_nodes=4)
        >>> tree_statistics(AddCodingTree(height=2)(path)).shape
        torch.Size([1, 90])
    """
    _check(data)
    return _statistics(data, scaled(_quantities(data, weight)))


def _statistics(data: Data, x: Tensor) -> Tensor:
    """Return the moments of scaled quantities."""
    level, is_root = data[TREE]["level"], data[TREE]["parent"] == 0
    height, graphs = int(level.max()), int(is_root.sum())
    graph = is_root.cumsum(0) - is_root.long()
    group = graph * (height + 1) + level
    groups = graphs * (height + 1)
    count = torch.bincount(group, minlength=groups).to(x.dtype).unsqueeze(1)
    if not bool((count > 0).all()):
        raise ValueError("the trees differ in height: build them with one height")
    mean = scatter(x, group, 0, groups, "sum") / count
    spread = scatter((x - mean[group]).square(), group, 0, groups, "sum") / count
    least = scatter(x, group, 0, groups, "min")
    most = scatter(x, group, 0, groups, "max")
    bits = mean[:, [QUANTITIES.index("entropy")]] * count
    parts = count.log(), bits, mean, spread.sqrt(), least, most
    return torch.cat(parts, dim=1).view(graphs, -1)


def statistics_width(height: int) -> int:
    """Return how many numbers :func:`tree_statistics` has for trees of a height."""
    return (4 * len(QUANTITIES) + 2) * (height + 1)


def scaled(quantities: Tensor) -> Tensor:
    r"""Return :func:`tree_quantities` on scales that networks can read.

    Sizes, volumes, cuts and numbers of children become :math:`\log (1 + x)`; shares
    and entropy terms stay as they are.
    """
    extensive = torch.tensor([1, 1, 1, 0, 0, 0, 1], dtype=torch.bool)
    return torch.where(extensive.to(quantities.device), quantities.log1p(), quantities)


class LevelQuantities(NamedTuple):
    """What a :class:`~sega_anchor.TreeEncoder` sees of quantities.

    Args:
        nodes: :func:`scaled` quantities of each level's nodes, ``(num_nodes, 7)`` each,
            in the order of :class:`~sega_anchor.trees.TreeLevels`.
        statistics: of each graph, see :func:`tree_statistics`.
    """

    nodes: list[Tensor]
    statistics: Tensor


def level_quantities(
    data: Data, levels: TreeLevels, weight: str | None = None
) -> LevelQuantities:
    """Return the quantities of trees, level by level.

    Those that trees carry are taken as they are.

    Args:
        data: a graph or batch with trees.
        levels: of it, from ``tree_levels``.
        weight: as in :func:`tree_quantities`.
    """
    known = carried(data, weight)
    count = [graph.numel() for graph in levels.graphs]
    nodes = known["quantities"][levels.order].split(count)
    return LevelQuantities(list(nodes), known["statistics"])


def carried(data: Data, weight: str | None = None) -> dict[str, Tensor]:
    """Return :func:`scaled` "quantities" and "statistics" of trees that fit the graphs.

    Trees from ``AddCodingTree(quantities=True)`` carry them; otherwise they are
    computed.
    """
    tree: dict[str, Tensor] = data[TREE]
    if "statistics" in tree:
        return tree
    found = scaled(_quantities(data, weight))
    return {"quantities": found, "statistics": _statistics(data, found)}


def attach_quantities(data: Data, weight: str | None = None) -> Data:
    """Let trees that fit their graphs carry their quantities and statistics."""
    data[TREE] = {**data[TREE], **carried(data, weight)}
    return data


@functional_transform("add_tree_statistics")
class AddTreeStatistics(BaseTransform):  # type: ignore[misc]
    """Attach :func:`tree_statistics` as ``data.tree_statistics``.

    Args:
        weight: name of an edge attribute that holds edge weights; default: unweighted.

    Example:
        >>> from torch_geometric.transforms import Compose
        >>> from sega_anchor import AddCodingTree
        >>> path = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
        >>> both = Compose([AddCodingTree(height=2), AddTreeStatistics()])
        >>> both(path).tree_statistics.shape
        torch.Size([1, 90])
    """

    def __init__(self, weight: str | None = None) -> None:
        self.weight = weight

    @override
    def forward(self, data: Data) -> Data:
        """Attach the statistics."""
        data.tree_statistics = tree_statistics(data, self.weight)
        return data

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}(weight={self.weight!r})"
