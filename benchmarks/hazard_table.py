"""What a port by names alone computes on 64 lanes, shown: `python -m benchmarks.hazard_table [--write FILE] [NAME]`.

Every warp fixture runs four times with the same inputs: the original, compiled by nvcc, on the virtual 32-lane device;
a naive port (PyTorch's hipify, and the usual macros that drop the masks of `_sync` functions) and the two ports that
`porter port` makes, compiled by clang, on the virtual gfx942. The original's outputs are the expectation.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from porter.validation.devices import gfx942, ptx
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Fault, Outcome, Ran
from porter.validation.toolchain import nvcc
from porter.validation.toolchain.clang import assemble_text
from porter.validation.toolchain.result import Assembled, CompileFailed

from porter.model import Effort
from tests.fixtures.warp import Fixture, load
from tests.warp import execution

BUDGET = 2_000_000
SHIM = """
#define __shfl_sync(mask, ...) __shfl(__VA_ARGS__)
#define __shfl_up_sync(mask, ...) __shfl_up(__VA_ARGS__)
#define __shfl_down_sync(mask, ...) __shfl_down(__VA_ARGS__)
#define __shfl_xor_sync(mask, ...) __shfl_xor(__VA_ARGS__)
#define __ballot_sync(mask, predicate) __ballot(predicate)
#define __any_sync(mask, predicate) __any(predicate)
#define __all_sync(mask, predicate) __all(predicate)
#define __activemask() __ballot(1)
#define __syncwarp(...) __builtin_amdgcn_wave_barrier()
"""
INTRODUCTION = """# Warp hazards, shown

