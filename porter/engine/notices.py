"""Findings that no rule makes: about files, links, build files and the engine itself, each with its explanation."""

from __future__ import annotations

from dataclasses import dataclass

from porter.model import Effort


@dataclass(frozen=True, slots=True)
class Notice:
    """A finding code that does not belong to a rule."""

    code: str
    name: str
    title: str
    explanation: str
    effort: Effort


def _notice(code: str, name: str, effort: Effort, title: str, explanation: str) -> Notice:
    return Notice(code, name, title, " ".join(explanation.split()), effort)


EDIT_CONFLICT = _notice(
    "E001",
    "edit-conflict",
    Effort.REVIEW,
    "Two rules wanted to change the same bytes",
    """The rule that starts earlier (then the one that covers more) was applied. The other one found nothing more to do
    in the new text, and is named here: look at the place whether what it asked for is done.""",
)
NOT_CONVERGED = _notice(
    "E002",
    "not-converged",
    Effort.MANUAL,
    "The file still changed after the last pass",
    """The rules that are named find more to do in what they write. What they asked for is reported and not done, and
    all others ran. In a file whose brackets do not match, it is repaired by hand first; in any other that is a bug in
    porter: please report it with the file.""",
)
UNREADABLE_SOURCE = _notice(
    "E003",
    "unreadable-source",
    Effort.MANUAL,
    "The file cannot be ported as C++ source",
    """It is UTF-16 or contains NUL bytes. It was copied as it is. Convert it to UTF-8 and port again.""",
)
ALLOW_WITHOUT_REASON = _notice(
    "E004",
    "allow-without-reason",
    Effort.REVIEW,
    "An allow comment without a reason",
    """`// porter: allow[CODE]` suppresses a finding only when a reason follows the bracket, so that the next reader
    knows why.""",
)
RULE_FAILED = _notice(
    "E005",
    "rule-failed",
    Effort.MANUAL,
    "A rule failed on this file",
    """A bug in porter: the rule raised an error and was left out for this file; all others ran. Please report it with
    the file.""",
)
NOT_PARSED = _notice(
    "E006",
    "not-parsed",
    Effort.REVIEW,
    "Clang did not understand the file, or parts of it",
    """Names and launches were ported from the tokens alone there, and questions about types had no answer. With the
    folders of missing headers in `include_dirs` and macros of the build in `defines` (porter.toml) clang sees more.""",
)
INACTIVE_BRANCH = _notice(
    "E007",
    "inactive-branch",
    Effort.NONE,
    "Rewrites in branches of #if that no pass compiles",
    """Neither the host nor the device pass sees this code with the macros given, so it was ported from its tokens.
    Set `defines` in porter.toml if the project builds it.""",
)
NEVER_COMPILED = _notice(
    "E008",
    "never-compiled",
    Effort.NONE,
    "Code that the port never compiles",
    """The branch is for NVIDIA where the project has one for AMD beside it, for GPUs that `__CUDA_ARCH__` of the port
    does not stand for, or off. It was ported as far as it goes, and what is left in it is nobody's work: it is counted
    here, once per file. Macros of the project's own that decide it can be given as `defines` in porter.toml.""",
)
TOO_DEEP = _notice(
    "E009",
    "too-deep",
    Effort.REVIEW,
    "Code that nests too deeply to be followed",
    """Names are renamed there like everywhere, but what needs an understanding of the code, such as whether all lanes
    reach a barrier, was not looked at. Compilers have such limits as well.""",
)
UNEXPLAINED_ERROR = _notice(
    "E010",
    "unexplained-error",
    Effort.MANUAL,
    "The port does not compile here, and no rule knows why",
    """`porter port --verify` compiled what it could of the port, and the compiler stopped at a place where no finding
    leaves work. It is a gap in porter, an error that the original has as well, or a macro of the build that was not
    told (`defines` in porter.toml). Mend it by hand; please report what is a gap.""",
)
IDLE_ALLOW = _notice(
    "E011",
    "idle-allow",
    Effort.NONE,
    "An allow comment that covers nothing",
    """`// porter: allow[CODE] reason` accepts a finding on its line, or on the next one where it stands alone. Nothing
    is found there any more, the comment stands at another line than the finding, or the code is misspelt: delete the
    comment, or mend it, lest it accepts what comes later. Said only where the rule looked at the whole file.""",
)
UNREADABLE = _notice(
    "E101",
    "unreadable-file",
    Effort.MANUAL,
    "A file or folder could not be read",
    """It is missing from the ported tree. Give yourself the right to read it and run again; only what is missing will
    be done.""",
)
VANISHED = _notice(
    "E102",
    "vanished-file",
    Effort.MANUAL,
    "A file went away while the tree was being ported",
    """It was there when the folder was listed and gone when it was read. Run again when nothing else changes the
    tree.""",
)
DANGLING_LINK = _notice(
    "E103",
    "dangling-link",
    Effort.REVIEW,
    "A link points to nothing",
    """The link was kept as it is. If a source or header was meant to be there, it is missing from this tree.""",
)
OUTSIDE_LINK = _notice(
    "E104",
    "outside-link",
    Effort.REVIEW,
    "A link leads out of the tree",
    """The link was kept and not followed: what it points to was not ported. Port that folder too, or copy the file
    into the tree.""",
)
LINKED_SOURCE = _notice(
    "E114",
    "linked-source",
    Effort.REVIEW,
    "A link in another folder to a source that is ported",
    """Compilers look for `#include "porter/..."` beside the link, and the support headers are beside the file that it
    points to. Compile that file, or add its folder to the include folders of what compiles the link.""",
)
LINK_LOOP = _notice(
    "E105",
    "link-loop",
    Effort.REVIEW,
    "A link leads back to itself",
    """The link was kept and not followed.""",
)
EDITED_OUTPUT = _notice(
    "E106",
    "edited-output",
    Effort.MANUAL,
    "The file in the output was edited by hand and kept",
    """Its source or porter changed since, so the new port is not in the tree. Merge by hand (`porter port --diff`
    shows the port), or run again with --force to overwrite the edited file.""",
)
STALE_OUTPUT = _notice(
    "E107",
    "stale-output",
    Effort.REVIEW,
    "The source of an edited output file is gone",
    """The output was edited by hand, so it was not removed. Delete it if it is not needed any more.""",
)
SPECIAL_FILE = _notice(
    "E108",
    "special-file",
    Effort.REVIEW,
    "Neither file, folder nor link",
    """A pipe, socket or device is not copied.""",
)
PARSER_CRASHED = _notice(
    "E109",
    "parser-crashed",
    Effort.REVIEW,
    "The C++ parser crashed on this file",
    """The process that ported the file died, so the file was ported once more without clang: names the project shares
    with CUDA and types of expressions could not be looked up. Review its changes.""",
)
FILE_FAILED = _notice(
    "E110",
    "file-failed",
    Effort.MANUAL,
    "porter failed on this file",
    """A bug in porter. The file was copied as it is and everything else was done; the traceback is in the file that
    the last line on stderr names.""",
)
PAST_LIMITS = _notice(
    "E112",
    "past-limits",
    Effort.MANUAL,
    "The file takes more time or memory than a file may",
    """The file was copied as it is, and everything else was done. Source that people write takes a small part of the
    limit: look whether the file is generated, or damaged.""",
)
TOO_LARGE = _notice(
    "E113",
    "too-large",
    Effort.MANUAL,
    "The file is too large to be ported",
    """It names CUDA and was copied as it is. Split it, or leave it out with `exclude` when it is data.""",
)
RENAMED_APART = _notice(
    "E111",
    "renamed-apart",
    Effort.NONE,
    "The usual new name was taken",
    """`a.cu` becomes `a.hip`; where that name (or one that differs only in case) is taken, it becomes `a.cu.hip`, so
    that two sources never collapse into one. So it is where PyTorch's builder, which renames sources on ROCm once more,
    would give `x.cpp` and `x_cuda.hip` one object file.""",
)

