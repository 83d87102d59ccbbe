"""Domains of transfer learning: what molecules and proteins do not share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot
from torch_geometric.data import Data

from ...augment import (
    Augmentation,
    EdgePerturb,
    Identity,
    NodeDrop,
    RandomChoice,
    Released,
    Subgraph,
)
from ...backbones import MoleculeGIN, ProteinGIN
from ...nn import AnchorView, Readout
from ...trees import AddTree
from ..settings import Protocol

DomainName = Literal["molecules", "proteins"]
_ATOMS, _CHIRALITIES = 119, 4


@dataclass(frozen=True)
class Domain:
    """A kind of graph, its encoder and its views.

    Args:
        name: of the kind.
        encoder: class of its encoder, called with width, layers and dropout.
        perturb: whether augmentations remove edges, beside nodes and all but a
            subgraph, as published.
        leaf_channels: width of ``leaves``, 0 without.
        max_degree: cap of the one-hot degree that the trees' leaves have as well.
        leaves: features of the leaves, from a batch.
        represent: name of the encoder's method that gives what is fine-tuned.
        parts: how many vectors of the encoder's width that gives side by side.
        released_subgraph: how the released code draws a subgraph.
        released_choice: by which the released code takes the epoch of fine-tuning.
    """

    name: DomainName
    encoder: Callable[[int, int, float], nn.Module]
    perturb: bool
    leaf_channels: int
    max_degree: int
    leaves: Callable[[Data], Tensor] | None
    represent: str
    parts: int
    released_subgraph: Literal["star", "neighbourhood"]
    released_choice: Literal["last", "validation"]

    def augmentation(self, ratio: float, protocol: Protocol = "honest") -> Augmentation:
        """Return the published choice of views: for each graph one, at random.

        Under "paper" the views are those of the released code, which gives up a view
        that has no edge: the graph then stays as it is.
        """
        honest = protocol == "honest"
        kinds: list[Augmentation] = [
            NodeDrop(ratio),
            Subgraph(ratio, mode="walk" if honest else self.released_subgraph),
        ]
        if self.perturb:
            mode: Literal["undirected", "directed"]
            mode = "undirected" if honest else "directed"
            kinds.append(EdgePerturb(ratio, mode=mode, add=honest))
        drawn = RandomChoice(kinds)
        return drawn if honest else Released(drawn, Identity(), cleanup=False)

    def anchor(
        self,
        width: int,
        transform: AddTree,
        quantities: bool = False,
        readout: Readout = "sum",
    ) -> AnchorView:
        """Return an anchor view as wide as the encoder."""
        return AnchorView(
            self.leaf_channels,
            width,
            width,
            transform.height,
            max_degree=self.max_degree,
            readout=readout,
            transform=transform,
            quantities=quantities,
        )


def atom_features(data: Data) -> Tensor:
    """Return one-hot atom numbers and chiralities, ``(num_nodes, 123)``.

    The paper does not say what the leaves of a molecule's tree are: these are the two
    numbers that Hu et al.'s encoder embeds.

    Example:
        >>> atom_features(Data(x=torch.tensor([[5, 0]]))).nonzero()[:, 1]
        tensor([  5, 119])
    """
    atoms = one_hot(data.x[:, 0], _ATOMS)
    return torch.cat([atoms, one_hot(data.x[:, 1], _CHIRALITIES)], dim=1).float()


#: Source: repository Shen-Lab/GraphCL, transferLearning_MoleculeNet_PPI.
DOMAINS: dict[DomainName, Domain] = {
    "molecules": Domain(
        name="molecules",
        encoder=MoleculeGIN,
        perturb=False,
        leaf_channels=_ATOMS + _CHIRALITIES,
        max_degree=10,
        leaves=atom_features,
        represent="encode",
        parts=1,
        released_subgraph="star",
        released_choice="last",
    ),
    "proteins": Domain(
        name="proteins",
        encoder=ProteinGIN,
        perturb=True,
        leaf_channels=0,  # all proteins are alike but for their degrees
        max_degree=100,
        leaves=None,
        represent="represent",
        parts=2,
        released_subgraph="neighbourhood",
        released_choice="validation",
    ),
}
