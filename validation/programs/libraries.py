"""Stand-ins for the libraries beside the runtime (stand_ins/): which there are, and how they are built."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from porter.validation.devices.core.hostcc import HostCompiler, fingerprint
from porter.validation.programs.dropin import BuildFailed, build, compile_and_link, defined, names_of
from porter.validation.programs.sides import CUDA, HIP, NAMES, Side
from porter.validation.programs.store import libraries
from porter.validation.toolchain.result import Missing

from porter.system.cache import cache_folder
from porter.system.folders import is_whole, whole
from porter.system.needs import need
from porter.system.programs import library_on_this_machine

_SOURCES = Path(__file__).with_name("stand_ins")
_VARIABLES = {"OpenBLAS": "PORTER_RUN_OPENBLAS", "FFTW": "PORTER_RUN_FFTW", "FFTW for float": "PORTER_RUN_FFTWF"}


@dataclass(frozen=True)
class StandIn:
    """One library that is answered on the host."""

    name: str
    side: Side
    source: str
    sonames: Mapping[str, str]
    """What follows `lib...so.`, by the version of the runtime beside it."""
    not_supported: int
    """The status of its calls that are not implemented."""
    kept: tuple[str, ...] = ()
    """The libraries that do the numerics, as the table of needs calls them."""
    also: tuple[str, ...] = ()
    """Other libraries of the vendor's whose calls are in it."""

    def files(self, version: str) -> tuple[str, ...]:
        """Names of the shared objects, its own first."""
        return tuple(f"lib{name}.so.{self.sonames[version]}" for name in (self.name, *self.also))


def _same(side: Side, number: str) -> dict[str, str]:
    return {version: number for version, _ in side.versions}


_CUDA_MAJOR = {"11.0": "11", "12": "12", "13": "13"}
STAND_INS = (
    StandIn("cublas", CUDA, "blas.c", _CUDA_MAJOR, 15, ("OpenBLAS",), ("cublasLt",)),
    StandIn("curand", CUDA, "random.c", _same(CUDA, "10"), 999),
    StandIn("cufft", CUDA, "fft.c", {"11.0": "10", "12": "11", "13": "12"}, 16, ("FFTW", "FFTW for float")),
    StandIn("cusparse", CUDA, "sparse.c", {"11.0": "11", "12": "12", "13": "12"}, 10),
    StandIn("nccl", CUDA, "collective.c", _same(CUDA, "2"), 3),
    StandIn("hipblas", HIP, "blas.c", {"5": "0", "6": "2", "7": "3"}, 7, ("OpenBLAS",)),
    StandIn("hiprand", HIP, "random.c", _same(HIP, "1"), 999),
    StandIn("hipfft", HIP, "fft.c", _same(HIP, "0"), 16, ("FFTW", "FFTW for float")),
    StandIn("hipsparse", HIP, "sparse.c", {"5": "0", "6": "1", "7": "4"}, 10),
    StandIn("rccl", HIP, "collective.c", _same(HIP, "1"), 3),
)


def asked_for(side: Side, version: str, linked: str) -> tuple[StandIn, ...]:
    """Those that a program is linked to, by the list of its libraries."""
    return tuple(
        row for row in STAND_INS if row.side is side and any(file in linked.split() for file in row.files(version))
    )


def kept_libraries(row: StandIn) -> dict[str, str] | Missing:
    """The variables that tell a stand-in where the libraries are that it needs."""
    found: dict[str, str] = {}
    for name in row.kept:
        path = library_on_this_machine(need(name))
        if path is None:
            return Missing(f"{row.name} has a stand-in, which needs what is not here: {need(name).absent}")
        found[_VARIABLES[name]] = path
    return found


def folder(row: StandIn, compiler: HostCompiler, version: str) -> Path:
    """Where it is, or will be."""
    names = hashlib.sha256((NAMES / f"{row.name}.h").read_bytes()).hexdigest()
    key = fingerprint(str(libraries(row.side, compiler)), row.name, _sources(), names)[:24]
    return cache_folder() / "programs" / f"stand-in-{row.name}-{key}" / version


@functools.cache
def _sources() -> str:
    """What all of them are made of and by, as one digest."""
    digest = hashlib.sha256()
    for path in sorted([*_SOURCES.iterdir(), Path(__file__)]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def built_stand_in(row: StandIn, compiler: HostCompiler, version: str) -> Path | None:
    """Its folder, where it is built."""
    target = folder(row, compiler, version)
    return target if is_whole(target, every_byte=True) else None


def build_stand_in(row: StandIn, compiler: HostCompiler, version: str) -> Path | Missing:
    """Its folder, built when it is not there."""
    if found := built_stand_in(row, compiler, version):
        return found
    target = folder(row, compiler, version)
    runtime = build(row.side, compiler, version)
    if isinstance(runtime, Missing):
        return runtime
    try:
        with whole(target) as made:
            _build(row, compiler, made, version, runtime)
    except BuildFailed as error:
        return Missing(f"the host compiler failed on the stand-in for {row.name}: {error}")
    return target


def _build(row: StandIn, compiler: HostCompiler, made: Path, version: str, runtime: Path) -> None:
    first, *others = row.files(version)
    flags = [flag for flag in compiler.flags if flag != "-shared"]
    flags += [f"-D{row.side.define}", f'-DLIBRARY="{row.name}"', f'-DNAMES_FILE="{NAMES / row.name}.h"']
    flags += ["-O2", "-fvisibility=hidden", "-c", str(_SOURCES / row.source)]
    compiled = made / "stand-in.o"
    compile_and_link([compiler.path, *flags, "-o", str(compiled)])
    ours = defined([compiled])
    same = {name: name.removesuffix("_v2") for name in names_of(row.name) if name not in ours}
    absent = [name for name, plain in same.items() if plain not in ours]
    status = row.not_supported
    body = [f'EXPORT int {name}(void) {{ return porter_refuses("{name}", 0), {status}; }}' for name in absent]
    head = '#define EXPORT __attribute__((visibility("default")))\nint porter_refuses(const char *, const char *);'
    source = made / "absent.c"
    source.write_text("\n".join([head, *body, ""]))
    command = [compiler.path, "-shared", "-fPIC", "-w", f"-Wl,-soname,{first}"]
    command += [f"-Wl,--defsym={name}={plain}" for name, plain in same.items() if plain in ours]
    command += [str(source), str(compiled), str(runtime / row.side.library), "-o", str(made / first)]
    compile_and_link([*command, "-lm", "-lpthread", "-ldl"])
    for name in (row.name, *row.also):
        (made / f"lib{name}.so").symlink_to(first)
    for name in others:
        (made / name).symlink_to(first)
    source.unlink()
    compiled.unlink()