_BUILD = """The file is copied as it is: it still calls the CUDA compiler, links CUDA's libraries and names the
    sources before they were renamed (`.cu` is now `.hip`). CMake, Makefiles, shell scripts, Python builds and
    compilation databases are converted (codes K...); their codes here are not used any more."""


def _build(number: int, name: str, title: str, advice: str) -> Notice:
    return _notice(f"E{200 + number}", name, Effort.MANUAL, title, f"{_BUILD} {advice}")


def _retired(number: int, name: str, what: str, rules: str) -> Notice:
    """A code that was given while such files were not converted; it stands for the kind of file only."""
    explanation = f"No longer given: such files are converted, with findings of their own ({rules})."
    return _notice(f"E{200 + number}", name, Effort.MANUAL, f"{what} (retired)", explanation)


BUILD_CMAKE = _retired(1, "cmake-build", "CMake build", "K101 to K111, K190")
BUILD_MAKE = _retired(2, "make-build", "Makefile", "K301 to K303")
BUILD_PYTHON = _retired(3, "python-build", "Python build of a CUDA extension", "K201 to K205")
BUILD_MESON = _build(
    4,
    "meson-build",
    "Meson build is not converted",
    "Meson has no HIP language: compile the `.hip` files with hipcc through `custom_target`, or set CXX to hipcc.",
)
BUILD_BAZEL = _build(5, "bazel-build", "Bazel build is not converted", "Use rules that call hipcc.")
BUILD_SCRIPT = _retired(6, "script-build", "Script that calls the CUDA toolchain", "K301 to K303")
BUILD_COMMANDS = _retired(7, "compilation-database", "Compilation database", "K401")
BUILD_AUTOCONF = _build(
    9,
    "autoconf-build",
    "Autoconf input is not converted",
    """`AC_CHECK_LIB(cudart, cudaMalloc)` finds nothing without a toolkit, and configure goes on without the GPU: ask
    for hipcc, `-lamdhip64` and `hipMalloc`, and take compiler and targets from there. The Makefiles that it fills are
    converted.""",
)
BUILD_XMAKE = _build(
    10,
    "lua-build",
    "Build in Lua (xmake, Premake) is not converted",
    """xmake's rule `cuda` takes `.cu` files alone: give the `.hip` files to hipcc by a toolchain of your own, flags to
    `hipflags` or `cxxflags`, and link `amdhip64` instead of `cudart`.""",
)
BUILD_SCONS = _build(
    11,
    "scons-build",
    "SCons or Waf build is not converted",
    "Make a Builder that calls hipcc for the suffix `.hip`; link `amdhip64` instead of `cudart`.",
)
BUILD_QMAKE = _build(
    12,
    "qmake-build",
    "qmake project is not converted",
    "Let the extra compiler call hipcc for the `.hip` files; link `amdhip64` instead of `cudart`.",
)
BUILD_CARGO = _build(
    13,
    "cargo-build",
    "Build script of a Rust crate is not converted",
    """`cc::Build` with `.cuda(true)` calls nvcc: set the compiler to hipcc instead, or run it by Command, and link
    `amdhip64`. Crates that bind CUDA's driver in Rust itself have to be exchanged, too.""",
)
BUILD_PACKAGES = _notice(
    "E214",
    "package-list",
    Effort.REVIEW,
    "List of packages names CUDA's",
    """Recipes and environments of conda, requirements of pip, lock files, settings of pixi, Spack and vcpkg, and Nix
    expressions are copied. Packages of NVIDIA's
    (`cuda-nvcc`, `cudatoolkit`, `nvidia-cublas-cu12`) have no place in a port: ROCm comes from its own repository or
    container. Of Python packages that are built for CUDA (`cupy-cuda12x`, `pytorch-cuda`, `torch` from an index for
    `cu121`, `jax[cuda12]`) the build for ROCm is wanted, where there is one (`torch` from an index for `rocm6.4`).""",
)
BUILD_CONTAINER = _notice(
    "E215",
    "container",
    Effort.REVIEW,
    "Container is built on CUDA",
    """Dockerfiles and definitions of Singularity are copied. An image such as `nvidia/cuda:12.4.1-devel-ubuntu22.04`
    has no ROCm: begin with `rocm/dev-ubuntu-22.04` or `rocm/pytorch`, install ROCm's packages instead of CUDA's, and
    run it with `--device=/dev/kfd --device=/dev/dri` instead of `--gpus`.""",
)
BUILD_WORKFLOW = _notice(
    "E216",
    "workflow",
    Effort.REVIEW,
    "Workflow or service is set up for CUDA",
    """Workflows of GitHub, GitLab and others, compose files and development containers are copied. A step that installs
    CUDA (`Jimver/cuda-toolkit`, `apt install cuda-toolkit-12-4`, an image `nvidia/cuda`) has to install ROCm, or run in
    `rocm/dev-ubuntu-22.04`. `runtime: nvidia`, `driver: nvidia` below `deploy.resources` and `--gpus` become the
    devices `/dev/kfd` and `/dev/dri` with the group `video`; `nvidia-smi` is `rocm-smi` or `amd-smi`.""",
)
BUILD_DEPLOYMENT = _notice(
    "E218",
    "deployment",
    Effort.REVIEW,
    "Deployment asks for NVIDIA's GPUs",
    """Manifests of Kubernetes, values of Helm and other YAML are copied. The resource `nvidia.com/gpu` is `amd.com/gpu`
    where AMD's device plugin or GPU operator runs, `runtimeClassName: nvidia` goes, and so do labels of nodes such as
    `nvidia.com/gpu.product`; an image such as `nvidia/cuda` or one of `nvcr.io` has no ROCm: `rocm/dev-ubuntu-22.04`,
    `rocm/pytorch` or `rocm/vllm` has.""",
)
BUILD_JSON = _notice(
    "E217",
    "json-build",
    Effort.REVIEW,
    "JSON names sources of CUDA, or calls nvcc",
    """Tasks and settings of editors, presets of CMake and lists of kernels in JSON are copied. The sources that they
    name have other names in the port (`.cu` is now `.hip`), nvcc is hipcc, `CMAKE_CUDA_ARCHITECTURES` is
    `CMAKE_HIP_ARCHITECTURES`, and the toolkit's folder is ROCm's. `compile_commands.json` itself is converted.""",
)

