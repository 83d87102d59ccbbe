import copy
import warnings

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.loader import DataLoader

from sega_anchor import AddCodingTree, AddRandomTree, AddShuffledTree, AnchorView
from sega_anchor.trees.levels import tree_levels
from tests.helpers.graphs import random_graphs

TRANSFORMS = AddCodingTree(4), AddRandomTree(3), AddShuffledTree(4, seed=3)


def same(a: Data, b: Data) -> bool:
    one, two = flat(a), flat(b)
    return one.keys() == two.keys() and all(torch.equal(one[k], two[k]) for k in one)


def flat(data: Data) -> dict[str, Tensor]:
    found = data.to_dict()
    return found | found.pop("coding_tree")


@given(st.lists(st.integers(1, 20), min_size=1, max_size=6), st.integers(2, 5))
def test_trees_survive_loader_and_unbatching(sizes: list[int], height: int) -> None:
    data = [AddCodingTree(height)(graph) for graph in random_graphs(sizes)]
    for batch in DataLoader(data, batch_size=len(data)):
        for before, after in zip(data, batch.to_data_list(), strict=True):
            assert same(before, after)
        levels = tree_levels(batch, height)
        start = 0
        for i, graph in enumerate(data):
            alone = tree_levels(graph, height)
            place = torch.arange(start, start + graph.num_nodes)
            start += graph.num_nodes
            for level in range(height):
                assert (
                    levels.graphs[level + 1][levels.parents[level][place]] == i
                ).all()
                place = levels.parents[level][place].unique()
                assert place.numel() == alone.graphs[level + 1].numel()


def test_saving_and_loading_needs_no_trust_and_no_warning(tmp_path) -> None:
    data = [AddCodingTree(3)(graph) for graph in random_graphs([4, 9])]
    torch.save(data, tmp_path / "graphs.pt")
    for before, after in zip(
        data, torch.load(tmp_path / "graphs.pt", weights_only=True), strict=True
    ):
        assert same(before, after)


class Cached(InMemoryDataset):
    @property
    def processed_file_names(self) -> str:
        return "data.pt"

    def process(self) -> None:
        self.save(
            [self.pre_transform(g) for g in random_graphs([3, 5])],
            self.processed_paths[0],
        )


def test_an_in_memory_data_set_caches_trees(tmp_path) -> None:
    for _ in range(2):
        dataset = Cached(tmp_path, pre_transform=AddCodingTree(3))
        dataset.log = False
        dataset.load(dataset.processed_paths[0])
        expected = [AddCodingTree(3)(graph) for graph in random_graphs([3, 5])]
        for before, after in zip(expected, dataset, strict=True):
            assert same(before, after)


def test_the_transform_leaves_its_input_alone() -> None:
    (graph,) = random_graphs([5])
    keys = graph.keys()
    AddCodingTree()(graph)
    assert graph.keys() == keys


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
def test_a_batch_gets_the_trees_of_its_graphs(transform) -> None:
    data = random_graphs([5, 1, 8])
    whole = transform(Batch.from_data_list(data))
    each = Batch.from_data_list([transform(graph) for graph in data])
    assert same(whole, each)


def test_weights_are_read_from_the_named_attribute() -> None:
    edge_index = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    data = Data(edge_index=edge_index, num_nodes=4)
    data.w = torch.tensor([9.0, 1.0, 9.0, 1.0])
    groups = []
    for _ in range(2):
        offset = AddCodingTree(2, "paper", weight="w")(data).coding_tree["parent"]
        groups.append((torch.arange(len(offset)) + offset)[:4])
        data.w = data.w.flip(0)
    assert groups[0][0] == groups[0][1] != groups[0][2]
    assert groups[1][1] == groups[1][2] != groups[1][3]
    with pytest.raises(ValueError, match="no edge attribute 'v'"):
        AddCodingTree(weight="v")(data)


@pytest.mark.parametrize("batched", [False, True])
def test_a_tree_whose_graph_lost_nodes_is_refused(batched: bool) -> None:
    first, second = (AddCodingTree(3)(graph) for graph in random_graphs([6, 6]))
    view = AnchorView(1, height=3)
    cut = second.subgraph(torch.tensor([0, 1, 2]))
    data = Batch.from_data_list([first, cut]) if batched else cut
    with pytest.raises(ValueError, match=r"graph \d has 6 leaves, but the graph has 3"):
        view(data)


def test_a_damaged_tree_is_refused() -> None:
    graph = AddCodingTree(3)(random_graphs([6])[0])
    view = AnchorView(1, height=3)
    shorter = copy.copy(graph)
    tree = graph.coding_tree
    shorter.coding_tree = {**tree, "level": tree["level"][:-1]}
    with pytest.raises(ValueError, match="differ in shape"):
        view(shorter)
    wrong = copy.copy(graph)
    wrong.coding_tree = {**tree, "parent": tree["parent"] + 1}
    with pytest.raises(ValueError, match="do not describe trees"):
        view(wrong)
    with pytest.raises(ValueError, match=r"height 3, but height 4 was asked for"):
        AnchorView(1, height=4)(graph)


def test_the_transform_shows_every_parameter() -> None:
    assert repr(AddCodingTree()) == (
        "AddCodingTree(height=3, method='refined', weight=None)"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AddCodingTree(1), "height must be an integer of at least 2, got 1"),
        (lambda: AddCodingTree(3, "fast"), "got 'fast'"),  # type: ignore[arg-type]
        (lambda: AddCodingTree()(Data(num_nodes=2)), "no edge_index"),
    ],
)
def test_bad_input_is_refused(make, message: str) -> None:
    with warnings.catch_warnings(), pytest.raises(ValueError, match=message):
        make()
