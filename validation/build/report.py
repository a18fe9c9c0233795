"""A build as text, JSON and Markdown."""

from __future__ import annotations

import importlib.resources
from collections import Counter
from collections.abc import Iterator
from typing import Any

from porter.validation.build.model import (
    BuildReport,
    Diagnostic,
    KernelBuild,
    Place,
    ProgramBuild,
    Status,
    UnitBuild,
)
from porter.validation.build.occupancy import SOURCE

from porter import __version__
from porter.report.markdown import cell
from porter.report.text import table

SCHEMA = "porter-build-1"
_ERRORS_SHOWN, _WARNINGS_SHOWN = 5, 10


def build_text(report: BuildReport, *, verbose: bool = False) -> str:
    """Totals, kernels with their resources, notes, then what did not build."""
    parts = [
        _summary(report),
        _kernel_table(report, verbose),
        _notes(report),
        _failures(report, verbose),
        _warnings(report, verbose),
    ]
    return "\n\n".join("\n".join(lines) for part in parts if (lines := list(part))) + "\n"


def _summary(report: BuildReport) -> Iterator[str]:
    yield f"porter {__version__} build {report.root}"
    for tool in report.tools:
        how = tool.how.sentence if tool.how else "not built"
        yield f"  {tool.target}:  {how}" + (f" ({tool.tool})" if tool.tool else "")
        yield from (f"           because {reason}" for reason in tool.reasons)
    yield f"  options: {report.description}"
    yield f"  units:   {_statuses(report.units)}"
    if report.programs:
        yield f"  linked:  {_statuses(report.programs)}"
    reused = sum(unit.reused for unit in report.units)
    yield f"  time:    {report.seconds:.1f} s, {reused:,} of {len(report.units):,} units from the cache"
    for note in report.notes:
        yield f"  note:    {note}"


def _statuses(rows: tuple[UnitBuild, ...] | tuple[ProgramBuild, ...]) -> str:
    counts = Counter(row.status for row in rows)
    return ", ".join(f"{counts[status]:,} {status.value}" for status in Status if counts[status]) or "none"


HEAD = ("kernel", "target", "VGPR", "AGPR", "SGPR", "spills", "LDS", "scratch", "block", "waves", "limited by")


def _kernel_table(report: BuildReport, verbose: bool) -> Iterator[str]:
    found = [(kernel, unit.target) for unit in report.units for kernel in unit.kernels]
    own = [(kernel, target) for kernel, target in found if verbose or not kernel.is_library]
    rows = [_row(kernel, target) for kernel, target in own]
    if found:
        yield "kernels (LDS in bytes per block, scratch in bytes per lane, waves per SIMD)"
        yield from table(HEAD, rows, right=(2, 3, 4, 5, 6, 7, 9))
        if any(kernel.block.origin == "assumed" for kernel, _ in own):
            yield "  ?: neither a launch nor launch bounds tell the block; the largest is assumed"
        if len(own) < len(found):
            yield f"  and {len(found) - len(own):,} of libraries; --verbose shows them"
        if verbose:
            yield f"  waves: {SOURCE}"


def _row(kernel: KernelBuild, target: str) -> tuple[str, ...]:
    use = kernel.resources
    mark = {"assumed": "?", "bounds": " (bounds)"}.get(kernel.block.origin, "")
    dynamic = f"+{kernel.block.dynamic_lds}" if kernel.block.dynamic_lds else ""
    return (
        kernel.name,
        target,
        str(use.vgprs),
        str(use.agprs),
        str(use.sgprs),
        str(use.vgpr_spills + use.sgpr_spills),
        f"{use.lds_bytes}{dynamic}",
        str(use.scratch_bytes),
        f"{kernel.block.threads}{mark}",
        _waves(kernel),
        ", ".join(kernel.occupancy.limited_by) if kernel.occupancy else "",
    )


