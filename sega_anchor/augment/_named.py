"""augmentation: build an augmentation from its name in GraphCL's code."""

from typing import Literal

from ..utils.checks import check_choice
from ._attribute_mask import AttributeMask
from ._edge_perturb import EdgePerturb, PerturbMode
from ._identity import Identity
from ._node_drop import NodeDrop
from ._random_choice import RandomChoice
from ._released import Released
from ._subgraph import Subgraph
from ._view_draft import Augmentation

Variant = Literal["released", "semi-supervised", "paper"]

_CHOICES = {
    "random2": ("dnodes", "subgraph"),
    "random3": ("dnodes", "pedges", "subgraph"),
    "random4": ("dnodes", "pedges", "subgraph", "mask_nodes"),
}
_SINGLE = ("dnodes", "pedges", "pedges_add", "subgraph", "mask_nodes")
_KNOWN = (*_SINGLE, "none", *_CHOICES)
#: What the released loops leave without clean-up.
_AS_DRAWN = ("pedges", "pedges_add", "mask_nodes")


def augmentation(
    name: str,
    ratio: float | None = None,
    variant: Variant = "released",
) -> Augmentation:
    """Build an augmentation from the name it has in GraphCL's and SEGA's code.

    ``"released"`` drops 10 % of nodes or directed columns, masks 10 % of rows, or keeps
    a star of 20 % of nodes, and finishes the view with :class:`.Released` (without
    clean-up for pedges and mask_nodes alone). ``"paper"`` uses 20 % throughout,
    undirected edges and walks, and does not clean up. random2 draws dnodes or subgraph
    for each graph; random3 also pedges; random4 also mask_nodes.

    ``"semi-supervised"`` is what GraphCL's code for few labels draws: 20 % throughout,
    directed columns, for each of which pedges adds a random pair, stars, masks that
    hold the mean over the graph, and no clean-up.

    pedges only drops, as SEGA's text and code do. pedges_add adds as many random pairs
    as it drops: GraphCL's Table 1 and, "released", its semi-supervised code.

    Args:
        name: dnodes, pedges, pedges_add, subgraph, mask_nodes, none, random2, random3
            or random4.
        ratio: strength of all parts; default as above.
        variant: ``"released"``, ``"semi-supervised"`` or ``"paper"``.

    Raises:
        ValueError: for an unknown name or variant, or a ratio outside [0, 1].

    Example:
        >>> augmentation("subgraph", variant="paper")
        Subgraph(ratio=0.2, mode='walk')
        >>> augmentation("pedges")
        Released(augmentation=EdgePerturb(ratio=0.1, mode='directed', add=False),
                 fallback=NodeDrop(ratio=0.1), cleanup=False)
    """
    check_choice("augmentation", name, _KNOWN)
    check_choice("variant", variant, Variant)
    if name == "none":
        return Identity()
    if name in _CHOICES:
        parts = [_single(part, ratio, variant) for part in _CHOICES[name]]
        drawn: Augmentation = RandomChoice(parts)
    else:
        drawn = _single(name, ratio, variant)
    if variant != "released":
        return drawn
    cleanup = name not in _AS_DRAWN
    return Released(drawn, fallback=_single("dnodes", ratio, variant), cleanup=cleanup)


def _single(name: str, ratio: float | None, variant: Variant) -> Augmentation:
    released, few = variant != "paper", variant == "semi-supervised"
    if ratio is None:
        ratio = 0.1 if variant == "released" and name != "subgraph" else 0.2
    columns: PerturbMode = "directed" if released else "undirected"
    options: dict[str, Augmentation] = {
        "dnodes": NodeDrop(ratio),
        "pedges": EdgePerturb(ratio, columns, add=few),
        "pedges_add": EdgePerturb(ratio, columns, add=True),
        "subgraph": Subgraph(ratio, mode="star" if released else "walk"),
        "mask_nodes": AttributeMask(ratio, mode="mean" if few else "noise"),
    }
    return options[name]
