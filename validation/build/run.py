"""The plan of a build, and its execution on all cores."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from porter.validation.build.compile import Compiled, Tool, compile_unit, is_too_old_for_torch
from porter.validation.build.diagnostics import missing_header, read_diagnostics
from porter.validation.build.hints import hint_on, too_old, why_absent
from porter.validation.build.launches import Sources, read_sources
from porter.validation.build.link import Program, link, programs
from porter.validation.build.model import (
    Block,
    BuildReport,
    Diagnostic,
    How,
    KernelBuild,
    ProgramBuild,
    Resources,
    Status,
    TargetTool,
    UnitBuild,
)
from porter.validation.build.notes import chosen_block, notes_on, use_of
from porter.validation.build.occupancy import find_target, occupancy
from porter.validation.build.origin import Origins, origins
from porter.validation.build.resources import resources_of
from porter.validation.build.syntax import check_syntax, syntax_tool
from porter.validation.build.torch_use import uses_torch
from porter.validation.build.units import Tree, Unit, find_tree
from porter.validation.toolchain.clang import find_clang
from porter.validation.toolchain.entry import demangle, signature_name
from porter.validation.toolchain.headers import find_headers, version_of
from porter.validation.toolchain.hipcc import find_hipcc, supports
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.store import prune
from porter.validation.toolchain.torch_headers import find_torch_headers

from porter.errors import Unusable

Progress = Callable[[int, int], None]
_SHOWN = 20_000


@dataclass(frozen=True)
class BuildRequest:
    """What to build, for what, how."""

    path: Path
    targets: tuple[str, ...] = ("gfx942",)
    jobs: int = 1
    seconds: float = 600.0
    compiler: How | None = None
    """None: the best that there is for each target."""
    description: Path | None = None


def _shown(tool: Tool) -> str:
    """The compiler, and whose headers it is given."""
    rocm = version_of(tool.clang.headers) if tool.clang is not None and tool.hipcc is None else None
    return tool.shown if rocm is None else f"{tool.shown}, headers of ROCm {rocm}"


def build(request: BuildRequest, progress: Progress | None = None) -> BuildReport:
    """Compile every unit for every target and link what is a program; a unit's failure is a result."""
    began = time.monotonic()
    context = begin(request)
    units, objects, notes = _compile_all(context, progress)
    linked = _link_all(context, objects)
    prune()
    took = time.monotonic() - began
    tree = context.tree
    notes = (*tree.notes, *torch_notes(context), *notes, *too_old(units))
    return BuildReport(str(tree.root), tools_of(context), units, linked, took, tree.description, notes)


def begin(request: BuildRequest) -> Context:
    """The tree, what is known of its sources, and a compiler for each target; Unusable when there is none."""
    tree = find_tree(request.path, request.description)
    chosen = tuple((target, *_tool(target, request.compiler)) for target in request.targets)
    if all(tool is None for _, tool, _ in chosen):
        raise Unusable("no compiler for " + "; ".join(f"{target}: {', '.join(why)}" for target, _, why in chosen))
    return Context(tree, origins(tree.root, tree.manifest), read_sources(tree.root, tree.code), request, chosen)


def tools_of(context: Context) -> tuple[TargetTool, ...]:
    """What each target is built with."""
    return tuple(
        TargetTool(target, tool.how if tool else None, _shown(tool) if tool else "", why)
        for target, tool, why in context.chosen
    )


def torch_notes(context: Context) -> tuple[str, ...]:
    """What is to be said of PyTorch's headers."""
    return tuple(_torch_notes(context.tree, [tool for _, tool, _ in context.chosen]))


def one_unit(context: Context, path: str, target: str) -> tuple[UnitBuild, Compiled | None]:
    """One unit for one target."""
    unit = next(unit for unit in context.tree.units if unit.path == path)
    tool, why = next((tool, why) for name, tool, why in context.chosen if name == target)
    return _one(context, unit, target, tool, why)


