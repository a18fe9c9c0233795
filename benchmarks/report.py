"""Size of a gap report of many kernels, and how long a browser needs until it can be used.

python -m benchmarks.report [--kernels 2000] [--files 500] [--port port.json] [--keep report.html]

The project is made up, or that of a port's JSON; builds and cases are made up for its kernels.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from porter.project.port import Request, port_to
from porter.report.as_json import report_json
from porter.report.gap.inputs import Inputs
from porter.report.gap.write import written
from porter.settings import Choices
from porter.system.programs import on_this_machine
from tests.report.gap_documents import case, kernel_build

BODY = """\
// Row {number}: one warp per row, partial sums over the columns, then a reduction over the lanes of the warp.
__global__ void row_sum_{number}(const float *__restrict__ in, float *__restrict__ out, int rows, int columns) {{
  __shared__ float partial[{shared}];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = blockIdx.x * (blockDim.x / 32) + warp;
  float value = 0.0f;
  if (row < rows) {{
    for (int column = lane; column < columns; column += 32) {{
      const float x = in[row * columns + column];
      value = fmaf(x, {factor}f, value);
    }}
  }}
  for (int offset = 16; offset > 0; offset /= 2) {{
    value += __shfl_down_sync(0xffffffffu, value, offset);
  }}
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  {extra}
  if (row < rows && lane == 0) out[row] = partial[warp];
}}

"""
EXTRAS = ("", "while (atomicExch((int *)out, 1) != 0) { }", "out[0] = tex1Dfetch<float>(0, lane);", "__syncwarp();")


def project(folder: Path, kernels: int, files: int, chance: random.Random) -> None:
    """Files with several kernels each, no two the same."""
    per_file = -(-kernels // files)
    for number in range(files):
        path = folder / f"module{number // 20}" / f"rows_{number}.cu"
        path.parent.mkdir(parents=True, exist_ok=True)
        body = "".join(
            BODY.format(
                number=number * per_file + index,
                shared=chance.randint(8, 64),
                factor=chance.random(),
                extra=chance.choice(EXTRAS),
            )
            for index in range(per_file)
        )
        path.write_text(f"#include <cuda_runtime.h>\n\n{body}")


def evidence(report: dict[str, Any], chance: random.Random) -> Inputs:
    """A build of every kernel and a case for most."""
    kernels = report["kernels"]
    builds = [
        kernel_build(k["name"], k["path"], vgprs=chance.randrange(8, 256, 8), waves_per_simd=chance.randint(1, 8))
        for k in kernels
    ]
    cases = [made_up(k, chance) for k in kernels if chance.random() < 0.8]
    build = {"schema": "porter-build-1", "units": [], "kernels": builds}
    return Inputs(report, (build,), ({"schema": "porter-validate/1", "cases": cases},))


def made_up(kernel: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """A case; one in twenty is wrong, and no two have the same error."""
    made = case(kernel["name"], kernel["path"], "wrong-values" if chance.random() < 0.05 else "passed")
    error = 1e-7 * chance.lognormvariate(0, 2)
    for side in made["sides"]:
        for output in side["outputs"]:
            output["rms_error"] = error * (1 if side["side"] == "original" else chance.lognormvariate(0, 0.3))
            output["max_error"] = 4 * output["rms_error"]
    return made


def main() -> None:
    """Prints one line per measurement."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--kernels", type=int, default=2000)
    arguments.add_argument("--files", type=int, default=500)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--port", type=Path, help="JSON of a port, instead of a project that is made up.")
    arguments.add_argument("--keep", type=Path, help="Where the page is left, for benchmarks.report_pictures.")
    given = arguments.parse_args()
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        inputs = evidence(port_of(given, folder, chance), chance)
        start = time.process_time()
        page = written(inputs, "html")
        print(f"written in {time.process_time() - start:.1f} s CPU; {len(page.encode()) / 1e6:.1f} MB")
        kept = (given.keep or folder / "report.html").resolve()
        kept.write_text(page, "utf-8")
        timings = [measured(kept.as_uri()) for _ in range(given.runs)]
        for name in timings[0]:
            print(f"{name}: {min(timing[name] for timing in timings):.2f} s (best of {given.runs})")


def port_of(given: argparse.Namespace, folder: Path, chance: random.Random) -> dict[str, Any]:
    """The report of a port: one that is there, or that of a project made up."""
    if given.port:
        document: dict[str, Any] = json.loads(given.port.read_text("utf-8"))
        return document
    project(folder / "project", given.kernels, given.files, chance)
    answer = port_to(Request(folder / "project", Choices(), 2), folder / "out")
    return report_json(answer.report)


def measured(address: str) -> dict[str, float]:
    """Seconds until the table answers, a kernel shows its code, and a search is done."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=on_this_machine("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        start = time.perf_counter()
        page.goto(address, wait_until="commit")
        page.wait_for_function("document.documentElement.dataset.theme !== undefined")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        usable = time.perf_counter() - start
        info = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        cpu = max(process["cpuTime"] for process in info if process["type"] == "renderer")
        page.wait_for_function("document.querySelectorAll('#charts svg').length >= 2", timeout=120_000)
        charts = time.perf_counter() - start
        last = page.evaluate("[...document.querySelectorAll('#table tbody tr td:first-child a')].pop().textContent")
        start = time.perf_counter()
        page.fill("#search", last)
        page.wait_for_function("document.querySelector('#shown').textContent.includes(' of ')", timeout=120_000)
        search = time.perf_counter() - start
        start = time.perf_counter()
        page.evaluate("location.hash = document.querySelector('#table tbody a').getAttribute('href')")
        page.wait_for_selector("#detail .code", timeout=120_000)
        kernel = time.perf_counter() - start
        browser.close()
    found = {"usable": usable, "usable, CPU of the renderer": cpu, "charts drawn": charts}
    return {**found, "search": search, "kernel opened": kernel}


if __name__ == "__main__":
    main()
