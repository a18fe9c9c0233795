"""`porter bench --devices gfx942`: runs ports on the virtual device, counts, and estimates; no time is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from porter.validation.cases.case import LANES, Case, CaseError, Symbols
from porter.validation.cases.hooks import HookFailed
from porter.validation.cases.inputs import Trial, fill
from porter.validation.devices import registry
from porter.validation.devices.core.launch import Sample
from porter.validation.devices.core.result import Array, Ran
from porter.validation.devices.device import BuildFailed, Device, Launch, Program
from porter.validation.devices.virtual import VirtualKernel
from porter.validation.estimate.chip import Chip, load, load_original
from porter.validation.estimate.compare import Compared, Key, Time, compared
from porter.validation.estimate.counters import counters
from porter.validation.estimate.imported import Beside, Counted, Measured, beside
from porter.validation.estimate.model import Estimate, estimate
from porter.validation.estimate.work import Launched, moved
from porter.validation.run.passing import dimensions, pack
from porter.validation.run.plan import Request, collect, sides_of
from porter.validation.verdict.outcome import FileError

DEVICE, ORIGINAL = "gfx942", "ptx"
BLOCK, BOUNDS = "block", "launch_bounds"
"""What can be swept of every kernel."""
Size = tuple[tuple[int, int, int], tuple[int, int, int], int]
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
    sweeps: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """`block`, `launch_bounds` or a symbol, and the values that it gets one after the other."""
    original: bool = False
    """Whether the original is counted, too; it gets no time."""
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
    variant: str = ""
    """Of a sweep: `block=128`; empty as the case has it."""
    doubt: str = ""
    """Why the variant may not do the same work."""
    path: str = ""
    """Of the case file."""
    source: str = ""
    kernel: str = ""
    side: str = "port"
    """Or `original`, which has no estimate."""
    moved: dict[str, float] | None = None
    """Bytes of the launch: `asked` by the lanes, at the `l2`, to and from `memory`."""

    @property
    def time(self) -> Time | None:
        """The estimate, as far as a comparison needs it."""
        found = self.estimate
        return None if found is None else Time(found.nanoseconds, found.band, found.limit, found.tested)


@dataclass(frozen=True)
class Moved:
    """Bytes of a port beside those of its original, each with the caches of its own GPU."""

    case: str
    warp: str
    shape: str
    variant: str
    original: dict[str, float]
    port: dict[str, float]

    @property
    def ratio(self) -> dict[str, float | None]:
        """Port over original, by level; None where the original moves nothing."""
        return {level: self.port[level] / count if count else None for level, count in self.original.items()}


@dataclass(frozen=True)
class EstimateReport:
    """All estimates, and what is wrong with case files."""

    chip: Chip
    rows: tuple[Estimated, ...]
    errors: tuple[FileError, ...]
    before: tuple[tuple[Key, Time], ...] = ()
    """Estimates of an earlier run."""
    profile: tuple[Measured, ...] = ()
    """What a real profile measured, where one was given."""

    @property
    def beside(self) -> tuple[Beside, ...]:
        """Estimates and counters beside the profile's."""
        rows = (
            Counted(
                *(row.case, row.kernel, row.shape, row.warp or "", row.blocks),
                *(row.estimate.nanoseconds, row.estimate.band, row.counters),
            )
            for row in self.rows
            if row.estimate is not None and row.counters is not None and not row.variant
        )
        return tuple(beside(rows, self.profile))

    @property
    def ratios(self) -> tuple[Moved, ...]:
        """What ports move over what their originals do."""
        originals = {(row.case, row.shape, row.variant): row.moved for row in self.rows if row.side == "original"}
        found: list[Moved] = []
        for row in self.rows:
            before = originals.get((row.case, row.shape, row.variant))
            if row.side == "port" and row.moved is not None and before is not None:
                found.append(Moved(row.case, row.warp or "", row.shape, row.variant, before, row.moved))
        return tuple(found)

    @property
    def comparisons(self) -> tuple[Compared, ...]:
        """Variants of a sweep against the case as it is, native against preserved warps, and now against before."""
        return tuple(_comparisons(self))

    @property
    def is_done(self) -> bool:
        """Whether everything asked for has an estimate."""
        return bool(self.rows) and not self.errors and all(row.moved is not None for row in self.rows)


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