def _torch_notes(tree: Tree, tools: Iterable[Tool | None]) -> Iterator[str]:
    """What stood in for a ROCm build of PyTorch, or why there are no headers of PyTorch's."""
    users = [unit.path for unit in tree.units if uses_torch(tree.root / unit.path, unit.options)]
    if not users:
        return
    for tool in tools:
        if tool is not None and any(is_too_old_for_torch(tool, tree.root / path, ()) for path in users):
            yield f"{tool.shown} crashes on PyTorch's C++20 headers: units with them are compiled by clang alone"
    found, headers = find_torch_headers(), find_headers()
    if isinstance(found, Missing):
        yield f"{', '.join(users[:3])}{' and more' if len(users) > 3 else ''}: {found.reason}"
    elif note := found.note(None if isinstance(headers, Missing) else headers):
        yield note


Chosen = tuple[tuple[str, "Tool | None", tuple[str, ...]], ...]


@dataclass(frozen=True)
class Context:
    """Everything that a build knows before it compiles."""

    tree: Tree
    origins: Origins
    sources: Sources
    request: BuildRequest
    chosen: Chosen
    """Targets with their compilers, and why it is none of the better ones."""


def _tool(target: str, wanted: How | None) -> tuple[Tool | None, tuple[str, ...]]:
    """The best tool for a target, and why it is none of the better ones."""
    reasons: list[str] = []
    if wanted in (None, How.HIPCC):
        hipcc = find_hipcc()
        why = hipcc.reason if isinstance(hipcc, Missing) else supports(hipcc, target)
        if why is None and not isinstance(hipcc, Missing):
            return Tool(How.HIPCC, hipcc=hipcc), ()
        reasons.append(why or "")
    if wanted in (None, How.CLANG):
        clang = find_clang(target)
        if not isinstance(clang, Missing):
            return Tool(How.CLANG, clang=clang), tuple(reasons)
        reasons.append(clang.reason)
    if wanted in (None, How.SYNTAX):
        syntax = syntax_tool()
        if syntax is None:
            return Tool(How.SYNTAX), tuple(reasons)
        reasons.append(syntax)
    return None, tuple(reasons)


def _compile_all(
    context: Context, progress: Progress | None
) -> tuple[tuple[UnitBuild, ...], dict[tuple[str, str], Path], tuple[str, ...]]:
    work = [(unit, target, tool, why) for target, tool, why in context.chosen for unit in context.tree.units]
    outcomes: dict[tuple[str, str], tuple[UnitBuild, Compiled | None]] = {}
    with ThreadPoolExecutor(context.request.jobs) as pool:
        waiting: dict[Future[tuple[UnitBuild, Compiled | None]], tuple[str, str]] = {}
        for unit, target, tool, why in work:
            waiting[pool.submit(_one, context, unit, target, tool, why)] = (unit.path, target)
        try:
            for done, future in enumerate(as_completed(waiting), 1):
                outcomes[waiting[future]] = future.result()
                if progress is not None:
                    progress(done, len(work))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    ordered = [outcomes[unit.path, target] for unit, target, _, _ in work]
    objects = {
        (built.path, built.target): made.object
        for built, made in ordered
        if made is not None and made.object is not None
    }
    notes = dict.fromkeys(note for _, made in ordered if made is not None for note in made.notes)
    return tuple(built for built, _ in ordered), objects, tuple(notes)


def _one(
    context: Context, unit: Unit, target: str, tool: Tool | None, why: tuple[str, ...]
) -> tuple[UnitBuild, Compiled | None]:
    began = time.monotonic()
    if tool is None:
        return UnitBuild(unit.path, target, None, Status.NOT_RUN, "; ".join(why), ()), None
    source = context.tree.root / unit.path
    if not source.is_file():
        return UnitBuild(unit.path, target, tool.how, Status.NOT_RUN, "not in the tree any more", ()), None
    if is_too_old_for_torch(tool, source, unit.options):
        tool = _newer(tool, target)
    if tool.how is How.SYNTAX:
        made = check_syntax(source, target, unit.options)
    else:
        made = compile_unit(tool, source, target, unit.options, context.request.seconds)
    return _built(context, unit, target, tool, made, time.monotonic() - began), made


