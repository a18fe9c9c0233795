"""What compiling small kernels for gfx942 costs, one after the other, from an empty cache.

python -m benchmarks.devices.compiling [--kernels 6]
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile

from porter.validation.toolchain.clang import assemble_text
from porter.validation.toolchain.result import Assembled

KERNEL = "__global__ void k(float *p, int n) { int i = threadIdx.x; if (i < n) p[i] += %d; }\n"


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=6)
    count = parser.parse_args().kernels
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PORTER_CACHE_DIR"] = folder
        for number in range(count):
            before = _seconds()
            made = assemble_text(KERNEL % number)
            size = f"{len(made.text) >> 10} KB of assembly" if isinstance(made, Assembled) else str(made)
            print(f"kernel {number + 1}: {_seconds() - before:.2f} s of processor time, {size}")


if __name__ == "__main__":
    main()
