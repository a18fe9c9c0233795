"""The headers that a ROCm build of PyTorch would have, made from those of the PyTorch that is installed."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import re
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.rocm_headers import LIBRARIES
from porter.validation.toolchain.store import roots

from porter.system.folders import is_whole, whole

STAND_INS = Path(__file__).parent / "stand_ins"
"""Headers of our own with the few types of ROCm's libraries that PyTorch's headers name."""
_MOVED = ("c10/cuda", "ATen/cuda", "ATen/native/cuda", "ATen/native/transformers/cuda", "ATen/native/nested/cuda")
_IN_PLACE = ("torch/csrc", "torch/headeronly")
_LIBRARY = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*<((hipblas|hipblaslt|hipsparse|hipsolver|thrust)/(?:\2\.h|complex\.h))>[^\n]*$",
    re.MULTILINE,
)
_LIGHT = frozenset({"ATen/cuda/CUDAContextLight.h", "ATen/cuda/CUDAContext.h", "ATen/cuda/Exceptions.h"})
"""What nearly every extension includes, though it uses none of the libraries."""
_INCLUDE = re.compile(r'(#[ \t]*include[ \t]*)([<"])([^>"\n]+)([>"])')
_STANDARD = re.compile(r"-std=c\+\+(\d\d)\b")
_EDITION = 1
"""Goes up when the functions below write something else."""
_FIRST = (2, 0)
"""From this version on hipify keeps the namespaces `at::cuda` and `c10::cuda`."""
_GENERATED = {
    "c10/hip/impl/hip_cmake_macros.h": "#pragma once\n#define C10_HIP_BUILD_SHARED_LIBS\n",
    "ATen/hip/HIPConfig.h": "#pragma once\n"
    + "".join(
        f"#define AT_{name}_ENABLED() {value}\n"
        for name, value in (("CUDNN", 0), ("CUSPARSELT", 0), ("HIPSPARSELT", 0), ("ROCM", 1), ("MAGMA", 0))
    )
    + '#define NVCC_FLAGS_EXTRA ""\n',
}
"""What CMake writes when PyTorch is built for ROCm."""


@dataclass(frozen=True)
class TorchHeaders:
    """What a unit that includes PyTorch is compiled with."""

    version: str
    folders: tuple[Path, ...]
    """In the order in which they are searched."""
    macros: tuple[str, ...]
    standard: str
    """The oldest `-std` that these headers are for."""
    is_rocm: bool

    @property
    def options(self) -> tuple[str, ...]:
        """For the compiler."""
        return (*(word for folder in self.folders for word in ("-isystem", str(folder))), *self.macros)

    @property
    def options_for_cuda(self) -> tuple[str, ...]:
        """For kernels of the original, cut out of their file: the folders alone, as they are installed."""
        folders = [folder for folder in self.folders if "torch-headers" not in folder.parts]
        return tuple(word for folder in (*folders, STAND_INS) for word in ("-isystem", str(folder)))

    def note(self, headers: Path | None) -> str | None:
        """What stood in for a ROCm build, with the folder of HIP's headers; None when nothing did."""
        if self.is_rocm:
            return None
        absent = sorted(path.stem for path in (STAND_INS / "porter_torch").glob("*.h") if path.stem in LIBRARIES)
        absent = [name for name in absent if headers is None or not (headers / name).is_dir()]
        said = (
            f"PyTorch {self.version} is no ROCm build: its headers about CUDA, converted by its own hipify, stood in; "
            "what a ROCm build has of its own is not seen"
        )
        if not absent:
            return said
        return f"{said}. Not installed, so only the types that PyTorch's headers name are declared: {', '.join(absent)}"


_MACROS = (
    *("-DUSE_ROCM=1", "-D__HIP_PLATFORM_AMD__=1", "-DHIPBLAS_V2", "-DCUDA_HAS_FP16=1"),
    *("-D__HIP_NO_HALF_OPERATORS__=1", "-D__HIP_NO_HALF_CONVERSIONS__=1", "-DHIP_ENABLE_WARP_SYNC_BUILTINS=1"),
    *("-DTORCH_API_INCLUDE_EXTENSION_H", "-DTORCH_EXTENSION_NAME=porter_build"),
)
"""As PyTorch's extension builder gives them on ROCm."""


@functools.cache
def find_torch_headers() -> TorchHeaders | Missing:
    """The installed PyTorch's headers for ROCm, converted where they are those for CUDA."""
    package = _package()
    if package is None:
        return Missing("PyTorch is not installed: pip install torch")
    include = package / "include"
    own = (include, include / "torch" / "csrc" / "api" / "include", Path(sysconfig.get_paths()["include"]))
    version = _version(package)
    if (include / "c10" / "hip" / "HIPStream.h").is_file():
        return TorchHeaders(version, own, _MACROS, _standard(package), is_rocm=True)
    converted = _converted(package, version)
    if isinstance(converted, Missing):
        return converted
    folders = (converted, *own, STAND_INS)
    return TorchHeaders(version, folders, _MACROS, _standard(package), is_rocm=False)


