"""Every program, header and library from outside that porter and its tests use: what for, how new, and how to get it.

The install script, `porter doctor`, the reasons that reports give and docs/needs.md are made from this table. It needs
the standard library alone: `python3 -I porter/system/needs.py` prints the packages before anything is installed.
"""

from __future__ import annotations

import enum
import sys
from dataclasses import dataclass


class Part(enum.Enum):
    """Who needs it."""

    SETUP = "setup"
    """`make demo` and `make test` cannot begin without it."""
    PORT = "port"
    BUILD = "build"
    VALIDATE = "validate"
    GPU = "gpu"
    TESTS = "tests"
    BY_HAND = "by hand"
    """For people who work on porter; never installed on the way."""


@dataclass(frozen=True)
class Need:
    """One thing from outside; what has `programs` is a program, anything else is found by the code that uses it."""

    name: str
    part: Part
    purpose: str
    debian: str = ""
    """Its package in Debian and Ubuntu."""
    extra: str = ""
    """Its extra: `pip install 'porter[extra]'`."""
    otherwise: str = ""
    """Another way to get it."""
    least: tuple[int, ...] = ()
    """The oldest version that does; empty: any."""
    programs: tuple[str, ...] = ()
    """Names on the PATH, better ones first."""
    library: str = ""
    """What the linker calls it, if it is a shared library: nobody starts one to ask for its version."""
    variables: tuple[str, ...] = ()
    """Environment variables that name the program itself."""
    homes: tuple[str, ...] = ()
    """Environment variables that name a folder with `bin/` in it."""
    folders: tuple[str, ...] = ()
    """Where it also may be."""
    wheels: tuple[str, ...] = ()
    """Patterns below the folders of this Python's packages."""

    @property
    def title(self) -> str:
        """Its name, with the oldest version that does: `llvm-objdump (17 or newer)`."""
        return f"{self.name} ({'.'.join(map(str, self.least))} or newer)" if self.least else self.name

    @property
    def places(self) -> tuple[str, ...]:
        """Where it is looked for."""
        return ("PATH", *self.variables, *self.homes, *(("pip's packages",) if self.wheels else ()), *self.folders)

    @property
    def remedy(self) -> str:
        """How to get it, in one line."""
        ways = (
            f"apt install {self.debian}" if self.debian else "",
            f"pip install 'porter[{self.extra}]'" if self.extra else "",
            self.otherwise,
        )
        return ", or ".join(filter(None, ways))

    @property
    def absent(self) -> str:
        """What is said where it is nowhere."""
        return f"no {self.title}: not in {', '.join(self.places)} ({self.remedy})"


def _llvm(name: str, *others: str) -> tuple[str, ...]:
    return (*(f"{name}-{version}" for version in (20, 19, 18, 17)), name, *others)


_ROCM_LLVM = ("/opt/rocm/llvm/bin",)

