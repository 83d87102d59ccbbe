"""A page in a real browser without a window: Chromium, as Qt WebEngine has it.

As a module, in a process of its own, it reads a script from standard input and prints
what came of it: ``python -m tests.helpers.browser PAGE WIDTH [PICTURE]``.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .paths import ROOT

_SECONDS = 60
#: The exit status where no browser starts.
_ABSENT = 77


def browse(page: Path, script: str, width: int = 1280) -> Any:
    """Return the value of a script on a page; skips the test where no browser starts.

    Args:
        page: an HTML file.
        script: the body of a JavaScript function that returns what JSON knows.
        width: of the window, in pixels.

    Raises:
        AssertionError: with what the page wrote to its console.
    """
    pytest.importorskip("PySide6.QtWebEngineCore", exc_type=ImportError)
    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.browser", str(page), str(width)],
        input=script,
        capture_output=True,
        text=True,
        timeout=2 * _SECONDS,
        cwd=ROOT,
    )
    if done.returncode == _ABSENT:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["console"] == []
    return found["value"]


def _main(page: str, width: str, picture: str | None = None) -> int:
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ["QTWEBENGINE_CHROMIUM_FLAGS"] = "--no-sandbox --disable-gpu"
    os.environ["QT_LOGGING_RULES"] = "*=false"
    try:
        from PySide6.QtCore import QTimer, QUrl
        from PySide6.QtWebEngineCore import QWebEnginePage
        from PySide6.QtWebEngineWidgets import QWebEngineView
        from PySide6.QtWidgets import QApplication
    except ImportError as error:  # such as a library of the system
        print(error, file=sys.stderr)
        return _ABSENT
    console: list[str] = []

    class Page(QWebEnginePage):
        def javaScriptConsoleMessage(self, level, message, line, source):  # type: ignore[no-untyped-def]
            console.append(f"{line}: {message}")

    application = QApplication(["browser"])
    view = QWebEngineView()
    view.setPage(Page(view))
    view.resize(int(width), 900)
    view.show()
    script = f"JSON.stringify((() => {{ {sys.stdin.read()} }})() ?? null)"

    def finish(text: str) -> None:
        if picture is None:
            return end(text)
        QTimer.singleShot(1000, lambda: end(text))  # when it has been painted

    def end(text: str) -> None:
        if picture is not None:
            view.grab().save(picture)
        value = json.loads(text) if text else None
        print(json.dumps({"value": value, "console": console}))
        application.quit()

    def loaded(_: bool) -> None:
        view.page().runJavaScript(script, finish)

    view.loadFinished.connect(loaded)
    view.load(QUrl.fromLocalFile(str(Path(page).resolve())))
    QTimer.singleShot(1000 * _SECONDS, lambda: application.exit(1))
    return int(application.exec())


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
