"""How many kernels of other people's binaries the gfx942 device translates.

    python -m benchmarks.devices.objects FILE... [--every N]

FILE is a wheel, library or code object; every Nth kernel for gfx942 is disassembled and translated to C.
None is compiled or run.
"""

from __future__ import annotations

import argparse
import resource
from collections import Counter
from pathlib import Path

from porter.validation.devices.core.result import NotRun
from porter.validation.devices.listing import list_objects

import porter


def _cpu() -> float:
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def main() -> None:
    """Prints counts, CPU seconds and what was refused."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    for path in options.files:
        start = _cpu()
        listed = list_objects(path)
        read = _cpu() - start
        targets = Counter(kernel.target.partition(":")[0] for kernel in listed.kernels)
        print(f"{path.name}: {len(listed.kernels)} kernels of {len(targets)} targets listed in {read:.1f} CPU s")
        start = _cpu()
        module = porter.Device("gfx942").load(path)
        kernels = [module[symbol] for symbol in module._kernels]
        print(f"  opened in {_cpu() - start:.1f} CPU s: {len(kernels)} kernels for gfx942")
        start = _cpu()
        refused: Counter[str] = Counter()
        chosen = kernels[:: options.every]
        for kernel in chosen:
            found = kernel._loaded.translated(kernel.symbol)
            if isinstance(found, NotRun):
                refused[found.reason.partition(": ")[2] or found.reason] += 1
        done = len(chosen) - refused.total()
        print(f"  {done} of {len(chosen)} translated in {_cpu() - start:.1f} CPU s")
        for reason, count in refused.most_common(20):
            print(f"    {count}  {reason}")


if __name__ == "__main__":
    main()
