"""Random kernels against a model of 32-lane warps: `python -m tests.random_warps --kernels 10000 --jobs 2`.

Each is compiled for the virtual NVIDIA GPU, ported and compiled for the virtual gfx942, and must leave on both what a
model in numpy leaves. What differs is made smaller and printed, with the compiler's name where other flags mend it, and
can be had again with `--first SEED --kernels 1`.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

from tests.random_warps.kernels import kernel
from tests.random_warps.run import SIDES, Bench, Broken, Disagreement


@dataclass(frozen=True)
class Part:
    """Kernels that are compiled together, and how."""

    seeds: tuple[int, ...]
    sides: tuple[str, ...]
    level: int
    reduced: bool
    idioms: bool


def judged(part: Part) -> list[str]:
    """What differs, as text; where a source does not compile, each kernel alone."""
    bench = Bench(part.level)
    kernels = [kernel(seed, idiom=part.idioms) for seed in part.seeds]
    try:
        found = bench.judged(kernels, part.sides)
    except Broken as error:
        if len(part.seeds) == 1:
            return [f"k{part.seeds[0]}: {str(error)[:2000]}"]
        alone = (replace(part, seeds=(seed,)) for seed in part.seeds)
        return [line for one in alone for line in judged(one)]
    return [_said(bench.culprit(one) if part.reduced else one) for one in found]


def _said(wrong: Disagreement) -> str:
    kernel = wrong.kernel
    culprit = f"compiler: {wrong.culprit}: " if wrong.culprit else ""
    head = f"{kernel.name} {wrong.side} grid {kernel.grid} block {kernel.block}: {culprit}{wrong.said}"
    return f"{head}\n{kernel.text()}"


def parts(options: argparse.Namespace) -> Iterator[Part]:
    """What is run."""
    last = options.first + options.kernels
    for seed in range(options.first, last, options.together):
        seeds = tuple(range(seed, min(last, seed + options.together)))
        yield Part(seeds, tuple(options.sides.split(",")), options.level, not options.whole, options.idioms)


def main() -> int:
    """Prints what differs, then how many did and what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first; a kernel's number is its seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--together", type=int, default=100, help="kernels of one source")
    parser.add_argument("--sides", default="original,preserve", help=f"of {','.join(SIDES)}")
    parser.add_argument(
        "--level", type=int, default=0, help="of the host compiler's optimisation of what the devices run"
    )
    parser.add_argument("--idioms", action="store_true", help="reductions that `--warp native` widens")
    parser.add_argument("--whole", action="store_true", help="do not make what differs smaller")
    options = parser.parse_args()
    began, wrong, done, compilers = time.monotonic(), 0, 0, 0
    with ProcessPoolExecutor(options.jobs) as pool:
        work = list(parts(options))
        for part, found in zip(work, pool.map(judged, work), strict=True):
            done += len(part.seeds)
            wrong += len(found)
            compilers += sum(": compiler: " in one.partition("\n")[0] for one in found)
            for one in found:
                print(one, flush=True)
            minutes = (time.monotonic() - began) / 60
            print(
                f"{done} of {options.kernels}, {wrong} differ, {done / minutes:.0f} a minute",
                file=sys.stderr,
                flush=True,
            )
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in used)
    print(f"{done} kernels, {wrong} differ, {compilers} of them by the compiler")
    print(f"{seconds:.0f} s of CPU, {done / seconds * 60:.0f} kernels for each minute of it")
    return 1 if wrong > compilers else 0


if __name__ == "__main__":
    sys.exit(main())
