"""`porter bench --devices gfx942`: runs ports on the virtual device, counts, and estimates; no time is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from porter.validation.cases.case import LANES, Case, CaseError, Symbols
from porter.validation.cases.hooks import HookFailed
from porter.validation.cases.inputs import Trial, fill
from porter.validation.devices import registry
from porter.validation.devices.core.launch import Sample
from porter.validation.devices.core.result import Ran
from porter.validation.devices.device import BuildFailed, Launch
from porter.validation.devices.virtual import VirtualKernel
from porter.validation.estimate.chip import Chip, load
from porter.validation.estimate.counters import counters
from porter.validation.estimate.model import Estimate, estimate
from porter.validation.estimate.work import Launched
from porter.validation.run.passing import dimensions, pack
from porter.validation.run.plan import Request, collect, sides_of
from porter.validation.verdict.outcome import FileError

DEVICE = "gfx942"
MOST_BLOCKS = 4096
"""Larger grids are sampled: the estimate needs what blocks do, not all of them."""


@dataclass(frozen=True)
class EstimateRequest:
    """What to estimate."""

    paths: tuple[Path, ...]
    chip: str = "mi300x"
    names: tuple[str, ...] = ()
    warps: tuple[str, ...] = ("preserve",)
    sizes: tuple[tuple[str, int], ...] = ()
    """Symbols of the cases that get another value."""
    tree: Path | None = None
    build_seconds: float = 300.0
    launch_seconds: float = 60.0


@dataclass(frozen=True)
class Estimated:
    """One kernel with one shape."""

    case: str
    warp: str | None
    shape: str
    blocks: int = 0
    sampled: int = 0
    estimate: Estimate | None = None
    counters: dict[str, int] | None = None
    reason: str = ""
    """Why there is no estimate."""


@dataclass(frozen=True)
class EstimateReport:
    """All estimates, and what is wrong with case files."""

    chip: Chip
    rows: tuple[Estimated, ...]
    errors: tuple[FileError, ...]

    @property
    def is_done(self) -> bool:
        """Whether everything asked for has an estimate."""
        return bool(self.rows) and not self.errors and all(row.estimate is not None for row in self.rows)


def estimate_cases(request: EstimateRequest, progress: Callable[[int, int], None] | None = None) -> EstimateReport:
    """Every case with every shape; raises Unusable for an unknown chip or when there is no case."""
    chip = load(request.chip)
    plan = Request(request.paths, (DEVICE,), request.warps, request.names, tree=request.tree)
    cases, errors = collect(plan)
    found: list[Estimated] = []
    wrong = list(errors)
    for number, case in enumerate(cases, 1):
        try:
            found += _case(case, plan, request, chip)
        except (CaseError, HookFailed) as error:
            wrong.append(FileError(str(error.path), error.line, error.message))
        if progress is not None:
            progress(number, len(cases))
    return EstimateReport(chip, tuple(found), tuple(wrong))


def _case(case: Case, plan: Request, request: EstimateRequest, chip: Chip) -> Iterator[Estimated]:
    for side in sides_of(case, (), (DEVICE,), plan):
        base = Estimated(case.name, side.warp, "")
        if side.side != "port":
            continue
        device = registry.device(side.device)
        if side.program is None or isinstance(device, str):
            yield replace(base, reason=side.reason or str(device))
            continue
        loaded = device.compile(side.program, request.build_seconds)
        if isinstance(loaded, BuildFailed):
            first = next((line for line in loaded.output.splitlines() if "error" in line), "the compiler failed")
            yield replace(base, reason=first.strip())
        elif not isinstance(loaded, VirtualKernel):
            yield replace(base, reason=getattr(loaded, "reason", "not run"))
        else:
            for symbols in _shapes(case, dict(request.sizes)):
                yield _one(case, loaded, symbols, side.lanes, base, request, chip)


def _shapes(case: Case, sizes: dict[str, int]) -> Iterator[Symbols]:
    seen: list[Symbols] = []
    for symbols in case.shapes():
        changed = {name: sizes.get(name, value) for name, value in symbols.items()}
        if changed not in seen:
            seen.append(changed)
            yield changed


def _one(
    case: Case,
    loaded: VirtualKernel,
    symbols: Symbols,
    lanes: int,
    base: Estimated,
    request: EstimateRequest,
    chip: Chip,
) -> Estimated:
    shape = ", ".join(f"{name}={value}" for name, value in symbols.items())
    base = replace(base, shape=shape)
    filled = fill(case, Trial(symbols, case.seeds[0], "random"))
    packed = pack(case, filled, symbols, 0)
    grid, block, shared = dimensions(case, {**symbols, LANES: lanes})
    blocks = grid[0] * grid[1] * grid[2]
    if not blocks or 0 in block:
        return replace(base, reason="a launch of nothing")
    constants = tuple((constant.name, filled.arrays[constant.name]) for constant in case.constants)
    launch = Launch(grid, block, packed.values, shared, case.cooperative, constants=constants)
    sample = None
    if blocks > MOST_BLOCKS and not case.cooperative:
        sample = Sample(MOST_BLOCKS, blocks // MOST_BLOCKS)
    outcome = loaded.profile(launch, request.launch_seconds, chip.caches, sample)
    if not isinstance(outcome, Ran):
        return replace(base, reason=str(outcome))
    fixed = outcome.counters.resources.get("group_segment_fixed_size", 0)
    threads = block[0] * block[1] * block[2]
    sampled = sample.blocks if sample else blocks
    launched = Launched(blocks, threads, outcome.counters, sampled, fixed + shared)
    found = estimate(chip, launched)
    return replace(base, blocks=blocks, sampled=sampled, estimate=found, counters=counters(launched))
