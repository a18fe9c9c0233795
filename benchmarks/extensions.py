"""Port PyTorch extensions and compile every unit for gfx942: `python -m benchmarks.extensions TREE ...`."""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from porter.validation.build.compile import common_options
from porter.validation.build.diagnostics import missing_header, read_diagnostics
from porter.validation.build.launches import read_sources
from porter.validation.build.origin import Origins, origins
from porter.validation.build.resources import resources_of
from porter.validation.build.torch_use import uses_torch
from porter.validation.build.units import GPU, Tree, Unit, find_tree
from porter.validation.toolchain.clang import Clang, find_clang
from porter.validation.toolchain.entry import demangle, signature_name
from porter.validation.toolchain.headers import include_options
from porter.validation.toolchain.result import Missing

from benchmarks.compiler import run_limited
from porter.project.manifest import read_manifest

_HEADERS = "#include <torch/extension.h>\n#include <ATen/cuda/CUDAContext.h>\n#include <c10/cuda/CUDAGuard.h>\n"
_STANDARD = "-std=c++17"
"""Precompiled headers of clang 19 lose overloads for the device with C++20's modules; PyTorch's headers take C++17."""


@dataclass(frozen=True)
class Error:
    """What the compiler said, at the line of the source."""

    message: str
    place: str
    manual: tuple[str, ...]
    """Codes of the findings there that leave manual work."""


@dataclass(frozen=True)
class UnitResult:
    """One unit: `built`, `failed`, `missing-header` or `timed-out`."""

    path: str
    status: str
    seconds: float
    kernels: tuple[tuple[str, int], ...] = ()
    """Source file and line of the kernels that code came out for."""
    errors: tuple[Error, ...] = ()


@dataclass(frozen=True)
class Extension:
    """A project: the kernels of its source, and what became of the port's units."""

    name: str
    kernels: tuple[dict[str, Any], ...]
    units: tuple[UnitResult, ...]


@dataclass(frozen=True)
class Bench:
    """Compiler, work folder and limits."""

    clang: Clang
    work: Path
    target: str
    host: bool
    limit: float
    skip: str = ""
    defines: tuple[str, ...] = ()

    def command(self, side: str, options: Iterable[str]) -> list[str]:
        """What all compilations of one side share."""
        start = (self.clang.path, "-x", "hip", f"--offload-arch={self.target}")
        devices = (f"--rocm-device-lib-path={self.clang.bitcode}", "-D__HIP_PLATFORM_AMD__")
        return [
            *start,
            *devices,
            *include_options(self.clang.headers),
            f"--cuda-{side}-only",
            "-w",
            "-ferror-limit=20",
            *options,
        ]

    def precompiled(self, side: str, builder: tuple[str, ...]) -> Path | None:
        """PyTorch's headers, parsed once per side and set of the project's macros."""
        command = self.command(side, builder)
        key = hashlib.sha256("\0".join(command).encode()).hexdigest()[:16]
        made = self.work / "pch" / f"{key}-{side}.pch"
        if not made.is_file():
            made.parent.mkdir(parents=True, exist_ok=True)
            header = made.with_suffix(".h")
            header.write_text(_HEADERS)
            emit = ["-fsyntax-only", "-Xclang", "-emit-pch", "-Xclang", "-o", "-Xclang", str(made)]
            code, said = run_limited([*command, *emit, str(header)], made.parent, self.limit)
            if code:
                print(f"not precompiled: {said[-500:]}", file=sys.stderr)
                return None
        return made


def port(tree: Path, out: Path) -> dict[str, Any]:
    """`porter port`, and what it printed."""
    command = [sys.executable, "-m", "porter", "port", str(tree), "-o", str(out), "--force", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{tree}: {done.stderr[-2000:]}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def compile_unit(bench: Bench, tree: Tree, unit: Unit, known: Origins) -> UnitResult:
    """Device code (and, where asked for, the host pass), kept by content."""
    source = tree.root / unit.path
    sides = ["device", "host"] if bench.host else ["device" if unit.path.endswith(GPU) else "host"]
    options = common_options(source, (_STANDARD, "-O1", *(f"-D{name}" for name in bench.defines), *unit.options))
    key = _key(bench, tree, unit, (*sides, *options))
    kept = bench.work / "results" / f"{key}.json"
    if kept.is_file():
        return _read(json.loads(kept.read_text()))
    began = time.monotonic()
    said, status, assembly = "", "built", bench.work / f"{key}.s"
    for side in sides:
        code, text = run_limited(_command(bench, side, source, options, unit, assembly), tree.root, bench.limit)
        said += text
        if code != 0:
            status = "timed-out" if code is None else "failed"
            break
    errors = tuple(_errors(known, said)) if status != "built" else ()
    if any(missing_header(raw) for raw in read_diagnostics(said)):
        status = "missing-header"
    found = _kernels(tree, unit, known, assembly) if status == "built" and assembly.is_file() else ()
    assembly.unlink(missing_ok=True)
    result = UnitResult(unit.path, status, round(time.monotonic() - began, 1), found, errors)
    if status != "timed-out":
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(asdict(result)))
    return result


def _command(bench: Bench, side: str, source: Path, options: tuple[str, ...], unit: Unit, assembly: Path) -> list[str]:
    if uses_torch(source, unit.options):
        plain = tuple(word for word in options if word not in unit.options)
        made = bench.precompiled(side, plain)
        options = (*options, *(("-Xclang", "-include-pch", "-Xclang", str(made)) if made else ()))
    product = ("-S", "-o", str(assembly)) if side == "device" else ("-fsyntax-only",)
    return [*bench.command(side, options), *product, str(source)]