def _waves(kernel: KernelBuild) -> str:
    return f"{kernel.occupancy.waves_per_simd:g}" if kernel.occupancy else "-"


def _notes(report: BuildReport) -> Iterator[str]:
    lines: dict[str, list[str]] = {}
    for unit in report.units:
        for kernel in unit.kernels:
            for note in kernel.notes:
                where = _shown(kernel.place) or unit.path
                lines.setdefault(f"{where}: {note.code} {note.message} [{kernel.name}]", []).append(unit.target)
    if lines:
        yield "notes"
        every = {tool.target for tool in report.tools}
        for line, targets in lines.items():
            yield line + ("" if set(targets) == every else f" ({', '.join(dict.fromkeys(targets))})")


def _shown(place: Place | None) -> str:
    """The line of the source, and of the port where that is another."""
    if place is None:
        return ""
    if place.source is None:
        return f"{place.path}:{place.line}"
    return f"{place.source}:{place.source_line}"


def _failures(report: BuildReport, verbose: bool) -> Iterator[str]:
    failed = [unit for unit in report.units if unit.status is not Status.BUILT]
    if failed:
        yield "not built"
    for unit in failed:
        yield f"{unit.path} for {unit.target}: {unit.status.value}: {unit.reason}"
        yield from _diagnostics(unit, verbose)
        if verbose and unit.command:
            yield f"    command: {' '.join(unit.command)}"
    for program in report.programs:
        if program.status not in (Status.BUILT, Status.NOT_RUN):
            yield f"{program.path} for {program.target}, link: {program.status.value}: {program.reason}"


def _diagnostics(unit: UnitBuild, verbose: bool) -> Iterator[str]:
    errors = [one for one in unit.diagnostics if one.severity == "error"]
    shown = errors if verbose else errors[:_ERRORS_SHOWN]
    told: set[str] = set()
    for one in shown:
        yield f"    {diagnostic_line(one)}"
        if one.hint:
            yield f"        {one.hint}"
        for finding in one.findings:
            line = f"        {finding.code} {finding.effort}: {finding.message}"
            if line not in told and (verbose or finding.effort != "none"):
                told.add(line)
                yield line
    if len(errors) > len(shown):
        yield f"    ... and {len(errors) - len(shown)} more errors; --verbose shows all"


def diagnostic_line(one: Diagnostic) -> str:
    """`source:line: error: message (port:line)`."""
    if one.place is None:
        return f"{one.within or 'the compiler'}: {one.severity}: {one.message}"
    column = f":{one.place.column}" if one.place.column else ""
    port = f" (in the port: {one.place.path}:{one.place.line}{column})" if one.place.source else ""
    within = f" (in {one.within})" if one.within else ""
    kernel = f" [{one.kernel}]" if one.kernel else ""
    return f"{_shown(one.place)}: {one.severity}: {one.message}{within}{port}{kernel}"


def _warnings(report: BuildReport, verbose: bool) -> Iterator[str]:
    lines = dict.fromkeys(
        diagnostic_line(one) for unit in report.units for one in unit.diagnostics if one.severity == "warning"
    )
    shown = list(lines) if verbose else list(lines)[:_WARNINGS_SHOWN]
    if lines:
        yield "warnings" + ("" if len(shown) == len(lines) else f" (first {len(shown)} of {len(lines):,})")
        yield from shown


