"""Kernels of public Triton libraries on the virtual devices, against PyTorch in float64.

    python -m benchmarks.triton_libraries [--devices gfx942,ptx] [--only TEXT] [--library NAME] [--results FILE]
    python -m benchmarks.triton_libraries --show FILE  # the tables of what was kept with --results

Takes what is importable of Liger-Kernel, flash-linear-attention, FlagGems, Mamba, lightllm, Unsloth, vLLM and Triton's
tutorials: put their sources on PYTHONPATH. Each row is a function of a library, forward and, where it has one,
backward; every kernel that it launches counts. One process per library and device.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from porter.validation.triton.driver import triton_device

import porter
from benchmarks.triton_rows.base import Library, Row, Tensors, import_bare, stand_in

LIBRARIES = {
    "Liger-Kernel": "liger",
    "flash-linear-attention": "fla",
    "FlagGems": "gems",
    "Mamba": "mamba",
    "lightllm": "lightllm",
    "Unsloth": "unsloth",
    "vLLM": "vllm",
    "Triton tutorials": "tutorials",
}
"""By name: the module of its rows."""
_GENERATED = re.compile(r"^_gen_module_[0-9a-f]{20,}\w*")
"""Modules that FlagGems writes are named by a digest."""
_SECONDS = 240
"""Of CPU, for one row."""


@dataclass
class Result:
    """What one row came to on one device."""

    row: str
    status: str = "agrees"
    error: float = 0.0
    tried: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    seconds: float = 0.0
    said: str = ""
    notes: list[str] = field(default_factory=list)


def library_of(name: str) -> Library:
    """The rows of a library."""
    found = importlib.import_module(f"benchmarks.triton_rows.{LIBRARIES[name]}").LIBRARY
    assert isinstance(found, Library)
    return found


def _all(row: Row, call: Callable[..., Any], given: Tensors) -> list[torch.Tensor | None]:
    """Outputs and gradients; a library may give none for a target."""
    inputs = tuple(t.detach().clone().requires_grad_(row.backward and t.is_floating_point()) for t in given)
    results = call(*inputs)
    outputs = [out for out in (results if isinstance(results, tuple) else (results,)) if isinstance(out, torch.Tensor)]
    found: list[torch.Tensor | None] = [out.detach() for out in outputs]
    if row.backward:
        torch.stack([(out * _weights(out)).sum() for out in outputs]).sum().backward()  # type: ignore[no-untyped-call]
        found += [t.grad for t in inputs]
    return found


def _weights(out: torch.Tensor) -> torch.Tensor:
    return torch.linspace(0.5, 1.5, out.numel(), dtype=torch.float64).reshape(out.shape).to(out.dtype)


@contextlib.contextmanager
def _followed(result: Result) -> Iterator[None]:
    """Kernels by module and name, those whose launch began and those whose launch ended."""
    from triton.runtime.jit import JITFunction

    run = JITFunction.run

    def followed(self: Any, *args: Any, **kwargs: Any) -> Any:
        module = _GENERATED.sub("generated", self.fn.__module__.rpartition(".")[2])
        name = f"{module}.{self.fn.__name__}"
        if name not in result.tried:
            result.tried.append(name)
        done = run(self, *args, **kwargs)
        if name not in result.ran and not kwargs.get("warmup"):
            result.ran.append(name)
        return done

    JITFunction.run = followed
    try:
        yield
    finally:
        JITFunction.run = run


def _late(number: int, frame: object) -> None:
    raise TimeoutError(f"{_SECONDS} s of CPU")


def run(row: Row, device: str) -> Result:
    """One row on one device."""
    torch.manual_seed(1)
    given = row.change(tuple(torch.randn(shape) for shape in row.shapes))
    wanted = _all(row, row.reference, tuple(t.double() for t in given))
    result = Result(row.name)
    start = _cpu()
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    with triton_device(device, cuda=True) as checks, _followed(result):
        try:
            found = _all(row, row.call, given)
            if len(found) != len(wanted):
                raise ValueError(f"{len(found)} results, {len(wanted)} expected")
            pairs = zip(found, wanted, strict=True)
            result.error = max(_apart(a, b) for a, b in pairs if a is not None and b is not None)
            result.status = "agrees" if result.error <= row.tolerance else "differs"
        except porter.KernelFault as error:
            result.status, result.said = "fault", str(error)
        except (porter.NotRunHere, porter.CompileError) as error:
            result.status, result.said = "not run", str(error)
        except Exception as error:
            result.status, result.said = "error", _told(error)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    result.ran = [name for name in result.tried if name in result.ran or name.rpartition(".")[2] in checks.kernels]
    result.notes, result.seconds = list(checks.notes), _cpu() - start
    if result.status == "agrees" and not checks.launches:
        result.status, result.said = "not run", "no kernel was launched"
    return result


def _told(error: BaseException) -> str:
    """The innermost cause, and where it was raised: a compiler's message ends with the reason."""
    while error.__cause__ is not None:
        error = error.__cause__
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[-300:]} ({last.filename.rpartition('/')[2]}:{last.lineno})"


def _apart(found: torch.Tensor, wanted: torch.Tensor) -> float:
    if found.shape != wanted.shape:
        raise ValueError(f"shape {tuple(found.shape)}, {tuple(wanted.shape)} expected")
    apart = (found.double() - wanted).abs()
    return float("inf") if apart.isnan().any() else float(apart.max() / wanted.abs().max().clamp(min=1e-30))


