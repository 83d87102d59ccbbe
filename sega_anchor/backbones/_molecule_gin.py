"""MoleculeGIN: the graph encoder of transfer learning on molecules."""

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from typing_extensions import override

from ..nn.batch_norm import BatchNorm
from ..utils.scatter import num_graphs, pool
from ._layers import check_dropout, check_features, check_sizes, sum_with_neighbours

# Rows of the published tables. The last atom is a mask; the last two bond types are the
# loop, which is added here to every atom, and a mask.
_ATOMS, _CHIRALITIES, _BONDS, _DIRECTIONS = 120, 3, 6, 3
_LOOP = 4


class MoleculeGIN(nn.Module):
    r"""GIN over atoms and bonds, as pre-trained by Hu et al., GraphCL and SEGA.

    .. math::
        x_i \leftarrow \mathrm{BN} \, \mathrm{MLP} \Big(
            \sum_{j \in N(i) \cup \{i\}} x_j + e^1_{type(ij)} + e^2_{direction(ij)}
        \Big)

    from :math:`x_i` = embedded atom + embedded chirality, with a loop of type 4 and
    direction 0 at every atom; the MLP is Linear - ReLU - Linear, twice as wide inside;
    ReLU after every layer but the last, then dropout. A molecule is the mean of its
    atoms after the last layer.

    ``data.x``, long ``(num_nodes, 2)``: index of the atom, 0 to 118 (atomic number
    minus one), and of its chirality, 0 to 3. ``data.edge_attr``, long ``(num_edges,
    2)``: bond type, 0 to 3, and direction, 0 to 2. Loops are added here.

    Args:
        hidden_channels: width of every layer and of the result. (default: :obj:`300`)
        num_layers: number of layers. (default: :obj:`5`)
        dropout: share dropped after each layer in training. (default: :obj:`0.0`)

    Raises:
        ValueError: for a size below 1, a dropout outside [0, 1), or features of another
            shape, type or range.

    Source: repositories snap-stanford/pretrain-gnns and Shen-Lab/GraphCL
    (chem/model.py), ``GNN`` with JK "last". Parameters have the same names and
    initialisation, so weights load in both directions. Their chirality table has three
    rows: the rare chirality 3 (other), an error there, is read as row 0 here.

    Example:
        >>> ethanol = Data(
        ...     x=torch.tensor([[5, 0], [5, 0], [7, 0]]),
        ...     edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]),
        ...     edge_attr=torch.zeros(4, 2, dtype=torch.long),
        ... )
        >>> MoleculeGIN().encode(ethanol).shape
        torch.Size([1, 300])
    """

    def __init__(
        self, hidden_channels: int = 300, num_layers: int = 5, dropout: float = 0.0
    ) -> None:
        super().__init__()
        check_sizes(hidden_channels=hidden_channels, num_layers=num_layers)
        check_dropout(dropout)
        self.out_channels = width = hidden_channels
        self.x_embedding1 = _table(_ATOMS, width)
        self.x_embedding2 = _table(_CHIRALITIES, width)
        self.gnns = nn.ModuleList(_Layer(width) for _ in range(num_layers))
        self.batch_norms = nn.ModuleList(BatchNorm(width) for _ in range(num_layers))
        self.dropout = nn.Dropout(dropout)

    @override
    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        """Return one vector per atom, ``(num_nodes, hidden_channels)``."""
        check_features("x", x, 2)
        check_features("edge_attr", edge_attr, 2, edge_index.size(1))
        _check_range("x", x, (_ATOMS - 2, _CHIRALITIES))
        _check_range("edge_attr", edge_attr, (_LOOP - 1, _DIRECTIONS - 1))
        atom, chirality = x.unbind(1)
        chirality = chirality.masked_fill(chirality == _CHIRALITIES, 0)
        h: Tensor = self.x_embedding1(atom) + self.x_embedding2(chirality)
        bonds = _count_bonds(edge_index, edge_attr, len(x)).to(h.dtype)
        last = len(self.gnns) - 1
        for i, (layer, norm) in enumerate(
            zip(self.gnns, self.batch_norms, strict=True)
        ):
            h = norm(layer(h, edge_index, bonds))
            h = self.dropout(h if i == last else h.relu())
        return h

    def encode(self, data: Data) -> Tensor:
        """Return one vector per molecule of a batch, or of a single molecule."""
        atoms = self(data.x, data.edge_index, data.edge_attr)
        return pool(atoms, data.batch, num_graphs(data), mean=True)


class _Layer(nn.Module):
    """A layer without its BatchNorm."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width)
        )
        self.edge_embedding1 = _table(_BONDS, width)
        self.edge_embedding2 = _table(_DIRECTIONS, width)

    @override
    def forward(self, x: Tensor, edge_index: Tensor, bonds: Tensor) -> Tensor:
        tables = torch.cat([self.edge_embedding1.weight, self.edge_embedding2.weight])
        out: Tensor = self.mlp(sum_with_neighbours(x, edge_index) + bonds @ tables)
        return out


def _table(rows: int, width: int) -> nn.Embedding:
    table = nn.Embedding(rows, width)
    nn.init.xavier_uniform_(table.weight)
    return table


def _count_bonds(edge_index: Tensor, edge_attr: Tensor, num_nodes: int) -> Tensor:
    """Count each atom's bonds by type, then by direction, loop included.

    The sum of embedded bonds is the product of these counts and the tables. The counts
    are the same in every layer, so no layer needs a vector per edge.
    """
    width = _BONDS + _DIRECTIONS
    place = edge_index[1].unsqueeze(1) * width + edge_attr
    place[:, 1] += _BONDS
    counts = place.view(-1).bincount(minlength=num_nodes * width).view(-1, width)
    counts[:, [_LOOP, _BONDS]] += 1
    return counts


def _check_range(name: str, values: Tensor, greatest: tuple[int, int]) -> None:
    if values.dtype != torch.long:
        raise ValueError(f"{name} must be of type torch.long, got {values.dtype}")
    if bool(((values < 0) | (values > values.new_tensor(greatest))).any()):
        raise ValueError(
            f"the columns of {name} must be in 0..{greatest[0]} and 0..{greatest[1]}, "
            f"got {values.amin(0).tolist()} to {values.amax(0).tolist()}"
        )
