"""Protein ego-networks: layouts, cuts, the species split."""

import copyreg
import gzip
import importlib
import random
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from sega_anchor.backbones import ProteinGIN
from sega_anchor.datasets.proteins import _ego_cut
from sega_anchor.datasets.proteins import _tables as _protein_tables
from sega_anchor.datasets.proteins.ego_networks import ego_networks
from sega_anchor.datasets.proteins.load import load_proteins
from sega_anchor.datasets.proteins.species_split import species_split
from tests.helpers.proteins import CHANNELS, SPECIES, write_proteins


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_proteins(tmp_path_factory.mktemp("proteins"))


def read_slowly(folder: Path, threshold: int) -> nx.Graph:
    """The interactions as a networkx graph, by a plain loop."""
    graph = nx.Graph()
    for line in (folder / "edges.tsv").read_text().splitlines()[1:]:
        one, two, *scores = line.split()
        relations = [float(int(score) >= threshold) for score in scores[:7]]
        if any(relations):
            graph.add_edge(one, two, relations=[*relations, 0.0, 0.0])
    return graph


def labels_of(folder: Path) -> dict[str, list[float]]:
    rows = (folder / "labels.tsv").read_text().splitlines()[1:]
    return {row.split()[0]: list(map(float, row.split()[1:])) for row in rows}


def as_networkx(data: Data) -> nx.Graph:
    """An ego-network with its relations, the centre marked."""
    graph = nx.empty_graph(data.num_nodes)
    nx.set_node_attributes(graph, False, "center")
    graph.nodes[int(data.center_node_idx)]["center"] = True
    for (one, two), row in zip(
        data.edge_index.t().tolist(), data.edge_attr.tolist(), strict=True
    ):
        graph.add_edge(one, two, relations=row)
    return graph


# --- loading ---------------------------------------------------------------------


@pytest.mark.parametrize("hops", [1, 2])
def test_networks_equal_those_of_networkx(folder: Path, hops: int) -> None:
    """Node i of a network is the i-th name in order, so no isomorphism is needed."""
    networks = load_proteins(folder, hops=hops, max_nodes=10**6)
    graph, labels = read_slowly(folder, 400), labels_of(folder)
    assert len(networks) == 8 * 30
    for data, name in zip(networks, labels, strict=True):
        graph.add_node(name)
        ego = nx.ego_graph(graph, name, radius=hops)
        members = sorted(ego)
        assert data.num_nodes == len(members)
        assert members[int(data.center_node_idx)] == name
        wanted = {
            (members.index(a), members.index(b)): ego.edges[edge]["relations"]
            for edge in ego.edges
            for a, b in (edge, edge[::-1])
        }
        columns = map(tuple, data.edge_index.t().tolist())
        assert dict(zip(columns, data.edge_attr.tolist(), strict=True)) == wanted
        assert data.num_edges == len(wanted)
        assert data.y.tolist() == [labels[name]]
        assert data.species_id.tolist() == [int(name.split(".")[0])]


def test_format(folder: Path) -> None:
    networks = load_proteins(folder)
    data = networks[0]
    assert sorted(data.keys()) == sorted(
        ["x", "edge_index", "edge_attr", "center_node_idx", "species_id", "y"]
    )
    assert torch.equal(data.x, torch.ones(data.num_nodes, 1))
    assert data.edge_attr.dtype == torch.float and data.edge_attr.size(1) == 9
    assert data.y.shape == (1, 40) and data.y.dtype == torch.float
    for name in ("center_node_idx", "species_id"):
        assert data[name].shape == (1,) and data[name].dtype == torch.long
    for each in networks:
        one, other = each.edge_index[:, ::2], each.edge_index[:, 1::2]
        assert torch.equal(one, other.flip(0))
        assert torch.equal(each.edge_attr[::2], each.edge_attr[1::2])
        assert not each.edge_attr[:, 7:].any()
        assert not each.has_self_loops()
    # The whole columns, as a split and an evaluation want them.
    assert networks.y.shape == (240, 40)
    assert sorted(set(networks.species_id.tolist())) == sorted(SPECIES)


