"""The page of a report: whole, self-contained, and each number beside its record."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from typing_extensions import override

from sega_anchor.report.page import write_report
from tests.helpers.browser import browse
from tests.helpers.hand_made import semisupervised, unsupervised
from tests.helpers.paths import ROOT

VOID = {"meta", "link", "br", "input", "hr", "img"}
HOSTILE = "SEGA <script>alert(1)</script> & co"
SECTIONS = [
    "Random trees",
    "Accuracy against the height of the trees",
    "Accuracy against the entropy of the trees",
    "Learning curves",
    "Embeddings with and without the anchor",
]


class Parsed(HTMLParser):
    """The elements of a page; every one that opens must close, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), (tag, attrs)
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    @override
    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, name: str) -> list[str]:
        """The values of an attribute, wherever it stands."""
        return [attributes[name] for _, attributes in self.found if name in attributes]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both methods on two sets, one of which needs no files; all figures have data."""
    folder = tmp_path_factory.mktemp("records of two")

    def put(label: str, dataset: str, mean: float, **options: object) -> None:
        scores = {
            seed: {
                f"{epoch}/{name}": (mean + seed / 100 + epoch / 1000, mean)
                for epoch in (1, 2)
                for name in (("G", "T", "GT") if "height" in options else ("G",))
            }
            for seed in (0, 1)
        }
        unsupervised(folder, label, dataset, scores, **options)

    graphs = {"MUTAG": 188, "synthetic": 300}
    for dataset, number in graphs.items():
        put("GraphCL", dataset, 0.86, graphs=number)
        for height in (2, 3):
            mean = 0.85 + height / 100
            put("SEGA", dataset, mean, height=height, graphs=number)
        put("SEGA, random tree", dataset, 0.84, height=2, tree="random")
    put("JOAO", "MUTAG", 0.88, protocol="paper")
    put(HOSTILE, "MUTAG", 0.8)
    curves = {"test": [0.5, 0.6], "validation": [-0.5, -0.4]}
    semisupervised(folder, "SEGA", "NCI1", curves)
    (folder / "foreign.json").write_text("{}")
    return folder


@pytest.fixture(scope="module")
def page(results: Path) -> Path:
    return write_report(results).page


@pytest.fixture(scope="module")
def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_the_page_is_well_formed_and_every_link_leads_somewhere(
    text: str, page: Path
) -> None:
    parsed = Parsed(text)
    names = parsed.all("id")
    assert len(names) == len(set(names))
    places = [a["id"] for tag, a in parsed.found if tag == "details"]
    assert len(places) == len(set(places)) == 11
    links = parsed.all("href")
    assert len(links) > 50
    for link in links:
        if link.startswith("#"):
            assert link[1:] in names
        elif link != "data:,":
            assert (page.parent / unquote(link)).is_file(), link


def test_nothing_is_fetched_from_elsewhere(text: str) -> None:
    assert "//" not in re.sub(r"^// .*$", "", text, flags=re.MULTILINE)
    assert "@import" not in text
    assert "url(" not in text.replace("url(#", "")
    sources = [a["src"] for _, a in Parsed(text).found if "src" in a]
    assert sources == []


def test_labels_are_words_and_no_markup(text: str) -> None:
    assert "<script>alert" not in text
    assert "SEGA &lt;script&gt;" in text


def test_numbers_link_to_their_records_with_configuration_and_seeds(
    text: str, results: Path
) -> None:
    links = [
        (unquote(a["href"]).removeprefix("../"), a["title"])
        for tag, a in Parsed(text).found
        if tag == "a" and "SEGA on MUTAG" in a.get("title", "")
    ]
    assert links
    for name, tip in links:
        assert (results / name).is_file()
        assert "chosen of 2: height 3" in tip
        assert "seeds 0, 1" in tip


def test_each_figure_is_drawn_where_there_is_data(text: str) -> None:
    parts = text.split('<section class="figures"')[1:]
    assert [re.search("<h2>(.*)</h2>", part)[1] for part in parts] == SECTIONS  # type: ignore[index]
    titles = [re.findall(r"<h3>(.*)</h3>\n<svg", part) for part in parts]
    both = ["MUTAG, protocol honest", "synthetic, protocol honest"]
    assert titles[0] == ["SEGA beside randomly balanced trees, protocol honest"]
    assert titles[1] == both
    assert titles[2][-1:] == both[1:]  # MUTAG may be here or not
    assert "SEGA on MUTAG, protocol honest" in titles[3]
    assert "SEGA on NCI1, protocol honest" in titles[3]
    assert titles[4] == both
    assert "var(--accent-0)" in parts[1]
    assert "#0000" not in text


def test_a_figure_without_data_says_what_it_needs(tmp_path: Path) -> None:
    unsupervised(tmp_path, "GraphCL", "nowhere", {0: {"1/G": (0.8, 0.8)}})
    content = write_report(tmp_path).page.read_text(encoding="utf-8")
    assert content.count("No figure: it needs records") == 4  # there is a loss
    assert "Beyond the paper" in content
    assert "What holds" not in content


def test_equal_records_give_an_equal_page(results: Path, text: str) -> None:
    assert write_report(results).page.read_text(encoding="utf-8") == text


def test_tables_and_protocols_can_be_chosen(results: Path, tmp_path: Path) -> None:
    write_report(results, tmp_path / "some", ["table1", "table2"], "honest")
    names = {path.name for path in (tmp_path / "some").iterdir()}
    tables = {f"{t}-honest.{e}" for t in ("table1", "table2") for e in FORMATS}
    assert names == {"index.html", *tables, *(f"others.{e}" for e in FORMATS)}
    content = (tmp_path / "some" / "index.html").read_text(encoding="utf-8")
    assert "JOAO" not in content  # of the other protocol
    for name in ("table1-honest.md", "table1-honest.tex"):
        assert "88.70" in (tmp_path / "some" / name).read_text(encoding="utf-8")


FORMATS = ("md", "csv", "tex")


def test_what_cannot_be_written_is_refused_first(results: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="is a file: give --output a folder"):
        write_report(results, tmp_path / "file")
    with pytest.raises(ValueError, match="tables must be 'table1'"):
        write_report(results, tables=["table9"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="protocol must be"):
        write_report(results, protocol="best")  # type: ignore[arg-type]


def test_a_missing_extra_is_named(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ImportError, match=r"needs matplotlib: pip install 'sega-anchor\["
    ):
        write_report(results)


@pytest.mark.slow
def test_the_library_does_without_the_extra() -> None:
    program = (
        "import sys; sys.modules |= dict.fromkeys(['pandas', 'matplotlib']); "
        "import sega_anchor, sega_anchor.report.page; "
        "from sega_anchor.cli import main; sys.exit(main(['report', '.']))"
    )
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    needs = "sega-anchor: a report needs pandas: pip install 'sega-anchor[report]'"
    assert done.stderr.splitlines() == [needs]


FILTER = """
const choose = (name, value) => {
  filters.elements[name].value = value;
  filters.dispatchEvent(new Event("change"));
};
const shown = (what) => [...document.querySelectorAll(what)]
  .filter((element) => element.offsetParent !== null);
