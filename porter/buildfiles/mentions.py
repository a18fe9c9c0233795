"""Recognises build files that mention CUDA; they are copied as they are, and reported."""

from __future__ import annotations

import posixpath
import re

from porter.buildfiles.clusters import DIRECTIVES, LAUNCHERS, SERIES
from porter.buildfiles.elsewhere import PATTERNS, has_own_path, kind_elsewhere
from porter.engine.notices import (
    BUILD_AUTOCONF,
    BUILD_BAZEL,
    BUILD_CARGO,
    BUILD_CMAKE,
    BUILD_COMMANDS,
    BUILD_CONTAINER,
    BUILD_DEPLOYMENT,
    BUILD_MAKE,
    BUILD_MESON,
    BUILD_PACKAGES,
    BUILD_PYTHON,
    BUILD_QMAKE,
    BUILD_SCONS,
    BUILD_SCRIPT,
    BUILD_SETTINGS,
    BUILD_WORKFLOW,
    BUILD_XMAKE,
    Notice,
)
from porter.project.records import BuildUse

NAMES = {
    "cmakelists.txt": BUILD_CMAKE,
    "makefile": BUILD_MAKE,
    "gnumakefile": BUILD_MAKE,
    "meson.build": BUILD_MESON,
    "meson_options.txt": BUILD_MESON,
    "build": BUILD_BAZEL,
    "build.bazel": BUILD_BAZEL,
    "workspace": BUILD_BAZEL,
    "workspace.bazel": BUILD_BAZEL,
    "module.bazel": BUILD_BAZEL,
    "buck": BUILD_BAZEL,
    "configure.ac": BUILD_AUTOCONF,
    "configure.in": BUILD_AUTOCONF,
    "sconstruct": BUILD_SCONS,
    "sconscript": BUILD_SCONS,
    "wscript": BUILD_SCONS,
    "build.rs": BUILD_CARGO,
    "compile_commands.json": BUILD_COMMANDS,
    "manifest.in": BUILD_SETTINGS,
    "setup.cfg": BUILD_SETTINGS,
    "pyproject.toml": BUILD_SETTINGS,
    "meta.yaml": BUILD_PACKAGES,
    "recipe.yaml": BUILD_PACKAGES,
    "conda_build_config.yaml": BUILD_PACKAGES,
    "pixi.toml": BUILD_PACKAGES,
    "pipfile": BUILD_PACKAGES,
    "vcpkg.json": BUILD_PACKAGES,
    "spack.yaml": BUILD_PACKAGES,
    **dict.fromkeys(("uv.lock", "poetry.lock", "pdm.lock", "pixi.lock", "pipfile.lock"), BUILD_PACKAGES),
    **dict.fromkeys(("conda-lock.yml", "conda-lock.yaml"), BUILD_PACKAGES),
    "singularity": BUILD_CONTAINER,
    "dockerfile": BUILD_CONTAINER,
    "containerfile": BUILD_CONTAINER,
}
SUFFIXES = {
    ".cmake": BUILD_CMAKE,
    ".mk": BUILD_MAKE,
    ".mak": BUILD_MAKE,
    ".make": BUILD_MAKE,
    ".bzl": BUILD_BAZEL,
    ".py": BUILD_PYTHON,
    ".sh": BUILD_SCRIPT,
    ".bash": BUILD_SCRIPT,
    **dict.fromkeys((".sbatch", ".slurm", ".pbs", ".lsf", ".bsub", ".qsub"), BUILD_SCRIPT),
    ".m4": BUILD_AUTOCONF,
    ".lua": BUILD_XMAKE,
    ".pro": BUILD_QMAKE,
    ".pri": BUILD_QMAKE,
    ".dockerfile": BUILD_CONTAINER,
    ".containerfile": BUILD_CONTAINER,
    ".nix": BUILD_PACKAGES,
}
BEGINNINGS = (
    *(("makefile.", BUILD_MAKE), ("makefile_", BUILD_MAKE), ("makefile-", BUILD_MAKE)),
    *((f"make.{part}", BUILD_MAKE) for part in ("inc", "conf", "def", "user", "common", "rules", "sys", "arch", "opt")),
    *(("cmakelists.", BUILD_CMAKE), ("cmakelists_", BUILD_CMAKE), ("cmakelists-", BUILD_CMAKE)),
    *((f"{name}{mark}", BUILD_CONTAINER) for name in ("dockerfile", "containerfile") for mark in (".", "-", "_")),
    ("singularity.", BUILD_CONTAINER),
)
TEMPLATES = frozenset({BUILD_CMAKE, BUILD_MAKE, BUILD_SCRIPT})
"""Kinds that may be made from a file with `.in` behind its name."""
_LISTS = re.compile(
    r"(?:requirements?|constraints)[\w.-]*\.(?:txt|in)|[\w.-]*requirements\.txt|environment[\w.-]*\.ya?ml"
    r"|[\w.-]*environment\.ya?ml|(?:conda|all)_?[\w.-]*cuda[\w.-]*\.ya?ml"
)
"""Names of lists of packages, for pip and for conda."""
# Each choice begins with a character of its own and looks back for the edge of a word, which is four times as fast.
_CUDA = re.compile(
    rb"nv(?:cc|ptx)|CUDA|cuda|cu(?<=\bcu)(?:blas|fft|rand|sparse|solver|dnn)\b|\.cu\b|sm_(?<=\bsm_)\d\d|-x cu\b"
)
_WORDS_IN_PYTHON = (
    *(b"CUDAExtension", b"load_inline", b"cpp_extension", b"RawKernel", b"RawModule", b"SourceModule"),
    *(b"ElementwiseKernel", b"ReductionKernel", b"cuda.jit", b"nvrtcCreateProgram", b"cuda.core"),
    *(b'"cu"', b"'cu'", b"'cu\"", b"\"cu'"),
)
_AT_RUN_TIME = (
    *(b"CDLL", b"PyDLL", b"LoadLibrary", b"find_library", b"find_loaded_library"),
    *(b"get_device_capability", b"get_device_properties", b"torch.version.cuda"),
    *(b"register_ffi_t", b"register_custom_call_target", b"register_lowering", b"nvidia-smi", b"ExecutionProvider"),
    *(
        b"_CUDA=",
        b"nvptx",
        b"-DGMX_GPU",
        b"pynvml",
        b"py3nvml",
        b"import cuda.",
        b"from cuda.",
        b"from cuda import",
        b" tensorrt",
        b" cutlass",
    ),
)
"""What Python that compiles nothing asks, or loads, when it runs."""
_IN_PYTHON = (re.compile(rb"nvcc\b(?<=\bnvcc)"), re.compile(rb"\.cu\b"))
"""Looked for one by one, which is three times as fast as all at once: most files have none of them."""
_NVIDIAS = rb"|--gpus(?![\w-])|--runtime[= ]nvidia\b|nvidia-(?:smi|docker)\b"
_TOOLS = (
    rb"|\bnv(?:prof|vp)\b|\bnsys[ \t]+(?:profile|launch|stats|start|export)\b|\bnv-nsight-cu-cli\b"
    rb"|\bncu[ \t]+--?(?:set|metrics|section|kernel|target|export|import|launch|page|[ofkc])\b"
    rb"|\bcompute-sanitizer\b|\bcuda-(?:memcheck|gdb)\b"
)
"""`ncu` is a program of JavaScript's, too."""
_OF_CLUSTERS = (
    rb"|\b(?:module[ \t]+(?:-\w+[ \t]+)?\w+|ml|spack)[ \t][^\n]*(?i:cuda|nvhpc|nvidia|cudnn|nccl|nsight)"
    + rf"|(?:{DIRECTIVES}|\b{LAUNCHERS})[ \t][^\n]*[\"'=:|&_ \t](?i:{SERIES})(?![A-Za-z0-9])".encode()
)
"""What may ask for modules or machines with NVIDIA's GPUs."""
_OF_OTHERS = (
    rb"|nvptx|nvidia_gpu_|(?:ACPP|SYCL)_TARGETS=|-targets=\S{0,80}cuda"
    rb"|-(?<=[ \t=\"'-]-)(?:ta=|gpu=[a-z]|stdpar|acc(?![\w-])|Mcuda|q(?:offload|cuda))"
    rb"|_CUDA(?:LIB)?(?::BOOL)?=|_CUBLAS=|KOKKOS_(?:DEVICES|ARCH)"
    rb"|CUDA\b(?<=[=\"']CUDA)|cuda\b(?<==cuda)|--(?:with-cuda|enable-nvidia)"
)
"""What may tell another compiler, or another project's build, to use NVIDIA's GPUs: rules K310 and K311 look closer."""
_CUDA_IN_SCRIPT = re.compile(
    rb"\bnvcc\b|-DCUDA|-DCMAKE_CUDA|\w\.cu\b|CUDA_HOME|CUDA_PATH|/cuda\b"
    + _NVIDIAS
    + _TOOLS
    + _OF_CLUSTERS
    + _OF_OTHERS
)
_CUDA_IN_MAKE = re.compile(_CUDA.pattern + _NVIDIAS + _TOOLS + _OF_OTHERS)
_CUDA_IN_SETTINGS = re.compile(
    rb"CUDA_(?:HOME|PATH|ARCH)|CUDACXX|/cuda\b(?!\.(?:txt|in))|\bnvcc\b|-gencode|[\w*]\.cu\b|cuda-?1\dx?\b|-cu1\d\b"
    rb"|\b(?:cudart|cublas(?:Lt)?|cufft|curand|cusparse|cusolver|cudnn)\b"
    rb"|\bnvidia-(?:cu[a-z]+|nccl|nvjitlink|nvtx|nvshmem)\b|\bcuda-?toolkit\b|\bcuda-(?:nvcc|cudart|version|python|bindings|core)\b"
    rb"|\b(?:onnxruntime|faiss)-gpu\b|\btensorrt(?:[-_]llm)?\b|\b(?:py|py3)nvml\b|\bnvidia-ml-py\b"
)
_CUDA_IN_LISTS = re.compile(
    rb"""\bcuda-?toolkit\b|\bcuda-(?:nvcc|cudart|version|compiler|libraries|nvrtc|profiler|nvtx|cccl|driver|python)
    | \bcu(?:py|daq)-cuda\d | \bpytorch-cuda\b | \bnvidia-(?:dali|tensorrt|modelopt)\b
    | \bnvidia-(?:cu[a-z]+|nccl|nvjitlink|nvtx|nvshmem|npp|ml-py)\b
    | \b(?:onnxruntime|faiss|lightgbm|dgl)-gpu\b | \btensorrt(?:[-_]llm)?\b | \b(?:py|py3)nvml\b | \[and-cuda\]
    | \bcuda-(?:bindings|core|tile|cooperative|parallel)\b | ^[ \t]*-[ \t]*(?:nvidia::)?cuda(?=[ \t]*(?:[=<>\r\n]|$))
    | \bnvidia/label/cuda | \bcuda(?:Packages|Support|Capabilities)\b | [ \t+"']\+cuda\b | \bcuda_arch= | "cud(?:a|nn)"
    | [-+=/_]cu1\d\d?\b | \[cuda(?:1\d)?[^\]]*\] | \blibcu(?:blas|fft|rand|sparse|solver)(?:-dev)?\b
    | \bcuda1\dx?\b | compiler\(["']cuda["']\)
    | \bcuda_compiler\b | \bcuda\d+-?toolkit\b""",
    re.VERBOSE | re.MULTILINE,
)
_CUDA_IN_CONTAINERS = re.compile(
    rb"\bnvidia/cuda\b|\bnvcr\.io/|/usr/local/cuda|\bcuda-(?:toolkit|nvcc|cudart|libraries|compiler)|\bnvidia-cuda-toolkit\b"
    rb"|\blibcu(?:blas|fft|rand|sparse|solver|dnn)\d*-dev|\bpytorch/pytorch:\S*cuda|[-+/]cu1\d\d\b|\bCUDA_(?:HOME|PATH|ARCH)"
    rb"|\bnvcc\b|CMAKE_CUDA|NVIDIA_VISIBLE_DEVICES"
)
_CUDA_IN_OTHERS = re.compile(
    rb"\bnvcc\b|NVCC|[\w*)]\.cu\b|(?:\b|-l)(?:cudart|cublas|cufft|curand|cusparse|cusolver|cudnn)\b|CUDA_(?:HOME|PATH|DIR|ROOT)"
    rb"|\bcu(?:flags|gencodes)\b|add_cu\w+\(|\(\s*[\"']cuda[\"']\s*\)|\.cuda\(true\)|/cuda/"
)
"""In languages that describe more than builds, Lua above all: what only calls a compiler or links."""
_OTHERS = (BUILD_AUTOCONF, BUILD_CARGO, BUILD_QMAKE, BUILD_SCONS, BUILD_XMAKE)
REPORTED = frozenset({BUILD_MESON, BUILD_BAZEL, BUILD_PACKAGES, BUILD_CONTAINER, *_OTHERS, *PATTERNS})
"""Kinds that are only reported."""
_WITH_COMMENTS = frozenset({BUILD_PACKAGES, BUILD_CONTAINER, BUILD_WORKFLOW, BUILD_DEPLOYMENT})
"""Kinds in which `#` begins a comment, and what stands there asks for nothing."""
_COMMENT = re.compile(rb"(?:^|[ \t])#", re.MULTILINE)
_PATTERNS = {
    BUILD_SCRIPT: _CUDA_IN_SCRIPT,
    BUILD_MAKE: _CUDA_IN_MAKE,
    BUILD_SETTINGS: _CUDA_IN_SETTINGS,
    BUILD_PACKAGES: _CUDA_IN_LISTS,
    BUILD_CONTAINER: _CUDA_IN_CONTAINERS,
    **dict.fromkeys(_OTHERS, _CUDA_IN_OTHERS),
    **PATTERNS,
}