def test_unsupervised_takes_all_proteins_with_a_relation(folder: Path) -> None:
    networks = load_proteins(folder, "unsupervised")
    graph = read_slowly(folder, 400)
    assert len(networks) == len(graph)
    assert "y" not in networks[0]
    species = [int(name.split(".")[0]) for name in sorted(graph)]
    assert networks.species_id.tolist() == species


def test_batches_keep_centres_within_networks(folder: Path) -> None:
    networks = load_proteins(folder)
    batch = next(iter(DataLoader(networks, batch_size=16)))
    wanted = torch.cat([networks[i].center_node_idx for i in range(16)])
    assert torch.equal(batch.center_node_idx, wanted)
    assert batch.y.shape == (16, 40) and batch.species_id.shape == (16,)

    encoder = ProteinGIN(8, 2).eval()
    alone = torch.cat([encoder.represent(networks[i]) for i in range(16)])
    torch.testing.assert_close(encoder.represent(batch), alone)


def test_layouts_that_say_the_same_give_the_same_bits(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zipped = write_proteins(tmp_path / "zipped", zipped=True)
    lines = (folder / "edges.tsv").read_text().splitlines()
    once = tmp_path / "once"
    once.mkdir()
    kept = [line for line in lines[1:] if line.split()[0] < line.split()[1]]
    turned = [" ".join(reversed(lines[0].split()))]  # other columns, other rows
    turned += ["\t".join(reversed(line.split())) for line in reversed(kept)]
    (once / "edges.tsv").write_text("\n\n".join(turned))
    (once / "labels.tsv").write_bytes((folder / "labels.tsv").read_bytes())
    first = load_proteins(folder)
    monkeypatch.setattr(_protein_tables, "_ROWS", 100)
    cutting = importlib.import_module("sega_anchor.datasets.proteins.ego_networks")
    monkeypatch.setattr(cutting, "_CENTERS", 7)
    monkeypatch.setattr(_ego_cut, "_CANDIDATES", 50)
    for other in (load_proteins(zipped), load_proteins(once)):
        assert len(other) == len(first)
        for name, slices in first.slices.items():
            assert torch.equal(first._data[name], other._data[name])
            assert torch.equal(slices, other.slices[name])


def test_threshold_makes_relations(folder: Path) -> None:
    few = load_proteins(folder, threshold=900, max_nodes=10**6)
    many = load_proteins(folder, threshold=1, max_nodes=10**6)
    assert few._data.num_edges < many._data.num_edges
    assert len(few) == len(many)
    alone = [data for data in few if data.num_nodes == 1]
    assert all(data.num_edges == 0 for data in alone)


def test_max_nodes_and_seed(folder: Path) -> None:
    whole = load_proteins(folder, max_nodes=10**6)
    cut = load_proteins(folder, max_nodes=8)
    for large, small in zip(whole, cut, strict=True):
        assert small.num_nodes == min(8, large.num_nodes)
        assert nx.is_connected(as_networkx(small))
    other = load_proteins(folder, max_nodes=8, seed=1)
    assert cut._data.num_edges != other._data.num_edges


# --- the published files -----------------------------------------------------------


def published(folder: Path, supervised: bool = True) -> tuple[dict, dict]:
    """What Hu et al.'s files hold, with our small set in it."""
    networks = load_proteins(folder)
    fields, slices = networks._data.to_dict(), dict(networks.slices)
    y = fields.pop("y").long()
    del slices["y"]
    if supervised:
        graphs = torch.arange(len(y) + 1)
        fields["go_target_downstream"] = y.view(-1)
        slices["go_target_downstream"] = 40 * graphs
        fields["go_target_pretrain"] = torch.zeros(3 * len(y), dtype=torch.long)
        slices["go_target_pretrain"] = 3 * graphs
    return fields, slices


def store(path: Path, content: object, zipped: bool = True) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(content, path, _use_new_zipfile_serialization=zipped)


class PyG1:
    """Pickles as a Data of PyG 1 does: by its plain attributes."""

    __class__ = property(lambda self: Data)  # type: ignore[assignment]

    def __init__(self, fields: dict) -> None:
        self.fields = {**fields, "y": None, "pos": None, "norm": None, "face": None}

    def __reduce_ex__(self, protocol: int) -> tuple:
        return copyreg.__newobj__, (Data,), self.__dict__["fields"]


@pytest.mark.parametrize("layout", ["pyg1", "pyg2", "dict"])
def test_published_files_are_read(folder: Path, tmp_path: Path, layout: str) -> None:
    for split in ("supervised", "unsupervised"):
        fields, slices = published(folder, split == "supervised")
        path = tmp_path / split / "processed" / "geometric_data_processed.pt"
        if layout == "pyg1":  # torch 1.0 knew no zip format
            store(path, (PyG1(fields), slices), zipped=False)
        elif layout == "pyg2":
            store(path, (Data(**fields), slices))
        else:
            store(path, (fields, slices, Data))
        wanted = load_proteins(folder)
        for root in (tmp_path, tmp_path / split):
            found = load_proteins(root, split)
            assert len(found) == len(wanted)
            for one, other in zip(found, wanted, strict=True):
                assert ("y" in one) == (split == "supervised")
                assert "go_target_pretrain" not in one
                for name in one.keys():
                    assert torch.equal(one[name], other[name])


class Foreign:
    """Any class that is not PyG's."""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f, s: (Foreign(), s), "is not read: it is damaged, or holds more"),
        (lambda f, s: 3, "is not read"),
        (lambda f, s: (f, [1]), "must hold a pair"),
        (lambda f, s: (_without(f, "species_id"), s), "has no species_id; it has x,"),
        (
            lambda f, s: (_without(f, "go_target_downstream"), s),
            "has no go_target_downstream",
        ),
        (
            lambda f, s: ({**f, "edge_attr": f["edge_attr"][:, :7]}, s),
            r"must have shape \(num_edges, 9\), got \(\d+, 7\)",
        ),
        (lambda f, s: (f, {**s, "x": s["x"][:-1]}), "is damaged: slices of x"),
        (
            lambda f, s: (f, {**s, "edge_index": s["edge_index"] + 1}),
            "is damaged: slices of edge_index",
        ),
    ],
)
def test_unfit_published_files(folder: Path, tmp_path: Path, change, message) -> None:
    path = tmp_path / "processed" / "geometric_data_processed.pt"
    store(path, change(*published(folder)))
    with pytest.raises(ValueError, match=message) as caught:
        load_proteins(tmp_path)
    assert str(path) in str(caught.value)