def _comparisons(report: EstimateReport) -> Iterator[Compared]:
    before = dict(report.before)
    known = {_key(row): row.time for row in report.rows}
    for row in report.rows:
        case, warp, variant, shape = key = _key(row)
        time, also = row.time, ", native" if warp == "native" else ""
        if time is None:
            continue
        plain, preserved = known.get((case, warp, "", shape)), known.get((case, "preserve", "", shape))
        if variant and plain is not None:
            yield compared(case, shape, (f"as it is{also}", f"{variant}{also}"), (plain, time), row.doubt)
        if warp == "native" and not variant and preserved is not None:
            yield compared(case, shape, ("preserve", "native"), (preserved, time))
        if key in before:
            yield compared(case, ", ".join(filter(None, (shape, variant))), ("before", "now"), (before[key], time))


def _key(row: Estimated) -> Key:
    return row.case, row.warp or "", row.variant, row.shape


def _case(case: Case, plan: Request, request: EstimateRequest, chip: Chip) -> Iterator[Estimated]:
    devices = (ORIGINAL, DEVICE) if request.original else (DEVICE,)
    for side in sides_of(case, (), devices, plan):
        about = (str(case.path), str(case.source), case.kernel)
        base = replace(
            Estimated(case.name, side.warp, ""), path=about[0], source=about[1], kernel=about[2], side=side.side
        )
        device = registry.device(side.device)
        if side.program is None or isinstance(device, str):
            yield replace(base, reason=side.reason or str(device))
            continue
        loaded = _loaded(device, side.program, request)
        if isinstance(loaded, str):
            yield replace(base, reason=loaded)
            continue
        bounded = [
            (value, _loaded(device, _with_bounds(side.program, value), request))
            for value in (dict(request.sweeps).get(BOUNDS, ()) if side.side == "port" else ())
        ]
        for symbols in _shapes(case, dict(request.sizes)):
            yield from _variants(case, loaded, bounded, symbols, side.lanes, base, request, chip)


def _loaded(device: Device, program: Program, request: EstimateRequest) -> VirtualKernel | str:
    """The kernel, or why there is none."""
    made = device.compile(program, request.build_seconds)
    if isinstance(made, BuildFailed):
        first = next((line for line in made.output.splitlines() if "error" in line), "the compiler failed")
        return first.strip()
    return made if isinstance(made, VirtualKernel) else str(getattr(made, "reason", "not run"))


def _with_bounds(program: Program, threads: int) -> Program:
    """Compiled for blocks of at most so many threads; what a kernel says of itself in the source goes before."""
    return replace(program, options=(*program.options, f"--gpu-max-threads-per-block={threads}"))


def _shapes(case: Case, sizes: dict[str, int]) -> Iterator[Symbols]:
    seen: list[Symbols] = []
    for symbols in case.shapes():
        changed = _changed(case, symbols, sizes)
        if changed not in seen:
            seen.append(changed)
            yield changed


def _changed(case: Case, symbols: Symbols, sizes: dict[str, int]) -> Symbols:
    """Other sizes, and what the case derives from them."""
    changed = {name: sizes.get(name, value) for name, value in symbols.items()}
    for name, expression in case.symbols:
        if name not in sizes and symbols[name] == case.number(expression, symbols, "symbols"):
            changed[name] = case.number(expression, changed, "symbols")
    return changed


@dataclass(frozen=True)
class _Run:
    """A counted run: the row, and the arrays afterwards; none of a sample."""

    row: Estimated
    arrays: tuple[Array | None, ...] | None = None