Made by `python -m benchmarks.hazard_table --write docs/warp-hazards.md`. Every kernel of `tests/fixtures/warp` runs
four times on the same inputs: the CUDA original, compiled by nvcc, on the virtual 32-lane device; a naive port
(PyTorch's hipify, and the usual macros that drop the masks of `_sync` functions), the preserving and the native port
of `porter port`, compiled by clang, on the virtual gfx942. *same*: the outputs are those of the original.
"""
LIBRARIES = re.compile(r"'(hipcub|rocprim|thrust|torch|ATen|c10)/")
RIGHT, WRONG, FAULT, REJECTED, NOT_RUN = "same", "wrong values", "fault", "does not compile", "not run"


@dataclass
class Include:
    """Folders with headers of ROCm's libraries, where the system has none."""

    options: tuple[str, ...] = ()


INCLUDE = Include()


@dataclass(frozen=True)
class Result:
    """What one version of a kernel came to, and the details of what went wrong."""

    verdict: str
    detail: str = ""

    @property
    def right(self) -> bool:
        """True when it computed what the original computes."""
        return self.verdict == RIGHT


@dataclass(frozen=True)
class Row:
    """One fixture."""

    fixture: Fixture
    original: Result
    naive: Result
    preserve: Result
    native: Result
    left: int
    """Places that the preserving port leaves to a person."""


@functools.cache
def naive_texts(names: tuple[str, ...]) -> dict[str, str]:
    """The fixtures as PyTorch's hipify rewrites them."""
    from torch.utils.hipify.hipify_python import hipify

    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "source", Path(folder) / "out"
        source.mkdir()
        for fixture in load():
            if fixture.name in names:
                (source / f"{fixture.name}.cu").write_text(fixture.text)
        hipify(str(source), output_directory=str(out), includes=["*"], show_progress=False, is_pytorch_extension=True)
        return {path.stem: path.read_text() for path in sorted(out.glob("*.hip"))}


def _options(fixture: Fixture, checked: bool) -> Options:
    cooperative = fixture.launch.cooperative
    return Options(
        allow_exited=True, cooperative=cooperative, budget=BUDGET, quantum=20_000, uninitialised=checked, races=checked
    )


def _launch(
    module: Any, fixture: Fixture, geometry: execution.Geometry, inputs: list[Any], checked: bool = True
) -> Outcome:
    names = [name for name in module.kernels if fixture.launch.kernel.split("<")[0] in name]
    arguments = [value.copy() if isinstance(value, np.ndarray) else value for value in inputs]
    outcome: Outcome = module.launch(
        names[0], geometry.grid, geometry.block, arguments, geometry.shared, _options(fixture, checked)
    )
    return outcome


def _outputs(fixture: Fixture, done: Ran) -> dict[str, Any]:
    found = {}
    for argument, output in zip(fixture.launch.arguments, done.outputs, strict=True):
        if output is not None and argument.kind in ("out", "inout"):
            found[argument.name] = np.sort(output.reshape(-1)) if fixture.launch.order == argument.name else output
    return found


def original(fixture: Fixture, inputs: list[Any]) -> dict[str, Any] | Result:
    """The outputs of the CUDA source, or why there are none."""
    if fixture.launch.skip:
        return Result(NOT_RUN, fixture.launch.skip)
    if fixture.needs:
        return Result(NOT_RUN, f"needs the headers of {', '.join(fixture.needs)}")
    device = ptx.open_device()
    made = nvcc.ptx(fixture.path, fixture.arch)
    if not isinstance(made, Assembled):
        reason = made.output if isinstance(made, CompileFailed) else made.reason
        return Result(NOT_RUN, f"nvcc: {reason.strip().splitlines()[0][:120]}")
    module = device.compile(made.text) if isinstance(device, ptx.Device) else device
    if not isinstance(module, ptx.Module):
        return Result(NOT_RUN, module.reason)
    launch = fixture.launch
    done = _launch(module, fixture, execution.Geometry(launch.grid, launch.block, launch.shared), inputs, False)
    return _outputs(fixture, done) if isinstance(done, Ran) else Result(NOT_RUN, str(done))


def _first_error(output: str) -> str:
    lines = [line for line in output.splitlines() if "error:" in line]
    return lines[0].partition("error:")[2].strip() if lines else output.strip()[:120]


def _difference(expected: dict[str, Any], found: dict[str, Any]) -> str:
    for name, want in expected.items():
        got = found[name]
        same = np.isclose(got, want, rtol=1e-4, atol=1e-4, equal_nan=True) if want.dtype.kind == "f" else got == want
        if not np.all(same):
            at = np.flatnonzero(~same.reshape(-1))
            first = at[0]
            return (
                f"{at.size} of {want.size} of `{name}`, first at {first}: "
                f"{got.reshape(-1)[first]} instead of {want.reshape(-1)[first]}"
            )
    return ""


def _not_loaded(text: str, reason: str) -> tuple[str, str]:
    """Inline PTX gets as far as the assembler, which rejects it."""
    inline = "asm" in text and "porter/" not in text and "%" in text
    return (REJECTED, f"inline PTX: {reason}") if inline else (NOT_RUN, reason)


def port_result(
    text: str, fixture: Fixture, geometry: execution.Geometry, inputs: list[Any], expected: dict[str, Any]
) -> Result:
    """Compile for gfx942, run, compare."""
    device = gfx942.open_device()
    made = assemble_text(text, options=INCLUDE.options if "hipcub" in text else ())
    if isinstance(made, CompileFailed):
        error = _first_error(made.output)
        missing = "file not found" in error and LIBRARIES.search(error)
        return Result(NOT_RUN if missing else REJECTED, error)
    if not isinstance(made, Assembled):
        return Result(NOT_RUN, made.reason)
    module = device.compile(made.text) if isinstance(device, gfx942.Device) else device
    if not isinstance(module, gfx942.Module):
        return Result(*_not_loaded(text, module.reason))
    done = _launch(module, fixture, geometry, inputs)
    if isinstance(done, Fault):
        return Result(FAULT, done.kind.sentence)
    if not isinstance(done, Ran):
        return Result(*_not_loaded(text, done.reason))
    difference = _difference(expected, _outputs(fixture, done))
    return Result(WRONG, difference) if difference else Result(RIGHT)


def _native_geometry(fixture: Fixture) -> execution.Geometry:
    from tests.warp.test_native_runs import _geometry, _widened_geometry

    return _widened_geometry(fixture) if fixture.native == "widen" else _geometry(fixture)


def row_of(fixture: Fixture) -> Row:
    """All four versions of one fixture."""
    inputs = execution.inputs(fixture, 1)
    found = execution.ported(fixture, "preserve").findings
    left = sum(finding.effort is not Effort.NONE for finding in found)
    expected = original(fixture, inputs)
    if isinstance(expected, Result):
        missing = Result(NOT_RUN)
        return Row(fixture, expected, missing, missing, missing, left)
    launch = fixture.launch
    plain = execution.Geometry(launch.grid, launch.block, launch.shared)
    runs: list[Callable[[], Result]] = [
        lambda: port_result(SHIM + naive_text(fixture), fixture, plain, inputs, expected),
        lambda: port_result(_ported(fixture, "preserve"), fixture, plain, inputs, expected),
        lambda: port_result(_ported(fixture, "native"), fixture, _native_geometry(fixture), inputs, expected),
    ]
    naive, preserve, native = (run() for run in runs)
    return Row(fixture, Result(RIGHT), naive, preserve, native, left)


def naive_text(fixture: Fixture) -> str:
    """The fixture as PyTorch's hipify rewrites it."""
    text = naive_texts(tuple(f.name for f in load()))[fixture.name]
    return re.sub(r"(?<!hip)\bcub::", "hipcub::", text)  # hipify leaves the namespace alone outside PyTorch


def _ported(fixture: Fixture, warp: str) -> str:
    return execution.inlined(execution.ported(fixture, warp).data.decode())


def _cell(result: Result) -> str:
    return result.verdict if result.right else f"**{result.verdict}**"


def _port_cell(result: Result, left: int) -> str:
    if result.right or not left:
        return _cell(result)
    return f"{result.verdict}, reported ({left})"


def markdown(rows: list[Row]) -> str:
    """The tables."""
    ran = [row for row in rows if row.original.right]
    shown = [row for row in ran if not row.naive.right]
    lines = [
        INTRODUCTION,
        f"{len(rows)} fixtures; {len(ran)} run on the 32-lane device. The naive port is rejected for {len(shown)}: "
        + ", ".join(f"{sum(r.naive.verdict == v for r in shown)} {v}" for v in (WRONG, FAULT, REJECTED, NOT_RUN)),
        f"Of these {len(shown)}, the preserving port computes what the original computes for "
        f"{sum(r.preserve.right for r in shown)}, the native one for {sum(r.native.right for r in shown)}; for "
        f"{sum(not r.preserve.right and r.left > 0 for r in shown)} porter reports what is left to do.",
        f"Of the {len(ran) - len(shown)} where the naive port is right, the preserving port is right for "
        f"{sum(r.preserve.right for r in ran if r.naive.right)}, the native one for "
        f"{sum(r.native.right for r in ran if r.naive.right)}.",
        "",
        "| kernel | naive port | what it does | `porter port` | `--warp native` |",
        "|---|---|---|---|---|",
    ]
    for row in shown:
        cells = (row.fixture.name, row.naive.verdict, row.naive.detail.replace("|", "\\|"))
        lines.append(
            f"| {' | '.join(cells)} | {_port_cell(row.preserve, row.left)} | {_port_cell(row.native, row.left)} |"
        )
    wrong = [row for row in ran if row.naive.right and not (row.preserve.right and row.native.right)]
    if wrong:
        lines += ["", "Ports that differ although the naive port is right:", ""]
        lines += [f"- {row.fixture.name}: {row.preserve} / {row.native}" for row in wrong]
    lines += ["", "Not run:", ""]
    lines += [f"- {row.fixture.name}: {row.original.detail}" for row in rows if not row.original.right]
    return "\n".join(lines) + "\n"


def main(argv: list[str]) -> int:
    """Prints the table; 1 when a port is wrong without a finding that says so."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="file to write the table to")
    parser.add_argument("--include", action="append", default=[], help="folder that holds hipcub/, rocprim/")
    parser.add_argument("names", nargs="*", help="fixtures; default: all")
    arguments = parser.parse_args(argv)
    INCLUDE.options = tuple(word for folder in arguments.include for word in ("-isystem", folder))
    rows: list[Row] = []
    for fixture in load():
        if arguments.names and fixture.name not in arguments.names:
            continue
        rows.append(row_of(fixture))
        row = rows[-1]
        print(fixture.name, *(r.verdict for r in (row.original, row.naive, row.preserve, row.native)), sep="\t",
              file=sys.stderr, flush=True)  # fmt: skip
        for result in (row.original, row.preserve, row.native):
            if result.detail:
                print("    ", result.detail, file=sys.stderr, flush=True)
    text = markdown(rows)
    if arguments.write:
        arguments.write.write_text(text)
    print(text)
    return int(any(row.original.right and not row.preserve.right and not row.left for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