_OF_LISTS = (".txt", ".in", ".yml", ".yaml")


def kind_of_build(path: str) -> Notice | None:
    """The kind of build file a name stands for."""
    name = posixpath.basename(path).lower()
    known = NAMES.get(name) or next((notice for begin, notice in BEGINNINGS if name.startswith(begin)), None)
    if known is not None:
        return known
    if name.endswith(_OF_LISTS) and _LISTS.fullmatch(name) is not None:
        return BUILD_PACKAGES
    stem, suffix = posixpath.splitext(name)
    if suffix == ".in":  # `lib-config.cmake.in`: a template, with @NAMES@ to be filled in
        inner = SUFFIXES.get(posixpath.splitext(stem)[1])
        return inner if inner in TEMPLATES else None
    return SUFFIXES.get(suffix) or kind_elsewhere(path, name, suffix)


def mention(notice: Notice, data: bytes) -> BuildUse | None:
    """The first place where a build file mentions CUDA."""
    if notice is BUILD_PYTHON:
        place = _in_python(data)
    else:
        place = _place(_PATTERNS.get(notice, _CUDA), data, notice in _WITH_COMMENTS)
    if place is None or has_own_path(notice, data):
        return None
    start = data.rfind(b"\n", 0, place) + 1
    return BuildUse(notice.code, data.count(b"\n", 0, start) + 1, place - start + 1)


def _place(pattern: re.Pattern[bytes], data: bytes, comments: bool) -> int | None:
    for found in pattern.finditer(data):
        start = data.rfind(b"\n", 0, found.start()) + 1
        if not comments or _COMMENT.search(data, start, found.start()) is None:
            return found.start()
    return None


def only_runs(data: bytes) -> bool:
    """Whether a Python file asks or loads something when it runs, and mentions nothing that compiles CUDA."""
    return any(word in data for word in _AT_RUN_TIME) and _in_python(data, ()) is None


def _in_python(data: bytes, more: tuple[bytes, ...] = _AT_RUN_TIME) -> int | None:
    words = (data.find(word) for word in (*_WORDS_IN_PYTHON, *more))
    others = (found.start() for pattern in _IN_PYTHON if (found := pattern.search(data)) is not None)
    return min((*(place for place in words if place >= 0), *others), default=None)