def _cpu() -> float:
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def _child(name: str, device: str, only: str) -> None:
    """All rows of a library on a device, one line of JSON each."""
    library = library_of(name)
    with triton_device(device, cuda=True):
        for package in library.bare:
            import_bare(package)
        for module, names in library.stand_ins:
            stand_in(module, names)
    for row in library.rows:
        if only in row.name:
            print("row " + json.dumps(asdict(run(row, device))), flush=True)


def _results(name: str, device: str, only: str) -> Iterator[Result]:
    """What a process of its own says; a row that ends it is the last one."""
    library = library_of(name)
    values = {variable: amd if device == "gfx942" else nvidia for variable, amd, nvidia in library.environment}
    command = [sys.executable, "-m", "benchmarks.triton_libraries", "--child", "--library", name, "--devices", device,
               "--only", only]  # fmt: skip
    with tempfile.TemporaryDirectory() as empty:
        values |= dict.fromkeys(library.caches, empty)
        with subprocess.Popen(command, env={**os.environ, **values}, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("row "):
                    yield Result(**json.loads(line[4:]))
    if process.returncode:
        yield Result("(the process)", "error", said=f"ended with {process.returncode}")


@dataclass(frozen=True)
class Kept:
    """A result with where it is from."""

    library: str
    device: str
    triton: str
    result: Result


def _show(one: Kept) -> None:
    result = one.result
    shown = f"{one.library}/{result.row} on {one.device}: {result.status}, error {result.error:.1e}"
    print(f"{shown}, {result.seconds:.1f} CPU s, {len(result.ran)} kernels {result.said}", flush=True)
    for note in result.notes:
        print(f"    {note[:300]}")


def _kept(path: Path) -> list[Kept]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [Kept(row["library"], row["device"], row["triton"], Result(**row["result"])) for row in rows]


Outcomes = dict[tuple[str, str], dict[str, str]]
"""By library and kernel: its outcome by device."""


def outcomes_of(found: list[Kept]) -> Outcomes:
    """A kernel agrees where one function that launches it does; the last result of a function counts."""
    last = {(one.library, one.device, one.result.row): one for one in found}
    outcomes: Outcomes = {}
    for one in last.values():
        for kernel in one.result.tried:
            by_device = outcomes.setdefault((one.library, kernel), {})
            if by_device.get(one.device) != "agrees":
                ran = kernel in one.result.ran
                by_device[one.device] = one.result.status if ran else f"no launch ended: {one.result.status}"
    return outcomes


def table(outcomes: Outcomes, devices: list[str]) -> str:
    """Markdown: kernel, library, outcome by device."""
    lines = [f"| kernel | library | {' | '.join(devices)} | agrees |", "|---" * (3 + len(devices)) + "|"]
    for (library, kernel), by_device in sorted(outcomes.items()):
        shown = " | ".join("ran" if _ran(by_device.get(device, "")) else "not run" for device in devices)
        said = sorted({by_device.get(device, "not tried") for device in devices} - {"agrees"})
        lines.append(f"| `{kernel}` | {library} | {shown} | {', '.join(said) or 'yes'} |")
    return "\n".join(lines) + "\n"


def sums(outcomes: Outcomes, devices: list[str]) -> str:
    """How many kernels of each library were tried, ran and agree, on all devices."""
    lines = ["| library | kernels | ran on all devices | agree on all |", "|---|---|---|---|"]
    libraries = list(dict.fromkeys(library for library, _ in outcomes))
    for chosen in (*libraries, "all"):
        mine = [found for (library, _), found in outcomes.items() if chosen in (library, "all")]
        ran = [found for found in mine if all(_ran(found.get(device, "")) for device in devices)]
        agree = [found for found in mine if all(found.get(device) == "agrees" for device in devices)]
        lines.append(f"| {chosen} | {len(mine)} | {len(ran)} | {len(agree)} |")
    return "\n".join(lines) + "\n"


def _ran(outcome: str) -> bool:
    return bool(outcome) and not outcome.startswith("no launch ended")


def _run_all(names: list[str], devices: list[str], only: str, kept: Path | None) -> list[Kept]:
    import triton

    found: list[Kept] = []
    for name in names:
        for device in devices:
            for result in _results(name, device, only):
                found.append(Kept(name, device, triton.__version__, result))
                _show(found[-1])
                if kept is not None:
                    with kept.open("a", encoding="utf-8") as out:
                        out.write(json.dumps(asdict(found[-1])) + "\n")
    return found


def main() -> None:
    """Prints a line per row and device, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", default="gfx942,ptx")
    parser.add_argument("--only", default="", help="rows whose name has this")
    parser.add_argument("--library", default="", help=f"one of {', '.join(LIBRARIES)}")
    parser.add_argument("--results", type=Path, help="keep the results there, behind what it has")
    parser.add_argument("--show", type=Path, help="run nothing: the tables of these results")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    devices = options.devices.split(",")
    if options.child:
        _child(options.library, options.devices, options.only)
        return
    if options.show:
        outcomes = outcomes_of(_kept(options.show))
        print(table(outcomes, devices))
    else:
        names = [options.library] if options.library else list(LIBRARIES)
        outcomes = outcomes_of(_run_all(names, devices, options.only, options.results))
    print(sums(outcomes, devices))


if __name__ == "__main__":
    main()
