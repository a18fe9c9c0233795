"""Against the headers of this machine: the reader against clang, the tables against a toolkit, HIP and the bindings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from clang import cindex
from porter.validation.toolchain.headers import find_headers
from porter.validation.toolchain.nvcc import Nvcc, find_nvcc

from porter.names.derive.cudaside import joined
from porter.names.derive.harvest import harvest, headers_below
from porter.names.derive.libraries import LIBRARIES
from porter.names.derive.library import Library
from porter.names.derive.preprocess import preprocessed
from porter.names.derive.reader import read_declarations
from porter.names.derive.sources import Source, cuda_harvests, hip_side
from porter.names.derive.vocabulary import vocabulary
from porter.names.table import load_names, version_key
from porter.system.needs import need
from tests.outside import needs, require


def _cuda() -> Path:
    """The headers of the toolkit that is installed, or of NVIDIA's wheels."""
    toolkit = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"
    nvcc = find_nvcc()
    return nvcc.include_dirs[0] if isinstance(nvcc, Nvcc) and nvcc.include_dirs else toolkit


CUDA = _cuda()
_FOUND = find_headers()
HIP = _FOUND if isinstance(_FOUND, Path) else None

needs_cuda = pytest.mark.skipif(
    not (CUDA / "cuda_runtime_api.h").is_file(), reason=f"no CUDA headers in {CUDA}: {need('nvcc').remedy}"
)
needs_hip = pytest.mark.skipif(HIP is None, reason="no HIP headers in $ROCM_PATH, /opt/rocm or /usr, none fetched")


class _Seen:
    """What clang finds in one header: numbers of arguments of functions, values of enumerators, types."""

    def __init__(self, path: Path, include: Path) -> None:
        self.functions: dict[str, set[int]] = {}
        self.enumerators: dict[str, int] = {}
        self.types: set[str] = set()
        self._path = str(path)
        unit = cindex.Index.create().parse(self._path, args=["-x", "c++", "-std=c++17", f"-I{include}", *_SYSTEM])
        self._walk(unit.cursor)

    def _walk(self, cursor: cindex.Cursor) -> None:
        kinds = cindex.CursorKind
        for child in cursor.get_children():
            if child.kind in (kinds.LINKAGE_SPEC, kinds.UNEXPOSED_DECL):
                self._walk(child)
            elif child.location.file is None or child.location.file.name != self._path:
                continue
            elif child.kind == kinds.FUNCTION_DECL:
                self.functions.setdefault(child.spelling, set()).add(len(list(child.get_arguments())))
            elif child.kind in (kinds.STRUCT_DECL, kinds.UNION_DECL, kinds.TYPEDEF_DECL, kinds.ENUM_DECL):
                if child.spelling.isidentifier():
                    self.types.add(child.spelling)
                for member in child.get_children() if child.kind == kinds.ENUM_DECL else ():
                    self.enumerators[member.spelling] = member.enum_value


_GCC = sorted(Path("/usr/lib/gcc").glob("*/*/include/stddef.h"))
_SYSTEM = [f"-I{path.parent}" for path in _GCC[-1:]]


@needs_cuda
@pytest.mark.parametrize("name", ["cuda_runtime_api.h", "cuda.h", "driver_types.h", "vector_types.h", "cuComplex.h"])
def test_reader_agrees_with_clang(name: str) -> None:
    """Every function with its number of arguments, every enumerator with its value, every type."""
    path = CUDA / name
    seen = _Seen(path, CUDA)
    found = read_declarations(path.read_text("latin-1"), name)
    counts: dict[str, set[int]] = {}
    for declaration in found:
        if declaration.kind == "function":
            counts.setdefault(declaration.name, set()).update(len(p.parameters) for p in declaration.overloads)
    aliases = {d.target: d.name for d in found if d.kind == "macro" and d.target}
    values = {d.name: d.value for d in found if d.kind == "enumerator"}
    missing = {name for name in seen.functions if name not in counts and aliases.get(name) not in counts}
    assert not missing
    assert not {name for name, numbers in seen.functions.items() if name in counts and not numbers <= counts[name]}
    assert {name: values.get(name) for name in seen.enumerators} == seen.enumerators
    pasted = {"CUdevResource_v1"}  # made by `_CONCAT_OUTER(CUdevResource_v, 1)`
    assert seen.types - {d.name for d in found if d.kind == "type"} <= pasted