_LANGUAGE = """The file is copied as it is: porter reads C++, CUDA, build files and Python. What it calls, declares or
    compiles of CUDA is still CUDA's, and where it names sources those may be renamed (`.cu` is now `.hip`)."""


def _language(number: int, name: str, language: str, advice: str) -> Notice:
    title = f"{language} uses CUDA and is not converted"
    return _notice(f"E{number}", name, Effort.MANUAL, title, f"{_LANGUAGE} {advice}")


SOURCE_RUST = _language(
    221,
    "rust-source",
    "Rust source",
    """Crates that bind CUDA (`cudarc`, `cust`, `rustacuda`) have no backend for ROCm: bind `hip_runtime_api.h` with
    bindgen, and hipRTC for kernels that are compiled at run time. CUDA source in strings has to be ported, too.""",
)
SOURCE_GO = _language(
    222,
    "go-source",
    "Go source",
    """cgo: include `hip/hip_runtime.h` with `-D__HIP_PLATFORM_AMD__`, link `-lamdhip64`, call `C.hip...`. PTX that the
    source embeds has to be a code object for gfx942.""",
)
SOURCE_JULIA = _language(
    223,
    "julia-source",
    "Julia source",
    "AMDGPU.jl has the arrays and `@roc` for `@cuda`; its wavefronts have 64 lanes.",
)
SOURCE_FORTRAN = _language(
    224,
    "fortran-source",
    "Fortran source",
    """CUDA Fortran (`attributes(global)`, `use cudafor`, `!$cuf`) has no compiler for AMD: kernels become HIP C++ that
    is called by `bind(c)`, or OpenMP's `target`. hipfort has interfaces of HIP's and ROCm's functions. Interfaces with
    `bind(c, name="cudaMalloc")` need HIP's names.""",
)
SOURCE_MATLAB = _language(
    225,
    "matlab-source",
    "MATLAB source",
    """`mexcuda` and `parallel.gpu.CUDAKernel` need NVIDIA: compile the `.hip` files with hipcc to a library, and the
    gateway with `mex` against it. `gpuArray` has no AMD backend.""",
)
SOURCE_CYTHON = _language(
    226,
    "cython-source",
    "Cython source",
    """Change the header in `cdef extern from` to HIP's and each name below it; where Python code of others needs the
    old name, `hipError_t cudaError_t "hipError_t"` keeps it.""",
)
SOURCE_MANAGED = _language(
    227,
    "managed-source",
    "Java or .NET source",
    "JCuda and ManagedCuda bind CUDA's driver: load `libamdhip64.so` and bind HIP's functions instead.",
)
SOURCE_TEMPLATE = _language(
    228,
    "source-template",
    "Template of device code",
    """Its output is compiled, and never seen by porter: port what it makes (run the generator first, or in the build)
    with `porter port`, or change the template by hand. Warps of 32 lanes in it need what docs/warps.md describes.""",
)
BUILD_SETTINGS = _notice(
    "E208",
    "python-settings",
    Effort.REVIEW,
    "Settings of a Python project name CUDA",
    """setup.cfg and pyproject.toml are copied. Change paths and libraries of the toolkit to ROCm's,
    `CMAKE_CUDA_ARCHITECTURES` to `CMAKE_HIP_ARCHITECTURES`, `TORCH_CUDA_ARCH_LIST` to `PYTORCH_ROCM_ARCH`, and packages
    built for CUDA to those for ROCm.""",
)

NOTICES: tuple[Notice, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Notice))


def notice_by_name(name: str) -> Notice | None:
    """A notice by its code (`E101`) or its name (`unreadable-file`)."""
    for notice in NOTICES:
        if name.upper() == notice.code or name == notice.name:
            return notice
    return None