def build_markdown(report: BuildReport) -> str:
    """The same for a pull request; cells are escaped."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=False
    )
    environment.filters["cell"] = cell
    template = importlib.resources.files("porter.validation.build").joinpath("build.md.j2").read_text("utf-8")
    return environment.from_string(template).render(
        report=report,
        version=__version__,
        head=HEAD,
        rows=[_row(kernel, unit.target) for unit in report.units for kernel in unit.kernels if not kernel.is_library],
        notes=list(_notes(report))[1:],
        failed=[unit for unit in report.units if unit.status is not Status.BUILT],
        unlinked=[p for p in report.programs if p.status is not Status.BUILT],
        units=_statuses(report.units),
        programs=_statuses(report.programs),
        line=diagnostic_line,
        source=SOURCE,
    )


def build_json(report: BuildReport) -> dict[str, Any]:
    """The document that `schemas/build.json` describes."""
    counts = Counter(unit.status for unit in report.units)
    linked = Counter(program.status for program in report.programs)
    return {
        "schema": SCHEMA,
        "porter": __version__,
        "root": report.root,
        "options_from": report.description,
        "notes": list(report.notes),
        "seconds": round(report.seconds, 3),
        "occupancy_source": SOURCE,
        "targets": [
            {"target": t.target, "how": t.how.value if t.how else None, "tool": t.tool, "reasons": list(t.reasons)}
            for t in report.tools
        ],
        "totals": {
            "units": len(report.units),
            "kernels": sum(len(unit.kernels) for unit in report.units),
            "by_status": {status.value: counts[status] for status in Status if counts[status]},
            "linked": {status.value: linked[status] for status in Status if linked[status]},
            "reused": sum(unit.reused for unit in report.units),
        },
        "units": [unit_json(unit) for unit in report.units],
        "programs": [_program(program) for program in report.programs],
        "kernels": [_kernel(kernel, unit) for unit in report.units for kernel in unit.kernels],
    }


def unit_json(unit: UnitBuild) -> dict[str, Any]:
    """One of the document's `units`."""
    return {
        "path": unit.path,
        "target": unit.target,
        "how": unit.how.value if unit.how else None,
        "status": unit.status.value,
        "reason": unit.reason,
        "command": list(unit.command),
        "seconds": round(unit.seconds, 3),
        "reused": unit.reused,
        "diagnostics": [_diagnostic(one) for one in unit.diagnostics],
        "output": unit.output,
    }


def _diagnostic(one: Diagnostic) -> dict[str, Any]:
    return {
        "severity": one.severity,
        "message": one.message,
        **_place(one.place),
        "within": one.within,
        "kernel": one.kernel,
        "hint": one.hint,
        "findings": [{"code": f.code, "effort": f.effort, "message": f.message} for f in one.findings],
    }


def _place(place: Place | None) -> dict[str, Any]:
    if place is None:
        return {"path": None, "line": None, "column": None, "source": None, "source_line": None}
    return {
        "path": place.path,
        "line": place.line,
        "column": place.column or None,
        "source": place.source,
        "source_line": place.source_line,
    }


def _program(program: ProgramBuild) -> dict[str, Any]:
    return {
        "path": program.path,
        "units": list(program.units),
        "target": program.target,
        "status": program.status.value,
        "reason": program.reason,
        "command": list(program.command),
        "output": program.output,
    }


def _kernel(kernel: KernelBuild, unit: UnitBuild) -> dict[str, Any]:
    use, reached = kernel.resources, kernel.occupancy
    return {
        "name": kernel.name,
        "symbol": use.symbol,
        "unit": unit.path,
        "target": unit.target,
        **{key: value for key, value in _place(kernel.place).items() if key != "column"},
        "vgprs": use.vgprs,
        "agprs": use.agprs,
        "sgprs": use.sgprs,
        "vgpr_spills": use.vgpr_spills,
        "sgpr_spills": use.sgpr_spills,
        "lds_bytes": use.lds_bytes,
        "dynamic_lds_bytes": kernel.block.dynamic_lds,
        "scratch_bytes": use.scratch_bytes,
        "largest_block": use.largest_block,
        "dynamic_stack": use.dynamic_stack,
        "block": kernel.block.threads,
        "block_from": kernel.block.origin,
        "waves_per_simd": reached.waves_per_simd if reached else None,
        "blocks_per_compute_unit": reached.blocks_per_unit if reached else None,
        "limited_by": list(reached.limited_by) if reached else [],
        "notes": [{"code": note.code, "message": note.message} for note in kernel.notes],
    }
