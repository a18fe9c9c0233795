"""Folders with an `nvcc` or a `hipcc` that build programs for the virtual devices, to be put first on PATH."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from porter.validation.devices.core.hostcc import HostCompiler, find_host_compiler, fingerprint
from porter.validation.programs import rocm
from porter.validation.programs.dropin import build
from porter.validation.programs.libraries import STAND_INS, build_stand_in
from porter.validation.programs.libraries import folder as stand_in_folder
from porter.validation.programs.sides import CUDA, HIP, Alike, Side
from porter.validation.toolchain.clang import find_clang, prelude
from porter.validation.toolchain.cuda_headers import fetched_for_cuda
from porter.validation.toolchain.headers import ONE_GENERATOR, find_headers, include_options, version_of
from porter.validation.toolchain.nvcc import find_nvcc
from porter.validation.toolchain.programs import Program, find
from porter.validation.toolchain.result import Missing

from porter.system.cache import cache_folder
from porter.system.folders import is_whole, whole

UNFUSED = {"cuda": "-fmad=false", "hip": "-ffp-contract=off"}
_HERE = Path(__file__).parent
_SHARED = {
    "from porter.validation.programs.wrapper_stand_ins import linked_stand_ins\n": "wrapper_stand_ins.py",
    "from porter.validation.programs.wrapper_removed import with_removed\n": "wrapper_removed.py",
}
_SHARED_IMPORTS = "import subprocess\nimport tempfile\nfrom pathlib import Path\n"
_TOOLS = ("clang-offload-bundler", "llvm-objcopy", "lld")
"""What clang and the bundler look for without a version."""
_OMP = '#define __malloc__(...)\n#include "{}"\n#undef __malloc__\n'
"""gcc's omp.h, from 12 on with an attribute that clang does not take: `__malloc__ (omp_free)`."""


def folder(side: Side, compiler: HostCompiler, alike: Alike | None = None) -> Path | Missing:
    """The folder for one side, or what is missing."""
    first = [f"-I{ONE_GENERATOR}"] if alike is Alike.GENERATOR else []
    if alike is Alike.ROUNDING:
        first = [UNFUSED[side.name]]
    settings = _hip(compiler, first) if side is HIP else _cuda(compiler, first)
    if isinstance(settings, Missing):
        return settings
    name = "hipcc" if side is HIP else "nvcc"
    text = (_HERE / f"wrapper_{name}.py").read_text()
    for line, file in _SHARED.items():
        text = text.replace(line, _SHARED_IMPORTS + (_HERE / file).read_text().partition("# ---\n")[2])
    text = text.replace("Any] = {}", f"Any] = {settings!r}")
    files = dict(_rocm(settings)) if side is HIP else {}
    tools = {tool: found.path for tool in _TOOLS if isinstance(found := find(tool), Program)} if side is HIP else {}
    target = (
        cache_folder() / "programs" / f"tools-{fingerprint(text, repr(tools), repr(files), sys.executable, _OMP)[:24]}"
    )
    if not is_whole(target):
        with whole(target) as made:
            (made / name).write_text(f"#!{sys.executable} -IS\n{text}")
            (made / name).chmod(0o755)
            for tool, path in tools.items():
                (made / tool).symlink_to(path)
            (made / "include").mkdir()
            if files:
                rocm.lay_out(made, files)
            for header in sorted(Path("/usr/lib/gcc").glob("*/*/include/omp.h"))[-1:]:
                (made / "include" / "omp.h").write_text(_OMP.format(header))
    return target


def toolkit_version(side: Side) -> str | None:
    """The version of nvcc, or of HIP's headers; None where there are none, or they do not tell."""
    if side is HIP:
        folder = find_headers()
        return None if isinstance(folder, Missing) else version_of(folder)
    nvcc = find_nvcc()
    return None if isinstance(nvcc, Missing) else nvcc.version


def runtime_version(side: Side) -> str:
    """The version of the drop-in runtime that programs are linked to: that of the headers they are compiled with."""
    return _of_major((toolkit_version(side) or "").partition(".")[0], side.versions)


def _of_major(major: str, versions: Sequence[tuple[str, str]]) -> str:
    """The first version with this number, or the last of all."""
    return next((version for version, _ in versions if version.partition(".")[0] == major), versions[-1][0])


