import colorsys
import threading
from itertools import pairwise
from pathlib import Path

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sega_anchor import CodingTree, build_coding_tree
from sega_anchor.trees.draw import check_drawing, draw, plot_levels
from sega_anchor.trees.draw._groups import Groups
from sega_anchor.trees.draw._layout import place
from sega_anchor.trees.draw._palette import tree_colours

pytest.importorskip("matplotlib")
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.path import Path as MPath

TRIANGLES = torch.tensor([[0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3]])
NO_EDGES = torch.empty(2, 0, dtype=torch.long)


@pytest.fixture
def tree() -> CodingTree:
    return build_coding_tree(TRIANGLES, height=2, method="paper")


def nested_tree() -> CodingTree:
    """Four pairs in two groups, and a vertex that hangs below the root alone."""
    parent = [9, 9, 10, 10, 11, 11, 12, 12, 13, 14, 14, 15, 15, 16, 17, 17, 17, -1]
    level = [0] * 9 + [1] * 5 + [2] * 3 + [3]
    return CodingTree(torch.tensor(parent), torch.tensor(level))


def hue(colour: np.ndarray) -> float:
    return colorsys.rgb_to_hsv(*colour)[0]


def apart(a: float, b: float) -> float:
    return min((a - b) % 1, (b - a) % 1)


@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("PDF", b"%PDF"), ("svg", b"<?xml")]
)
def test_same_graph_same_bytes(tree, tmp_path: Path, ending: str, start: bytes) -> None:
    first, second = (tmp_path / f"{name}.{ending}" for name in "ab")
    draw(tree, TRIANGLES, first)
    draw(tree, TRIANGLES, second)
    assert first.read_bytes().startswith(start)
    assert first.read_bytes() == second.read_bytes()


def test_another_seed_gives_another_layout(tree, tmp_path: Path) -> None:
    draw(tree, TRIANGLES, tmp_path / "a.svg")
    draw(tree, TRIANGLES, tmp_path / "b.svg", seed=1)
    assert (tmp_path / "a.svg").read_bytes() != (tmp_path / "b.svg").read_bytes()


