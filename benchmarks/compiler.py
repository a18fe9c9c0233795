"""The two-pass HIP syntax check of one translation unit, cached, with a precompiled runtime header."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import signal
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.corpus import Program, Unit, code_files
from benchmarks.diagnostics import CompileError, Location, parse_errors

PASSES = ("device", "host")
_RUNTIME = "hip/hip_runtime.h"
_MAX_ERRORS = 40


@dataclass(frozen=True, slots=True)
class PassResult:
    """One pass over one unit."""

    name: str
    passed: bool
    seconds: float
    errors: tuple[CompileError, ...] = ()
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Compiler:
    """clang with the flags that every unit gets."""

    executable: str
    rocm_tree: Path
    arch: str
    standard: str
    time_limit: float
    cache: Path
    precompiled: bool = True
    shims: Path | None = None
    """Headers of a tree for both vendors that only AMD builds see."""

    def common_flags(self) -> list[str]:
        """Flags shared by the precompiled header and the units."""
        return [
            f"-std={self.standard}",
            f"--offload-arch={self.arch}",
            f"--rocm-path={self.rocm_tree}",
            "-nogpulib",
            "-D__HIP_PLATFORM_AMD__",
            "-isystem",
            str(self.rocm_tree / "include"),
        ]

    def check(self, program: Program, unit: Unit) -> list[PassResult]:
        """Both passes of one unit, from the cache where nothing it reads has changed."""
        content = _content_hash(program, unit)
        return [self._cached_pass(name, program, unit, content) for name in PASSES]

    def _cached_pass(self, name: str, program: Program, unit: Unit, content: str) -> PassResult:
        command = self._command(name, program, unit)
        shims = _content_stamp(self.shims.parent) if self.shims is not None else ""
        key = hashlib.sha256("\0".join([self.fingerprint(), content, shims, *command]).encode()).hexdigest()
        entry = self.cache / "results" / key[:2] / f"{key}.json"
        if entry.is_file():
            return _result_from_json(json.loads(entry.read_text()))
        result = self._run(name, command, program.folder)
        if not any(_depends_on_machine(error) for error in result.errors):
            entry.parent.mkdir(parents=True, exist_ok=True)
            _write_atomically(entry, json.dumps(asdict(result)))
        return result

    def _command(self, name: str, program: Program, unit: Unit) -> list[str]:
        runtime = (
            ["-Xclang", "-include-pch", "-Xclang", str(self._header_path(name))]
            if self.precompiled
            else ["-include", _RUNTIME]
        )
        return [
            self.executable,
            *self.common_flags(),
            *runtime,
            "-x",
            "hip",
            f"--cuda-{name}-only",
            "-fsyntax-only",
            "-ferror-limit=0",
            "-fno-caret-diagnostics",
            "-fno-color-diagnostics",
            "-fmacro-backtrace-limit=0",
            "-ftemplate-backtrace-limit=0",
            *((f"-I{self.shims}", "-include", "cuda_runtime.h") if self.shims is not None else ()),
            *(f"-I{folder}" for folder in program.include_folders),
            *(f"-D{define}" for define in program.defines),
            str(unit.path),
        ]

    def _run(self, name: str, command: list[str], folder: Path) -> PassResult:
        started = time.monotonic()
        code, stderr = run_limited(command, folder, self.time_limit)
        seconds = round(time.monotonic() - started, 3)
        if code is None:
            return PassResult(name, False, seconds, (_TIMED_OUT,))
        errors = parse_errors(stderr)
        if code and not errors:
            errors = (CompileError("", 0, f"compiler exit code {code}: {stderr.strip()[-300:]}"),)
        return PassResult(name, code == 0, seconds, errors[:_MAX_ERRORS])

    def prepare(self) -> None:
        """Precompile the runtime header once per pass; a failure here is the tree's, and raised as such."""
        if not self.precompiled:
            return
        for name in PASSES:
            header = self._header_path(name)
            if header.is_file():
                continue
            header.parent.mkdir(parents=True, exist_ok=True)
            source = header.with_name(f"{header.stem}-source.h")
            source.write_text(f'#include "{_RUNTIME}"\n')
            command = [self.executable, *self.common_flags(), "-x", "hip", f"--cuda-{name}-only"]
            command += ["-fsyntax-only", "-Xclang", "-emit-pch", "-Xclang", "-o", "-Xclang", str(header)]
            command.append(str(source))
            code, stderr = run_limited(command, header.parent, self.time_limit)
            if code:
                raise RuntimeError(f"{_RUNTIME} does not compile in {self.rocm_tree}:\n{stderr[-2000:]}")

    def _header_path(self, name: str) -> Path:
        return self.cache / "pch" / f"{self.fingerprint()}-{name}.pch"

    def fingerprint(self) -> str:
        """Changes with the compiler, the flags and the header tree."""
        parts = [_version(self.executable), *self.common_flags(), _tree_stamp(self.rocm_tree / "include")]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


_TIMED_OUT = CompileError("", 0, "time limit reached")
_VERSIONS: dict[str, str] = {}
_STAMPS: dict[Path, str] = {}


def run_limited(command: list[str], folder: Path, seconds: float) -> tuple[int | None, str]:
    """Exit code and stderr; the code is None when the time limit was reached."""
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            _, stderr = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, ""
    return process.returncode, stderr.decode(errors="replace")


def _depends_on_machine(error: CompileError) -> bool:
    """Verdicts that installing a header or a quieter machine would change are not kept."""
    return error == _TIMED_OUT or "file not found" in error.message


def _content_hash(program: Program, unit: Unit) -> str:
    """Covers every code file the unit may read inside the tree: the program, its -I folders, its includes."""
    files = dict.fromkeys(path.resolve() for path in code_files(program.folder))
    for folder in program.include_folders:
        files.update(dict.fromkeys(path.resolve() for path in code_files(folder)))
    files.update(dict.fromkeys(unit.closure))
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _result_from_json(value: dict[str, object]) -> PassResult:
    errors = value["errors"]
    assert isinstance(errors, list)
    return PassResult(
        name=str(value["name"]),
        passed=bool(value["passed"]),
        seconds=float(str(value["seconds"])),
        errors=tuple(
            CompileError(**{**error, "related": tuple(Location(**place) for place in error["related"])})
            for error in errors
        ),
        cached=True,
    )


def _version(executable: str) -> str:
    if executable not in _VERSIONS:
        done = subprocess.run([executable, "--version"], capture_output=True, text=True, check=True)
        _VERSIONS[executable] = done.stdout.splitlines()[0]
    return _VERSIONS[executable]


@functools.cache
def _content_stamp(folder: Path) -> str:
    """The content of some headers."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in files)).hexdigest()


def _tree_stamp(folder: Path) -> str:
    """Names, sizes and times of a header tree."""
    if folder not in _STAMPS:
        digest = hashlib.sha256()
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                status = path.stat()
                digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
        _STAMPS[folder] = digest.hexdigest()
    return _STAMPS[folder]


def _write_atomically(path: Path, text: str) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{id(text):x}")
    temporary.write_text(text)
    temporary.replace(path)