def _hip(compiler: HostCompiler, first: list[str]) -> dict[str, object] | Missing:
    clang = find_clang("gfx942")
    if isinstance(clang, Missing):
        return Missing(clang.reason)
    for tool in map(find, _TOOLS):
        if isinstance(tool, Missing):
            return tool
    version = runtime_version(HIP)  # structures and names differ from one to the next: that of the headers
    library = build(HIP, compiler, version)
    if isinstance(library, Missing):
        return library
    options = [*first, "--offload-arch=gfx942", f"--rocm-device-lib-path={clang.bitcode}", "-mcode-object-version=5"]
    options += ["-D__HIP_PLATFORM_AMD__", "-w", "-gline-tables-only"]  # without -std: a command may have C files
    if _is_plain_bfloat16(clang.headers):
        options += ["-isystem", str(_HERE / "older")]
    options += [*include_options(clang.headers), *prelude(clang)]
    return {
        "compiler": clang.path,
        "options": options,
        "libraries": [f"-L{library}", "-lamdhip64", "-lm", "-lpthread"],
        **_stand_ins(HIP, compiler, version),
    }


def _rocm(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What CMake is shown of a ROCm, of the same parts as the settings of `hipcc`."""
    headers = find_headers()
    if not isinstance(headers, Missing):
        library = Path(settings["libraries"][0].removeprefix("-L"))
        version = version_of(headers) or HIP.versions[-1][0]
        stand_ins = settings["stand_ins"], settings["build_stand_ins"]
        yield from rocm.texts(headers, bool(include_options(headers)), library, version, *stand_ins)


def _is_plain_bfloat16(headers: Path) -> bool:
    """Whether HIP's bfloat16 has no conversions, as 6.0 (older/hip/hip_bf16.h has them)."""
    header = headers / "hip" / "amd_detail" / "amd_hip_bf16.h"
    return header.is_file() and "operator float" not in header.read_text("utf-8", "replace")


def _cuda(compiler: HostCompiler, first: list[str]) -> dict[str, object] | Missing:
    nvcc = find_nvcc()
    if isinstance(nvcc, Missing):
        return Missing(nvcc.reason)
    version = runtime_version(CUDA)
    library = build(CUDA, compiler, version)  # programs are linked to what they will run with
    if isinstance(library, Missing):
        return library
    options = [*first, "-lineinfo", *(f"-I{path}" for path in nvcc.include_dirs), f"-L{library}"]
    options += [f"-L{path}" for path in nvcc.library_dirs]
    options += [word for path in fetched_for_cuda() for word in ("-isystem", str(path))]
    removed = str(_HERE / "older" / "cuda" / "removed.h") if _lacks_older_names(nvcc.version) else ""
    return {"compiler": nvcc.path, "options": options, "removed": removed, **_stand_ins(CUDA, compiler, version)}


def _lacks_older_names(version: str) -> bool:
    """Whether the toolkit is of a major version that took names away (older/cuda/removed.h)."""
    major = version.partition(".")[0]
    return major.isdigit() and int(major) >= 13


def _stand_ins(side: Side, compiler: HostCompiler, version: str) -> dict[str, object]:
    """Where the linker finds the libraries that the stand-ins stand for, and what builds those that are not there."""
    rows = [row for row in STAND_INS if row.side is side]
    folders = {name: str(stand_in_folder(row, compiler, version)) for row in rows for name in (row.name, *row.also)}
    code = "import sys; sys.path[:] = filter(None, sys.path); "
    code += "from porter.validation.programs.compilers import main; main()"
    return {"stand_ins": folders, "build_stand_ins": [sys.executable, "-c", code, side.name, version]}


def main() -> None:
    """Build the stand-ins that are named, for a side and a version of its runtime."""
    side, version, *names = sys.argv[1:]
    compiler = find_host_compiler()
    if isinstance(compiler, Missing):
        sys.exit(compiler.reason)
    for row in STAND_INS:
        if row.side.name == side and {row.name, *row.also} & set(names):
            built = build_stand_in(row, compiler, version)
            if isinstance(built, Missing):
                sys.exit(built.reason)
