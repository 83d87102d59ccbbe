"""Bars where somebody watches, lines of a log where nobody does."""

import ast
import logging
import sys
from types import SimpleNamespace

import pytest

import sega_anchor as sa
from sega_anchor.datasets import load
from sega_anchor.loader import pack_dataset
from sega_anchor.utils import progress
from sega_anchor.utils.progress import LOGGER, log_line, log_shown, progress_bar
from tests.helpers.paths import ROOT


@pytest.fixture
def unconfigured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has set up logging; pytest has, on the root logger, which is not asked."""
    monkeypatch.setattr(LOGGER, "hasHandlers", lambda: bool(LOGGER.handlers))


def in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def test_without_a_terminal_lines_stand_in_for_bars(unconfigured, capsys) -> None:
    with log_shown(), progress_bar(range(2), desc="Working"):
        log_line("half done")
    err = capsys.readouterr().err
    assert err.endswith("half done\n") and err.count("\n") == 1
    assert "Working" not in err
    assert not LOGGER.handlers and LOGGER.level == logging.NOTSET
    log_line("nobody shows this")
    assert capsys.readouterr().err == ""


def test_in_a_terminal_there_are_bars_and_no_lines(
    unconfigured, capsys, monkeypatch
) -> None:
    in_a_terminal(monkeypatch)
    with log_shown(), progress_bar(range(2), desc="Working"):
        log_line("half done")
    err = capsys.readouterr().err
    assert "Working" in err and "half done" not in err


def test_a_notebook_gets_bars(unconfigured, capsys, monkeypatch) -> None:
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    with log_shown(), progress_bar(range(2), desc="Working"):
        log_line("half done")
    err = capsys.readouterr().err
    assert "Working" in err and "half done" not in err


def test_who_has_set_up_logging_gets_the_lines_once(
    capsys, caplog, monkeypatch
) -> None:
    in_a_terminal(monkeypatch)
    with caplog.at_level(logging.INFO, logger="sega_anchor"), log_shown():
        log_line("half done")
    assert caplog.messages == ["half done"]
    assert "half done" not in capsys.readouterr().err


def test_other_ranks_are_silent(unconfigured, capsys, monkeypatch) -> None:
    monkeypatch.setattr(progress, "is_main", lambda: False)
    with log_shown(), progress_bar(range(2), desc="Working"):
        log_line("half done")
    assert capsys.readouterr().err == ""


def test_a_line_a_minute_and_the_last(monkeypatch) -> None:
    clock = iter(range(0, 1000, 25))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    pace = progress.Pace()
    due = [pace.is_due(last=step == 7) for step in range(8)]
    assert due == [False, False, True, False, False, True, False, True]


def test_trees_of_a_data_set_and_packing_say_how_far_they_are(
    unconfigured, capsys, tmp_path, monkeypatch
) -> None:
    graphs = load("synthetic")
    sa.build_coding_trees(graphs)
    assert capsys.readouterr().err == ""  # what is over at once needs no line
    monkeypatch.setattr(progress, "BRIEF", 0.0)
    sa.build_coding_trees(graphs)
    assert "Building trees: 300 of 300\n" in capsys.readouterr().err
    pack_dataset(graphs, tmp_path / "packed")
    assert "Packing graphs: 300 of 300\n" in capsys.readouterr().err


def test_every_bar_is_made_in_one_place() -> None:
    """A bar of its own would show on every rank and stay dark in notebooks."""
    for path in (ROOT / "sega_anchor").rglob("*.py"):
        names = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        allowed = path.name in ("progress.py", "compiling.py")  # that one is no bar
        assert allowed or "tqdm" not in names, path
