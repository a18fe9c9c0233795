"""What our `nvcc` and `hipcc` share: stand-ins are built when a program is linked to them, and not before.

The text below the line takes the place of the import of it where the two are copied (compilers.py).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# ---


def linked_stand_ins(words: list[str], stand_ins: dict[str, str], build: list[str]) -> list[str]:
    """Where the linker finds those that are asked for: `-L` and a folder for each."""
    asked = sorted({name for name in stand_ins if f"-l{name}" in words or f"--library={name}" in words})
    if any(not Path(stand_ins[name]).is_dir() for name in asked):
        done = subprocess.run([*build, *asked], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
    return [f"-L{folder}" for folder in dict.fromkeys(stand_ins[name] for name in asked)]
