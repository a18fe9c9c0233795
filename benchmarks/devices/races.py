"""What looking for races costs: run as `python -m benchmarks.devices.races`.

CPU seconds of a launch on one thread of both virtual devices: without, with races in shared memory, and with races in
global memory too, as `porter validate` runs the first schedule of a case. Best of five.
"""

from __future__ import annotations

import numpy as np
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran

from benchmarks.devices import gfx942, ptx

CHECKS = {
    "none": Options(threads=1),
    "shared": Options(threads=1, races=True),
    "shared and global": Options(threads=1, races=True, global_races=True),
}


def main() -> None:
    """One row per device and kernel."""
    rng = np.random.default_rng(1)
    n = 1 << 20
    a, b = rng.random((2, n), np.float32)
    where = rng.permutation(n).astype(np.int32)
    cases: dict[str, list[object]] = {
        "arithmetic": [np.zeros(64 * 256, np.float32), 200],
        "triad": [a, b, np.zeros(n, np.float32), n],
        "gather": [a, where, np.zeros(n, np.float32), n],
        "sum": [a, np.zeros(1, np.float32), n],
    }
    print(f"| device | kernel | {' | '.join(CHECKS)} |\n|---|---|{'---|' * len(CHECKS)}")
    for device, module in (("ptx", ptx.load(gfx942.KERNELS)), ("gfx942", gfx942.load(gfx942.KERNELS))):
        for name, args in cases.items():
            row: list[str] = []
            for options in CHECKS.values():
                done = [module.launch(name, 64, 256, args, options=options) for _ in range(5)]
                row.append(f"{min(d.cpu_seconds for d in done if isinstance(d, Ran)) * 1e3:.1f} ms")
            print(f"| {device} | {name} | {' | '.join(row)} |")


if __name__ == "__main__":
    main()
