"""ResGCN, MoleculeGIN and ProteinGIN against reference values and slow twins."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import global_mean_pool

from sega_anchor.backbones import MoleculeGIN, ProteinGIN, ResGCN
from tests.helpers.reference import filled, reference


def values_of(start: str) -> dict[str, Any]:
    (key,) = [key for key in reference("forward") if key.startswith(start)]
    return reference("forward")[key]


def fill(module: nn.Module, params: list[Any]) -> nn.Module:
    """Fill the parameters by name."""
    found = dict(module.double().named_parameters())
    for q, (name, shape) in enumerate(params):
        assert list(found[name].shape) == shape
        found[name].data = filled(q, shape)
    return module.eval()


def graph() -> Data:
    values = reference("forward")["graph"]
    data = Data(
        edge_index=torch.tensor(values["edge_index"]),
        batch=torch.tensor(values["batch"]),
        num_nodes=7,
    )
    data.ptr = torch.tensor([0, 4, 7])
    return Batch(**data.to_dict())


def close(got: Tensor, expected: list[Any], atol: float = 2e-6) -> None:
    wanted = torch.tensor(expected, dtype=torch.double)
    torch.testing.assert_close(got, wanted, atol=atol, rtol=0)


HEADS = ("lin_class", "proj_head.0", "proj_head.2")


def test_resgcn_equals_the_released_encoder() -> None:
    values = values_of("resgcn")
    given = {name: filled(q, shape) for q, (name, shape) in enumerate(values["params"])}
    encoder = ResGCN(3).double().eval()
    ours = {name for name, _ in encoder.named_parameters()}
    assert set(given) - ours == {
        "conv_feat.bias",  # unused there
        *(f"{head}.{kind}" for head in HEADS for kind in ("weight", "bias")),
    }
    encoder.load_state_dict({k: given[k] for k in given if k in ours}, strict=False)
    data = graph()
    data.x = torch.tensor(
        [[math.sin(i + 2 * j) for j in range(3)] for i in range(7)], dtype=torch.double
    )
    z = encoder.encode(data)
    logits = z @ given["lin_class.weight"].t() + given["lin_class.bias"]
    close(logits.log_softmax(dim=1), values["forward_log_softmax"])
    hidden = (z @ given["proj_head.0.weight"].t() + given["proj_head.0.bias"]).relu()
    projected = hidden @ given["proj_head.2.weight"].t() + given["proj_head.2.bias"]
    close(projected[:, :4], values["forward_cl_first4"])


def test_molecule_gin_equals_the_reference_but_for_its_relu() -> None:
    """The reference is AD-GCL's file, which puts a ReLU on messages; Hu et al. do not.

    So the slow twin with that ReLU is held against it, and ours against the twin
    without.
    """
    values = values_of("chem_gin")
    encoder = fill(MoleculeGIN(4, 3), values["params"])
    data = graph()
    data.x = torch.tensor(values["x"])
    data.edge_attr = torch.tensor(values["edge_attr"])
    nodes = slow_molecule_gin(encoder, data, message=torch.relu)
    close(nodes, values["node_repr"])
    close(global_mean_pool(nodes, data.batch), values["mean_pool"])
    nodes = slow_molecule_gin(encoder, data)
    close(encoder(data.x, data.edge_index, data.edge_attr), nodes.tolist())
    pooled = global_mean_pool(nodes, data.batch)
    close(encoder.encode(data), pooled.tolist())


def test_protein_gin_equals_the_released_encoder() -> None:
    values = values_of("bio_gin")
    encoder = fill(ProteinGIN(4, 3), values["params"])
    data = graph()
    data.edge_attr = torch.tensor(
        [[float((i + j) % 3 == 0 and j < 7) for j in range(9)] for i in range(14)]
    )
    data.x = torch.ones(7, 1)
    nodes = encoder(data.x, data.edge_index, data.edge_attr)
    close(nodes, values["node_repr"])
    close(encoder.encode(data), values["mean_pool"])
    data.center_node_idx = torch.tensor([1, 2])
    pair = encoder.represent(data)
    close(pair[:, :4], values["mean_pool"])
    close(pair[:, 4:], [values["node_repr"][1], values["node_repr"][4 + 2]])


def slow_molecule_gin(
    encoder: MoleculeGIN, data: Data, message: Callable[[Tensor], Tensor] = Tensor.clone
) -> Tensor:
    """Message by message, with loops in the list of edges."""
    x = encoder.x_embedding1.weight[data.x[:, 0]]
    x = x + encoder.x_embedding2.weight[data.x[:, 1] % 3]
    edges = [(*e, *a) for e, a in zip(data.edge_index.t(), data.edge_attr, strict=True)]
    edges += [(v, v, 4, 0) for v in range(len(x))]
    for i, (layer, norm) in enumerate(
        zip(encoder.gnns, encoder.batch_norms, strict=True)
    ):
        summed = [torch.zeros_like(x[0]) for _ in x]
        for u, v, kind, direction in edges:
            bond = layer.edge_embedding1.weight[kind]
            bond = bond + layer.edge_embedding2.weight[direction]
            summed[v] = summed[v] + message(x[u] + bond)
        x = norm(layer.mlp(torch.stack(summed)))
        x = x if i == len(encoder.gnns) - 1 else x.relu()
    return x


def random_molecule(n: int, m: int, seed: int) -> Data:
    generator = torch.Generator().manual_seed(seed)

    def draw(high: int, *shape: int) -> Tensor:
        return torch.randint(high, shape, generator=generator)

    x = torch.stack([draw(119, n), draw(4, n)], dim=1)
    edge_attr = torch.stack([draw(4, m), draw(3, m)], dim=1)
    return Data(x=x, edge_index=draw(n, 2, m), edge_attr=edge_attr)


@pytest.mark.parametrize(("n", "m"), [(1, 0), (5, 0), (2, 2), (12, 30)])
@pytest.mark.parametrize("training", [False, True])
def test_molecule_gin_equals_its_slow_twin(n: int, m: int, training: bool) -> None:
    torch.manual_seed(0)
    encoder = MoleculeGIN(6, 3).double().train(training)
    data = random_molecule(n, m, seed=n)
    expected = slow_molecule_gin(encoder, data)
    got = encoder(data.x, data.edge_index, data.edge_attr)
    torch.testing.assert_close(got, expected)


def test_a_batch_is_its_molecules() -> None:
    encoder = MoleculeGIN(8, 2).eval()
    molecules = [random_molecule(n, m, n) for n, m in [(1, 0), (3, 4), (9, 20)]]
    batch = Batch.from_data_list(molecules)
    alone = torch.cat([encoder.encode(molecule) for molecule in molecules])
    torch.testing.assert_close(encoder.encode(batch), alone)


def test_names_are_those_of_published_checkpoints() -> None:
    chem = ["x_embedding1.weight", "x_embedding2.weight"]
    norm = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    layer = ["mlp.0.weight", "mlp.0.bias", "mlp.2.weight", "mlp.2.bias"]
    layer += ["edge_embedding1.weight", "edge_embedding2.weight"]
    chem += [f"gnns.{i}.{name}" for i in range(2) for name in layer]
    chem += [f"batch_norms.{i}.{name}" for i in range(2) for name in norm]
    assert sorted(MoleculeGIN(4, 2).state_dict()) == sorted(chem)
    layer = ["mlp.0.weight", "mlp.0.bias", "mlp.3.weight", "mlp.3.bias"]
    layer += [f"mlp.1.{name}" for name in norm]
    layer += ["edge_encoder.weight", "edge_encoder.bias"]
    bio = [f"gnns.{i}.{name}" for i in range(2) for name in layer]
    bio += ["gnns.0.input_node_embeddings.weight"]
    assert sorted(ProteinGIN(4, 2).state_dict()) == sorted(bio)


def slow_protein_gin(encoder: ProteinGIN, data: Data) -> Tensor:
    """Message by message, with loops in the list of edges."""
    x = encoder.gnns[0].input_node_embeddings.weight[data.x.view(-1).long()]
    loop = torch.eye(9, dtype=torch.double)[7]
    edges = [(*e, a) for e, a in zip(data.edge_index.t(), data.edge_attr, strict=True)]
    edges += [(v, v, loop) for v in range(len(x))]
    for i, layer in enumerate(encoder.gnns):
        summed = [x.new_zeros(2 * x.size(1)) for _ in x]
        for u, v, relations in edges:
            message = torch.cat([x[u], layer.edge_encoder(relations.double())])
            summed[v] = summed[v] + message
        x = layer.mlp(torch.stack(summed))
        x = x if i == len(encoder.gnns) - 1 else x.relu()
    return x


def random_proteins(n: int, m: int, seed: int) -> Data:
    generator = torch.Generator().manual_seed(seed)
    edge_attr = torch.zeros(m, 9)
    edge_attr[:, :7] = torch.randint(2, (m, 7), generator=generator).float()
    return Data(
        x=torch.ones(n, 1),
        edge_index=torch.randint(n, (2, m), generator=generator),
        edge_attr=edge_attr,
        center_node_idx=torch.randint(n, (1,), generator=generator),
    )


@pytest.mark.parametrize(("n", "m"), [(1, 0), (5, 0), (2, 2), (12, 30)])
@pytest.mark.parametrize("training", [False, True])
def test_protein_gin_equals_its_slow_twin(n: int, m: int, training: bool) -> None:
    torch.manual_seed(0)
    encoder = ProteinGIN(6, 3).double().train(training)
    data = random_proteins(n, m, seed=n)
    data.x[::3] = 0
    expected = slow_protein_gin(encoder, data)
    got = encoder(data.x, data.edge_index, data.edge_attr)
    torch.testing.assert_close(got, expected)


def slow_resgcn(encoder: ResGCN, data: Data) -> Tensor:
    """Each graph for itself, with a dense matrix; in evaluation only."""
    adjacency = torch.zeros(2 * [data.num_nodes], dtype=torch.double)
    for u, v in data.edge_index.t().tolist():
        adjacency[v, u] += u != v
    root = (1 + adjacency.sum(0)).rsqrt().diag()  # by edges that leave
    adjacency = root @ (adjacency + torch.eye(data.num_nodes)) @ root
    x = (encoder.bn_feat(data.x) @ encoder.conv_feat.weight).relu()
    for norm, conv in zip(encoder.bns_conv, encoder.convs, strict=True):
        x = (adjacency @ norm(x) @ conv.weight + conv.bias).relu()
    x = encoder.lins[0](encoder.bns_fc[0](x.sum(0, keepdim=True))).relu()
    return encoder.bn_hidden(x)


@pytest.mark.parametrize("heads", ["both", "one", "none"])
def test_resgcn_equals_its_slow_twin(heads: str) -> None:
    """With loops and parallel edges, in one direction or both, and single nodes."""
    torch.manual_seed(0)
    encoder = ResGCN(3, 8, num_convs=2).double().eval()
    for parameter in encoder.parameters():
        parameter.data = torch.randn_like(parameter)
    graphs = []
    for n, m in [(1, 2), (4, 9), (7, 20)]:
        edge_index = torch.randint(n, (2, 0 if heads == "none" else m))
        if heads == "both":
            edge_index = torch.cat([edge_index, edge_index.flip(0)], dim=1)
        x = torch.randn(n, 3, dtype=torch.double)
        graphs.append(Data(x=x, edge_index=edge_index))
    expected = torch.cat([slow_resgcn(encoder, data) for data in graphs])
    got = encoder.encode(Batch.from_data_list(graphs))
    torch.testing.assert_close(got, expected)
    torch.testing.assert_close(encoder.encode(graphs[2]), expected[2:])


def test_resgcn_starts_as_released() -> None:
    torch.manual_seed(0)
    encoder = ResGCN(50, 100)
    for name, parameter in encoder.named_parameters():
        if name.startswith("bn"):
            assert (parameter == (1 if name.endswith("weight") else 0.0001)).all()
        elif name.startswith("convs") and name.endswith("bias"):
            assert (parameter == 0).all()
        else:
            fan = 50 + 100 if name == "conv_feat.weight" else 100 + 100
            bound = 0.1 if name.startswith("lins") else math.sqrt(6 / fan)
            assert 0.95 * bound < parameter.abs().max() <= bound


def test_centres_are_counted_from_their_own_graphs() -> None:
    encoder = ProteinGIN(6, 2).eval()
    graphs = [random_proteins(n, 3 * n, n) for n in (2, 5, 9)]
    alone = torch.cat([encoder.represent(data) for data in graphs])
    batch = next(iter(DataLoader(graphs, batch_size=3)))
    torch.testing.assert_close(encoder.represent(batch), alone)
    for i, data in enumerate(graphs):
        node = encoder(data.x, data.edge_index, data.edge_attr)[data.center_node_idx[0]]
        torch.testing.assert_close(alone[i, 6:], node)
    del batch.ptr, batch.x  # nodes are all alike without features
    torch.testing.assert_close(encoder.represent(batch), alone)


def test_a_single_graph_trains() -> None:
    """Where plain BatchNorm fails: one graph, and one node in all."""
    lone = torch.empty(2, 0, dtype=torch.long)
    for encoder, data in (
        (ResGCN(3, 4), Data(x=torch.ones(1, 3), edge_index=lone)),
        (MoleculeGIN(4, 2), random_molecule(1, 0, 0)),
        (ProteinGIN(4, 2), random_proteins(1, 0, 0)),
    ):
        z = encoder.train().encode(data)
        assert z.shape == (1, encoder.out_channels)
        z.sum().backward()


def test_other_chirality_is_read_as_row_0() -> None:
    encoder = MoleculeGIN(4, 2).eval()
    data = random_molecule(5, 8, 0)
    data.x[:, 1] = 3
    other = encoder.encode(data)
    data.x[:, 1] = 0
    assert torch.equal(encoder.encode(data), other)


def test_dropout_is_for_training() -> None:
    torch.manual_seed(0)
    for encoder, data in (
        (MoleculeGIN(64, 2, dropout=0.5), random_molecule(5, 8, 0)),
        (ProteinGIN(64, 2, dropout=0.5), random_proteins(5, 8, 0)),
        (
            ResGCN(3, 64, dropout=0.5),
            Data(x=torch.randn(5, 3), edge_index=torch.randint(5, (2, 8))),
        ),
    ):
        batch = Batch.from_data_list([data, data])
        dropped = encoder.encode(batch) == 0
        assert dropped.any() and not dropped.all()
        assert torch.equal(encoder.eval().encode(batch), encoder.encode(batch))


def test_nothing_is_made_on_a_global_device() -> None:
    molecule, proteins = random_molecule(5, 8, 0), random_proteins(5, 8, 0)
    plain = Data(x=torch.randn(5, 3), edge_index=molecule.edge_index)
    encoders = MoleculeGIN(4, 2), ProteinGIN(4, 2), ResGCN(3, 4)
    with torch.device("meta"):
        for encoder, data in zip(encoders, (molecule, proteins, plain), strict=True):
            assert encoder.encode(data).device.type == "cpu"
        assert encoders[1].represent(proteins).device.type == "cpu"


def test_every_parameter_learns() -> None:
    molecules = Batch.from_data_list([random_molecule(9, 20, i) for i in range(3)])
    proteins = Batch.from_data_list([random_proteins(9, 20, i) for i in range(3)])
    plain = molecules.clone()
    plain.x = torch.rand(27, 4)
    # BatchNorm takes away what a bias before it adds.
    cancelled = {f"gnns.{i}.mlp.0.bias" for i in range(2)}
    for encoder, data, without in (
        (MoleculeGIN(8, 2), molecules, {f"gnns.{i}.mlp.2.bias" for i in range(2)}),
        (ProteinGIN(8, 2), proteins, cancelled),
        (ResGCN(4, 8), plain, set()),
    ):
        (encoder.encode(data).double() ** 3).sum().backward()
        for name, parameter in encoder.named_parameters():
            assert parameter.grad is not None, name
            assert name in without or parameter.grad.abs().max() > 1e-6, name


def test_tables_learn_where_they_are_read() -> None:
    encoder = MoleculeGIN(8, 2)
    data = random_molecule(9, 20, 0)
    data.edge_attr %= 2  # bonds of types 0 and 1, directions 0 and 1
    (encoder.encode(data) ** 3).sum().backward()
    layer = encoder.gnns[0]
    types = layer.edge_embedding1.weight.grad.abs().sum(1) > 0
    directions = layer.edge_embedding2.weight.grad.abs().sum(1) > 0
    assert types.nonzero().view(-1).tolist() == [0, 1, 4]
    assert directions.nonzero().view(-1).tolist() == [0, 1]


def molecule_with(**changes: Tensor | None) -> Tensor:
    data = random_molecule(3, 4, 0)
    for key, value in changes.items():
        data[key] = value
    return MoleculeGIN(4, 1).encode(data)


def proteins_with(**changes: Tensor | None) -> Tensor:
    data = random_proteins(3, 4, 0)
    for key, value in changes.items():
        data[key] = value
    return ProteinGIN(4, 1).represent(data)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: molecule_with(x=None),
            r"x must have shape \(num_nodes, 2\), got None",
        ),
        (lambda: molecule_with(x=torch.ones(3, 2)), "x must be of type torch.long"),
        (lambda: molecule_with(x=torch.tensor([[119, 0]] * 3)), r"x must be in 0..118"),
        (lambda: molecule_with(x=torch.tensor([[0, 4]] * 3)), r"in 0..118 and 0..3"),
        (lambda: molecule_with(edge_attr=None), r"\(4, 2\), got None"),
        (lambda: molecule_with(edge_attr=torch.zeros(3, 2).long()), r"got \(3, 2\)"),
        (lambda: molecule_with(edge_attr=-torch.ones(4, 2).long()), "0..3 and 0..2"),
        (lambda: molecule_with(edge_attr=4 * torch.ones(4, 2).long()), "0..3 and 0..2"),
        (lambda: proteins_with(edge_attr=torch.ones(4, 7)), r"\(4, 9\), got \(4, 7\)"),
        (lambda: proteins_with(x=torch.ones(3)), r"\(num_nodes, 1\), got \(3,\)"),
        (lambda: proteins_with(x=2 * torch.ones(3, 1)), "x must be 0 or 1 everywhere"),
        (lambda: proteins_with(center_node_idx=None), "has no center_node_idx"),
        (lambda: proteins_with(center_node_idx=torch.tensor([3])), "of its graph of 3"),
        (lambda: proteins_with(center_node_idx=torch.tensor([0, 1])), "got 2 for 1 gr"),
        (lambda: ResGCN(4)(torch.ones(2, 3), torch.zeros(2, 0).long()), "nodes, 4"),
        (lambda: ResGCN(0), "in_channels must be at least 1, got 0"),
        (lambda: ResGCN(4, num_convs=0), "num_convs must be at least 1, got 0"),
        (lambda: ResGCN(4, dropout=1.0), "dropout must be at least 0 and below 1"),
        (lambda: MoleculeGIN(4, 0), "num_layers must be at least 1, got 0"),
        (lambda: MoleculeGIN(4, 1, -0.1), "below 1, got -0.1"),
        (lambda: ProteinGIN(0), "hidden_channels must be at least 1, got 0"),
    ],
)
def test_bad_input_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