def _without(fields: dict, name: str) -> dict:
    return {key: value for key, value in fields.items() if key != name}


def test_published_files_with_other_tasks(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "processed" / "geometric_data_processed.pt"
    store(path, published(folder))
    with pytest.raises(ValueError, match="has 9600 labels of 240 networks, expected 3"):
        load_proteins(tmp_path, num_tasks=3)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ValueError, match="is not read: it is damaged"):
        load_proteins(tmp_path)


# --- bad tables --------------------------------------------------------------------

ROW = "9606.A 9606.B 0 0 0 0 900 0 0 900"


def rewrite(folder: Path, edges: str | None = None, labels: str | None = None) -> Path:
    header = f"protein1 protein2 {CHANNELS} combined_score"
    folder.mkdir(exist_ok=True)
    (folder / "edges.tsv").write_text(edges or f"{header}\n{ROW}\n")
    (folder / "labels.tsv").write_text(labels or "protein a b\n9606.A 1 0\n")
    return folder


HEAD = f"protein1 protein2 {CHANNELS}\n"


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (
            "protein1 protein2 combined_score\n",
            "has no column neighborhood, fusion, coo",
        ),
        (
            HEAD.replace("fusion ", "") + ROW,
            "has no column fusion; its first line must",
        ),
        (
            HEAD + ROW + "\n9606.A 9606.C 0 0\n" + ROW,
            "line 3 cannot be read, '9606.A 9",
        ),
        (HEAD + "\n" + ROW.replace("900", "0.9"), "line 3 cannot be read.*whole numb"),
        (HEAD + ROW.replace("900", "1001"), "scores must be whole numbers from 0 to"),
        (HEAD + ROW.replace("900", "-1"), "scores must be whole numbers from 0 to"),
        (HEAD + ROW.replace("900", "1"), "reaches the threshold 400, the highest is 1"),
        (HEAD, "reaches the threshold 400, the highest is 0"),
        (HEAD + ROW.replace("9606.B", "B"), "protein 'B' has no species; names must"),
        (HEAD + ROW.replace("9606.B", "man.B"), "protein 'man.B' has no species"),
        (HEAD + ROW.replace("9606.B", "9606"), "protein '9606' has no species"),
        (HEAD + ROW.replace("9606.B", "10090.B"), "two species, 9606.A and 10090.B"),
        (
            HEAD + ROW.replace("9606.B", "9606." + "B" * 80),
            "64 bytes or more, too long",
        ),
    ],
)
def test_unfit_interactions(tmp_path: Path, edges: str, message: str) -> None:
    rewrite(tmp_path, edges=edges)
    with pytest.raises(ValueError, match=message) as caught:
        load_proteins(tmp_path, num_tasks=2)
    assert "edges.tsv" in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            "protein a b c\n9606.A 1 0 1\n",
            "has 3 tasks .* expected 2; give num_tasks=3",
        ),
        (
            "protein a b\n9606.A 1 0\n9606.B 1 2\n",
            "got '2' for protein 9606.B in .*'b'",
        ),
        ("protein a b\n9606.A 1 nan\n", "labels must be 0 or 1, got 'nan'"),
        ("protein a b\n9606.A 1\n", "line 2 cannot be read, '9606.A 1'"),
        ("protein a b\n9606.A 1 0\n9606.A 1 0\n", "9606.A 2 times, expected once"),
        ("protein a b\n\n", "has no proteins"),
        ("protein a b\n4932.Y 1 0\n", "of species 4932, such as 4932.Y, of which"),
        ("protein a b\nENSP01 1 0\n", "protein 'ENSP01' has no species"),
    ],
)
def test_unfit_labels(tmp_path: Path, labels: str, message: str) -> None:
    rewrite(tmp_path, labels=labels)
    with pytest.raises(ValueError, match=message) as caught:
        load_proteins(tmp_path, num_tasks=2)
    assert "labels.tsv" in str(caught.value)


