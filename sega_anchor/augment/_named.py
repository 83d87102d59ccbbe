"""The augmentations under the names of GraphCL's code."""

from __future__ import annotations

from typing import Literal

from sega_anchor.augment._attribute_mask import AttributeMask
from sega_anchor.augment._draft import Augmentation
from sega_anchor.augment._edge_perturb import EdgePerturb
from sega_anchor.augment._identity import Identity
from sega_anchor.augment._node_drop import NodeDrop
from sega_anchor.augment._random_choice import RandomChoice
from sega_anchor.augment._released import Released
from sega_anchor.augment._subgraph import Subgraph

_CHOICES = {
    "random2": ("dnodes", "subgraph"),
    "random3": ("dnodes", "pedges", "subgraph"),
    "random4": ("dnodes", "pedges", "subgraph", "mask_nodes"),
}
_KNOWN = ("dnodes", "pedges", "subgraph", "mask_nodes", "none", *_CHOICES)


def augmentation(
    name: str,
    ratio: float | None = None,
    variant: Literal["released", "paper"] = "released",
) -> Augmentation:
    """Build an augmentation from the name it has in GraphCL's and SEGA's code.

    `"released"`: 10 % of nodes, directed columns or masked rows, a star of 20 % of
    the nodes, finished by `Released`, with the clean-up of the released loop (none
    after plain pedges and mask_nodes). `"paper"`: 20 % of everything, undirected
    edges, a walk, no clean-up. random2, random3 and random4 choose for each graph
    among dnodes and subgraph; these and pedges; these and mask_nodes.

    Args:
        name: dnodes, pedges, subgraph, mask_nodes, none, random2, random3 or random4.
        ratio: strength of all parts (None: as above).
        variant: as above.

    Raises:
        ValueError: if the name or the variant is unknown or the ratio no share.

    >>> augmentation("subgraph", variant="paper")
    Subgraph(ratio=0.2, mode='walk')
    >>> augmentation("pedges")
    Released(augmentation=EdgePerturb(ratio=0.1, mode='directed'),
             fallback=NodeDrop(ratio=0.1), cleanup=False)
    """
    if name not in _KNOWN:
        raise ValueError(f"name is {name!r}; choose one of {', '.join(_KNOWN)}")
    if variant not in ("released", "paper"):
        raise ValueError(f"variant is {variant!r}; choose released or paper")
    build = _released if variant == "released" else _paper
    if name == "none":
        return Identity()
    if name in _CHOICES:
        drawn: Augmentation = RandomChoice([build(n, ratio) for n in _CHOICES[name]])
    else:
        drawn = build(name, ratio)
    if variant == "paper":
        return drawn
    cleanup = name not in ("pedges", "mask_nodes")
    return Released(drawn, fallback=build("dnodes", ratio), cleanup=cleanup)


def _paper(name: str, ratio: float | None) -> Augmentation:
    share = 0.2 if ratio is None else ratio
    options: dict[str, Augmentation] = {
        "dnodes": NodeDrop(share),
        "pedges": EdgePerturb(share, mode="undirected"),
        "subgraph": Subgraph(share, mode="walk"),
        "mask_nodes": AttributeMask(share, mode="noise"),
    }
    return options[name]


def _released(name: str, ratio: float | None) -> Augmentation:
    share = 0.1 if ratio is None else ratio
    options: dict[str, Augmentation] = {
        "dnodes": NodeDrop(share),
        "pedges": EdgePerturb(share, mode="directed"),
        "subgraph": Subgraph(0.2 if ratio is None else ratio, mode="star"),
        "mask_nodes": AttributeMask(share, mode="noise"),
    }
    return options[name]
