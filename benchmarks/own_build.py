"""Build a port with its own build system, up to the link: `python -m benchmarks.own_build PROJECT --work W -- make`."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from porter.validation.toolchain.clang import Clang, find_clang
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.torch_headers import TorchHeaders, find_torch_headers

from porter.system.cache import cache_folder

_TARGET = "gfx942"
_VERSION = "6.0.0"
_TOO_LONG = 124
_LIBRARIES = {
    "hipblas": "roc",
    "hipblaslt": "roc",
    "hipcub": "hip",
    "hipfft": "hip",
    "hiprand": "hip",
    "hipsolver": "roc",
    "hipsparse": "roc",
    "rocblas": "roc",
    "rocrand": "roc",
    "rocprim": "roc",
    "rocthrust": "roc",
    "rccl": "roc",
    "miopen": "",
}
"""ROCm's libraries by the namespace of their CMake targets: headers and a name to link to, and nothing behind it."""
_HEADERS_ALONE = {"hipcub", "rocprim", "rocthrust"}
_COMPILE = re.compile(r"^(?P<place>[^\s:]+:\d+(?::\d+)?): (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
_LINK = re.compile(
    r"^.*(?:cannot find -l|unable to find library|undefined (?:reference to|symbol:?)).*$|"
    r"^.*No rule to make target '[^']*\.(?:so|a)'.*$",
    re.MULTILINE,
)
_OTHER = re.compile(r"^.*(?:CMake Error|\bError\b|\berror\b|\*\*\*).*$", re.MULTILINE)

_HIPCC = """#!{python}
import os, sys
SOURCES = (".c++", ".cc", ".cpp", ".cxx", ".C", ".cu", ".hip")
given = sys.argv[1:]
if given == ["--version"]:
    print("HIP version: {version}")
words, sources, i = [], 0, 0
own = "-x" in given
while i < len(given):
    word = given[i]
    if word in ("-o", "-I", "-isystem", "-include", "-Xcompiler", "-MF", "-MT", "-MQ", "-L", "-D", "-Xclang"):
        words += given[i : i + 2]
        i += 2
        continue
    if word.endswith(SOURCES) and not word.startswith("-"):
        sources += 1
        words += [word] if own else ["-x", "hip", word, "-x", "none"]
    else:
        words += ["-O1", "-Xarch_host", "-O0"] if word in ("-O2", "-O3") else [word]
    i += 1
stops = any(word in given for word in ("-c", "-E", "-S", "-M", "-MM", "-fsyntax-only", "--version"))
if not any(word.startswith(("--offload-arch", "--amdgpu-target", "--cuda-gpu-arch")) for word in given):
    words.insert(0, "--offload-arch={target}")
start = ["--driver-mode=g++", "--rocm-path={rocm}", "-D__HIP_PLATFORM_AMD__=1", "-isystem", "{rocm}/include"]
end = [] if stops else ["--hip-link", "-L{rocm}/lib", "-Wl,-rpath,{rocm}/lib", "-lamdhip64"]
if "--version" in given:
    start, end = [], []
    words = given
os.execv("{clang}", ["{clang}", *start, *words, *end])
"""
_CLANG = """#!{python}
import os, sys
given = ["-O1" if word in ("-O2", "-O3") else word for word in sys.argv[1:]]
os.execv("{clang}", ["{clang}", "--rocm-path={rocm}", "-isystem", "{rocm}/include", *given])
"""
_HIP_LANG = """add_library(hip-lang::device INTERFACE IMPORTED)
set_target_properties(hip-lang::device PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "{rocm}/include"
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "{rocm}/include"
  INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1"
  INTERFACE_LINK_LIBRARIES "{rocm}/lib/libamdhip64.so")
add_library(hip-lang::amdhip64 ALIAS hip-lang::device)
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)
"""
_HIP = """foreach(name hip::host hip::amdhip64 hip::device)
  if(NOT TARGET ${{name}})
    add_library(${{name}} INTERFACE IMPORTED)
    set_target_properties(${{name}} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "{rocm}/include"
      INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1"
      INTERFACE_LINK_LIBRARIES "{rocm}/lib/libamdhip64.so")
  endif()
endforeach()
set(hip_INCLUDE_DIR "{rocm}/include")
set(hip_INCLUDE_DIRS "{rocm}/include")
set(HIP_INCLUDE_DIRS "{rocm}/include")
"""
_SITE = '''"""PyTorch for the CPU, made to say that it was built for ROCm."""
import importlib.abc, importlib.machinery, sys

class Loader(importlib.abc.Loader):
    def __init__(self, loader): self.loader = loader
    def create_module(self, spec): return self.loader.create_module(spec)
    def exec_module(self, module):
        import torch
        torch.version.hip = "{version}"
        torch.version.cuda = None
        torch.cuda._is_compiled = lambda: True
        torch.cuda.is_available = lambda: True
        self.loader.exec_module(module)
        before = module.include_paths
        def include_paths(*given, **named):
            return [*{folders!r}, *before(*given, **named)]
        module.include_paths = include_paths

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "torch.utils.cpp_extension":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        spec.loader = Loader(spec.loader)
        return spec

sys.meta_path.insert(0, Finder())
'''


@dataclass(frozen=True)
class Ended:
    """How far the build came."""

    stage: str
    """`linked`, `link` (a library or name of the GPU's was missing there), `compile` or `else`."""
    said: tuple[str, ...]
    objects: int
    cpu_seconds: float


def make_rocm(folder: Path, clang: Clang) -> None:
    """What a build finds of ROCm: compiler, headers, the runtime's names, and empty packages of the libraries."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("bin", "llvm/bin", "lib/cmake", "amdgcn", "share/hip"):
        (folder / name).mkdir(parents=True)
    (folder / "include").symlink_to(clang.headers)
    (folder / "amdgcn" / "bitcode").symlink_to(clang.bitcode)
    major, minor, patch = _VERSION.split(".")
    version = f"HIP_VERSION_MAJOR={major}\nHIP_VERSION_MINOR={minor}\nHIP_VERSION_PATCH={patch}\n"
    (folder / "share" / "hip" / "version").write_text(version)
    (folder / "bin" / ".hipVersion").write_text(version)
    values = {
        "python": sys.executable,
        "rocm": str(folder),
        "clang": clang.path,
        "target": _TARGET,
        "version": _VERSION,
    }
    for name, text in (("bin/hipcc", _HIPCC), ("llvm/bin/clang++", _CLANG), ("llvm/bin/clang", _CLANG)):
        _program(folder / name, text.format(**values))
    _program(folder / "bin" / "rocm_agent_enumerator", f"#!/bin/sh\necho {_TARGET}\n")
    asked = f"case $1 in --version|-v) echo {_VERSION};; --hipclangpath|-l) echo {folder}/llvm/bin;; "
    asked += f"--platform|-P) echo amd;; *) echo {folder};; esac"
    _program(folder / "bin" / "hipconfig", f"#!/bin/sh\n{asked}\n")
    _packages(folder, values)
    _runtime(folder, clang)


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _packages(folder: Path, values: dict[str, str]) -> None:
    packages = {"hip": _HIP.format(**values), "hip-lang": _HIP_LANG.format(**values)}
    for name, space in _LIBRARIES.items():
        target = f"{space}::{name}" if space else name
        link = "" if name in _HEADERS_ALONE else f' INTERFACE_LINK_LIBRARIES "-l{name}"'
        packages[name] = (
            f"if(NOT TARGET {target})\n  add_library({target} INTERFACE IMPORTED)\n"
            f"  set_target_properties({target} PROPERTIES "
            f'INTERFACE_INCLUDE_DIRECTORIES "{values["rocm"]}/include"{link})\nendif()\n'
        )
    for name, text in packages.items():
        place = folder / "lib" / "cmake" / name
        place.mkdir()
        (place / f"{name}-config.cmake").write_text(text)
        (place / f"{name}-config-version.cmake").write_text(
            f"set(PACKAGE_VERSION {_VERSION})\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n"
        )


def _runtime(folder: Path, clang: Clang) -> None:
    """A library with every name that the headers of HIP declare, to link to; nothing that could run."""
    declared = "".join(
        (clang.headers / "hip" / name).read_text("utf-8", "replace")
        for name in ("hip_runtime_api.h", "hiprtc.h", "channel_descriptor.h", "amd_detail/amd_channel_descriptor.h")
    )
    compiler = "__hipPushCallConfiguration __hipPopCallConfiguration __hipRegisterFatBinary __hipRegisterFunction"
    compiler += " __hipRegisterVar __hipRegisterManagedVar __hipRegisterSurface __hipRegisterTexture"
    compiler += " __hipUnregisterFatBinary hipGetDevicePropertiesR0600 hipChooseDeviceR0600"
    names = sorted({*re.findall(r"\b(hip[A-Za-z]\w+)\s*\(", declared), *compiler.split()})
    source = folder / "lib" / "names.s"
    source.write_text("".join(f".globl {name}\n.type {name},@function\n{name}:\n" for name in names) + "ud2\n")
    library = str(folder / "lib" / "libamdhip64.so")
    subprocess.run([clang.path, "-shared", "-nostdlib", "-x", "assembler", str(source), "-o", library], check=True)
    (folder / "lib" / "libhiprtc.so").symlink_to("libamdhip64.so")


def make_torch(folder: Path, headers: TorchHeaders) -> None:
    """A folder for PYTHONPATH: PyTorch's builder takes its branch for ROCm, with the converted headers first."""
    folder.mkdir(parents=True, exist_ok=True)
    own = [str(path) for path in headers.folders if cache_folder() in path.parents or "stand_ins" in path.parts]
    (folder / "sitecustomize.py").write_text(_SITE.format(version=_VERSION, folders=own))


def environment(work: Path) -> dict[str, str]:
    """As on a machine with ROCm in `work/rocm`."""
    rocm = work / "rocm"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA", "PORTER"))}
    path = os.pathsep.join((str(rocm / "bin"), str(Path(sys.executable).parent), kept["PATH"]))
    return kept | {
        "PATH": path,
        "ROCM_PATH": str(rocm),
        "ROCM_HOME": str(rocm),
        "HIP_PATH": str(rocm),
        "HIP_PLATFORM": "amd",
        "HIPCXX": str(rocm / "llvm" / "bin" / "clang++"),
        "CMAKE_PREFIX_PATH": str(rocm),
        "PYTORCH_ROCM_ARCH": _TARGET,
        "PYTHONPATH": str(work / "site"),
        "MAX_JOBS": "1",
        "CFLAGS": "-O0 -g0",
    }


def build(folder: Path, work: Path, command: str, limit: float, log: Path) -> Ended:
    """The project's own command, in its own folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with log.open("w") as said:
        words = ("bash", "-ec", command)
        options: dict[str, Any] = {"env": environment(work), "stdout": said, "stderr": subprocess.STDOUT}
        running = subprocess.Popen(words, cwd=folder, start_new_session=True, **options)
        try:
            code = running.wait(limit)
        except subprocess.TimeoutExpired:
            code = _TOO_LONG
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    objects = sum(1 for _ in folder.rglob("*.o"))
    stage, lines = ended(log.read_text("utf-8", "replace"), code)
    return Ended(stage, tuple(lines), objects, round(spent, 1))


def ended(said: str, code: int) -> tuple[str, list[str]]:
    """The stage that a build's output shows, and the lines that say so."""
    if code == 0:
        return "linked", []
    if code == _TOO_LONG:
        return "time", []
    if lines := list(dict.fromkeys(_COMPILE.findall(said))):
        return "compile", [f"{place}: {text}" for place, text in lines][:12]
    if found := list(dict.fromkeys(match[0].strip() for match in _LINK.finditer(said))):
        return "link", found[:12]
    return "else", list(_last(said))


def _last(said: str) -> Iterator[str]:
    found = list(dict.fromkeys(match[0].strip() for match in _OTHER.finditer(said)))
    yield from found[-8:] or said.splitlines()[-5:]


def port(source: Path, out: Path, options: list[str]) -> dict[str, int]:
    """Port the tree as a user would; the counts of what is left."""
    shutil.rmtree(out, ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "porter",
        "port",
        str(source),
        "-o",
        str(out),
        "--rocm",
        "6.0",
        "--format",
        "json",
        *options,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr[-3000:])
    totals: dict[str, int] = json.loads(done.stdout)["totals"]
    return totals


def main() -> None:
    """Port, build, and one line of JSON on how it ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--folder", default=".", help="where the command runs, below the port")
    parser.add_argument("--option", action="append", default=[], help="of `porter port`")
    parser.add_argument("--limit", type=float, default=1500)
    parser.add_argument("--kept", action="store_true", help="take the port that is there")
    parser.add_argument("command", nargs="+", help="after --: one string for a shell, or words")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TOO_LONG))
    work = given.work.resolve()
    clang = find_clang(_TARGET)
    if isinstance(clang, Missing):
        raise SystemExit(clang.reason)
    if not (work / "rocm").is_dir():
        make_rocm(work / "rocm", clang)
    torch = find_torch_headers()
    if isinstance(torch, TorchHeaders):
        make_torch(work / "site", torch)
    source = given.project.resolve()
    out = work / "ports" / source.name
    if not given.kept:
        out.parent.mkdir(exist_ok=True)
        print(json.dumps(port(source, out, given.option)), flush=True)
    command = given.command[0] if len(given.command) == 1 else shlex.join(given.command)
    log = work / f"{source.name}.{given.folder.replace('/', '.')}.log"
    result = build(out / given.folder, work, command, given.limit, log)
    print(f"{source.name}: {result.stage}, {result.objects} objects, {result.cpu_seconds} s CPU, {log}")
    for line in result.said:
        print("   ", line[:300])


if __name__ == "__main__":
    main()
