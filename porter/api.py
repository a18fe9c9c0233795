"""What the command line does, from Python: `porter.scan`, `porter.port`, `porter.validate`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from porter.errors import Unusable
from porter.settings import load_choices, rocm_version, style_name, torch_mode, warp_mode, with_overrides

if TYPE_CHECKING:
    from porter.project.port import Answer, Request
    from porter.report.document import Report
    from porter.validation.verdict.outcome import ValidateReport

Name = Path | str


@dataclass(frozen=True)
class Ported:
    """What `scan` and `port` found and did."""

    report: Report
    """Counts, findings, gaps, files, kernels: what the report shows, as values."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Of a port that was not written: path in the port -> content, for the files that change."""

    @property
    def left(self) -> str:
        """The most work that is left anywhere: `none`, `review` or `manual`."""
        return self.report.left

    @property
    def text(self) -> str:
        """The report as the command line prints it."""
        from porter.report.render import Format, render

        return render(self.report, Format.TEXT)

    def as_json(self) -> dict[str, Any]:
        """The document of `--format json`."""
        from porter.report.as_json import report_json

        return report_json(self.report)


@dataclass(frozen=True)
class Validated:
    """What `validate` found out."""

    report: ValidateReport
    """Cases, each with its sides, pairs, status and evidence."""

    @property
    def passed(self) -> bool:
        """Whether every case passed, or is declared as not run in its file."""
        return self.report.is_fine() and not self.report.errors

    @property
    def statuses(self) -> dict[str, str]:
        """Name of each case -> `passed`, `wrong-values`, `fault` ..."""
        return {case.name: case.status.value for case in self.report.cases}

    @property
    def text(self) -> str:
        """The report as the command line prints it."""
        from porter.validation.verdict.report import report_text

        return report_text(self.report, verbose=False)

    def as_json(self) -> dict[str, Any]:
        """The document of `--format json`."""
        from porter.validation.verdict.report import report_json

        return report_json(self.report)


def scan(
    source: Name,
    *,
    rocm: str | None = None,
    warp: str | None = None,
    style: str | None = None,
    torch: str | None = None,
    config: Name | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    jobs: int | None = None,
) -> Ported:
    """What a port of a file or folder would rewrite and what it would leave; writes nothing."""
    from porter.project.port import scan as scan_request

    return _ported(scan_request(_request(source, rocm, warp, style, torch, config, include, exclude, jobs)))


def port(
    source: Name,
    output: Name | None = None,
    *,
    in_place: bool = False,
    force: bool = False,
    rocm: str | None = None,
    warp: str | None = None,
    style: str | None = None,
    torch: str | None = None,
    config: Name | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    jobs: int | None = None,
) -> Ported:
    """Port a file or folder into `output`, or in place; with neither, in memory: `files` of the result has it."""
    from porter.project.port import port_in_place, port_to, preview

    if output is not None and in_place:
        raise Unusable("say where the port goes: output or in_place, not both")
    request = _request(source, rocm, warp, style, torch, config, include, exclude, jobs, force=force)
    if output is not None:
        return _ported(port_to(request, Path(output)))
    if in_place:
        return _ported(port_in_place(request))
    answer = preview(request)
    names = {record.path: record.output for record in answer.run.records}
    return _ported(answer, {names[path]: data for path, data in answer.run.data.items()})


def validate(
    *paths: Name,
    cases: Sequence[str] = (),
    devices: Sequence[str] | None = None,
    warp: str | Sequence[str] = "preserve",
    port: Name | None = None,
    schedules: int = 3,
    seeds: Sequence[int] | None = None,
    timeout: float = 60.0,
    build_timeout: float = 300.0,
    jobs: int | None = None,
) -> Validated:
    """Check the cases in files and folders (default: here), as `porter validate` does."""
    from porter.validation.devices.registry import NAMES
    from porter.validation.run.plan import Request, validate

    unknown = [name for name in devices or () if name not in NAMES]
    if unknown:
        raise Unusable(f"devices: {', '.join(unknown)}; known are {', '.join(NAMES)}")
    request = Request(
        paths=tuple(Path(path) for path in paths) or (Path(),),
        devices=tuple(devices) if devices is not None else None,
        warps=tuple(_warp(mode) for mode in ((warp,) if isinstance(warp, str) else warp)),
        names=tuple(cases),
        schedules=schedules,
        seeds=tuple(seeds) if seeds else None,
        jobs=jobs or _cores(),
        build_seconds=build_timeout,
        launch_seconds=timeout,
        tree=Path(port) if port is not None else None,
    )
    outcome = validate(request)
    _no_bugs(outcome.crashes)
    return Validated(outcome.report)


def _request(
    source: Name,
    rocm: str | None,
    warp: str | None,
    style: str | None,
    torch: str | None,
    config: Name | None,
    include: Sequence[str],
    exclude: Sequence[str],
    jobs: int | None,
    *,
    force: bool = False,
) -> Request:
    from porter.project.port import Request

    path = Path(source)
    try:
        choices = with_overrides(
            load_choices(path, Path(config) if config is not None else None),
            rocm=rocm_version("rocm", rocm) if rocm is not None else None,
            warp=warp_mode("warp", warp) if warp is not None else None,
            style=style_name("style", style) if style is not None else None,
            torch=torch_mode("torch", torch) if torch is not None else None,
            include=tuple(include),
            exclude=tuple(exclude),
        )
    except ValueError as error:
        raise Unusable(str(error)) from None
    return Request(path, choices, jobs or _cores(), force)


def _warp(mode: str) -> str:
    try:
        return warp_mode("warp", mode)
    except ValueError as error:
        raise Unusable(str(error)) from None


def _ported(answer: Answer, files: Mapping[str, bytes] | None = None) -> Ported:
    _no_bugs(answer.run.crashes)
    return Ported(answer.report, files or {})


def _no_bugs(tracebacks: Sequence[str]) -> None:
    if tracebacks:
        raise RuntimeError(f"bug in porter:\n{tracebacks[0]}")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
