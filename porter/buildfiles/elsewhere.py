"""What is neither C++ nor a build, and uses CUDA: sources in other languages, workflows, services. Only reported."""

from __future__ import annotations

import posixpath
import re

from porter.engine.notices import (
    BUILD_DEPLOYMENT,
    BUILD_JSON,
    BUILD_PACKAGES,
    BUILD_WORKFLOW,
    SOURCE_CYTHON,
    SOURCE_FORTRAN,
    SOURCE_GO,
    SOURCE_JULIA,
    SOURCE_MANAGED,
    SOURCE_MATLAB,
    SOURCE_RUST,
    SOURCE_TEMPLATE,
    Notice,
)

LANGUAGES = {
    ".rs": SOURCE_RUST,
    ".go": SOURCE_GO,
    ".jl": SOURCE_JULIA,
    **dict.fromkeys((".cuf", ".f", ".for", ".f90", ".f95", ".f03", ".f08", ".fypp"), SOURCE_FORTRAN),
    ".m": SOURCE_MATLAB,
    **dict.fromkeys((".pyx", ".pxd", ".pxi"), SOURCE_CYTHON),
    **dict.fromkeys((".java", ".kt", ".scala", ".cs", ".fs"), SOURCE_MANAGED),
    **dict.fromkeys((".mako", ".jinja", ".jinja2", ".j2", ".tmpl", ".mustache", ".tera"), SOURCE_TEMPLATE),
}
_SERVICES = re.compile(
    r"(?:docker-|podman-)?compose[\w.-]*\.ya?ml|\.gitlab-ci[\w.-]*\.ya?ml|azure-pipelines[\w.-]*\.ya?ml|bitbucket-pipelines\.ya?ml"
    r"|\.?appveyor[\w.-]*\.ya?ml|\.travis\.ya?ml|\.cirrus\.ya?ml|jenkinsfile[\w.-]*|\.jenkins|\.?devcontainer\.json"
)
"""Names of files that say what runs where."""
_JSON = re.compile(
    r"(?:tasks|launch|c_cpp_properties|cmake-?(?:user)?-?presets|[\w.-]*(?:kernel|source|build|compile|command)[\w.-]*)\.jsonc?"
)
"""Names of what says how sources are built, or which there are; any other JSON may be data, and large."""
_FOLDERS = (".github/workflows/", ".github/actions/", ".circleci/", ".buildkite/", ".gitlab/", ".azure-pipelines/")
_LISTED = (".yml", ".yaml")
_IN_JSON = (".json", ".jsonc")

