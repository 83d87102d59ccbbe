"""Graphs per second of a training epoch, beside what bounds it and beside plain PyG.

    python examples/benchmarks/training.py MUTAG NCI1 --archives DIR

Three epochs are timed in turn, in one process, at batch 128 and published widths:

* SEGA and GraphCL as ``run`` trains them: batches are cut, views drawn, networks moved;
* the limit of SEGA: the same forward and backward passes over batches, views and levels
  of trees that were all prepared beforehand;
* GraphCL as one would write it with PyG: ``DataLoader``, ``GINConv``, ``dropout_node``.
  In one version the view is drawn for the batch, in the other for each graph by a
  transform of the data set, as in GraphCL's own repository.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool
from torch_geometric.utils import dropout_node

from adapters.graphcl import Config, GraphCL
from sega_anchor import nt_xent
from sega_anchor.datasets import load
from sega_anchor.loader import PackedLoader
from sega_anchor.protocols import prepare
from sega_anchor.protocols.features import feature_transform
from sega_anchor.training import descend
from sega_anchor.trees.levels import tree_levels

BATCH = 128
CONFIG = Config(height=5)
SHARE = CONFIG.view().ratio  # type: ignore[attr-defined]


class Plain(nn.Module):
    """GraphCL with what PyG offers."""

    def __init__(self, in_channels: int) -> None:
        super().__init__()
        width, layers = CONFIG.hidden_channels, CONFIG.num_layers
        below = [in_channels] + [width] * (layers - 1)
        self.convs = nn.ModuleList(
            GINConv(
                nn.Sequential(nn.Linear(b, width), nn.ReLU(), nn.Linear(width, width))
            )
            for b in below
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in below)
        whole = width * layers
        self.head = nn.Sequential(
            nn.Linear(whole, whole), nn.ReLU(), nn.Linear(whole, whole)
        )
        self.optimizer = torch.optim.Adam(self.parameters(), lr=CONFIG.lr)

    def project(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Return what the loss compares."""
        pooled = []
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = norm(conv(x, edge_index).relu())
            pooled.append(global_add_pool(x, batch))
        return self.head(torch.cat(pooled, dim=1))

    def descend(self, z: Tensor, z_view: Tensor) -> None:
        """Make a step."""
        self.optimizer.zero_grad()
        one, two = nn.functional.normalize(z), nn.functional.normalize(z_view)
        score = (one @ two.t() / CONFIG.temperature).exp()
        positive = score.diagonal()
        (score.sum(1) - positive).div(positive).log().mean().backward()
        self.optimizer.step()

    def by_batch(self, data: Data) -> None:
        """Draw the view of a whole batch and make a step."""
        z = self.project(data.x, data.edge_index, data.batch)
        edges, _, kept = dropout_node(data.edge_index, SHARE, data.num_nodes)
        view = data.x * kept.unsqueeze(1)
        self.descend(z, self.project(view, edges, data.batch))

    def by_graph(self, pair: list[Data]) -> None:
        """Make a step on a batch and the views that came with it."""
        data, view = pair
        z = self.project(data.x, data.edge_index, data.batch)
        self.descend(z, self.project(view.x, view.edge_index, view.batch))


class Pairs(torch.utils.data.Dataset[Any]):
    """Graphs, each with a view that is drawn when it is asked for."""

    def __init__(self, graphs: list[Data]) -> None:
        self.graphs = graphs

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self.graphs)

    def __getitem__(self, i: int) -> tuple[Data, Data]:
        """Return a graph and a view."""
        data = self.graphs[i]
        keep = torch.rand(data.num_nodes) >= SHARE
        keep[0] = True
        return data, data.subgraph(keep)


def prepared(name: str, archives: str | None, anchored: bool) -> tuple[Any, Any]:
    """Return a method and its graphs, as ``run`` prepares them."""
    graphs = load(name, archives=archives)
    seen = GraphCL.published(CONFIG, anchored).features
    features = feature_transform(seen, "honest", name)
    width = features(graphs[0].clone()).tree_x.size(1)
    view = prepare.choose_view(GraphCL, anchored, width, CONFIG)
    ready = prepare.prepare(graphs, features, view)
    torch.manual_seed(0)
    method = GraphCL(ready[0].x.size(1), CONFIG, view, torch.Generator().manual_seed(0))
    return method, ready


def epochs(name: str, archives: str | None) -> dict[str, Callable[[], None]]:
    """Return an epoch of each kind."""
    sega, graphs = prepared(name, archives, anchored=True)
    graphcl, bare = prepared(name, archives, anchored=False)
    loader = PackedLoader(graphs, BATCH, shuffle=True)
    bare_loader = PackedLoader(bare, BATCH, shuffle=True)
    batches = list(loader)
    views = [sega.augment(batch, sega.generator) for batch in batches]
    levels = [tree_levels(batch, CONFIG.height) for batch in batches]
    plain = Plain(bare[0].x.size(1))
    by_batch = DataLoader(bare, BATCH, shuffle=True)
    by_graph = DataLoader(Pairs(bare), BATCH, shuffle=True)  # type: ignore[arg-type]

    def limit() -> None:
        anchor = sega.anchor
        for batch, view, level in zip(batches, views, levels, strict=True):
            z = anchor.head(anchor.encoder(batch.tree_x, level))
            loss = nt_xent(z, sega.project(view), CONFIG.temperature)
            descend(loss, *sega.optimizers)

    def run(step: Callable[[Any], object], over: Any) -> Callable[[], None]:
        def epoch() -> None:
            for batch in over:
                step(batch)

        return epoch

    return {
        "SEGA": run(sega.step, loader),
        "limit": limit,
        "GraphCL": run(graphcl.step, bare_loader),
        "plain PyG, views by batch": run(plain.by_batch, by_batch),
        "plain PyG, views by graph": run(plain.by_graph, by_graph),
    }


def timed(epoch: Callable[[], None]) -> float:
    """Return the seconds of an epoch, short ones repeated for half a second."""
    began, done = time.perf_counter(), 0
    while not done or time.perf_counter() - began < 0.5:
        epoch()
        done += 1
    return (time.perf_counter() - began) / done


def main() -> None:
    """Print medians and the ratios that matter."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--archives", default=None)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print("| data set | SEGA s | / limit | GraphCL s | plain / GraphCL | by graph |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in given.datasets:
        kinds = epochs(name, given.archives)
        seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
        for epoch in kinds.values():  # warm up
            epoch()
        for _ in range(given.rounds):
            for kind, epoch in kinds.items():
                seconds[kind].append(timed(epoch))
        sega, limit, graphcl, plain, by_graph = map(statistics.median, seconds.values())
        print(
            f"| {name} | {sega:.3f} | {sega / limit:.2f} | {graphcl:.3f} "
            f"| {plain / graphcl:.2f} | {by_graph / graphcl:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