@needs_cuda
@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_no_name_of_the_toolkit_is_unknown(library: Library) -> None:
    """Every public name and header of the installed CUDA is a row."""
    roots = (CUDA, CUDA / "cccl")
    source = Source("installed", tuple(root for root in roots if root.is_dir()))
    if not headers_below(source.roots, library.headers):
        pytest.skip(f"this toolkit has none of {', '.join(library.headers[:3]) or 'its headers'}")
    table = load_names(None, {})
    unknown = [name for name in joined(cuda_harvests(library, [source]), library) if name not in table]
    if _version(CUDA) <= (13, 5):
        assert not unknown
    else:
        pytest.skip(f"CUDA is newer than the tables; {len(unknown)} names are not in them")


def _version(include: Path) -> tuple[int, int]:
    number = next(
        line for line in (include / "cuda.h").read_text("latin-1").splitlines() if "#define CUDA_VERSION" in line
    )
    value = int(number.split()[-1])
    return value // 1000, value % 1000 // 10


_DECLARED = {
    "runtime": ("hip",),
    "driver": ("hip",),
    "nvrtc": ("hip",),
    "cublas": ("hipblas", "hipblas-common"),
    "cublaslt": ("hipblaslt", "hipblas", "hipblas-common"),
    "cudnn": ("miopen",),
    "cufft": ("hipfft",),
    "curand": ("hiprand",),
    "cusolver": ("hipsolver", "hipsolver/internal"),
    "cusparse": ("hipsparse",),
    "nccl": ("rccl",),
}
"""Library -> folders of the headers with its functions and constants in ROCm."""


@needs_hip
@pytest.mark.parametrize("library", _DECLARED)
def test_since_holds_for_installed_headers(library: str) -> None:
    """What the tables say this ROCm has, its headers declare; what they say it has not yet, they do not."""
    assert HIP is not None
    folders = _DECLARED[library]
    if not (HIP / folders[0]).is_dir():
        pytest.skip(f"{HIP} has no {folders[0]}")
    if (HIP / folders[0]).is_symlink():
        pytest.skip(f"{folders[0]} is linked from the headers of another release")
    patterns = [f"{folder}/*.h" for folder in (*folders, "hip/amd_detail")]
    declared = harvest(headers_below([HIP], patterns)).names.keys()
    version = _hip_version(HIP)
    assert version_key(version) >= (5, 2)
    rows = [row for row in load_names(version, {}).rows() if row.library == library and row.hip and row.since]
    claimed = {row.hip for row in rows if row.hip and row.kind in ("function", "enumerator")}
    assert claimed
    assert not claimed - declared
    every = [row for row in load_names(None, {}).rows() if row.library == library and row.hip and row.since]
    later = {row.hip for row in every if row.since and version_key(row.since) > version_key(version)}
    assert not (later & declared) - {row.hip for row in every if row.kind not in ("function", "enumerator")}


def _hip_version(include: Path) -> str:
    lines = (include / "hip" / "hip_version.h").read_text().splitlines()
    values = dict(line.split()[1:3] for line in lines if line.startswith("#define HIP_VERSION_M"))
    return f"{values['HIP_VERSION_MAJOR']}.{values['HIP_VERSION_MINOR']}"


@needs_cuda
@needs_hip
def test_deriving_again_gives_the_shipped_names() -> None:
    """The runtime's table, from the installed headers alone: what they can show is what the shipped table says."""
    assert HIP is not None
    runtime = LIBRARIES[0]
    harvests = cuda_harvests(runtime, [Source("installed", (CUDA,))])
    side = hip_side([Source("installed", (HIP,))], None)
    found = vocabulary({runtime: joined(harvests, runtime)}, side, {})
    table = load_names(None, {})
    rows = {name: table.get(name) for name in found.mapped}
    by_hand = {name for name, row in rows.items() if row is not None and (row.why or row.gap)}
    different = {
        name: (hip, row.hip)
        for name, hip in found.mapped.items()
        if name not in by_hand and (row := rows[name]) is not None and row.hip != hip
    }
    assert len(found.mapped) > 700
    assert not different


@needs_hip
@needs("clang++")
def test_preprocessed_device_headers() -> None:
    """Functions that HIP's macros declare are found."""
    assert HIP is not None
    clang = require("clang++")
    names = {d.name for text in preprocessed(clang, HIP) for d in read_declarations(text, "hip/hip_runtime.h")}
    assert {"make_float4", "__sinf", "atomicAdd", "threadIdx", "__half", "__float2half"} <= names
