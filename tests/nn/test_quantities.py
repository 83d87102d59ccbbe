"""The anchor that sees sizes, volumes and cuts, and what the published one misses."""

import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

from sega_anchor import (
    AddCodingTree,
    AddRandomTree,
    AddShuffledTree,
    AnchorView,
    TreeEncoder,
)
from sega_anchor.datasets import SyntheticCommunities
from sega_anchor.loader import PackedLoader
from sega_anchor.trees import tree_levels
from sega_anchor.trees.levels import TREE
from sega_anchor.trees.quantities import level_quantities


def view(quantities: bool = True, **options: object) -> AnchorView:
    torch.manual_seed(0)
    return AnchorView(2, height=3, quantities=quantities, **options).eval()  # type: ignore[arg-type]


def graphs(count: int = 12) -> list[Data]:
    return list(SyntheticCommunities(count))


def shuffled(data: Data) -> Data:
    """The same leaves below a tree of the same shape, other vertices together."""
    return AddShuffledTree(3)(data.clone())


def test_the_published_encoder_cannot_tell_what_quantities_can() -> None:
    alike = [Data(x=torch.ones(len(g.x), 2), edge_index=g.edge_index) for g in graphs()]
    own, other = ([t(g.clone()) for g in alike] for t in (AddCodingTree(3), shuffled))
    own, other = Batch.from_data_list(own), Batch.from_data_list(other)
    published, seeing = view(quantities=False), view()
    torch.testing.assert_close(published.embed(own), published.embed(other))
    difference = (seeing.embed(own) - seeing.embed(other)).abs()
    assert bool((difference.max(dim=1).values > 1e-3).all())


@pytest.mark.parametrize("transform", [None, AddRandomTree(3), AddShuffledTree(3)])
def test_quantities_carried_and_computed_are_the_same(transform) -> None:
    anchor = view(transform=transform)
    carried = [anchor.transform(g.clone()) for g in graphs()]
    assert {"quantities", "statistics"} <= carried[0][TREE].keys()
    bare = [g.clone() for g in carried]
    for graph in bare:
        tree = graph[TREE]
        graph[TREE] = {key: tree[key] for key in ("parent", "level", "fingerprint")}
    one, two = Batch.from_data_list(carried), Batch.from_data_list(bare)
    assert torch.equal(anchor(one), anchor(two))


def test_the_transform_that_was_given_stays_as_it_is() -> None:
    given = AddCodingTree(3)
    anchor = view(transform=given)
    assert not given.quantities
    assert repr(anchor.transform) != repr(given)


def test_every_loader_gives_the_same_and_so_do_single_graphs() -> None:
    anchor = view()
    dataset = anchor.transform.map(graphs())
    (plain,), (packed,) = DataLoader(dataset, 12), PackedLoader(dataset, 12)
    whole = anchor(plain)
    assert torch.equal(anchor(packed), whole)
    for i, graph in enumerate(dataset):
        torch.testing.assert_close(anchor(graph), whole[i : i + 1])
    later = anchor.transform(Batch.from_data_list(graphs()))
    assert torch.equal(anchor(later), whole)


def test_the_numbering_of_vertices_does_not_matter() -> None:
    anchor = view()
    data = AddCodingTree(3)(graphs(3)[1])
    order = torch.randperm(data.num_nodes, generator=torch.Generator().manual_seed(0))
    place = order.argsort()
    moved = Data(x=data.x[order], edge_index=place[data.edge_index])
    tree = AddCodingTree(3)(moved)[TREE]
    # The same tree below other numbers: its leaves come first.
    n, offset = data.num_nodes, data[TREE]["parent"].clone()
    offset[:n] = (offset[:n] + torch.arange(n))[order] - torch.arange(n)
    moved[TREE] = {**tree, "parent": offset, "level": data[TREE]["level"]}
    torch.testing.assert_close(anchor(moved), anchor(data))


def test_training_reaches_every_parameter() -> None:
    anchor = view().train()
    batch = Batch.from_data_list(anchor.transform.map(graphs()))
    anchor.loss(torch.randn(12, 96), batch).backward()
    assert all(p.grad is not None for p in anchor.parameters())


def test_the_size_of_projections_does_not_upset_the_prediction() -> None:
    """Sums over thousands of nodes come in thousands, and their logarithm is asked."""
    anchor = view()
    statistics = anchor.statistics(Batch.from_data_list(anchor.transform.map(graphs())))
    z = torch.randn(12, 96, generator=torch.Generator().manual_seed(0))
    small, large = (anchor.prediction(z * s, statistics).item() for s in (1, 1e4))
    assert 0.5 < small < large < 20


@pytest.mark.parametrize("quantities", [False, True])
def test_an_encoder_refuses_what_it_was_not_made_for(quantities: bool) -> None:
    data = AddCodingTree(2, quantities=True)(graphs(3)[0])
    encoder = TreeEncoder(2, 4, 4, 2, quantities=quantities)
    known = None if quantities else level_quantities(data, tree_levels(data, 2))
    with pytest.raises(ValueError, match=f"quantities={quantities}"):
        encoder(data.x, tree_levels(data, 2), known)
