"""TreeEncoder, GIN and AnchorView against the reference forward passes."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from sega_anchor import AddCodingTree, AddRandomTree, AnchorView, NTXent, TreeEncoder
from sega_anchor.backbones import GIN
from sega_anchor.trees.levels import TreeLevels
from tests.helpers.reference import fill, forward_graph, reference


@pytest.mark.parametrize(
    ("key", "copies"),
    [("no_self_loops", 0), ("one_self_loop_each", 1), ("two_self_loops_each", 2)],
)
def test_gin_equals_the_released_encoder(key: str, copies: int) -> None:
    expected = reference("forward")["gin_encoder(3,4,3 layers)"][key]
    x, edge_index, batch = forward_graph()
    loops = torch.arange(7).expand(2, 7)
    edge_index = torch.cat([edge_index, *[loops] * copies], dim=1)
    got = fill(GIN(3, 4, 3))(x, edge_index, batch, 2)
    torch.testing.assert_close(got, torch.tensor(expected).double(), atol=1e-5, rtol=0)


def levels(k: int) -> tuple[TreeLevels, Tensor]:
    """The two trees of the reference passes, and the graphs of their leaves."""
    values = reference("forward")[f"hrn_k{k}"]
    parents = []
    for level in range(1, k + 1):
        pairs = torch.tensor(values["tree_edges_child_to_parent"][str(level)])
        parents.append(pairs[pairs[:, 0].argsort(), 1])
    sizes = torch.tensor(values["layer_sizes"])
    graphs = [torch.arange(2).repeat_interleave(sizes[:, i]) for i in range(k + 1)]
    order = torch.arange(int(sizes.sum()))  # nobody asks
    return TreeLevels(parents, graphs, 2, order), values


CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "link_input": {"link_input": True},
    "drop_root": {"drop_root": True},
    "mean_pool": {"readout": "mean"},
    "root_pool": {"readout": "root"},
}


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("case", CASES)
def test_tree_encoder_equals_the_released_one(k: int, case: str) -> None:
    tree, values = levels(k)
    x, _, _ = forward_graph()
    encoder = fill(TreeEncoder(3, 2, 4, k, **CASES[case]))
    expected = torch.tensor(values[case]["out"]).double()
    torch.testing.assert_close(encoder(x, tree), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("k", [2, 3])
def test_anchor_view_adds_the_released_head(
    k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, values = levels(k)
    x, edge_index, batch = forward_graph()
    view = fill(AnchorView(3, 2, 4, k))
    monkeypatch.setattr("sega_anchor.nn.anchor_view.tree_levels", lambda *_: tree)
    tree_of = {"parent": 0, "level": 0, "fingerprint": 0}
    data = Data(x=x, edge_index=edge_index, batch=batch, coding_tree=tree_of)
    expected = torch.tensor(values["with_projection_head"]["out"]).double()
    torch.testing.assert_close(view(data), expected, atol=1e-5, rtol=0)


def batch_of(count: int) -> Batch:
    generator = torch.Generator().manual_seed(0)
    data = [
        Data(
            x=torch.randn(n, 3, generator=generator),
            edge_index=torch.randint(n, (2, 3 * n), generator=generator),
        )
        for n in range(4, 4 + count)
    ]
    return Batch.from_data_list([AddCodingTree(3)(graph) for graph in data])


def test_missing_trees_are_built_with_one_hint() -> None:
    data = batch_of(4)
    view = AnchorView(3, height=3).eval()
    expected = view(data)
    bare = data.clone()
    del bare["coding_tree"]
    with pytest.warns(UserWarning, match=r"give anchor.transform to the data set"):
        assert torch.equal(view(bare), expected)
    assert torch.equal(view(bare), expected)  # and no second hint: warnings are errors
    assert "coding_tree" not in bare
    single = bare.get_example(1)
    assert torch.allclose(view(single), expected[1:2], atol=1e-6)


class Mine(torch.nn.Module):
    """A user's own module around the view."""

    def __init__(self) -> None:
        super().__init__()
        self.view = AnchorView(3, height=3)

    def forward(self, data: Data) -> Tensor:
        return self.view(data)  # their line


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("how", ["call", "embed", "loss", "module"])
def test_the_hint_points_at_the_users_line(how: str, hooked: bool) -> None:
    data = batch_of(4)
    del data["coding_tree"]
    mine = Mine()
    if hooked:  # torch then calls through more functions of its own
        mine.view.register_forward_hook(lambda *_: None)
    with pytest.warns(UserWarning, match="carries no coding trees") as caught:
        if how == "call":
            mine.view(data)  # their line
        elif how == "embed":
            mine.view.embed(data)  # their line
        elif how == "loss":
            mine.view.loss(torch.ones(4, 96), data)  # their line
        else:
            mine(data)
    assert caught[0].filename == __file__
    with open(__file__) as source:
        assert source.readlines()[caught[0].lineno - 1].endswith("# their line\n")


def test_a_batch_of_one_trains() -> None:
    view = AnchorView(3, height=3)
    loss = view.loss(torch.randn(1, 96), batch_of(1))
    loss.backward()
    assert loss.item() == pytest.approx(0.0, abs=1e-6)


def test_the_five_lines_train_in_somebody_elses_loop() -> None:
    torch.manual_seed(0)
    data = batch_of(8)
    encoder = GIN(3)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.01)
    anchor = AnchorView(3, height=3)
    optimizer.add_param_group({"params": anchor.parameters()})
    losses = []
    for _ in range(30):
        z = encoder(data.x, data.edge_index, data.batch, data.num_graphs)
        loss = anchor.loss(z, data)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 1


def test_leaves_see_degrees_x_or_both() -> None:
    data = batch_of(3)
    for channels, cap, width in ((3, None, 3), (3, 5, 9), (0, 5, 6)):
        view = AnchorView(channels, height=3, max_degree=cap)
        assert view.encoder.mlps[0][0].in_features == width
        assert view(data).shape == (3, 96)
    other = AnchorView(5, height=3)
    assert other(data, x=torch.ones(data.num_nodes, 5)).shape == (3, 96)


def test_other_trees_and_losses_plug_in() -> None:
    data = [AddRandomTree(2)(Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2))]
    transform = AddRandomTree(height=2)
    loss = NTXent(temperature=0.5)
    view = AnchorView(0, height=2, max_degree=3, transform=transform, loss=loss)
    assert view.criterion.temperature == 0.5
    assert view(data[0]).shape == (1, 96)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AnchorView(0), "max_degree=100"),
        (lambda: AnchorView(3, height=1), "height must be"),
        (lambda: AnchorView(3, max_degree=-1), "must not be negative, got -1"),
        (lambda: AnchorView(3, transform=AddRandomTree(2)), "same height"),
        (lambda: AnchorView(2)(batch_of(2)), r"shape \(num_nodes, 2\)"),
        (lambda: AnchorView(3, hidden_channels=0), "hidden_channels must be"),
        (lambda: TreeEncoder(3, 2, 2, 2, readout="max"), "got 'max'"),  # type: ignore[arg-type]
        (lambda: TreeEncoder(3, 2, 2, 2, "root", drop_root=True), "nothing to read"),
        (lambda: GIN(0), "in_channels must be at least 1, got 0"),
    ],
)
def test_bad_input_is_refused(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_missing_features_are_named() -> None:
    data = batch_of(2)
    data.x = None
    data.num_nodes = data.batch.numel()
    with pytest.raises(ValueError, match="no features x"):
        AnchorView(3)(data)
