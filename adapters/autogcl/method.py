"""AutoGCL (Yin et al., AAAI 2022), and the same with an anchor view."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from typing_extensions import override

from sega_anchor import nt_xent
from sega_anchor.backbones import GIN, projection_head
from sega_anchor.distributed import broadcast_object, gather, mean
from sega_anchor.protocols import unsupervised
from sega_anchor.training import FeatureSpec, Method, MethodConfig, Published, adam
from sega_anchor.utils import check_choice, check_positive

from .view_generator import View, ViewGenerator

Objective = Literal["released", "contrastive"]

#: Where the tree stands among the graph and two views, of which a pair is drawn.
_TREE = 2
#: The SEGA paper's search sets; all else is fixed by AutoGCL.
SEARCH = {"height": (2, 3, 4, 5)}


@dataclass(frozen=True)
class Config(MethodConfig):
    """Hyper-parameters, as published by default.

    Those that all methods share are described in :class:`MethodConfig`.

    Args:
        objective: "released" contrasts two inputs drawn with replacement from the
            original graph and two generated views, and pushes the two views apart, as
            the released code does; "contrastive" contrasts the two views and nothing
            else, the closest reading of the paper's naive strategy without labels.
            With an anchor, which replaces the second view, "released" draws from the
            graph, the view and the tree, and there is nothing to push the view from.
            Default "released" without an anchor, "contrastive" with one.
        mask: let the generators mask nodes too, as the paper says; off as released.
        generator_lr: learning rate of the view generators.

    Raises:
        ValueError: for a value that cannot be used.
    """

    objective: Objective | None = None
    mask: bool = False
    hidden_channels: int = 128  # of the generators too
    num_layers: int = 5
    lr: float | None = 0.001
    anchor_lr: float | None = 0.001
    generator_lr: float = 0.001
    temperature: float = 0.5

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "generator_lr")
        check_choice("objective", self.objective, Objective, optional=True)


class AutoGCL(Method[Config]):
    r"""Two views from two learned generators; with an anchor, its tree against one.

    With :math:`L` the symmetric NT-Xent and :math:`k_1, k_2` telling which nodes the
    views keep, encoder and generators descend the same loss, by default

    .. math::
        L(z_a, z_b) + 1 - \frac{1}{n} \sum_i (k_{1i} - k_{2i})^2

    with :math:`a, b` drawn for each batch, with replacement, from {original, view 1,
    view 2}. If both are the same it is encoded once; the released code does it twice,
    to the same loss, moving BatchNorm's running statistics twice.

    The anchor replaces the second generator's view, and the loss is
    :math:`L(z_T, z_1)`. With ``objective="released"`` it is :math:`L(z_a, z_b)`, with
    :math:`a, b` drawn from {original, view 1, tree} in the same way: an input may meet
    itself, or the pair be without the tree. The second term is left out, as a single
    view has none to be pushed from. Tree statistics (``quantities``) are asked of what
    meets the tree, and of nothing where the pair is another. Nothing then keeps the
    generator from keeping every node: steps report the share kept as ``"keep"``.
    Arguments are those of :class:`~sega_anchor.training.Method`.

    Source: repository Somedaywilldo/AutoGCL, unsupervised/us_main.py.

    Example:
        >>> data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> AutoGCL(in_channels=1).eval().embed(data)["G"].shape
        torch.Size([1, 640])
    """

    name = "AutoGCL"
    config_class = Config

    @override
    def build(self) -> None:
        config = self.config
        hidden = config.hidden_channels
        usual: Objective = "released" if self.anchor is None else "contrastive"
        self.objective = config.objective or usual
        self.encoder = GIN(self.in_channels, hidden, config.num_layers)
        self.head = projection_head(self.encoder.out_channels)
        # The first stays in every case; the second is what an anchor replaces.
        self.view_generators = nn.ModuleList(
            ViewGenerator(self.in_channels, hidden, config.mask)
            for _ in range(2 if self.anchor is None else 1)
        )
        graph, *anchored = self.adam(self.encoder, self.head)
        views = adam(self.view_generators.parameters(), config.generator_lr)
        self.optimizers = [graph, views, *anchored]

    def project(self, data: Data) -> Tensor:
        """Return what the loss compares, ``(num_graphs, channels)``."""
        projected: Tensor = self.head(self.encode(data))
        return projected

    def views(self, data: Data) -> list[View]:
        """Draw a view from each generator: two, or with an anchor one."""
        return [generate(data, self.generator) for generate in self.view_generators]

    @override
    def loss(self, data: Data) -> Tensor:
        """Return the loss of a batch, for encoder, generators and anchor."""
        return self.contrast(data, self.views(data))

    def contrast(self, data: Data, views: Sequence[View]) -> Tensor:
        """Return the loss of a batch with these views."""
        if self.objective == "released":
            return self._contrast_drawn_pair(data, views)
        z = self.project(views[1].data) if self.anchor is None else self.anchor(data)
        z_view = self.project(views[0].data)
        return self._nt_xent(z, z_view) + self.prediction(z_view, data)

    def _contrast_drawn_pair(self, data: Data, views: Sequence[View]) -> Tensor:
        device = None if self.generator is None else self.generator.device
        draw = torch.randint(3, (2,), generator=self.generator, device=device)
        a, b = broadcast_object(draw.tolist())
        seen = (data, *(view.data for view in views))
        inputs = [partial(self.project, each) for each in seen]
        if self.anchor is not None:
            inputs.append(partial(self.anchor, data))
        z_a = inputs[a]()
        z_b = z_a if a == b else inputs[b]()
        loss = self._nt_xent(z_a, z_b)
        if self.anchor is None:
            one, two = views
            return loss + 1 - mean((one.keep - two.keep).square())
        if a == b or _TREE not in (a, b):
            return loss
        return loss + self.prediction(z_b if a == _TREE else z_a, data)

    def _nt_xent(self, one: Tensor, two: Tensor) -> Tensor:
        temperature = self.config.temperature
        return nt_xent(gather(one), gather(two), temperature, symmetric=True)

    @override
    def forward(self, data: Data) -> dict[str, Tensor]:
        views = self.views(data)
        keep = torch.cat([view.keep.detach() for view in views])
        return {"loss": self.contrast(data, views), "keep": mean(keep)}

    @override
    def encode(self, data: Data) -> Tensor:
        return self.encoder.encode(data)

    @classmethod
    @override
    def title(cls, config: Config) -> str:
        if config.objective is None:
            return cls.name
        return f"{cls.name}, objective: {config.objective}"

    @classmethod
    @override
    def published(cls, config: Config, anchored: bool) -> Published:
        features = FeatureSpec(
            degree="both", max_degree=100, raw_degree=True, attributes=True
        )
        return Published(epochs=30, evaluate_at=(10, 20, 30), features=features)


run = unsupervised.adapter(AutoGCL)
