"""Numbers of processes."""

from __future__ import annotations

import subprocess
import sys


def number_of_the_dead() -> int:
    """Of a process that was there a moment ago."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid
