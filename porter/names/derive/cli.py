"""`python -m porter.names.derive`: reads headers, writes `rules/api/*.toml` and the coverage table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from porter.names.derive.coverage import coverage_page
from porter.names.derive.overrides import load_overrides
from porter.names.derive.sources import Source, hip_side, parse_sources
from porter.names.derive.tables import Tables, derive
from porter.names.derive.write import table

_DESCRIPTION = """Derives the name tables from installed headers.

CUDA: the include folders of the nvidia-* wheels or of a toolkit. HIP: include folders as ROCm installs them, and
folders with the *.pxd files of ROCm's Python bindings (hip-python, rocm-bindings-*). Labels are versions; a label
may be given several times.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the derivation; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        cuda, hip = parse_sources(options.cuda), parse_sources(options.hip)
        overrides = load_overrides(options.output / "overrides")
    except (ValueError, OSError) as error:
        print(f"porter rules derive: {error}", file=sys.stderr)
        return 2
    tables = derive(cuda, hip_side(hip, options.clang), overrides)
    wanted = {name: sections for name, sections in tables.sections.items() if not options.only or name in options.only}
    if options.only and (unknown := set(options.only) - wanted.keys()):
        print(f"porter rules derive: no library {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    for name, sections in wanted.items():
        text = table(tables.titles[name], sections, sources(cuda, hip))
        (options.output / f"{name}.toml").write_text(text, "utf-8")
    if options.coverage:
        options.coverage.write_text(coverage_page(tables), "utf-8")
    _summary(tables)
    return 0


def sources(cuda: Sequence[Source], hip: Sequence[Source]) -> list[str]:
    """What the rows were read from, in words."""
    return [f"CUDA {', '.join(s.label for s in cuda)}; HIP and ROCm {', '.join(s.label for s in hip)}"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="porter rules derive", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cuda", action="append", required=True, metavar="LABEL=DIR[:DIR]", help="CUDA headers")
    parser.add_argument(
        "--hip", action="append", required=True, metavar="LABEL=DIR[:DIR]", help="ROCm headers or bindings"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("rules/api"), help="folder of the tables")
    parser.add_argument("--clang", metavar="PROGRAM", help="clang that preprocesses HIP's device headers")
    parser.add_argument("--coverage", type=Path, metavar="FILE", help="also write the coverage page")
    parser.add_argument("--only", action="append", metavar="LIBRARY", help="write these tables only")
    return parser


def _summary(tables: Tables) -> None:
    for name, count in tables.counts().items():
        print(f"{name:20} {count.names:6} names, {count.gap:5} gaps, {count.unknown:3} unknown", file=sys.stderr)
