"""Ports the family of warp-synchronous kernels and runs each on the virtual gfx942 under random schedules.

python -m benchmarks.lockstep [--schedules N] [--every N]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module, open_device
from porter.validation.toolchain.clang import Assembled, assemble

from benchmarks.lockstep_family import LANES, WARPS, Variant, variants
from porter.engine.context import parser_for
from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.support import include_folder, load_support
from porter.model import Finding, Settings
from porter.names.table import load_names
from porter.source import SourceFile

PER_UNIT = 64
_TYPES = {"int": np.int32, "float": np.float32, "unsigned": np.uint32, "double": np.float64}


@dataclass(frozen=True)
class Outcome:
    """What became of one variant."""

    variant: Variant
    wrong: str
    """Empty: right under every schedule."""
    reported: bool
    """Whether a finding of manual work stands in its kernel."""


def run(chosen: Iterable[Variant], schedules: int, *, header: bool = False) -> Iterator[Outcome]:
    """Ports, compiles and runs variants, one translation unit for many."""
    waiting = list(chosen)
    while waiting:
        part, waiting = waiting[:PER_UNIT], waiting[PER_UNIT:]
        yield from _unit(part, schedules, header)


def _unit(part: list[Variant], schedules: int, header: bool) -> Iterator[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        found, text = ported(part, header=header)
        manual = {
            finding.kernel.partition("(")[0] for finding in found if finding.kernel and finding.effort.name == "MANUAL"
        }
        (root / "family.hip").write_text(text)
        made = assemble(root / "family.hip", options=("-I", str(include_folder())))
        if not isinstance(made, Assembled):
            raise SystemExit(f"the ported family does not compile: {made}")
        device = open_device()
        module = device.compile(made.text)  # type: ignore[union-attr]
        if not isinstance(module, Module):
            raise SystemExit(str(module))
        for variant in part:
            yield Outcome(variant, _problem(module, variant, schedules), any(variant.name in name for name in manual))


def ported(part: Iterable[Variant], *, header: bool) -> tuple[tuple[Finding, ...], str]:
    """The findings and the text of one translation unit after porting; the helpers in a header of their own or not."""
    parts = [variant.code for variant in part]
    helpers, kernels = ("\n".join(column) for column in zip(*parts, strict=True))
    start = "#include <cuda_runtime.h>\n"
    texts = (
        {"family.cuh": start + helpers, "family.cu": start + kernels}
        if header
        else {"family.cu": start + "\n".join(map("".join, parts))}
    )
    parser = parser_for(Path("/nonexistent"), (), ())
    context = Context(Settings(), load_names(None, {}), load_support(None), all_rules(), parse=parser)
    done = [port(SourceFile(path, text.encode()), context, path) for path, text in texts.items()]
    failed = [finding for one in done for finding in one.findings if finding.code == "E005"]
    if failed:
        raise SystemExit(failed[0].message)
    return tuple(f for one in done for f in one.findings), "\n".join(one.data.decode() for one in done)


def _problem(module: Module, variant: Variant, schedules: int) -> str:
    kernel = next(name for name in module.kernels if variant.name in name)
    values = np.random.default_rng(variant.number).integers(0, 1000, WARPS * LANES)
    expected = variant.expected(values)
    kind = _TYPES[variant.kind]
    for seed in (None, *range(schedules)):
        done = module.launch(
            kernel,
            1,
            WARPS * LANES,
            [values.astype(kind), np.zeros(WARPS * LANES, kind)],
            options=Options(schedule=seed),
        )
        if not isinstance(done, Ran):
            return f"schedule {seed}: {done}"
        got = np.asarray(done.output(1)).reshape(WARPS, LANES).astype(np.int64)
        first = 1 if variant.pattern == "down" else LANES
        if not np.array_equal(got[:, :first], expected[:, :first]):
            return f"schedule {seed}: {got[0, :4]} instead of {expected[0, :4]}"
    return ""


def main() -> None:
    """Runs all and prints what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--schedules", type=int, default=5)
    parser.add_argument("--every", type=int, default=1, help="only every n-th variant")
    arguments = parser.parse_args()
    chosen = list(variants())[:: arguments.every]
    outcomes = [outcome for header in (False, True) for outcome in run(chosen, arguments.schedules, header=header)]
    for outcome in outcomes:
        if outcome.wrong:
            print(f"{outcome.variant.name}{' (reported)' if outcome.reported else ''}: {outcome.wrong}")
    right = sum(not outcome.wrong for outcome in outcomes)
    silent = sum(bool(outcome.wrong) and not outcome.reported for outcome in outcomes)
    print(
        f"{len(outcomes)} kernels, {right} right under {arguments.schedules + 1} schedules, {silent} wrong in silence"
    )
    raise SystemExit(1 if silent else 0)


if __name__ == "__main__":
    main()
