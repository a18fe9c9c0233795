"""Outputs of the samples' originals as an NVIDIA GPU computes them: recorded there, compared anywhere.

`python benchmarks/golden.py record OUT | compare OUT | clock`
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from porter.validation.cases import dtypes
from porter.validation.cases.case import Case
from porter.validation.cases.file import find_case_files, load_cases
from porter.validation.cases.inputs import Trial, fill
from porter.validation.devices import registry
from porter.validation.devices.core.result import NotRun
from porter.validation.devices.device import BuildFailed, Launch, Loaded, Program
from porter.validation.devices.real import RealKernel
from porter.validation.harness.messages import Properties
from porter.validation.run.trial import Done, Schedule, launch_all
from porter.validation.toolchain.nvcc import Nvcc, find_nvcc
from porter.validation.verdict.compare import ulps_apart
from porter.validation.verdict.judging import judge_trial, truths
from porter.validation.verdict.outcome import Status
from porter.validation.verdict.timing import Measured, spread

SAMPLES = Path(__file__).parents[1] / "samples"
MOST = 64 << 10
"""Bytes of outputs kept of one trial; larger shapes are left out."""
SPIN = """
__global__ void spin(unsigned long long nanoseconds, unsigned long long* took) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < nanoseconds);
  *took = now - begin;
}
"""


def cases(sample: str | None) -> Iterator[Case]:
    """Of a sample, or of all."""
    for path in find_case_files([SAMPLES / sample if sample else SAMPLES]):
        yield from load_cases(path)


def compiled(case: Case, device: str) -> Loaded | str:
    """A case's original on a device, or why not."""
    reason = case.reason_not_run(device) or registry.why_not(device)
    found = registry.device(device)
    if reason is not None or isinstance(found, str):
        return reason or str(found)
    program = Program(case.source, case.kernel, "cuda", case.include_dirs, case.defines, case.cuda_options)
    made = found.compile(program, 300)
    if isinstance(made, BuildFailed):
        return made.output.strip().rpartition("\n")[2]
    return made.reason if isinstance(made, NotRun) else made


def trials(case: Case) -> Iterator[Trial]:
    """One of each shape."""
    for symbols in case.shapes():
        yield Trial(symbols, case.seeds[0], "random")


def ran(case: Case, loaded: Loaded, trial: Trial) -> tuple[Done, Status, str]:
    """A trial run twice and judged by the reference."""
    filled = fill(case, trial)
    expected = truths(case, filled, trial, None) if case.reference is not None else None
    plan = (Schedule(None), Schedule(None))
    runs = launch_all(case, loaded, filled, trial, plan, 32, 60, lambda step, seconds: None)
    judged = judge_trial(runs, expected, must_repeat=case.deterministic)
    return runs[0], judged.status, judged.message


def file_name(case: Case, trial: Trial) -> str:
    """Where a trial's outputs are kept."""
    digest = hashlib.sha256(str(trial).encode()).hexdigest()[:12]
    return f"{case.path.parent.name}-{case.name}-{digest}.npz"


def record(out: Path, device: str, sample: str | None) -> int:
    """Writes one .npz per trial and an index."""
    nvcc = find_nvcc()
    out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    gpu: Properties | None = None
    failed = 0
    for case in cases(sample):
        loaded = compiled(case, device)
        if isinstance(loaded, str):
            print(f"{case.name}: not run: {loaded}")
            failed += registry.why_not(device) is not None
            continue
        for trial in trials(case):
            done, status, message = ran(case, loaded, trial)
            size = sum(output.array.nbytes for output in done.outputs.values())
            failed += status is not Status.PASSED
            row = {"case": case.name, "sample": case.path.parent.name, "trial": str(trial), "status": status.value}
            if status is Status.PASSED and size <= MOST:
                row["file"] = file_name(case, trial)
                arrays = {name: output.array for name, output in done.outputs.items()}
                written = {f"{name}.written": output.written for name, output in done.outputs.items()}
                np.savez_compressed(out / row["file"], **arrays, **written)
            rows.append(row if not message else {**row, "message": message})
        if isinstance(loaded, RealKernel):
            found = loaded.properties()
            gpu = found if isinstance(found, Properties) else gpu
            loaded.close()
        print(f"{case.name}: {sum(row['case'] == case.name for row in rows)} trials")
    index = {
        "device": device,
        "gpu": gpu.name if gpu else None,
        "architecture": gpu.architecture if gpu else None,
        "driver": gpu.driver if gpu else None,
        "runtime": gpu.runtime if gpu else None,
        "compiler": f"nvcc {nvcc.version}" if isinstance(nvcc, Nvcc) else None,
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "numpy": np.__version__,
        "trials": rows,
    }
    (out / "index.json").write_text(json.dumps(index, indent=1) + "\n")
    return 1 if failed or not rows else 0