def test_small_own_tables(tmp_path: Path) -> None:
    labels = "protein a b\n9606.B 1 0\n9606.unknown 0 1\n"
    networks = load_proteins(rewrite(tmp_path, labels=labels), num_tasks=2)
    assert networks[0].num_nodes == 2 and networks[0].center_node_idx.item() == 1
    assert networks[0].edge_attr.tolist() == [[0, 0, 0, 0, 1, 0, 0, 0, 0]] * 2
    assert networks[1].num_nodes == 1 and networks[1].edge_attr.shape == (0, 9)
    assert networks[1].y.tolist() == [[0, 1]]


def test_unfit_arguments(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no folder"):
        load_proteins(tmp_path / "absent")
    with pytest.raises(ValueError, match=r"no edges.tsv or edges.tsv.gz in .* nor geo"):
        load_proteins(tmp_path)
    with pytest.raises(ValueError, match="split must be 'supervised' or 'unsup"):
        load_proteins(folder, "test")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threshold must be from 1 to 1000, got 0"):
        load_proteins(folder, threshold=0)
    with pytest.raises(ValueError, match="num_tasks must be at least 1, got 0"):
        load_proteins(folder, num_tasks=0)
    with pytest.raises(ValueError, match=r"has 40 tasks .* expected 12"):
        load_proteins(folder, num_tasks=12)
    (tmp_path / "edges.tsv.gz").write_bytes(gzip.compress(HEAD.encode() + ROW.encode()))
    with pytest.raises(ValueError, match=r"there is no labels\.tsv"):
        load_proteins(tmp_path)
    assert len(load_proteins(tmp_path, "unsupervised")) == 2


# --- cuts --------------------------------------------------------------------------


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[int, torch.Tensor, torch.Tensor, torch.Tensor]:
    n = draw(st.integers(2, 14))
    node = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=40))
    edge_index = torch.tensor(pairs, dtype=torch.long).view(-1, 2).t()
    values = st.lists(st.integers(0, 3), min_size=2, max_size=2)
    rows = [draw(values) for _ in pairs]
    centers = draw(st.lists(node, min_size=1, max_size=6))
    attr = torch.tensor(rows, dtype=torch.float).view(-1, 2)
    return n, edge_index, attr, torch.tensor(centers)