"""


@pytest.mark.slow
def test_tables_sort_in_a_browser(page: Path) -> None:
    found = browse(
        page,
        """
        const table = document.querySelector("table.paper");
        const names = () => [...table.tBodies].map((one) => one.dataset.methods);
        const click = (column) =>
          table.querySelector(`th[data-column="${column}"] button`).click();
        const orders = [names()];
        for (const column of [4, 4, 1, 0]) { click(column); orders.push(names()); }
        return orders;
        """,
    )
    paper, descending, ascending, unmeasured, by_name = found
    assert paper == ["GraphCL", "SEGA"]
    assert descending == ["SEGA", "GraphCL"]  # MUTAG, by test
    assert ascending == ["GraphCL", "SEGA"]
    assert unmeasured == ascending  # NCI1: nothing on record, nothing moves
    assert by_name == ["GraphCL", "SEGA"]


@pytest.mark.slow
def test_filters_hide_what_is_of_others_in_a_browser(page: Path) -> None:
    found = browse(
        page,
        FILTER
        + """
        const all = shown("figure").length;
        choose("dataset", "synthetic");
        const figures = shown("figure").map((one) => one.dataset.datasets);
        const tables = shown("table.paper").length;
        choose("method", "GraphCL");
        const rows = shown("table.flat:not(.summary) tbody")
          .map((one) => one.dataset.methods);
        choose("dataset", ""); choose("method", "");
        return { all, figures, tables, rows, again: shown("figure").length };
        """,
    )
    assert found["all"] == found["again"] > 8
    assert all("synthetic" in names.split("|") for names in found["figures"])
    assert found["figures"]
    assert found["tables"] == 0  # no column of the paper's
    assert found["rows"] == ["GraphCL"]


@pytest.mark.slow
@pytest.mark.parametrize("width", [375, 1280])
def test_figures_are_drawn_and_nothing_overflows_in_a_browser(
    page: Path, width: int
) -> None:
    found = browse(
        page,
        """
        location.hash = document.querySelector("details").id;
        const sizes = [...document.querySelectorAll("figure svg")]
          .map((one) => one.getBoundingClientRect())
          .map((one) => [one.left, one.right, one.height]);
        const { scrollWidth, clientWidth } = document.documentElement;
        return { sizes, scrollWidth, clientWidth };
        """,
        width,
    )
    assert found["scrollWidth"] == found["clientWidth"] <= width
    assert len(found["sizes"]) > 8
    for left, right, height in found["sizes"]:
        assert left >= 0 and right <= found["clientWidth"]
        assert right - left > 250 and height > 60
