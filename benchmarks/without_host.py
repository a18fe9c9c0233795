"""Kernels whose host code is cut away, drawn by a seed: `python -m benchmarks.without_host CORPUS --work DIR --seed N`.

Programs of a corpus that no document named in `--unnamed` speaks of are copied without their host code (`cut_host`);
cases of their kernels are drafted as `porter cases init --try` does, with nothing of a launch in sight.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from porter.validation.draft.init import draft
from porter.validation.draft.trying import try_sizes
from porter.validation.draft.unit import kernels_of

from benchmarks.cut_host import cut_program
from benchmarks.differential import Row, row_of, validated
from porter.errors import Unusable

_DEVICE = frozenset({".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc"})
_NO_HEADER = "is not installed here"


@dataclass(frozen=True)
class Drawn:
    """A kernel of a program without host code."""

    folder: str
    source: str
    """Relative to the program's copy."""
    kernel: str

    @property
    def key(self) -> str:
        """A name for files."""
        return re.sub(r"\W+", "_", f"{self.folder}_{self.source}_{self.kernel}")


def drawn(corpus: Path, work: Path, seed: int, count: int, most: int, documents: str) -> Iterator[Drawn]:
    """So many kernels, at most `most` of a program, of programs that the documents do not name."""
    chosen = random.Random(seed)
    folders = sorted(path.name for path in corpus.glob("*-cuda") if path.is_dir())
    fresh = [name for name in folders if not re.search(rf"\b{re.escape(name.removesuffix('-cuda'))}\b", documents)]
    chosen.shuffle(fresh)
    left = count
    for name in fresh:
        root = work / "cut" / name / name
        if not root.is_dir():
            cut_program(corpus, name, work / "cut" / name)
        found = list(_kernels(root, name))
        for one in sorted(chosen.sample(found, min(most, left, len(found))), key=lambda one: one.key):
            left -= 1
            yield one
        if not left:
            return


def _kernels(root: Path, folder: str) -> Iterator[Drawn]:
    """The kernels that a program defines."""
    seen: set[str] = set()
    for path in sorted(path for path in root.rglob("*") if path.suffix in _DEVICE and path.is_file()):
        text = path.read_bytes().decode("latin-1")
        if "__global__" not in text:
            continue
        for kernel in kernels_of(path, text):
            body = text[kernel.span.start : kernel.span.end]
            if "{" in body and kernel.name not in seen:
                seen.add(kernel.name)
                yield Drawn(folder, path.relative_to(root).as_posix(), kernel.name)


def run(one: Drawn, work: Path, seconds: float, warps: tuple[str, ...]) -> list[Row]:
    """One kernel: its draft, tried; and its ports, where warp modes are asked for."""
    root = work / "cut" / one.folder / one.folder
    source = root / one.source
    try:
        made = draft(source, (one.kernel,), assuming=True)
    except Unusable as error:
        return [Row(one.folder, one.source, one.kernel, "", "human", str(error))]
    (tried,) = try_sizes(replace(made, parts=made.parts[:1]), seconds)
    if not tried.chosen:
        return [row_of(root, source, tried)]
    path = work / "cases" / f"{one.key}.case.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([made.head(path.parent), tried.text]))
    if not warps:
        return [row_of(root, source, tried, path)]
    return list(validated(root, source, path, warps, seconds))


def _summary(rows: list[Row]) -> str:
    statuses = Counter(row.status for row in rows)
    ran = len(rows) - statuses["human"] - statuses["original"]
    lacking = sum(_NO_HEADER in row.reason for row in rows if row.status in ("human", "original"))
    lines = [
        f"{len(rows)} kernels of {len({row.folder for row in rows})} programs: {dict(statuses)}",
        f"the original runs: {ran} ({100 * ran / max(1, len(rows)):.0f} %); a header that is not here: {lacking}",
    ]
    for row in rows:
        if row.status not in ("runs", "passed"):
            lines.append(f"- {row.folder}/{row.source} {row.kernel}: {row.status}: {row.reason[:240]}")
    return "\n".join(lines)


def main() -> None:
    """Runs what has no result yet, and prints what came of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="folders X-cuda")
    parser.add_argument("--work", type=Path, required=True, help="copies, results and case files are kept here")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernels", type=int, default=60)
    parser.add_argument("--most", type=int, default=2, help="kernels of a program")
    parser.add_argument("--seconds", type=float, default=10.0, help="for a launch of the original")
    parser.add_argument("--warp", default="", help="empty: only whether the original runs")
    parser.add_argument(
        "--unnamed", type=Path, action="append", default=[], help="a document with programs to leave out"
    )
    parser.add_argument("--again", action="store_true", help="also kernels that did not run, or not as asked")
    options = parser.parse_args()
    os.environ.setdefault("PORTER_CACHE_DIR", str(options.work / "cache"))
    documents = "\n".join(path.read_text("utf-8") for path in options.unnamed)
    warps = tuple(filter(None, options.warp.split(",")))
    folder = options.work / "results"
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    chosen = list(drawn(options.corpus, options.work, options.seed, options.kernels, options.most, documents))
    for number, one in enumerate(chosen):
        kept = folder / f"{one.key}.json"
        known = [Row(**row) for row in json.loads(kept.read_text())] if kept.is_file() else []
        if not known or (options.again and any(row.status not in ("runs", "passed") for row in known)):
            known = run(one, options.work, options.seconds, warps)
            kept.write_text(json.dumps([asdict(row) for row in known], indent=1))
            said = "; ".join(f"{row.status} {row.reason[:120]}" for row in known)
            print(f"{number + 1}/{len(chosen)} {one.folder} {one.kernel}: {said}", file=sys.stderr, flush=True)
        rows += known
    print(_summary(rows))
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    spent = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    print(f"{spent:.0f} s of processor time")


if __name__ == "__main__":
    main()
