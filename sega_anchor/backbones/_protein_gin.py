"""ProteinGIN: the graph encoder of transfer learning on protein networks."""

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import Data
from typing_extensions import override

from ..nn.batch_norm import BatchNorm
from ..utils.scatter import num_graphs, pool, prefix_sum
from ._layers import check_dropout, check_features, check_sizes, sum_with_neighbours

_RELATIONS = 9  # seven in the data, the loop that is added here, and a mask
_LOOP = 7


class ProteinGIN(nn.Module):
    r"""GIN over proteins and their relations, as pre-trained by Hu et al. and GraphCL.

    .. math::
        x_i \leftarrow \mathrm{MLP} \Big( \sum_{j \in N(i) \cup \{i\}}
            \big[ x_j, \; W e_{ij} + b \big] \Big)

    starting from one embedding for all nodes, with a loop of relation 7 at every node.
    The MLP is Linear - BatchNorm - ReLU - Linear, twice as wide inside; ReLU follows
    every layer but the last, then dropout.

    ``data.edge_attr`` is ``(num_edges, 9)``: seven relations, 0 or 1, the loop and the
    mask, both 0 in data; loops are added here. ``data.x``, ``(num_nodes, 1)``, is 1
    everywhere (0 selects an embedding that no published model trains); it may be
    missing. ``data.center_node_idx``, for :meth:`represent` only, is one number per
    graph, **counted from that graph's first node**: PyG does not shift it in a batch,
    as its name contains neither "index" nor "batch".

    Args:
        hidden_channels: width of every layer. (default: :obj:`300`)
        num_layers: number of layers. (default: :obj:`5`)
        dropout: share dropped after each layer in training. (default: :obj:`0.0`)

    Raises:
        ValueError: for a size below 1, a dropout outside [0, 1), features of another
            shape or range, or centre nodes that are missing or not in their graphs.

    Source: repositories snap-stanford/pretrain-gnns and Shen-Lab/GraphCL
    (bio/model.py), ``GNN`` with JK "last". Parameters have the same names and
    initialisation, so weights load in both directions. Their loader shifts the centres
    when it makes a batch; here :meth:`represent` does.

    Example:
        >>> data = Data(
        ...     edge_index=torch.tensor([[0, 1], [1, 0]]),
        ...     edge_attr=torch.eye(9)[[0, 0]],
        ...     num_nodes=2,
        ...     center_node_idx=0,
        ... )
        >>> encoder = ProteinGIN()
        >>> encoder.encode(data).shape, encoder.represent(data).shape
        (torch.Size([1, 300]), torch.Size([1, 600]))
    """

    def __init__(
        self, hidden_channels: int = 300, num_layers: int = 5, dropout: float = 0.0
    ) -> None:
        super().__init__()
        check_sizes(hidden_channels=hidden_channels, num_layers=num_layers)
        check_dropout(dropout)
        self.out_channels = hidden_channels
        self.gnns = nn.ModuleList(
            _Layer(hidden_channels, first=i == 0) for i in range(num_layers)
        )
        self.dropout = nn.Dropout(dropout)

    @override
    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        """Return one vector per node, ``(num_nodes, hidden_channels)``."""
        check_features("x", x, 1)
        check_features("edge_attr", edge_attr, _RELATIONS, edge_index.size(1))
        if bool(((x != 0) & (x != 1)).any()):
            raise ValueError(
                f"x must be 0 or 1 everywhere, got {x.min():g} to {x.max():g}: leave "
                "it out if all nodes are alike"
            )
        weight = next(self.parameters())
        h = functional.one_hot(x.long().view(-1), 2).to(weight)
        relations = _sum_relations(edge_index, edge_attr.to(weight), len(x))
        last = len(self.gnns) - 1
        for i, layer in enumerate(self.gnns):
            h = layer(h, edge_index, relations)
            h = self.dropout(h if i == last else h.relu())
        return h

    def encode(self, data: Data) -> Tensor:
        """Return the mean of each graph's nodes, ``(num_graphs, hidden_channels)``."""
        return _pool(self._nodes(data), data)

    def represent(self, data: Data) -> Tensor:
        """Return that mean, concatenated with the centre node's vector.

        Hu et al. and GraphCL fine-tune this and pre-train with :meth:`encode`.
        """
        centres = _centres(data)
        nodes = self._nodes(data)
        return torch.cat([_pool(nodes, data), nodes[centres]], dim=1)

    def _nodes(self, data: Data) -> Tensor:
        x = data.x
        if x is None:
            x = data.edge_index.new_ones(data.num_nodes, 1)
        nodes: Tensor = self(x, data.edge_index, data.edge_attr)
        return nodes


class _Layer(nn.Module):
    """A layer; the first one takes one-hot kinds of nodes."""

    def __init__(self, width: int, first: bool) -> None:
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(2 * width, 2 * width),
            BatchNorm(2 * width),
            nn.ReLU(),
            nn.Linear(2 * width, width),
        )
        self.edge_encoder = nn.Linear(_RELATIONS, width)
        self.first = first
        if first:
            self.input_node_embeddings = nn.Embedding(2, width)
            nn.init.xavier_uniform_(self.input_node_embeddings.weight)

    @override
    def forward(self, x: Tensor, edge_index: Tensor, relations: Tensor) -> Tensor:
        x = sum_with_neighbours(x, edge_index)
        if self.first:
            x = x @ self.input_node_embeddings.weight
        # The last column counts the summands, each of which adds the bias.
        encoder = self.edge_encoder
        weight = torch.cat([encoder.weight, encoder.bias.unsqueeze(1)], dim=1)
        summed = functional.linear(relations, weight)
        out: Tensor = self.mlp(torch.cat([x, summed], dim=1))
        return out


def _sum_relations(edge_index: Tensor, edge_attr: Tensor, num_nodes: int) -> Tensor:
    """Sum the relations at each node, loop included, and count them in a last column.

    The encoder is linear, so layers encode this sum instead of each relation, and need
    no vector per edge.
    """
    rows = functional.pad(edge_attr, (0, 1), value=1.0)
    relations = rows.new_zeros(num_nodes, _RELATIONS + 1)
    relations[:, [_LOOP, _RELATIONS]] = 1
    return relations.index_add(0, edge_index[1], rows)


def _pool(nodes: Tensor, data: Data) -> Tensor:
    return pool(nodes, data.batch, num_graphs(data), mean=True)


def _centres(data: Data) -> Tensor:
    """Return the position of each graph's centre in the batch, ``(num_graphs,)``."""
    center = data.get("center_node_idx")
    if center is None:
        raise ValueError(
            "the data has no center_node_idx: store one node number per graph, or use "
            "encode, which needs none"
        )
    begin = data.get("ptr")
    if begin is None:
        sizes = data.edge_index.new_tensor([data.num_nodes])
        begin = prefix_sum(sizes if data.batch is None else data.batch.bincount())
    center = torch.as_tensor(center, device=begin.device).view(-1)
    sizes = begin.diff()
    if center.shape != sizes.shape:
        raise ValueError(
            f"center_node_idx must be one number per graph, got {len(center)} for "
            f"{len(sizes)} graphs"
        )
    wrong = (center < 0) | (center >= sizes)
    if bool(wrong.any()):
        raise ValueError(
            f"center_node_idx {center[wrong].tolist()[0]} is not a node of its graph "
            f"of {sizes[wrong].tolist()[0]}: count from each graph's own first node"
        )
    centres: Tensor = begin[:-1] + center
    return centres
