"""`python -m tests.warp.programs FOLDER [NAME ...]`: the programs as a project that `porter run --compare` takes."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.warp.programs import programs, write

if __name__ == "__main__":
    write(Path(sys.argv[1]), tuple(one for one in programs() if not sys.argv[2:] or one.name in sys.argv[2:]))