_CALLED = rb"\bcuda(?:Malloc|Memcpy|Memset|Free|Launch|Stream|Event|Device|SetDevice|GetDevice)\w*[ \t]*\("
_DRIVER = rb"\bcu(?:Init|Launch|Module|Ctx|Mem|Device|Stream)[A-Z]?\w*[ \t]*\("
_HEADER = rb"[\"'<](?:cuda\w*|cublas\w*|cufft\w*|curand\w*|cusparse\w*|cusolver\w*|cudnn\w*|nvrtc)\.h[\"'>]"
PATTERNS = {
    BUILD_WORKFLOW: re.compile(
        rb"\bnvidia/cuda\b|\bnvcr\.io/|/usr/local/cuda|\bcuda-?toolkit\b|\bcuda-(?:nvcc|cudart|libraries|compiler|keyring)"
        rb"|runtime[\"']?:[ \t]*[\"']?nvidia\b|driver[\"']?:[ \t]*[\"']?nvidia\b|--gpus\b|--runtime[= ]nvidia\b"
        rb"|\bnvidia-docker\b|\bnvidia-smi\b|\bnvcc\b|\bCMAKE_CUDA|[-+/_]cu1[1-9]\d\b|\bCUDA_(?:HOME|PATH|ARCH)|NVIDIA_VISIBLE_DEVICES"
    ),
    BUILD_DEPLOYMENT: re.compile(
        rb"nv(?:idia\.com/(?:gpu|mig)|cr\.io/|idia/cuda\b|idia(?<=runtimeClassName: nvidia)\b)"
    ),
    BUILD_JSON: re.compile(
        rb"[\w*})]\.cu(?=[\"'\s\\;:,])(?!\"[ \t]*:)|[\"'/\s]nvcc(?:\.exe)?[\"'\s\\]|\bCMAKE_CUDA"
        rb"|\bCUDACXX\b|\$gcc-nvcc|\bcuda-gdb\b|/usr/local/cuda\b|[{:]CUDA_(?:HOME|PATH)\b"
    ),
    SOURCE_RUST: re.compile(
        rb"\b(?:cudarc|rustacuda|cuda_driver_sys|cuda_runtime_sys|cuda_std|cuda_builder)::|\b__global__\b"
        rb"|\bcust::(?:prelude|context|device|error|function|launch|memory|module|quick_init|stream)\b|" + _CALLED
    ),
    SOURCE_GO: re.compile(
        rb"#cgo\b.*-l(?:cuda|cudart|cublas)\b|" + _HEADER + rb"|\bC\.cu(?:da)?[A-Z]|gorgonia\.org/cu\b"
    ),
    SOURCE_JULIA: re.compile(
        rb"^[ \t]*(?:using|import)[ \t][^#\n]*\b(?:CUDA|CUDAnative|CuArrays)\b|@cuda[ \t(]", re.MULTILINE
    ),
    SOURCE_FORTRAN: re.compile(
        rb"\buse[ \t]*(?:,[ \t]*intrinsic[ \t]*)?(?:::[ \t]*)?(?:cuda(?:for|device)|cu(?:blas|fft|sparse|rand))\b"
        rb"|\battributes[ \t]*\([ \t]*(?:global|device|host|grid_global)\b|^!\$cuf\b|\bcall[ \t]+\w+[ \t]*<<<"
        rb"|name[ \t]*=[ \t]*[\"'](?:cuda[a-z]|cublas|cufft|curand|cusparse|cusolver)",
        re.IGNORECASE | re.MULTILINE,
    ),
    SOURCE_MATLAB: re.compile(rb"\bmexcuda\b|parallel\.gpu\.CUDAKernel|\bnvcc\b|[\w)]\.cu\b"),
    SOURCE_CYTHON: re.compile(
        _HEADER + rb"|\bfrom cuda[.\w]*[ \t]+c?import\b|\bcimport cuda\b|" + _CALLED + rb"|" + _DRIVER
    ),
    SOURCE_MANAGED: re.compile(rb"\bjcuda\.|\bManagedCuda\b|\bJCuda\b|[\"'](?:lib)?(?:nvcuda|cudart)[\w.]*[\"']"),
    SOURCE_TEMPLATE: re.compile(rb"\b__(?:global|device)__\b|\b__(?:shfl|ballot)\w*\("),
}
_OWN_JSON = re.compile(rb"\w\.hip\b|\bhipcc\b|rocm|CMAKE_HIP", re.IGNORECASE)
_OWN_WORKFLOW = re.compile(rb"rocm|/dev/kfd", re.IGNORECASE)
_OWN_SOURCE = re.compile(
    rb"\bhip(?:Malloc|Memcpy|Free|Init|Launch|Module|Stream)|hip/hip_runtime|\bhipfort\b|__HIP"
    rb"|\b(?:using|import) AMDGPU\b"
)
_OWN_DEPLOYMENT = re.compile(rb"rocm|amd\.com/gpu", re.IGNORECASE)
_OWN_PACKAGES = re.compile(rb"\brocm|[-+]rocm|\bhip\b|amdgpu_target")
_OWN = {
    BUILD_PACKAGES: _OWN_PACKAGES,
    BUILD_JSON: _OWN_JSON,
    BUILD_WORKFLOW: _OWN_WORKFLOW,
    BUILD_DEPLOYMENT: _OWN_DEPLOYMENT,
}


def has_own_path(notice: Notice, data: bytes) -> bool:
    """Whether such a file names what is AMD's as well: then its authors have seen to both."""
    if notice not in PATTERNS and notice not in _OWN:
        return False
    return _OWN.get(notice, _OWN_SOURCE).search(data) is not None


def kind_elsewhere(path: str, name: str, suffix: str) -> Notice | None:
    """The kind of a file by its path, its name and its suffix in lower case."""
    if suffix in LANGUAGES:
        return LANGUAGES[suffix]
    if _SERVICES.fullmatch(name) is not None:
        return BUILD_WORKFLOW
    if suffix in _IN_JSON:
        known = f"/{path}".endswith(f"/.vscode/{posixpath.basename(path)}") or _JSON.fullmatch(name) is not None
        return BUILD_JSON if known else None
    if suffix not in _LISTED:
        return None
    return BUILD_WORKFLOW if any(f"/{folder}" in f"/{path}" for folder in _FOLDERS) else BUILD_DEPLOYMENT
