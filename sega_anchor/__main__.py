"""``python -m sega_anchor`` is ``sega-anchor``."""

import sys

from .cli import main

sys.exit(main())