def _key(bench: Bench, tree: Tree, unit: Unit, words: tuple[str, ...]) -> str:
    digest = hashlib.sha256("\0".join((bench.clang.version, bench.target, unit.path, *words)).encode())
    for path in tree.code:
        if path == unit.path or path.endswith((".h", ".cuh", ".hpp", ".inl", ".inc", ".hip")):
            digest.update((tree.root / path).read_bytes())
    return digest.hexdigest()[:24]


def _read(value: dict[str, Any]) -> UnitResult:
    errors = tuple(Error(one["message"], one["place"], tuple(one["manual"])) for one in value["errors"])
    kernels = tuple((path, line) for path, line in value["kernels"])
    return UnitResult(value["path"], value["status"], value["seconds"], kernels, errors)


def _errors(known: Origins, said: str) -> Iterator[Error]:
    for raw in read_diagnostics(said):
        if raw.severity not in ("error", "fatal error"):
            continue
        one = known.diagnostic(raw)
        place = f"{one.place.source or one.place.path}:{one.place.source_line or one.place.line}" if one.place else "-"
        yield Error(one.message, place, tuple(found.code for found in one.findings if found.effort == "manual"))


def _kernels(tree: Tree, unit: Unit, known: Origins, assembly: Path) -> tuple[tuple[str, int], ...]:
    sources = read_sources(tree.root, tree.code)
    found: dict[tuple[str, int], None] = {}
    for resources in resources_of(assembly.read_text("utf-8", "replace")):
        kernel = sources.kernel(signature_name(demangle(resources.symbol)), unit.path)
        if kernel is not None:
            place = known.place(kernel.path, kernel.line)
            found[place.source or place.path, place.source_line or place.line] = None
    return tuple(found)


def measure(bench: Bench, tree: Path, name: str) -> Extension:
    """One project, unit after unit."""
    out = bench.work / "ports" / name
    document = port(tree, out)
    ported = find_tree(out)
    known = origins(ported.root, read_manifest(ported.root))
    units = []
    for unit in ported.units:
        if fnmatch.fnmatch(unit.path, bench.skip):
            continue
        units.append(compile_unit(bench, ported, unit, known))
        print(f"{name}: {units[-1].status} {unit.path} {units[-1].seconds} s", file=sys.stderr, flush=True)
        for error in units[-1].errors[:3]:
            print(f"    {error.place}: {error.message}", file=sys.stderr, flush=True)
    return Extension(name, tuple(document["kernels"]), tuple(units))


def row(one: Extension) -> tuple[str, ...]:
    """Kernels of the source, nothing manual left, of these compiled; units by outcome; silent errors."""
    clean = [kernel for kernel in one.kernels if kernel["left"] != "manual"]
    compiled = {place for unit in one.units for place in unit.kernels}
    names = {kernel["qualified"] for kernel in clean if (kernel["path"], kernel["line"]) in compiled}
    done = [kernel for kernel in clean if kernel["qualified"] in names]  # a kernel may be declared in a header, too
    outcomes = Counter(unit.status for unit in one.units)
    failed = [unit for unit in one.units if unit.status == "failed"]
    silent = [unit for unit in failed if not any(error.manual for error in unit.errors)]
    shown = f"{outcomes['built']} of {len(one.units)}"
    return (
        *(one.name, str(len(one.kernels)), str(len(clean)), str(len(done)), shown),
        *(str(outcomes["missing-header"]), str(len(failed)), str(len(silent))),
    )


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """The command line; it exits with 2 on wrong usage."""
    parser = argparse.ArgumentParser(prog="benchmarks.extensions", description=__doc__)
    add = parser.add_argument
    add("trees", type=Path, nargs="+", help="folders with the sources of extensions")
    add("--work", type=Path, default=Path(".extensions"), help="folder for ports, precompiled headers and results")
    add("--target", default="gfx942")
    add(
        "--skip", default="", metavar="GLOB", help="units that are left out: instances of kernels that others have, too"
    )
    add("--define", default=[], action="append", metavar="NAME", help="what the project's own build defines")
    add("--host", action="store_true", help="the host pass of GPU units, too")
    add("--time-limit", type=float, default=1200.0, help="seconds per pass")
    add("--json", type=Path, help="write the full result here")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Exit code 0 when no unit failed without a finding, 1 otherwise."""
    arguments = parse_arguments(argv)
    clang = find_clang(arguments.target)
    if isinstance(clang, Missing):
        print(clang.reason, file=sys.stderr)
        return 2
    work, limit, defines = arguments.work.resolve(), arguments.time_limit, tuple(arguments.define)
    bench = Bench(clang, work, arguments.target, arguments.host, limit, arguments.skip, defines)
    rows: list[tuple[str, ...]] = []
    found: list[Extension] = []
    for tree in arguments.trees:
        found.append(measure(bench, tree.resolve(), tree.resolve().name))
        rows.append(row(found[-1]))
        if arguments.json:
            arguments.json.write_text(json.dumps([asdict(one) for one in found], indent=1))
    heads = ("extension", "kernels", "nothing manual", "compiled", "units", "missing header", "failed", "silent")
    print(" | ".join(heads))
    for one in rows:
        print(" | ".join(one))
    return 1 if any(int(one[-1]) for one in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
