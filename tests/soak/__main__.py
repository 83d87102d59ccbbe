"""Read the arguments of ``python -m tests.soak``, and soak."""

import argparse
import sys
from pathlib import Path

from . import JOBS, soak
from . import __doc__ as what

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak",
        description=what,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of a trial")
    parser.add_argument("--most", type=int, default=10**9, help="how many trials")
    parser.add_argument("--log", type=Path, default=Path("soak.jsonl"))
    parser.add_argument("--jobs", nargs="+", default=sorted(JOBS), choices=sorted(JOBS))
    chosen = vars(parser.parse_args())
    counts = soak(**chosen)
    print(dict(counts))
    sys.exit(counts["wrong"] > 0)
