"""Draft, port and run the kernels of many folders: `python -m benchmarks.differential FOLDERS --work DIR`.

Each folder below FOLDERS that matches `--pattern` is one program. For every CUDA source in it a case is drafted as
`porter cases init --try` does, nobody fills in anything, and the original on the virtual NVIDIA GPU is compared with
porter's port on the virtual gfx942, per warp mode.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from porter.validation.cases.file import load_cases
from porter.validation.draft.init import draft
from porter.validation.draft.trying import TriedCase, try_sizes
from porter.validation.run.plan import Request, validate
from porter.validation.run.porting import port_of
from porter.validation.verdict.outcome import CaseResult, Status

from porter.errors import Unusable

_CODE = frozenset({".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".c"})
_DEVICE = frozenset({".cu", ".cuh", ".h", ".hpp"})
_INCLUDE = re.compile(rb'#\s*include\s*["<]([^">\n]+)')
_WARPS = re.compile(rb"shfl|ballot|[Ww]arp|WARP|coalesced|tiled_partition|>> *5|& *(?:31|0x1f)")
_MARK = re.compile(rb"__global__")
_KERNEL = re.compile(rb"^[^\n/*#]*__global__", re.MULTILINE)
_OF_A_FILE = 2
_LAUNCH = re.compile(rb"<<<|LaunchKernel|KernelGGL|LAUNCH")
_KINDS = (
    ("grid or block", re.compile(r"^(?:grid|block) =")),
    ("shared memory", re.compile(r"^shared =")),
    ("template arguments", re.compile(r"^kernel =")),
    ("type of an argument", re.compile(r"TODO\(")),
    ("length of an array", re.compile(r"\[.*TODO.*\]")),
)


_PHRASES = (
    *("too large", "nothing to compare", "no end after", "instruction budget", "access outside", "uninitialised value"),
    *("data race", "the shape overflows", "build-failed", "division by zero", "a mask that does not name it"),
)


@dataclass(frozen=True)
class Row:
    """One kernel in one warp mode; `warp` is empty where it was not ported."""

    folder: str
    source: str
    kernel: str
    warp: str
    status: str
    """Of `porter validate`; or `human`: something to fill in, `original`: it does not run, `order`: what the original
    computes depends on the order of its threads; `declared`: a file that defines no kernel."""
    reason: str = ""
    race: str = ""
    agreement: str = ""
    seconds: float = 0.0
    case: str = ""


def sources(folder: Path) -> Iterator[Path]:
    """Files with kernels, and files that launch those of their headers; not those that other sources include."""
    texts = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.suffix in _CODE and path.is_file()}
    included = {name.rpartition(b"/")[2] for text in texts.values() for name in _INCLUDE.findall(text)}
    with_kernels = {path.name.encode() for path, text in texts.items() if re.search(rb"__global__|<<<", text)}
    for path, text in texts.items():
        named = {name.rpartition(b"/")[2] for name in _INCLUDE.findall(text)} | {path.name.encode()}
        if path.suffix == ".cu" and path.name.encode() not in included and named & with_kernels:
            yield path


def without_host(folder: Path) -> Iterator[Path]:
    """Files with kernels that launch none, a library's or a header's, in an order of their own."""
    texts = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.suffix in _DEVICE and path.is_file()}
    found = [path for path, text in texts.items() if _KERNEL.search(text) and not _LAUNCH.search(text)]
    random.Random(1).shuffle(found)
    yield from found


def run_folder(
    folder: Path,
    work: Path,
    warps: tuple[str, ...],
    seconds: float,
    most: int,
    bare: bool = False,
) -> list[Row]:
    """The kernels of a program; a kernel that two sources see is run once. No warp modes: the original alone.

    Of files without host code two kernels each.
    """
    rows: list[Row] = []
    seen: set[str] = set()
    for source in without_host(folder) if bare else sources(folder):
        try:
            made = draft(source, assuming=True)
        except Unusable as error:
            if _MARK.search(source.read_bytes()):
                status = "declared" if bare and "there are: none" in str(error) else "human"
                rows.append(Row(folder.name, source.name, "", "", status, str(error)))
            continue
        parts = tuple(part for part in made.parts if part.kernel not in seen)[
            : max(0, min(_OF_A_FILE if bare else most, most - len(seen)))
        ]
        seen |= {part.kernel for part in parts}
        tried = try_sizes(replace(made, parts=parts), seconds)
        runnable = [one for one in tried if one.chosen]
        rows += [row_of(folder, source, one) for one in tried if not one.chosen]
        if runnable:
            path = work / "cases" / folder.name / f"{source.relative_to(folder).as_posix().replace('/', '_')}.case.toml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join([made.head(path.parent), *(one.text for one in runnable)]))
            if warps:
                rows += validated(folder, source, path, warps, seconds)
            else:
                rows += [row_of(folder, source, one, path) for one in runnable]
    return rows


def row_of(folder: Path, source: Path, one: TriedCase, case: Path | None = None) -> Row:
    """What came of drafting alone."""
    if one.chosen:
        status = "order" if one.order else "runs"
        return Row(folder.name, source.name, one.case.kernel, "none", status, one.order, case=str(case or ""))
    status = "human" if one.case.marks else "original"
    return Row(folder.name, source.name, one.case.kernel, "", status, one.reason)


def validated(folder: Path, source: Path, path: Path, warps: tuple[str, ...], seconds: float) -> Iterator[Row]:
    """The cases of a file, original and port."""
    for warp in warps:
        names = _widened(path, folder) if warp == "native" else ()
        if warp == "native" and not names:
            continue
        request = Request((path,), ("ptx", "gfx942"), (warp,), names, schedules=2, jobs=1, launch_seconds=seconds * 2)
        outcome = validate(request)
        for crash in outcome.crashes:
            print(crash, file=sys.stderr)
        for error in outcome.report.errors:
            print(f"{error.path}:{error.line}: {error.message}", file=sys.stderr)
        for case in outcome.report.cases:
            yield from _rows(folder, source, case, path)


def _widened(path: Path, folder: Path) -> tuple[str, ...]:
    """The cases whose kernel native mode widens: elsewhere its port is the preserving one."""
    if not any(_WARPS.search(source.read_bytes()) for source in folder.rglob("*.*") if source.suffix in _CODE):
        return ()
    port = port_of(folder.absolute(), "native")
    return tuple(case.name for case in load_cases(path) if port.lanes(case) == 64)


def _rows(folder: Path, source: Path, case: CaseResult, path: Path) -> Iterator[Row]:
    original = next((side for side in case.sides if side.side == "original"), None)
    races = next((note for note in original.notes if "race" in note), "") if original else ""
    for pair in case.pairs:
        depends = original is not None and original.status is Status.NONDETERMINISTIC
        status = "order" if depends and pair.status is not Status.PASSED else pair.status.value
        if pair.status is Status.NOT_RUN and original is not None and original.status is not Status.PASSED:
            status, pair = "original", replace(pair, reason=original.reason)
        row = Row(folder.name, source.name, case.kernel, pair.warp or "", status)
        yield Row(
            **{
                **asdict(row),
                "reason": " ".join(pair.reason.split())[:400],
                "race": races[:300],
                "agreement": pair.agreement or "",
                "seconds": round(case.seconds, 1),
                "case": f"{path}::{case.name}",
            }
        )
    if not case.pairs:
        yield Row(folder.name, source.name, case.kernel, "", case.status.value, case.reason, case=str(path))


def _key(reason: str) -> str:
    """A reason without names and numbers, to count by."""
    marked = reason.removeprefix("to fill in: ")
    for kind, pattern in _KINDS:
        if pattern.search(marked) and marked != reason:
            return kind
    for phrase in _PHRASES:
        if phrase in reason:
            return phrase
    return re.sub(r"0x[0-9a-f]+|\d+|'[^']*'", "_", reason)[:60]


def table(rows: Iterable[Row], warps: tuple[str, ...]) -> str:
    """Counts of kernels per status and warp mode, then the reasons of what did not pass."""
    kept = list(rows)
    kernels = {(row.folder, row.source, row.kernel) for row in kept if row.kernel}
    ran = {(row.folder, row.source, row.kernel) for row in kept if row.warp}
    lines = [
        f"{len({row.folder for row in kept})} folders, {len(kernels)} kernels (with template arguments)",
        f"drafted without a person: {len(kernels) - sum(row.status == 'human' and bool(row.kernel) for row in kept)}; "
        f"the original runs: {len(ran)}, from {len({one[0] for one in ran})} folders",
        "",
        f"| verdict | {' | '.join(warps)} |",
        f"|---|{'---|' * len(warps)}",
    ]
    for status in dict.fromkeys(["passed", *(row.status for row in kept if row.warp)]) if warps else ():
        counts = [sum(row.warp == warp and row.status == status for row in kept) for warp in warps]
        lines.append(f"| {status} | {' | '.join(map(str, counts))} |")
    lines.append(f"\nfiles with declarations only: {sum(row.status == 'declared' for row in kept)}")
    lines.append(f"with notes on races in the original: {len({r.case for r in kept if r.race})}")
    for title, status in (("for a person", "human"), ("the original does not run", "original")):
        reasons = Counter(_key(row.reason) for row in kept if row.status == status)
        lines.append(f"\n{title}: {sum(reasons.values())}")
        lines += [f"- {count}: {reason}" for reason, count in reasons.most_common(12)]
    lines.append("\nnot passed:")
    for row in kept if warps else ():
        if row.warp and row.status != "passed":
            lines.append(f"- {row.folder}/{row.source} {row.kernel} {row.warp}: {row.status}: {row.reason[:200]}")
    return "\n".join(lines)


def main() -> None:
    """Runs what has no result yet, and prints the table of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="results and case files are kept here")
    parser.add_argument("--pattern", default="*-cuda")
    parser.add_argument("--every", type=int, default=1, help="each k-th folder")
    parser.add_argument("--first", type=int, default=0, help="from this one on")
    parser.add_argument("--warp", default="preserve,native", help="empty: only whether the original runs")
    parser.add_argument(
        "--seconds", type=float, default=15.0, help="for a launch of the original; a pair gets twice that"
    )
    parser.add_argument("--most", type=int, default=1000, help="kernels of a folder")
    parser.add_argument("--without-host", action="store_true", help="kernels of files that launch none")
    parser.add_argument("--again", action="store_true", help="also what has a result")
    parser.add_argument("--only", help="folders whose name matches this expression")
    options = parser.parse_args()
    warps = tuple(filter(None, options.warp.split(",")))
    os.environ.setdefault("PORTER_CACHE_DIR", str(options.work / "cache"))
    chosen = sorted(path for path in options.folders.glob(options.pattern) if path.is_dir())
    chosen = chosen[options.first :: options.every]
    if options.only:
        chosen = [path for path in chosen if re.search(options.only, path.name)]
    (options.work / "results").mkdir(parents=True, exist_ok=True)
    for number, folder in enumerate(chosen):
        kept = options.work / "results" / f"{folder.name}.json"
        if kept.is_file() and not options.again:
            continue
        began = time.monotonic()
        rows = run_folder(folder, options.work, warps, options.seconds, options.most, options.without_host)
        kept.write_text(json.dumps([asdict(row) for row in rows], indent=1))
        found = Counter(row.status for row in rows)
        print(
            f"{number + 1}/{len(chosen)} {folder.name}: {dict(found)}, {time.monotonic() - began:.0f} s",
            file=sys.stderr,
            flush=True,
        )
    names = {folder.name for folder in chosen}
    results = [path for path in sorted((options.work / "results").glob("*.json")) if path.stem in names]
    loaded: list[dict[str, Any]] = [row for path in results for row in json.loads(path.read_text())]
    print(table([Row(**row) for row in loaded], warps))


if __name__ == "__main__":
    main()
