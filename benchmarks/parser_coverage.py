"""How well clang with our stubs types a CUDA tree: kernels, device code without errors, time per file.

python benchmarks/parser_coverage.py FOLDER [FOLDER ...]
"""

from __future__ import annotations

import collections
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from porter.cpp.clang.reached_headers import contents_of
from porter.cpp.clang.view import Parsed, ParseRequest, parse, prepare
from porter.cpp.lex import lex
from porter.source import SourceFile

SUFFIXES = {".cu", ".cuh"}
HEADERS = {".h", ".hpp", ".inl"}


@dataclass
class Totals:
    """Sums over all files."""

    files: int = 0
    failed: int = 0
    lines: int = 0
    kernels: int = 0
    typed: int = 0
    with_device_code: int = 0
    clean_device_code: int = 0
    seconds: float = 0.0
    body_seconds: float = 0.0
    messages: collections.Counter[str] = field(default_factory=collections.Counter)


def main(folders: Iterable[str]) -> None:
    """Measures every CUDA source below the folders."""
    prepare()
    totals = Totals()
    for folder in folders:
        root = Path(folder).resolve()
        paths = [path for path in root.rglob("*") if path.is_file()]
        by_name: dict[str, list[Path]] = collections.defaultdict(list)
        for path in paths:
            by_name[path.name].append(path)
        for path in sorted(paths):
            data = path.read_bytes() if path.suffix in SUFFIXES | HEADERS else b""
            if path.suffix in SUFFIXES or b"__global__" in data:
                measure(path, data, root, by_name, totals)
    report(totals)


def measure(path: Path, data: bytes, root: Path, by_name: dict[str, list[Path]], totals: Totals) -> None:
    """Adds one file."""
    source = SourceFile(str(path), data)
    tokens = lex(source.text)
    request = ParseRequest(str(path), data, folders_of(data, by_name), (), str(root))
    start = time.process_time()
    parsed = parse(request, tokens)
    totals.files += 1
    totals.lines += source.line_count
    if not isinstance(parsed, Parsed):
        totals.failed += 1
        return
    kernels = parsed.kernels
    middle = time.process_time()
    errors = parsed.body_diagnostics
    totals.seconds += middle - start
    totals.body_seconds += time.process_time() - middle
    totals.kernels += len(kernels)
    totals.typed += sum(kernel.typed for kernel in kernels)
    spans = [kernel.span for kernel in kernels] + [function.span for function in parsed.device_functions]
    ranges = [(source.position(span.start)[0], source.position(span.end - 1)[0]) for span in spans]
    inside = [e for e in errors if e.path == str(path) and any(a <= e.line <= b for a, b in ranges)]
    totals.with_device_code += bool(spans)
    totals.clean_device_code += bool(spans) and not inside
    totals.messages.update(error.message for error in inside)


def folders_of(data: bytes, by_name: dict[str, list[Path]]) -> tuple[str, ...]:
    """Folders of the tree in which the file's #include names are found."""
    folders: dict[str, None] = {}
    for include in contents_of(data).includes:
        for path in by_name.get(Path(include.name).name, ()):
            if str(path).endswith("/" + include.name):
                folders[str(path)[: -len(include.name) - 1]] = None
    return tuple(folders)[:12]


def report(totals: Totals) -> None:
    """Prints the sums."""
    files = max(totals.files, 1)
    print(f"files {totals.files} ({totals.failed} not parsed), lines {totals.lines}")
    print(f"kernels {totals.kernels}, typed {totals.typed} = {totals.typed / max(totals.kernels, 1):.1%}")
    clean, device = totals.clean_device_code, totals.with_device_code
    print(f"files with device code {device}, without errors in it {clean} = {clean / max(device, 1):.1%}")
    kernels, bodies = totals.seconds / files * 1e3, totals.body_seconds / files * 1e3
    print(f"CPU ms per file: kernels typed {kernels:.1f}, bodies {bodies:.1f}")
    for message, count in totals.messages.most_common(12):
        print(f"  {count:4} {message}")


if __name__ == "__main__":
    main(sys.argv[1:])