def _variants(
    case: Case,
    loaded: VirtualKernel,
    bounded: Sequence[tuple[int, VirtualKernel | str]],
    symbols: Symbols,
    lanes: int,
    base: Estimated,
    request: EstimateRequest,
    chip: Chip,
) -> Iterator[Estimated]:
    """The case as it is, then each value of each sweep."""
    shape = ", ".join(f"{name}={value}" for name, value in symbols.items())
    base = replace(base, shape=shape)
    size = dimensions(case, {**symbols, LANES: lanes})
    plain = _one(case, loaded, symbols, size, base, request, chip)
    yield plain.row
    for name, values in request.sweeps:
        for value in () if name == BOUNDS else values:
            row = replace(base, variant=f"{name}={value}")
            if name == BLOCK and max(size[1][1:]) > 1:
                yield replace(row, reason="its block has more than one dimension: sweep a symbol of the case")
            elif name == BLOCK:
                grid, block, shared = size
                other = ((-(-grid[0] * block[0] // value), *grid[1:]), (value, 1, 1), shared)
                run = _one(case, loaded, symbols, other, row, request, chip)
                yield replace(run.row, doubt=_same_work(plain, run))
            elif name not in symbols:
                yield replace(row, reason=f"{name} is no symbol of the case; `block` and `launch_bounds` always are")
            else:
                changed = _changed(case, symbols, {name: value})
                other = dimensions(case, {**changed, LANES: lanes})
                yield _one(case, loaded, changed, other, row, request, chip).row
    threads = size[1][0] * size[1][1] * size[1][2]
    for value, kernel in bounded:
        row = replace(base, variant=f"{BOUNDS}={value}")
        if isinstance(kernel, str):
            yield replace(row, reason=kernel)
        elif threads > value:
            yield replace(row, reason=f"the case launches blocks of {threads}")
        else:
            run = _one(case, kernel, symbols, size, row, request, chip)
            same = plain.row.counters == run.row.counters
            yield replace(run.row, doubt="its counters are the same" if same else _same_work(plain, run))


def _same_work(plain: _Run, other: _Run) -> str:
    """Nothing where both runs left the same behind; else why they may not be compared."""
    if other.row.moved is None:
        return ""
    if plain.arrays is None or other.arrays is None:
        return "results not compared: not all blocks ran"
    pairs = zip(plain.arrays, other.arrays, strict=True)
    if all(one is None or two is None or _alike(one, two) for one, two in pairs):
        return ""
    return "it leaves another result behind"


def _alike(one: Array, two: Array) -> bool:
    """But for the order of sums."""
    if np.array_equal(one.view(np.uint8), two.view(np.uint8)):
        return True
    if one.dtype.kind not in "fc":
        return False
    with np.errstate(all="ignore"):
        return bool(np.allclose(one, two, rtol=1e-2 if one.dtype.itemsize < 4 else 1e-4, atol=1e-6, equal_nan=True))


def _one(
    case: Case,
    loaded: VirtualKernel,
    symbols: Symbols,
    size: Size,
    base: Estimated,
    request: EstimateRequest,
    chip: Chip,
) -> _Run:
    filled = fill(case, Trial(symbols, case.seeds[0], "random"))
    packed = pack(case, filled, symbols, 0)
    grid, block, shared = size
    blocks = grid[0] * grid[1] * grid[2]
    if not blocks or 0 in block:
        return _Run(replace(base, reason="a launch of nothing"))
    constants = tuple((constant.name, filled.arrays[constant.name]) for constant in case.constants)
    launch = Launch(grid, block, packed.values, shared, case.cooperative, constants=constants)
    sample = None
    if blocks > MOST_BLOCKS and not case.cooperative:
        sample = Sample(MOST_BLOCKS, blocks // MOST_BLOCKS)
    caches = chip.caches if base.side == "port" else load_original().caches
    outcome = loaded.profile(launch, request.launch_seconds, caches, sample)
    if not isinstance(outcome, Ran):
        return _Run(replace(base, reason=str(outcome)))
    fixed = outcome.counters.resources.get("group_segment_fixed_size", 0)
    threads = block[0] * block[1] * block[2]
    sampled = sample.blocks if sample else blocks
    launched = Launched(blocks, threads, outcome.counters, sampled, fixed + shared)
    row = replace(base, blocks=blocks, sampled=sampled, moved=moved(caches, launched))
    if base.side == "port":
        row = replace(row, estimate=estimate(chip, launched), counters=counters(launched))
    return _Run(row, outcome.outputs if sample is None else None)
