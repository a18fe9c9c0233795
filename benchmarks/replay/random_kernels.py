"""Random kernels on an NVIDIA GPU against the model of 32-lane warps: `python -m benchmarks.replay.random_kernels`.

The kernels of `python -m tests.random_warps`, by the same numbers and of the same PTX; each must leave what the model
in numpy leaves. Needs nvcc, numpy and the GPU's driver, and nothing of porter.
"""

from __future__ import annotations

import argparse
import multiprocessing
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.replay.run import Driver, Refused
from tests.random_warps.kernels import Kernel, kernel, text_of

_driver: list[Driver] = []


def judged(part: tuple[tuple[int, ...], bool, int]) -> list[str]:
    """What is not as the model says, a line each."""
    seeds, idioms, level = part
    kernels = [kernel(seed, idiom=idioms) for seed in seeds]
    with tempfile.TemporaryDirectory() as folder:
        source, ptx = Path(folder, "kernels.cu"), Path(folder, f"{seeds[0]}.ptx")
        source.write_text(text_of(kernels))
        command = ["nvcc", "-ptx", "-arch=compute_80", "-std=c++17", "-fmad=false", "-w", str(source), "-o", str(ptx)]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode:
            return [f"k{seed}: nvcc: {made.stderr[-300:]}" for seed in seeds]
        if not _driver:
            _driver.append(Driver(level))
        return [line for one in kernels if (line := problem(_driver[0], ptx, one))]


def problem(driver: Driver, ptx: Path, one: Kernel) -> str:
    """Empty when a launch leaves what the model leaves."""
    try:
        module = driver.module(ptx)
        arrays = one.arrays()
        places = [driver.place(array) for array in arrays]
        head = {"kernel": one.name, "grid": (one.grid, 1, 1), "block": (*one.block, 1, 1)[:3], "shared": 0}
        driver.launch(module, head, places)
        left = [driver.read(place, array) for place, array in zip(places, arrays, strict=True)]
        for place in places:
            driver.release(place)
    except Refused as error:
        return f"{one.name}: {error}"
    said = one.difference(left)
    return f"{one.name}: {said}" if said else ""


def main() -> int:
    """Exit code 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first; a kernel's number is its seed")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--together", type=int, default=50, help="kernels of one source")
    parser.add_argument("--seconds", type=float, default=1e9, help="how long parts are begun")
    parser.add_argument("--idioms", action="store_true", help="reductions that `--warp native` widens")
    parser.add_argument("--level", type=int, default=4, help="of the driver's compiler")
    options = parser.parse_args()
    last, end = options.first + options.kernels, time.monotonic() + options.seconds
    parts = [
        (tuple(range(seed, min(last, seed + options.together))), options.idioms, options.level)
        for seed in range(options.first, last, options.together)
    ]
    done = wrong = 0
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for part, found in zip(parts, pool.imap(judged, parts), strict=True):
            done, wrong = done + len(part[0]), wrong + len(found)
            for line in found:
                print(line, flush=True)
            if time.monotonic() > end:
                break
    print(f"{done} kernels, {wrong} differ from the model")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