def compare(out: Path, device: str, sample: str | None) -> int:
    """Runs the same trials on another device; prints the distance of every output."""
    index = json.loads((out / "index.json").read_text())
    where = f"{index['gpu']} ({index['architecture']})" if index["gpu"] else f"the virtual device {index['device']}"
    print(f"recorded on {where}, {index['compiler']}, {index['date']}")
    known = {row["file"] for row in index["trials"] if "file" in row}
    worst = 0
    for case in cases(sample):
        loaded = compiled(case, device)
        if isinstance(loaded, str):
            print(f"{case.name}: not run: {loaded}")
            continue
        for trial in trials(case):
            file = file_name(case, trial)
            if file in known:
                worst = max(worst, _distance(case, trial, *ran(case, loaded, trial), out / file))
    return worst


def _distance(case: Case, trial: Trial, done: Done, status: Status, message: str, file: Path) -> int:
    if status is not Status.PASSED:
        print(f"{case.name}, {trial}: {status.value}: {message}")
        return 1
    golden = np.load(file)
    for name, output in done.outputs.items():
        dtype = next(argument.dtype for argument in case.arguments if argument.name == name)
        both = output.written & golden[f"{name}.written"]
        ours, theirs = output.array[both], golden[name][both]
        if dtypes.is_float(dtype):
            values = dtypes.to_float64(ours, dtype), dtypes.to_float64(theirs, dtype)
            finite = np.isfinite(values[0]) & np.isfinite(values[1])
            apart = ulps_apart(ours[finite], theirs[finite], dtype)
            print(f"{case.name}, {trial}, {name}: at most {int(apart.max()) if apart.size else 0} ulp apart")
        else:
            print(f"{case.name}, {trial}, {name}: {int((ours != theirs).sum())} of {ours.size} elements differ")
    return 0


def clock() -> int:
    """A kernel that spins by the GPU's nanosecond clock, timed by events: they have to agree within 5 %."""
    device = registry.device("cuda")
    reason = registry.why_not("cuda")
    if reason is not None or isinstance(device, str):
        print(f"not run: {reason or device}")
        return 1
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "spin.cu"
        source.write_text(SPIN)
        loaded = device.compile(Program(source, "spin", "cuda"), 300)
        if not isinstance(loaded, RealKernel):
            print(f"not run: {loaded}")
            return 1
        for milliseconds in (1, 5, 20):
            wanted = np.uint64(milliseconds * 1_000_000)
            launch = Launch((1, 1, 1), (1, 1, 1), (wanted, np.zeros(1, np.uint64)))
            measured = loaded.time(launch, 60, repeats=20)
            if not isinstance(measured, Measured) or measured.before[1] is None:
                print(f"not run: {measured}")
                return 1
            took = float(measured.before[1][0]) / 1e9
            seconds = spread(measured.milliseconds).median
            worst = max(worst, abs(seconds / took - 1))
            print(f"{milliseconds} ms: events {seconds * 1e3:.4f} ms, the GPU's clock {took * 1e3:.4f} ms")
        loaded.close()
    print(f"largest difference {worst:.2%}")
    return 0 if worst <= 0.05 else 1


def main() -> int:
    """Chooses what to do."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("record", "compare"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.add_argument("--sample", help="only this one")
        default = "cuda" if name == "record" else "ptx"
        command.add_argument("--device", default=default, choices=("ptx", "cuda"), help=f"default: {default}")
    commands.add_parser("clock")
    given = parser.parse_args()
    if given.command == "clock":
        return clock()
    run = record if given.command == "record" else compare
    return run(given.folder, given.device, given.sample)


if __name__ == "__main__":
    sys.exit(main())