NEEDS = (
    Need("python3-venv", Part.SETUP, "the virtual environment", debian="python3-venv", otherwise="Python with venv"),
    Need("make", Part.SETUP, "`make demo` and `make test`; Makefiles that were ported", debian="make",
         programs=("make",)),
    Need("git", Part.PORT, "ports in place, files that git ignores, the gate's `--since`", debian="git",
         programs=("git",)),
    Need("hipcc", Part.BUILD, "building and linking the port", debian="hipcc", otherwise="ROCm", least=(5, 2),
         programs=("hipcc",), variables=("PORTER_HIPCC",), homes=("ROCM_PATH", "HIP_PATH"),
         folders=("/opt/rocm/bin",), wheels=("_rocm_sdk_*/bin/hipcc",)),
    Need("clang++", Part.BUILD, "building the port without a ROCm, and its device code for validation",
         debian="clang-19", otherwise="clang with the AMDGPU backend (PORTER_CLANG names one)", least=(17,),
         programs=_llvm("clang++"), variables=("PORTER_CLANG",), folders=_ROCM_LLVM),
    Need("HIP headers", Part.BUILD, "building the port: hip/hip_runtime.h", debian="libamdhip64-dev",
         otherwise="porter headers (--suite sid: newer ones), or set ROCM_PATH"),
    Need("library headers", Part.BUILD, "building what uses hipBLAS, rocPRIM and the like",
         otherwise="porter headers, or ROCm"),
    Need("device libraries", Part.BUILD, "device code: ocml.bc", debian="rocm-device-libs", otherwise="set ROCM_PATH"),
    Need("ar", Part.BUILD, "linking programs to the units beside them", debian="binutils", programs=("ar", "llvm-ar")),
    Need("nvcc", Part.VALIDATE, "compiling the original, for its device code", extra="cuda",
         otherwise="the CUDA toolkit", least=(11, 0), programs=("nvcc",), variables=("PORTER_NVCC",),
         homes=("CUDA_HOME", "CUDA_PATH"), folders=("/usr/local/cuda/bin",),
         wheels=("nvidia/cu[0-9]*/bin/nvcc", "nvidia/cuda_nvcc/bin/nvcc")),
    Need("g++", Part.VALIDATE, "the host's half of what nvcc compiles", debian="g++", programs=("g++",)),
    Need("C compiler", Part.VALIDATE, "the two virtual devices", debian="gcc",
         programs=(*_llvm("clang"), "gcc", "cc"), variables=("PORTER_HOST_CC",)),
    Need("llvm-objdump", Part.VALIDATE, "running code objects that something else built", debian="llvm-19",
         otherwise="LLVM", least=(17,), programs=_llvm("llvm-objdump"), folders=_ROCM_LLVM),
    Need("clang-offload-bundler", Part.VALIDATE, "opening compressed offload bundles", debian="clang-tools-19",
         otherwise="LLVM", least=(18,), programs=_llvm("clang-offload-bundler"), folders=_ROCM_LLVM),
    Need("llvm-objcopy", Part.VALIDATE, "what clang-offload-bundler calls", debian="llvm-19", otherwise="LLVM",
         least=(17,), programs=_llvm("llvm-objcopy"), folders=_ROCM_LLVM),
    Need("lld", Part.VALIDATE, "building HIP programs that run without a GPU", debian="lld-19", otherwise="LLVM",
         least=(17,), programs=_llvm("ld.lld"), folders=_ROCM_LLVM),
    Need("ldd", Part.VALIDATE, "which libraries a program is linked to", debian="libc-bin", programs=("ldd",)),
    Need("OpenBLAS", Part.VALIDATE, "cuBLAS and hipBLAS in programs that run without a GPU; NumPy's wheel has it",
         extra="validation", otherwise="libopenblas0 of a distribution",
         library="openblas", variables=("PORTER_OPENBLAS",),
         wheels=("numpy.libs/libscipy_openblas*.so*", "scipy_openblas*/lib/libscipy_openblas*.so")),
    Need("FFTW", Part.VALIDATE, "cuFFT and hipFFT in programs that run without a GPU, in double precision",
         debian="libfftw3-bin", otherwise="pip install pyFFTW", library="fftw3", variables=("PORTER_FFTW",),
         wheels=("pyfftw.libs/libfftw3-*.so*",)),
    Need("FFTW for float", Part.VALIDATE, "cuFFT and hipFFT in programs that run without a GPU, in single precision",
         debian="libfftw3-bin", otherwise="pip install pyFFTW", library="fftw3f", variables=("PORTER_FFTWF",),
         wheels=("pyfftw.libs/libfftw3f-*.so*",)),
    Need("Triton", Part.VALIDATE, "compiling Triton kernels for both virtual devices; its wheel has its own LLVM",
         extra="triton"),
    Need("distributed", Part.VALIDATE, "`--cluster dask:...`: tasks on other machines; workers need it too",
         extra="cluster", otherwise="Dask's package of that name", least=(2024, 8)),
    Need("C++ compiler", Part.GPU, "the Python side of kernels on a GPU", debian="g++",
         programs=("c++", "g++", "clang++", "clang++-19"), variables=("CXX",)),
    Need("Python headers", Part.GPU, "the Python side of kernels on a GPU, porter's readers in C: Python.h",
         debian="python3-dev"),
    Need("rocm_agent_enumerator", Part.GPU, "which AMD GPU there is", debian="rocminfo", otherwise="ROCm",
         programs=("rocm_agent_enumerator",), folders=("/opt/rocm/bin",)),
    Need("rocminfo", Part.GPU, "which AMD GPU there is", debian="rocminfo", otherwise="ROCm",
         programs=("rocminfo",), folders=("/opt/rocm/bin",)),
    Need("clang++ of hipcc", Part.TESTS, "the port with the compiler of a distribution's ROCm", debian="hipcc",
         programs=("clang++-15", "clang++-16")),
    Need("HIP runtime", Part.TESTS, "linking programs that compile at run time: libamdhip64", debian="libamdhip64-dev"),
    Need("ld.lld", Part.TESTS, "code objects for the virtual device", debian="lld-19", least=(17,),
         programs=_llvm("ld.lld")),
    Need("llvm-strip", Part.TESTS, "code objects without symbols", debian="llvm-19", least=(17,),
         programs=_llvm("llvm-strip")),
    Need("c++filt", Part.TESTS, "names of kernels", debian="binutils", programs=("c++filt",)),
    Need("cmake", Part.TESTS, "CMake files that were ported", debian="cmake", least=(3, 21), programs=("cmake",)),
    Need("chromium", Part.TESTS, "the report in a browser", debian="chromium",
         programs=("chromium", "chromium-browser")),
    Need("llvm-mc", Part.BY_HAND, "benchmarks/devices/forms.py", debian="llvm-19", otherwise="LLVM", least=(17,),
         programs=_llvm("llvm-mc")),
    Need("npm", Part.BY_HAND, "the schema of SARIF, which one test reads", debian="npm", programs=("npm",)),
    Need("mmdebstrap", Part.BY_HAND, "`make fresh`", debian="mmdebstrap", programs=("mmdebstrap",)),
)  # fmt: skip
BY_NAME = {row.name: row for row in NEEDS}


def need(name: str) -> Need:
    """The row of that name; there has to be one."""
    return BY_NAME[name]


def packages() -> tuple[str, ...]:
    """What the install script installs where it can, each package once."""
    return tuple(dict.fromkeys(row.debian for row in NEEDS if row.debian and row.part is not Part.BY_HAND))


def as_markdown() -> str:
    """The table of docs/needs.md."""
    lines = ["| | at least | for | Debian, Ubuntu | or |", "|---|---|---|---|---|"]
    for row in NEEDS:
        version = ".".join(map(str, row.least))
        other = ", ".join(filter(None, (f"`pip install 'porter[{row.extra}]'`" if row.extra else "", row.otherwise)))
        package = f"`{row.debian}`" if row.debian else ""
        lines.append(f"| {row.name} | {version} | {row.part.value}: {row.purpose} | {package} | {other} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(as_markdown() if sys.argv[1:] == ["--markdown"] else "\n".join(packages()))
