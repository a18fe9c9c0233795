"""The report as plain text: totals first, then what is manual, then reviews in short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from porter.engine.notices import IDLE_ALLOW
from porter.model import Effort
from porter.report.document import KernelLine, Located, Report

_GAPS_SHOWN = 15
_REVIEWS_SHOWN = 10
_PLACES_SHOWN = 3
_CAUSES_SHOWN = 40
"""Of one code."""
_NEARLY_ALL = 0.8
_KERNELS_SHOWN = 20


def report_text(report: Report, *, verbose: bool = False) -> str:
    """The whole report; `verbose` shows every review, rewrite and kernel."""
    parts = [
        _summary(report),
        _rules(report, verbose),
        _gaps(report, verbose),
        _kernels(report, verbose),
        _manual(report, verbose),
        _reviews(report, verbose),
        _idle_comments(report, verbose),
    ]
    if verbose:
        parts += [_rewrites(report), _left_out(report)]
    return "\n\n".join("\n".join(lines) for part in parts if (lines := list(part))) + "\n"


def _summary(report: Report) -> Iterator[str]:
    header = report.header
    goal = f" -> {header.output}" if header.output else ""
    yield f"porter {header.porter} {header.command} {header.source}{goal}"
    statuses = ", ".join(f"{count:,} {status}" for status, count in report.statuses.items())
    reused = f"; {header.reused:,} were up to date" if header.reused else ""
    yield f"  files:    {statuses or 'none'}{reused}"
    yield f"  lines:    {report.lines:,} of C++ and CUDA"
    left = Counter(line.left for line in report.kernels)
    ready = f"{left['none']:,} ready, {left['review']:,} to review, {left['manual']:,} with manual work"
    yield f"  kernels:  {len(report.kernels):,}" + (f" ({ready})" if report.kernels else "")
    counts = report.counts
    suppressed = f", {report.suppressed:,} suppressed" if report.suppressed else ""
    yield (
        f"  findings: {counts.rewritten:,} rewritten, {counts.review:,} to review, {counts.manual:,} manual{suppressed}"
    )
    if header.left_out:
        yield f"  left out: {len(header.left_out):,} paths ignored by git or by the settings"
    for note in header.notes:
        yield f"  note:     {note}"


def _rules(report: Report, verbose: bool) -> Iterator[str]:
    """By code; remarks, which changed nothing and ask nothing, only among everything."""
    shown = [line for line in report.codes if verbose or any(line.counts)]
    rows = [(line.code, line.rule, *map(_number, line.counts), f"{line.files:,}") for line in shown]
    if rows:
        yield from table(("code", "rule", "rewritten", "review", "manual", "files"), rows, right=(2, 3, 4, 5))


def _number(count: int) -> str:
    return f"{count:,}" if count else "-"


def _gaps(report: Report, verbose: bool) -> Iterator[str]:
    shown = report.gaps if verbose else report.gaps[:_GAPS_SHOWN]
    if shown:
        yield "gaps by name" + _of(len(shown), len(report.gaps))
        rows = [(g.name, g.effort, g.code, f"{g.places:,}", f"{g.files:,}") for g in shown]
        yield from table(("name", "effort", "code", "places", "files"), rows, right=(3, 4))


def _kernels(report: Report, verbose: bool) -> Iterator[str]:
    left = [line for line in report.kernels if line.left != "none"]
    left.sort(key=lambda line: (line.left != "manual", -line.counts.manual, -line.counts.review))
    shown = left if verbose else left[:_KERNELS_SHOWN]
    if shown:
        yield "kernels with work left" + _of(len(shown), len(left))
        yield from table(
            ("kernel", "where", "rewritten", "review", "manual", "through"),
            [_kernel(line) for line in shown],
            right=(2, 3, 4),
        )


def _kernel(line: KernelLine) -> tuple[str, ...]:
    place = f"{line.path}:{line.model['line']}"
    return (line.model["qualified"], place, *map(_number, line.counts), line.shown_through)


def _manual(report: Report, verbose: bool) -> Iterator[str]:
    found = report.with_effort(Effort.MANUAL)
    if found:
        causes = by_cause(found)
        of = f", {len(causes):,} causes" if len(causes) < len(found) else ""
        yield f"manual: {len(found):,} places need work by hand{of}"
        for code, own in _by_code(causes).items():
            shown = own if verbose or len(own) <= _CAUSES_SHOWN + 1 else own[:_CAUSES_SHOWN]
            for places in shown:
                yield from _places(places, verbose)
            if len(shown) < len(own):
                yield _further(code, own[len(shown) :])


def _by_code(causes: Iterable[list[Located]]) -> dict[str, list[list[Located]]]:
    """In order of the first place; those of one code stand together."""
    found: dict[str, list[list[Located]]] = {}
    for places in causes:
        found.setdefault(places[0].entry.code, []).append(places)
    return found


def _further(code: str, causes: list[list[Located]]) -> str:
    """One line for the causes of a code that are not listed: how many places, and where most of them are."""
    places = [place for cause in causes for place in cause]
    files = Counter(place.path for place in places)
    folder, inside = _common_folder(files)
    where = f", {inside:,} of them below {folder}" if folder else ""
    return (
        f"  ... {code}: {len(causes):,} more causes at {len(places):,} places, in {len(files):,} files{where}; "
        "--verbose shows all"
    )


def _common_folder(files: Mapping[str, int]) -> tuple[str, int]:
    """The innermost folder that has nearly all places, and how many."""
    total, found = sum(files.values()), ("", 0)
    folders: Counter[str] = Counter()
    for path, count in files.items():
        for parent in list(PurePosixPath(path).parents)[:-1]:
            folders[parent.as_posix()] += count
    for folder, count in folders.items():
        if count >= _NEARLY_ALL * total and folder.count("/") >= found[0].count("/") + bool(found[0]):
            found = folder, count
    return found


def by_cause(found: Iterable[Located]) -> list[list[Located]]:
    """Findings that say the same, in order of the first place."""
    causes: dict[tuple[str, ...], list[Located]] = {}
    for one in found:
        causes.setdefault((one.entry.code, one.entry.message), []).append(one)
    return list(causes.values())


def _places(places: list[Located], verbose: bool) -> Iterator[str]:
    """One line per place; of many for one cause the first ones and a count."""
    shown = places if verbose or len(places) <= _PLACES_SHOWN + 1 else places[:_PLACES_SHOWN]
    yield from map(finding_line, shown)
    if len(shown) < len(places):
        files = len({place.path for place in places})
        yield f"  ... the same {len(places) - len(shown):,} times more, in {files:,} files; --verbose shows all"


def _reviews(report: Report, verbose: bool) -> Iterator[str]:
    found = report.with_effort(Effort.REVIEW)
    shown = found if verbose else found[:_REVIEWS_SHOWN]
    if found:
        yield f"review: {len(found):,} places to look at" + _of(len(shown), len(found), "--verbose shows all")
        yield from map(finding_line, shown)


def _idle_comments(report: Report, verbose: bool) -> Iterator[str]:
    """Notes that ask for no work of the port, and would be seen nowhere else."""
    found = [f for f in report.with_effort(Effort.NONE) if f.entry.code == IDLE_ALLOW.code]
    shown = found if verbose else found[:_REVIEWS_SHOWN]
    if found:
        yield f"allow comments that cover nothing: {len(found):,}" + _of(len(shown), len(found), "--verbose shows all")
        yield from map(finding_line, shown)


def _rewrites(report: Report) -> Iterator[str]:
    found = [f for f in report.with_effort(Effort.NONE) if f.entry.fixed]
    if found:
        yield f"rewritten, nothing left to do: {len(found):,} places"
        yield from map(finding_line, found)


def _left_out(report: Report) -> Iterator[str]:
    if report.header.left_out:
        yield "left out"
        yield from (f"  {path}" for path in report.header.left_out)


def finding_line(found: Located) -> str:
    """`path:line:column: CODE effort message [kernel]`."""
    entry = found.entry
    kernel = f" [{entry.kernel}]" if entry.kernel else ""
    return f"{found.path}:{entry.line}:{entry.column}: {entry.code} {entry.effort} {entry.message}{kernel}"


def _of(shown: int, total: int, hint: str = "") -> str:
    if shown == total:
        return ""
    return f" (first {shown} of {total:,}{'; ' + hint if hint else ''})"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], right: tuple[int, ...] = ()) -> Iterator[str]:
    """Columns as wide as their longest cell, numbers to the right."""
    cells = [head, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for row in cells:
        yield (
            "  "
            + "  ".join(
                cell.rjust(width) if column in right else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
        )
