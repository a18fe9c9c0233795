"""Time of `porter build` on the ports of all samples, from an empty cache and again: `python benchmarks/build.py`."""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

from porter.validation.build.run import BuildRequest, build

from porter.project.port import Request, port_to
from porter.settings import load_choices

SAMPLES = Path(__file__).parents[1] / "samples"


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    """Prints wall and CPU seconds per target, cold and warm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", default="gfx942,gfx90a")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PORTER_CACHE_DIR"] = f"{folder}/cache"
        port_to(Request(SAMPLES, load_choices(SAMPLES, None), 1), Path(folder) / "port", None)
        for target in options.targets.split(","):
            for state in ("cold", "warm"):
                began, cpu = time.monotonic(), _cpu()
                report = build(BuildRequest(Path(folder) / "port", (target,), options.jobs))
                units = f"{len(report.units)} units, {sum(unit.reused for unit in report.units)} kept"
                how = ", ".join(tool.how.value if tool.how else "-" for tool in report.tools)
                wall, used = time.monotonic() - began, _cpu() - cpu
                print(f"{target} ({how}) {state}: {wall:.1f} s wall, {used:.1f} s CPU, {units}, {options.jobs} jobs")


if __name__ == "__main__":
    main()
