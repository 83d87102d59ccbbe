"""AnchorView: tree transform, tree encoder and loss hook, joined."""

import copy

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import Data
from torch_geometric.utils import degree, one_hot
from typing_extensions import override

from ..trees._as_edges import refuse_hetero
from ..trees.build import TreeMethod
from ..trees.levels import has_fingerprint, has_tree, tree_levels
from ..trees.quantities import carried, level_quantities, statistics_width
from ..trees.transforms import AddCodingTree, AddTree
from ..utils import warn_caller
from .nt_xent import NTXent
from .tree_encoder import Readout, TreeEncoder

NO_TREES = (
    "The batch carries no coding trees, so they are built at every step. To build them "
    "once, give anchor.transform to the data set as pre_transform, or train on "
    "[anchor.transform(g) for g in dataset]; dataset.transform = anchor.transform "
    "builds them in the loader."
)
UNKNOWN_GRAPHS = (
    "The batch's coding trees do not say what graphs they were built from (there is no "
    "fingerprint in coding_tree, or no edge_index), so a change of edges would not be "
    "noticed: attach them with AnchorView.transform or AddCodingTree"
)


class AnchorView(nn.Module):
    r"""The anchor view of a graph contrastive method: the essential half of the pair.

    Each graph's coding tree of small structural entropy is encoded from the leaves to
    the root, and contrasted with the view that your method makes::

        anchor = AnchorView(dataset.num_features, height=3)
        dataset = [anchor.transform(g) for g in dataset]  # optional: trees once
        optimizer.add_param_group({"params": anchor.parameters()})
        ...
        loss = anchor.loss(encoder(augment(data)), data)

    Args:
        in_channels: width of ``data.x`` (or of ``data.tree_x``, if graphs have one).
        hidden_channels: width of the tree encoder. (default: :obj:`32`)
        out_channels: width of the anchor, that of the other view. (default: :obj:`96`)
        height: level of the roots, at least 2. (default: :obj:`3`)
        method: see :func:`~sega_anchor.build_coding_tree`; ignored with ``transform``.
        max_degree: give the leaves a one-hot degree, capped here, behind their
            features; needed if graphs have no features (``in_channels=0``). The paper
            uses 100, and 10 for DD and the REDDIT sets. (default: :obj:`None`, off)
        readout, link_input, drop_root, dropout: see :class:`TreeEncoder`.
        loss: takes (anchor, view); default ``NTXent(temperature=0.2)``.
        transform: another tree transform of the same height, such as
            ``AddRandomTree``; default ``AddCodingTree(height, method)``.
        quantities: let the encoder see sizes, volumes and cuts of the trees, see
            :class:`TreeEncoder`, and the loss ask the other view for them, see
            :meth:`prediction`; trees from :attr:`transform` then carry them. Not in the
            paper. (default: :obj:`False`)
        strict: refuse trees that do not say what graph they were built from, made by
            hand perhaps; default: warn once. (default: :obj:`False`)

    Raises:
        ValueError: for sizes that cannot be used; later for batches whose features are
            missing or of another width, or whose graphs are not those that their trees
            were built from.

    Source: Wu et al., ICML 2023; repository Wu-Junran/SEGA. The projection head
    (Linear - ReLU - Linear) belongs to the view; :meth:`embed` gives what is evaluated.

    Example:
        >>> from torch_geometric.data import Data
        >>> data = Data(x=torch.ones(3, 2), edge_index=torch.tensor([[0, 1], [1, 2]]))
        >>> anchor = AnchorView(in_channels=2, out_channels=8, height=2)
        >>> anchor(anchor.transform(data)).shape
        torch.Size([1, 8])
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int = 32,
        out_channels: int = 96,
        height: int = 3,
        method: TreeMethod = "refined",
        max_degree: int | None = None,
        readout: Readout = "sum",
        link_input: bool = False,
        drop_root: bool = False,
        dropout: float = 0.0,
        loss: nn.Module | None = None,
        transform: AddTree | None = None,
        strict: bool = False,
        quantities: bool = False,
    ) -> None:
        super().__init__()
        if max_degree is not None and max_degree < 0:
            raise ValueError(f"max_degree must not be negative, got {max_degree!r}")
        if in_channels == 0 and max_degree is None:
            raise ValueError(
                "in_channels is 0, so the leaves would have no features: give the "
                "graphs features, or pass max_degree=100 for degrees"
            )
        self.transform: AddTree = transform or AddCodingTree(height, method)
        if self.transform.height != height:
            raise ValueError(
                f"height is {height}, but the transform builds trees of height "
                f"{self.transform.height}: pass the same height to both"
            )
        if quantities:
            self.transform = copy.copy(self.transform)
            self.transform.quantities = True
        self.quantities = quantities
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.height = height
        self.max_degree = max_degree
        width = in_channels + (0 if max_degree is None else max_degree + 1)
        self.encoder = TreeEncoder(
            width,
            hidden_channels,
            out_channels,
            height,
            readout,
            link_input,
            drop_root,
            dropout,
            quantities,
        )
        self.head = nn.Sequential(
            nn.Linear(out_channels, out_channels),
            nn.ReLU(),
            nn.Linear(out_channels, out_channels),
        )
        if quantities:
            self.predictor = nn.Sequential(
                nn.Linear(out_channels, out_channels),
                nn.ReLU(),
                nn.Linear(out_channels, statistics_width(height)),
            )
        self.criterion = loss or NTXent(temperature=0.2)
        self.strict = strict
        self._hints: set[str] = set()

    @override
    def forward(self, data: Data, x: Tensor | None = None) -> Tensor:
        """Return the projected anchors ``(num_graphs, out_channels)``.

        Args:
            data: a graph or batch; trees it lacks are built, with a hint once.
            x: leaf features ``(num_nodes, in_channels)`` in place of ``data.x``.
        """
        anchor: Tensor = self.head(self.embed(data, x))
        return anchor

    def embed(self, data: Data, x: Tensor | None = None) -> Tensor:
        """Return the embeddings before the head (the paper's T), arguments as above."""
        data = self._with_trees(data)
        leaves = self._leaf_features(data, x)
        levels = tree_levels(data, self.height)
        known = None
        if self.quantities:
            known = level_quantities(data, levels, self.transform.weight)
        embedding: Tensor = self.encoder(leaves, levels, known)
        return embedding

    def loss(self, z_view: Tensor, data: Data, x: Tensor | None = None) -> Tensor:
        """Return the contrastive loss of the other view's vectors against the anchors.

        With ``quantities`` :meth:`prediction` is added.

        Args:
            z_view: ``(num_graphs, out_channels)``, row i from graph i of ``data``.
            data: the original graphs, not the augmented ones.
            x: as in :meth:`forward`.
        """
        data = self._with_trees(data)
        value: Tensor = self.criterion(self(data, x), z_view)
        if self.quantities:
            value = value + self.prediction(z_view, self.statistics(data))
        return value

    def statistics(self, data: Data) -> Tensor:
        """Return :func:`~sega_anchor.trees.quantities.tree_statistics` of a batch.

        Whether its trees fit its graphs is for :meth:`embed` to check.
        """
        found = carried(data, self.transform.weight)["statistics"]
        return found.to(self.encoder.align.weight.dtype)

    def prediction(self, z_view: Tensor, statistics: Tensor) -> Tensor:
        r"""Return how badly the other view foretells what the trees know.

        .. math::
            \frac{1}{N w} \sum_{i=1}^N \| p(\mathrm{asinh}\, z_i) - \hat s_i \|^2

        with p a network of one hidden layer and :math:`\hat s_i` the statistics of
        graph i, each of the w columns standardised over the N graphs. Unlike the
        contrast it needs no negatives. As z may be a sum over thousands of nodes, and
        statistics are logarithms, p sees the logarithm of what is large.

        Args:
            z_view: as in :meth:`loss`.
            statistics: from :meth:`statistics`.
        """
        centred = statistics - statistics.mean(dim=0)
        # Not var, which is slow along this dimension.
        wanted = centred / (centred.square().mean(dim=0) + 1e-5).sqrt()
        value: Tensor = functional.mse_loss(self.predictor(z_view.asinh()), wanted)
        return value

    @override
    def extra_repr(self) -> str:
        """Name what the submodules do not show."""
        return f"transform={self.transform!r}, max_degree={self.max_degree!r}"

    def _with_trees(self, data: Data) -> Data:
        """Return the batch with trees, built here if it has none."""
        refuse_hetero(data)
        if not has_tree(data):
            self._hint(NO_TREES)
            with_trees: Data = self.transform(data)
            return with_trees
        if not has_fingerprint(data):
            if self.strict:
                raise ValueError(f"{UNKNOWN_GRAPHS}, or pass strict=False")
            self._hint(UNKNOWN_GRAPHS)
        return data

    def _leaf_features(self, data: Data, x: Tensor | None) -> Tensor:
        parts = []
        if self.in_channels:
            if x is None:
                x = data.tree_x if "tree_x" in data else data.x
            if x is None:
                raise ValueError(
                    f"the graphs have no features x, but in_channels is "
                    f"{self.in_channels}: add them, or pass in_channels=0 and "
                    "max_degree=100"
                )
            if x.dim() != 2 or x.size(1) != self.in_channels:
                raise ValueError(
                    f"leaf features must have shape (num_nodes, {self.in_channels}), "
                    f"got {tuple(x.shape)}: pass in_channels={x.size(-1)}"
                )
            parts.append(x.to(self.encoder.align.weight.dtype))
        if self.max_degree is not None:
            parts.append(degree_features(data, self.max_degree))
        return torch.cat(parts, dim=1)

    def _hint(self, words: str) -> None:
        """Warn, the first time."""
        if words not in self._hints:
            self._hints.add(words)
            warn_caller(words)


def degree_features(data: Data, max_degree: int) -> Tensor:
    """Return one-hot in-degrees ``(num_nodes, max_degree + 1)``, larger ones capped.

    Example:
        >>> edge_index = torch.tensor([[0, 1, 0, 2], [1, 0, 2, 0]])
        >>> star = Data(edge_index=edge_index, num_nodes=3)
        >>> degree_features(star, max_degree=1)
        tensor([[0., 1.],
                [0., 1.],
                [0., 1.]])
    """
    count = degree(data.edge_index[1], data.num_nodes, dtype=torch.long)
    features: Tensor = one_hot(count.clamp(max=max_degree), max_degree + 1)
    return features
