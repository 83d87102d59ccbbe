"""Records as somebody else might have written them."""

import json
from pathlib import Path
from typing import Any

from sega_anchor.report.record import checksum


def rewrite(path: Path, content: dict[str, Any]) -> None:
    """Write what a record is to hold, with the checksum of it."""
    content = {name: value for name, value in content.items() if name != "checksum"}
    path.write_text(json.dumps({**content, "checksum": checksum(content)}))