def converted_for(package: Path) -> Path | Missing:
    """The headers of a PyTorch, in whatever Python it is, as a ROCm build of it has them."""
    return _converted(package, _version(package))


def _package() -> Path | None:
    try:
        found = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        return None
    return Path(found.origin).parent if found is not None and found.origin is not None else None


def _version(package: Path) -> str:
    text = _text(package / "version.py") or ""
    found = re.search(r"__version__\s*=\s*['\"]([^'\"]+)", text)
    return found[1] if found else "?"


def _standard(package: Path) -> str:
    """The newest that the extension builder itself asks for."""
    years = _STANDARD.findall(_text(package / "utils" / "cpp_extension.py") or "")
    return f"-std=c++{max(years, default='17')}"


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return None


def _converted(package: Path, version: str) -> Path | Missing:
    """A folder to search before PyTorch's own, made once per PyTorch."""
    hipify = package / "utils" / "hipify"
    number = re.search(r"(\d+)\.(\d+)", _text(hipify / "version.py") or "")
    if number is None or (int(number[1]), int(number[2])) < _FIRST:
        return Missing(
            f"PyTorch {version} is not for ROCm and its hipify renames at::cuda: install 2.11 or newer, or one for ROCm"
        )
    key = _key(package, version)
    reason = ""
    for root in roots():
        target = root / "torch-headers" / key
        try:
            if not is_whole(target):
                _write(package, target)
            return target
        except (OSError, ImportError, AttributeError) as error:
            reason = str(error)
    return Missing(f"PyTorch's headers cannot be converted: {reason}")


def _key(package: Path, version: str) -> str:
    """Another PyTorch, or another way of converting, is another folder."""
    how = (_EDITION, _MOVED, _IN_PLACE, sorted(_LIGHT), _LIBRARY.pattern, _GENERATED)
    digest = hashlib.sha256(f"{package}\n{version}\n{how}".encode())
    for name in ("utils/hipify/cuda_to_hip_mappings.py", "include/c10/cuda/CUDAStream.h"):
        digest.update((_text(package / name) or "").encode())
    return digest.hexdigest()[:16]


def _write(package: Path, target: Path) -> None:
    """All of it or nothing."""
    with whole(target) as made:
        for name, text in _files(package):
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")


def _files(package: Path) -> Iterator[tuple[str, str]]:
    """Converted headers under the names that ROCm builds have, and forwarders under those of CUDA."""
    include = package / "include"
    convert, renamed = _converter(package / "utils" / "hipify")
    for folder in _MOVED:
        for path in sorted((include / folder).rglob("*")):
            if path.suffix not in (".h", ".cuh", ".hpp"):
                continue
            name = path.relative_to(include).as_posix()
            text = convert(path.read_text("utf-8", "replace"))
            yield renamed(name), _LIBRARY.sub(_or_stand_in, text) if name in _LIGHT else text
            yield name, f"#pragma once\n#include <{renamed(name)}>\n"
    for folder in _IN_PLACE:
        for path in sorted((include / folder).rglob("*")):
            if path.suffix in (".h", ".hpp"):
                name = path.relative_to(include).as_posix()
                text = path.read_text("utf-8", "replace")
                changed = convert(text) if name.startswith("torch/csrc/") else _LIBRARY.sub(_or_stand_in, text)
                if changed != text:
                    yield name, changed
    for name, text in _GENERATED.items():
        yield name, text
    yield "ATen/cuda/CUDAConfig.h", "#pragma once\n#include <ATen/hip/HIPConfig.h>\n"


def _converter(folder: Path) -> tuple[Callable[[str], str], Callable[[str], str]]:
    """PyTorch's own hipify for a header's text and for its name, loaded without PyTorch."""
    _load("porter_torch_hipify", folder / "__init__.py", [str(folder)])
    module = _load("porter_torch_hipify.hipify_python", folder / "hipify_python.py", None)
    names: Mapping[str, str] = module.PYTORCH_MAP
    pattern: re.Pattern[str] = module.RE_PYTORCH_PREPROCESSOR

    def renamed(name: str) -> str:
        return names.get(name) or str(module.get_hip_file_path(name, False))

    def header(match: re.Match[str]) -> str:
        name = match[3]
        name = renamed(name) if name.startswith(("ATen/cuda/", "ATen/native/cuda/")) else name
        return f"{match[1]}{match[2]}{name}{match[4]}"

    def convert(text: str) -> str:
        text = pattern.sub(lambda match: names[match[0]], text)
        return _INCLUDE.sub(header, text)

    return convert, renamed


def _or_stand_in(match: re.Match[str]) -> str:
    """A library's header, where it is installed; the number of lines changes, but nobody reads them."""
    own = f"porter_torch/{match[2]}.h"
    return f"#if __has_include(<{match[1]}>)\n#include <{match[1]}>\n#else\n#include <{own}>\n#endif"


def _load(name: str, path: Path, below: list[str] | None) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=below)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