def slow_graph(n: int, edge_index: torch.Tensor, attr: torch.Tensor) -> nx.Graph:
    graph = nx.empty_graph(n)
    for (one, two), row in zip(edge_index.t().tolist(), attr.tolist(), strict=True):
        if one != two:
            known = graph.edges[one, two]["row"] if graph.has_edge(one, two) else row
            graph.add_edge(
                one, two, row=[max(a, b) for a, b in zip(known, row, strict=True)]
            )
    return graph


@given(edge_lists(), st.integers(1, 4))
def test_ego_networks_equal_networkx(case, hops: int) -> None:
    n, edge_index, attr, centers = case
    graph = slow_graph(n, edge_index, attr)
    networks = ego_networks(edge_index, attr, centers, hops, num_nodes=n)
    for data, center in zip(networks, centers.tolist(), strict=True):
        ego = nx.ego_graph(graph, center, radius=hops)
        assert data.n_id.tolist() == sorted(ego)
        assert data.n_id[data.center_node_idx].tolist() == [center]
        edges = sorted(tuple(sorted(edge)) for edge in ego.edges)
        low_first = data.n_id[data.edge_index[:, ::2]].t().tolist()
        assert list(map(tuple, low_first)) == edges
        assert data.edge_attr[::2].tolist() == [graph.edges[e]["row"] for e in edges]


def slow_lot(center: int, node: int, n: int, seed: int) -> int:
    """Return splitmix64 in plain integers."""

    def scramble(z: int) -> int:
        z = (z + 0x9E3779B97F4A7C15) % 2**64
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        return z ^ (z >> 31)

    return scramble((scramble(seed) + center * n + node) % 2**64)


@given(edge_lists(), st.integers(1, 4), st.integers(2, 8), st.integers(0, 2**64 - 1))
def test_limited_networks_equal_a_slow_twin(case, hops, limit, seed) -> None:
    n, edge_index, attr, centers = case
    graph = slow_graph(n, edge_index, attr)
    networks = ego_networks(
        edge_index, attr, centers, hops, limit, num_nodes=n, seed=seed
    )
    for data, center in zip(networks, centers.tolist(), strict=True):
        kept = [center]
        distance = nx.single_source_shortest_path_length(graph, center, hops)
        for hop in range(1, hops + 1):
            new = [v for v, d in distance.items() if d == hop]
            new.sort(key=lambda v: slow_lot(center, v, n, seed))
            kept += new[: limit - len(kept)]
        assert data.n_id.tolist() == sorted(kept)
        inner = graph.subgraph(kept)
        assert data.num_edges == 2 * inner.number_of_edges()
        assert nx.is_connected(inner)


def test_cut_is_fair_and_independent_of_other_centres() -> None:
    star = torch.stack([torch.zeros(1000, dtype=torch.long), torch.arange(1, 1001)])
    attr = torch.ones(1000, 1)
    first = ego_networks(star, attr, torch.tensor([0]), 1, 101)
    among = ego_networks(star, attr, torch.tensor([5, 0, 7, 0]), 1, 101)
    assert torch.equal(first[0].n_id, among[1].n_id)
    assert torch.equal(first[0].n_id, among[3].n_id)
    drawn = torch.stack(
        [
            ego_networks(star, attr, torch.tensor([0]), 1, 101, seed=s)[0].n_id[1:]
            for s in range(50)
        ]
    )
    # 5000 uniform draws from 1 to 1000: mean 500.5, standard error 4.
    assert abs(drawn.float().mean() - 500.5) < 16
    assert drawn.unique().numel() > 950


