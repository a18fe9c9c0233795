"""`python -m tests.warp.projects FOLDER [NAME ...]`: as a project that `porter run --compare` takes."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.warp.projects import projects, write

if __name__ == "__main__":
    write(Path(sys.argv[1]), tuple(one for one in projects() if not sys.argv[2:] or one.name in sys.argv[2:]))
