"""Time of `porter build` and `porter validate` on all samples, warm: `python -m benchmarks.validate`."""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "samples"


def _timed(words: tuple[str, ...], environment: dict[str, str]) -> tuple[float, float]:
    """Wall and CPU seconds of one `porter` with all it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    command = (sys.executable, "-m", "porter", *words)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    wall = time.monotonic() - began
    if done.returncode not in (0, 1):  # 1: what cannot be built or run on this machine
        sys.exit(f"porter {' '.join(words)}: exit status {done.returncode}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Prints wall and CPU seconds: the first run, from an empty cache, and the best of some more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warp", default="preserve", help="preserve, native, or both with a comma")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--runs", type=int, default=3, help="warm ones")
    parser.add_argument("--cache", type=Path, help="kept between calls; default: a new one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PORTER_CACHE_DIR": str(options.cache or f"{folder}/cache")}
        tree, jobs = f"{folder}/port", ("--jobs", str(options.jobs))
        _timed(("port", str(SAMPLES), "-o", tree), environment)
        commands = {
            "build": ("build", tree, *jobs),
            "validate": ("validate", str(SAMPLES), "--warp", options.warp, *jobs),
        }
        totals = [0.0, 0.0]
        for name, words in commands.items():
            first = _timed(words, environment)
            best = min(_timed(words, environment) for _ in range(options.runs))
            totals = [totals[0] + best[0], totals[1] + best[1]]
            print(
                f"{name}: first {first[0]:.1f} s wall, {first[1]:.1f} s CPU; warm {best[0]:.1f} s, {best[1]:.1f} s CPU"
            )
        print(
            f"together, warm: {totals[0]:.1f} s wall, {totals[1]:.1f} s CPU, {options.jobs} jobs, --warp {options.warp}"
        )


if __name__ == "__main__":
    main()