def _newer(tool: Tool, target: str) -> Tool:
    """clang alone, where there is one."""
    clang = find_clang(target)
    return tool if isinstance(clang, Missing) else Tool(How.CLANG, clang=clang)


def _built(context: Context, unit: Unit, target: str, tool: Tool, made: Compiled, seconds: float) -> UnitBuild:
    raws = read_diagnostics(made.said)
    headers = find_headers()
    folder = None if isinstance(headers, Missing) else headers
    located = (context.origins.diagnostic(raw) for raw in raws)
    found = tuple(_distinct(replace(one, hint=hint_on(one.message, folder)) for one in located))
    absent = next((name for raw in raws if (name := missing_header(raw))), None)
    status, reason = _outcome(made, found, absent)
    kernels = tuple(_kernel(context, unit.path, target, one) for one in resources_of(made.assembly))
    command = made.invocations[0].command
    said = "" if made.ok else made.said[:_SHOWN]
    return UnitBuild(
        unit.path, target, tool.how, status, reason, command, found, kernels, said, seconds, reused=made.reused
    )


def _distinct(diagnostics: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    """Each once: the passes of a unit count columns differently where macros are expanded."""
    seen: set[tuple[str, str, int]] = set()
    for one in diagnostics:
        key = (one.message, one.place.path if one.place else one.within or "", one.place.line if one.place else 0)
        if key not in seen:
            seen.add(key)
            yield one


def _outcome(made: Compiled, found: tuple[Diagnostic, ...], absent: str | None) -> tuple[Status, str | None]:
    if made.ok:
        return Status.BUILT, None
    stopped = next((done.stopped for done in made.invocations if done.stopped), None)
    if stopped is not None:
        return (Status.TIMED_OUT if stopped.startswith("no end") else Status.FAILED), stopped
    errors = [one for one in found if one.severity == "error"]
    left = any(related.effort == "manual" for one in errors for related in one.findings)
    if absent is not None and not left:
        return Status.MISSING_HEADER, why_absent(absent)
    if errors:
        return Status.FAILED, errors[0].message
    last = made.said.strip().rpartition("\n")[2]
    return Status.FAILED, last or f"exit status {made.invocations[-1].code}"


def _kernel(context: Context, unit: str, target: str, resources: Resources) -> KernelBuild:
    name = signature_name(demangle(resources.symbol))
    known = context.sources.kernel(name, unit)
    bounds = context.sources.bounds(known) if known else None
    blocks = tuple(
        block
        for block in context.sources.blocks(name, unit)
        if block.is_certain or block.threads <= resources.largest_block
    )
    figures = find_target(target)
    block: Block = chosen_block(resources, blocks, bounds)
    place = context.origins.place(known.path, known.line) if known else None
    reached = occupancy(figures, use_of(resources, block)) if figures else None
    return KernelBuild(name, place, resources, block, reached, notes_on(resources, figures, blocks, bounds))


def _link_all(context: Context, objects: dict[tuple[str, str], Path]) -> tuple[ProgramBuild, ...]:
    return tuple(linked_program(context, *one, objects) for one in programs_to_link(context))


def programs_to_link(context: Context) -> Iterator[tuple[str, Program]]:
    """Target and program, where there is a linker."""
    found = programs(context.tree.root, [unit.path for unit in context.tree.units])
    for target, tool, _ in context.chosen:
        if tool is not None and tool.hipcc is not None:
            yield from ((target, program) for program in found)


def linked_program(
    context: Context, target: str, program: Program, objects: Mapping[tuple[str, str], Path]
) -> ProgramBuild:
    """One program from the objects that there are."""
    tool = next(tool for name, tool, _ in context.chosen if name == target)
    assert tool is not None and tool.hipcc is not None
    wanted = (*program.units, *program.others)
    built = {unit: objects[unit, target] for unit in wanted if (unit, target) in objects}
    missing = [unit for unit in program.units if unit not in built]
    if missing:
        reason = f"not built: {', '.join(missing)}"
        return ProgramBuild(program.main, program.units, target, Status.NOT_RUN, reason, ())
    return link(tool.hipcc, program, built, target, context.request.seconds)