def test_limit_holds_in_a_dense_graph() -> None:
    """Without the limit, each of these networks is most of the graph."""
    generator = torch.Generator().manual_seed(0)
    edge_index = torch.randint(2000, (2, 60_000), generator=generator)
    networks = ego_networks(
        edge_index, torch.ones(60_000, 7), torch.arange(2000), 2, 40
    )
    assert (networks.slices["x"].diff() == 40).all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"edge_index": torch.zeros(3, 2)}, r"edge_index must have shape \(2, num_edg"),
        (
            {"edge_attr": torch.ones(3, 1)},
            "edge_attr must have a row for each of the 2",
        ),
        ({"edge_index": torch.ones(2, 2)}, "edge_index must hold long integers"),
        (
            {"centers": torch.tensor([3])},
            "centers must be nodes from 0 to 2, got 3 to 3",
        ),
        ({"centers": torch.tensor([-1])}, "centers must be nodes from 0 to 2, got -1"),
        ({"centers": torch.tensor([]).long()}, "centers must be some nodes"),
        ({"hops": 0}, "hops must be at least 1, got 0"),
        ({"max_nodes": 1}, "max_nodes must be at least 2, got 1"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"num_nodes": 2}, "edge_index must be nodes from 0 to 1, got 0 to 2"),
    ],
)
def test_unfit_graphs(changed: dict, message: str) -> None:
    fit = {
        "edge_index": torch.tensor([[0, 1], [1, 2]]),
        "edge_attr": torch.ones(2, 1),
        "centers": torch.tensor([0]),
    }
    with pytest.raises(ValueError, match=message):
        ego_networks(**{**fit, **changed})


# --- the split ---------------------------------------------------------------------


def released_split(species: list[int], seed: int) -> list[list[int]]:
    """The released steps on lists: two subsets, each through a random split."""

    def split(subset: list[int], first: float, second: float) -> tuple:
        random.seed(seed)
        order = list(range(len(subset)))
        random.shuffle(order)
        a, b = int(first * len(subset)), int(second * len(subset))
        return [subset[i] for i in order[:a]], [subset[i] for i in order[a : a + b]]

    known = [s for s in SPECIES if s != 9606]
    others = [i for i, s in enumerate(species) if s in known]
    man = [i for i, s in enumerate(species) if s == 9606]
    return [*split(others, 0.85, 0.15), *split(man, 0.5, 0.5)]


@given(st.lists(st.sampled_from(SPECIES), max_size=200), st.integers(0, 50))
def test_split_equals_the_released_one(drawn: list[int], seed: int) -> None:
    species = [*drawn, *SPECIES, *SPECIES]
    state = random.getstate()
    split = species_split(torch.tensor(species), seed)
    assert random.getstate() == state  # ours leaves the global generator alone
    assert [part.tolist() for part in split] == released_split(species, seed)
    random.setstate(state)


def test_split_of_the_small_set(folder: Path) -> None:
    species = load_proteins(folder).species_id
    split = species_split(species)
    assert [len(part) for part in split] == [178, 31, 15, 15]  # 0.85 * 210 = 178.5
    assert torch.cat(list(split)).unique().numel() == 239
    assert not (species[split.train] == 9606).any()
    assert not (species[split.valid] == 9606).any()
    assert (species[split.test_easy] == 9606).all()
    assert (species[split.test_hard] == 9606).all()
    again = species_split(species)
    assert all(torch.equal(a, b) for a, b in zip(split, again, strict=True))
    assert not torch.equal(species_split(species, 1).train, split.train)


@pytest.mark.parametrize(
    ("species", "message"),
    [
        (
            torch.tensor([10090] * 20),
            "needs at least 2 human proteins .* got 0 and 20",
        ),
        (torch.tensor([9606] * 20), "7 of other species, got 20 and 0"),
        (torch.tensor([9606.0] * 20), "species must be taxonomy numbers"),
        (torch.tensor([[9606], [10090]]), "species must be taxonomy numbers"),
    ],
)
def test_unfit_species(species: torch.Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        species_split(species)


def test_labels_of_the_small_set_have_both_classes(folder: Path) -> None:
    networks = load_proteins(folder)
    for part in species_split(networks.species_id):
        share = np.asarray(networks.y[part].mean(dim=0))
        assert (share > 0).all() and (share < 1).all()
