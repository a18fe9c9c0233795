"""Records what runs on the virtual NVIDIA GPU: `python -m benchmarks.replay.record FOLDER -- COMMAND`.

The command's launches on that device, with their arguments and what they leave, become files that
`benchmarks/replay/run.py` replays on a machine with an NVIDIA GPU, from the same PTX. For example

    python -m benchmarks.replay.record out -- python -m pytest tests/ptx
    python -m benchmarks.replay.record out -- porter validate samples --report report
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from porter.system.cache import cache_folder

HOOK = Path(__file__).parent / "hook"


def main() -> int:
    """The command's exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    folder = options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    cache_folder().mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(prefix="replay-", dir=cache_folder()))  # where what runs cases may write
    paths = [str(HOOK), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PORTER_REPLAY": str(staged), "PYTHONPATH": os.pathsep.join(paths)}
    environment["PYTEST_PLUGINS"] = "benchmarks.replay.recorder"
    done = subprocess.run(options.command, env=environment, check=False)
    for file in staged.iterdir():
        shutil.move(file, folder / file.name)
    staged.rmdir()
    left_out = folder / "left-out.txt"
    reasons = Counter(left_out.read_text().splitlines()) if left_out.exists() else Counter[str]()
    launches, programs = (sum(1 for _ in folder.glob(pattern)) for pattern in ("*.npz", "*.ptx"))
    print(f"{launches} launches of {programs} programs in {folder}", file=sys.stderr)
    for reason, count in reasons.most_common():
        print(f"  not recorded: {count} with {reason}", file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