def test_users_settings_neither_show_nor_change(tree, tmp_path: Path) -> None:
    import matplotlib

    draw(tree, TRIANGLES, tmp_path / "a.svg")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        before = dict(matplotlib.rcParams)
        draw(tree, TRIANGLES, tmp_path / "b.svg")
        assert dict(matplotlib.rcParams) == before
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("tree.jpg", r"must end in \.pdf, \.png or \.svg, got '.*tree\.jpg'"),
        ("tree", r"must end in"),
        ("missing/tree.png", r"there is no folder '.*missing': make it first"),
        ("folder.png", r"'.*folder\.png' is a folder: give the name of a file"),
    ],
)
def test_bad_path_is_refused(tree, tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(ValueError, match=message):
        draw(tree, TRIANGLES, tmp_path / path)
    with pytest.raises(ValueError, match=message):
        check_drawing(tmp_path / path)
    assert [file.name for file in tmp_path.rglob("*")] == ["folder.png"]


def test_missing_matplotlib_is_named(tree, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install 'sega-anchor\[plot\]'"):
        draw(tree, TRIANGLES, tmp_path / "tree.png")


def test_another_graph_is_refused(tree, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="6 leaves, but edge_index names vertex 9"):
        draw(tree, torch.tensor([[0], [9]]), tmp_path / "tree.png")
    with pytest.raises(ValueError, match="each of the 6 vertices, got 2"):
        draw(tree, TRIANGLES, tmp_path / "tree.png", names=["a", "b"])
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_the_old_picture(tree, tmp_path: Path, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "tree.png"
    path.write_text("old")
    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(KeyboardInterrupt):
        draw(tree, TRIANGLES, path)
    assert [file.name for file in tmp_path.iterdir()] == ["tree.png"]
    assert path.read_text() == "old"


def test_names_are_written_as_they_are(tree, tmp_path: Path, monkeypatch) -> None:
    import matplotlib.axes

    written = []
    text = matplotlib.axes.Axes.text

    def spy(self, x, y, s, **options):
        written.append(s)
        return text(self, x, y, s, **options)

    monkeypatch.setattr(matplotlib.axes.Axes, "text", spy)
    draw(tree, TRIANGLES, tmp_path / "a.svg", names=["$", "_^", "c", "d", "e", "f"])
    assert written == ["$", "_^", "c", "d", "e", "f"]
    long = ["$x$" * 20, *"abcde"]
    draw(tree, TRIANGLES, tmp_path / "b.png", names=long)  # upright, cut, no warning


def leaves(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_xticklabels()]


def test_networkx_graphs_are_drawn_with_their_names(tmp_path: Path) -> None:
    graph = networkx.les_miserables_graph()
    tree = build_coding_tree(graph, height=3, method="paper")
    figure = draw(tree, graph, tmp_path / "tree.png")
    assert isinstance(figure, Figure)
    assert (tmp_path / "tree.png").exists()
    _, below = figure.axes
    assert len(leaves(below)) == 77  # all of them, and each once
    assert {"Valjean", "Cosette", "Javert", "Jondrette"} < set(leaves(below))


def test_drawn_into_axes_of_a_figure(tree) -> None:
    figure = Figure(figsize=(8, 8), layout="constrained")
    axes = figure.subplots(2, 2)
    assert draw(tree, TRIANGLES, ax=axes[0, 0], names="abcdef") is figure
    assert [text.get_text() for text in axes[0, 0].texts] == list("abcdef")
    draw(tree, TRIANGLES, ax=axes[1], names="uvwxyz")
    assert leaves(axes[1, 1]) == list("uvwxyz")
    assert not axes[0, 1].has_data()
    assert len(figure.axes) == 4
    for wrong in (axes, figure, [axes[0, 0], None]):
        with pytest.raises(ValueError, match="ax must be 1 or 2 axes of matplotlib"):
            draw(tree, TRIANGLES, ax=wrong)


def test_names_are_not_left_out_in_silence(tree) -> None:
    ring = networkx.cycle_graph([f"name {i}" for i in range(200)])
    many = build_coding_tree(ring, height=2, method="paper")
    with pytest.warns(UserWarning, match="names of 200 vertices find no room") as seen:
        draw(many, ring)
    assert seen[0].filename == __file__
    edges = torch.tensor([range(200), [*range(1, 200), 0]])
    draw(many, edges)  # numbers name nothing


def test_a_graph_of_another_size_is_refused(tree) -> None:
    with pytest.raises(ValueError, match="6 leaves, but the graph 3 vertices: build"):
        draw(tree, networkx.path_graph(3))


@pytest.mark.parametrize("height", [2, 3, 5])
@pytest.mark.parametrize(
    ("edges", "n"),
    [
        (NO_EDGES, 1),
        (NO_EDGES, 5),
        (torch.tensor([[0], [1]]), 2),
        (torch.tensor([[0, 0, 1], [0, 1, 0]]), 4),
        (torch.stack([torch.arange(59), torch.arange(1, 60)]), 60),
        (torch.stack([torch.zeros(150, dtype=torch.long), torch.arange(1, 151)]), 151),
    ],
    ids=["vertex", "edgeless", "edge", "loops", "path", "star"],
)
def test_any_graph_is_drawn(edges, n: int, height: int, tmp_path: Path) -> None:
    tree = build_coding_tree(edges, n, height=height, method="paper")
    draw(tree, edges, tmp_path / "tree.png")
    assert len(plot_levels(tree, edges).axes) == height - 1
    assert (tmp_path / "tree.png").stat().st_size > 5_000


def test_of_a_huge_graph_the_groups_are_drawn(tmp_path: Path) -> None:
    vertex = torch.arange(2400)
    parent = torch.cat([2400 + vertex // 4, 3000 + torch.arange(600) // 300])
    parent = torch.cat([parent, torch.tensor([3002, 3002, -1])])
    level = torch.tensor([0, 1, 2, 3]).repeat_interleave(
        torch.tensor([2400, 600, 2, 1])
    )
    ring = torch.stack([vertex, vertex.roll(-1)])
    draw(CodingTree(parent, level), ring, tmp_path / "tree.svg")
    alone = torch.cat([torch.full((2400,), 2400), torch.tensor([-1])])
    flat = CodingTree(alone, torch.tensor([0] * 2400 + [1]))
    with pytest.raises(ValueError, match=r"\[2400, 1\] nodes from level 0 up: draw a"):
        draw(flat, ring, tmp_path / "flat.svg")
    assert [file.name for file in tmp_path.iterdir()] == ["tree.svg"]


def test_colours_nest() -> None:
    groups = Groups.of(nested_tree())
    colours = tree_colours(groups, groups.columns(np.arange(9.0)))
    pairs = [hue(colours[node]) for node in range(9, 13)]
    inside = max(apart(pairs[0], pairs[1]), apart(pairs[2], pairs[3]))
    across = min(apart(a, b) for a in pairs[:2] for b in pairs[2:])
    assert inside < across
    assert (
        colours[:8] == colours[groups.above[:8]]
    ).all()  # vertices wear their group's
    assert len(np.unique(colours[:8], axis=0)) == 4
    assert np.ptp(colours[8]) == 0  # the lone vertex is grey
    assert ((colours >= 0) & (colours <= 1)).all()


def test_brothers_differ_in_grey_print() -> None:
    groups = Groups.of(nested_tree())
    colours = tree_colours(groups, groups.columns(np.arange(9.0)))
    light = colours @ [0.299, 0.587, 0.114]
    assert abs(light[9] - light[10]) > 0.08
    assert abs(light[11] - light[12]) > 0.08


def test_every_group_has_its_hull_at_500_vertices() -> None:
    """The hulls of the first two splits, each around its own vertices alone."""
    from sega_anchor.trees.draw._panels import _hulls

    parts = np.full((10, 10), 0.002) + 0.15 * np.eye(10)
    graph = networkx.stochastic_block_model([50] * 10, parts, seed=1)
    five, fifty = 500 + torch.arange(500) // 5, 600 + torch.arange(100) // 10
    parent = [five, fifty, torch.full((10,), 610), torch.tensor([-1])]
    level = torch.arange(4).repeat_interleave(torch.tensor([500, 100, 10, 1]))
    groups = Groups.of(CodingTree(torch.cat(parent), level))
    xy = place(groups, np.array(graph.edges).T)
    hulls = _hulls(groups, xy, np.zeros((len(groups.above), 3))).get_paths()
    split = np.append(groups.depth[:-1] > groups.depth[groups.above[:-1]], False)
    wanted = np.flatnonzero(split & (groups.size > 1) & (groups.depth <= 2))[::-1]
    assert len(hulls) == len(wanted) == 110
    for shape, node in zip(hulls, wanted, strict=True):
        rings = [MPath(ring) for ring in shape.to_polygons()]  # of them holes
        inside = np.flatnonzero(sum(ring.contains_points(xy) for ring in rings) % 2)
        assert inside.tolist() == groups.members(node).tolist()


def test_each_level_shows_its_groups_in_the_colours_of_the_tree(tmp_path) -> None:
    tree = nested_tree()
    edges = torch.tensor([[0, 2, 4, 6, 1, 5, 3, 7], [1, 3, 5, 7, 2, 6, 4, 8]])
    figure = plot_levels(tree, edges, tmp_path / "levels.png")
    assert (tmp_path / "levels.png").exists()
    coarse, fine = figure.axes
    assert coarse.get_title() == "level 2: 3 groups"
    assert fine.get_title() == "level 1: 5 groups"
    groups = Groups.of(tree)
    xy = place(groups, edges.numpy())
    colours = tree_colours(groups, groups.columns(xy[:, 0]))
    for axes, level, hulls in ((coarse, 2, 2), (fine, 1, 4)):
        shades, _, vertices = axes.collections
        assert len(shades.get_paths()) == hulls  # the lone vertex needs none
        shown = vertices.get_facecolor()[:, :3]
        assert np.allclose(shown, colours[groups.rows[level]])


def test_levels_go_into_axes_of_a_figure_one_each() -> None:
    figure = Figure()
    axes = figure.subplots(2)
    assert plot_levels(nested_tree(), NO_EDGES, ax=axes) is figure
    assert axes[1].get_title() == "level 1: 5 groups"
    with pytest.raises(ValueError, match="ax must be 2 axes of matplotlib"):
        plot_levels(nested_tree(), NO_EDGES, ax=axes[0])


@given(data=st.data(), n=st.integers(1, 14), height=st.integers(2, 5))
def test_no_branches_cross(data: st.DataObject, n: int, height: int) -> None:
    vertex = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=30))
    edges = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t()
    tree = build_coding_tree(edges, n, height=height, method="paper")
    across = np.array(data.draw(st.lists(st.floats(-9, 9), min_size=n, max_size=n)))
    groups = Groups.of(tree)
    x = groups.columns(across)
    for row in groups.rows[1:]:
        spans = sorted(
            (x[:n][row == node].min(), x[:n][row == node].max()) for node in set(row)
        )
        assert all(a[1] < b[0] for a, b in pairwise(spans))
    assert np.diff(np.sort(x[:n])).min(initial=1) >= 1 - 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_vertices_stay_apart_and_together(seed: int) -> None:
    ring = torch.stack([torch.arange(12), torch.arange(12).roll(-1)])
    edges = torch.cat([ring, ring + 12, torch.tensor([[24, 0], [25, 0]])[:, :1]], dim=1)
    tree = build_coding_tree(edges, 40, height=3, method="paper")
    both = edges.numpy()
    xy = place(Groups.of(tree), both, seed)
    gaps = np.linalg.norm(xy[:, None] - xy, axis=2)[np.triu_indices(40, 1)]
    assert gaps.min() > 0.6
    assert gaps.max() < 60


def test_threads_do_not_disturb_each_other(tree, tmp_path: Path) -> None:
    draw(tree, TRIANGLES, tmp_path / "alone.svg")
    paths = [tmp_path / f"{i}.svg" for i in range(3)]
    threads = [
        threading.Thread(target=draw, args=(tree, TRIANGLES, path)) for path in paths
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = (tmp_path / "alone.svg").read_bytes()
    assert all(path.read_bytes() == alone for path in paths)
