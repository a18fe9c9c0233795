"""Runs every device function that HIP declares under CUDA's name on both virtual devices.

python -m benchmarks.device_functions [--write docs/device-functions.md] [--only REGEX]
"""

# ruff: noqa: E501
from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from porter.validation.devices import gfx942
from porter.validation.devices import ptx as virtual_cuda
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.toolchain import nvcc
from porter.validation.toolchain.clang import assemble
from porter.validation.toolchain.headers import find_headers, version_of
from porter.validation.toolchain.result import Assembled, Missing

from porter.engine.context import parser_for
from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.support import include_folder, load_support
from porter.model import Settings
from porter.names.table import load_names
from porter.source import SourceFile

ROWS = 512
PER_UNIT = 48
HEADERS = (
    "crt/device_functions.h",
    "crt/math_functions.h",
    "sm_20_intrinsics.h",
    "sm_61_intrinsics.h",
    "cuda_fp16.h",
    "cuda_bf16.h",
)
LIBRARIES = ("device", "fp16", "bf16")
_TYPES: dict[str, tuple[str, Any]] = {
    "int": ("int", np.int32), "unsigned int": ("unsigned int", np.uint32), "unsigned": ("unsigned int", np.uint32),
    "long long int": ("long long", np.int64), "long long": ("long long", np.int64), "long int": ("long", np.int64), "long": ("long", np.int64),
    "unsigned long int": ("unsigned long", np.uint64), "unsigned long": ("unsigned long", np.uint64),
    "unsigned long long int": ("unsigned long long", np.uint64), "unsigned long long": ("unsigned long long", np.uint64),
    "short": ("short", np.int16), "short int": ("short", np.int16), "unsigned short": ("unsigned short", np.uint16),
    "unsigned short int": ("unsigned short", np.uint16), "signed char": ("signed char", np.int8), "unsigned char": ("unsigned char", np.uint8),
    "float": ("float", np.float32), "double": ("double", np.float64), "bool": ("bool", np.bool_),
    "__half": ("__half", np.uint16), "__half2": ("__half2", np.uint32), "__nv_bfloat16": ("__nv_bfloat16", np.uint16), "__nv_bfloat162": ("__nv_bfloat162", np.uint32),
}  # fmt: skip
_TYPE = "|".join(sorted((re.escape(name).replace(r"\ ", r"\s+") for name in _TYPES), key=len, reverse=True))
_PROTOTYPE = re.compile(
    rf"\b(?:static\s+)?(?P<result>{_TYPE})\s+(?P<name>[a-z_]\w*)\s*\((?P<parameters>[^();{{}}]*)\)\s*(?:throw\(\)|noexcept\(true\))?\s*[;{{]"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NEEDLESS = re.compile(r"\b(?:const|__restrict__|register)\b")
_ERROR_LINE = re.compile(r"unit\.\w+:(\d+):\d+: (?:fatal )?error: ([^\n]*)")
_NVCC_LINE = re.compile(r"unit\.cu\((\d+)\): error")


_REASONS = (
    (
        r"(?:[jy][01n]|cospi|sinpi|cyl_bessel_i[01])\(.*float",
        "HIP has no overload for float: computed in double, nearer to the exact value",
    ),
    (r"normcdfinvf?\(|expm1\(|tgamma\(", "the sign of zero"),
    (r"lgamma\(", "near its zeros few bits are right on either side"),
    (r"ilogbf?\(", "what stands for NaN"),
    (r"ll?r(?:int|ound)\(", "out of range, where C says nothing; CUDA saturates"),
    (r"scalbln\(", "an exponent beyond int"),
    (r"h2?tanh", "CUDA's flushes denormals of bfloat16"),
    (r"h2?(?:cos|log)\(", "the last bit of a half"),
    (r"__hfma2\(__nv_bfloat162", "HIP's rounds twice"),
    (r"__ballot\(", "no GPU since sm_70 has it"),
)
"""Why what differs does, and stays."""


def reason(function: Function) -> str:
    """Why a function is not like CUDA's, as far as somebody looked."""
    return next((why for pattern, why in _REASONS if re.match(pattern, function.written)), "")


@dataclass(frozen=True)
class Function:
    """One overload: result, name, types of the parameters, as CUDA declares them."""

    name: str
    result: str
    parameters: tuple[str, ...]

    @property
    def written(self) -> str:
        return f"{self.name}({', '.join(self.parameters)})"


@dataclass(frozen=True)
class Row:
    """What came out of one function."""

    function: Function
    status: str
    """agrees, ulp, differs, not run"""
    note: str = ""
    replaced: bool = False


def cuda_headers() -> Path:
    """Where nvcc has its headers: beside it, or where it says so."""
    found = nvcc.find_nvcc()
    if not isinstance(found, nvcc.Nvcc):
        raise SystemExit(str(found))
    asked = subprocess.run(
        [found.path, "-M", "-x", "cu", "-"], input="", capture_output=True, text=True, check=False
    ).stdout
    match = re.search(r"(\S+)/cuda_runtime\.h", asked)
    if match is None:
        raise SystemExit(f"{found.path} does not say where its headers are")
    return Path(match[1]).resolve()


def functions(include: Path) -> list[Function]:
    """All overloads with scalar parameters of functions that HIP has under CUDA's name, or that porter supplies."""
    names, support = load_names(None, {}), load_support(None)
    found: dict[Function, None] = {}
    for header in HEADERS:
        text = _NEEDLESS.sub(" ", _COMMENT.sub(" ", (include / header).read_text("utf-8", "replace")))
        text = re.sub(
            r"__device_builtin__|__CUDA_\w+_DECL__|__\w+_DECL__|__cudart_builtin__|_NV_RSQRT_SPECIFIER", " ", text
        )
        for match in _PROTOTYPE.finditer(text):
            parameters = [" ".join(p.split()) for p in match["parameters"].split(",")]
            typed = [re.fullmatch(rf"({_TYPE})(?:\s+\w+)?", p) for p in parameters]
            row = names.get(match["name"])
            known = (row is not None and row.hip == match["name"]) or support.get(match["name"]) is not None
            if known and all(typed) and not re.search(r"sync|atomic|__trap|shfl", match["name"]):
                kinds = tuple(" ".join(one[1].split()) for one in typed if one)
                found[
                    Function(match["name"], " ".join(match["result"].split()), tuple(_TYPES[k][0] for k in kinds))
                ] = None
    return list(found)


def rows(chosen: list[Function]) -> Iterator[Row]:
    """Each function on both devices; many in one unit."""
    waiting = list(chosen)
    while waiting:
        part, waiting = waiting[:PER_UNIT], waiting[PER_UNIT:]
        yield from _unit(part)


def _unit(part: list[Function]) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "unit.cu"
        left = list(part)
        while left:  # without what one of the compilers refuses
            path.write_text(source(left))
            original = nvcc.ptx(path)
            if isinstance(original, Assembled):
                text, replaced = _ported(path)
                made = assemble(path.with_suffix(".hip"), options=("-I", str(include_folder()), "-ferror-limit=0"))
                if isinstance(made, Assembled):
                    yield from _compared(left, original.text, made.text, replaced)
                    return
                bad = {int(m[1]): m[2] for m in _ERROR_LINE.finditer(getattr(made, "output", ""))}
                lines = text.splitlines()
                names = {
                    n: note
                    for line, note in bad.items()
                    if (m := re.search(r"o(\d+)\[t\]", lines[line - 1]))
                    for n in [int(m[1])]
                }
            else:
                failed = getattr(original, "output", str(original))
                lines = path.read_text().splitlines()
                found = (re.search(r"o(\d+)\[t\]", lines[int(m[1]) - 1]) for m in _NVCC_LINE.finditer(failed))
                names = {int(m[1]): "nvcc does not know it for sm_80" for m in found if m}
            if not names:
                yield from (
                    Row(f, "not run", f"the unit does not compile: {str(getattr(made, 'output', made))[:200]}")
                    for f in left
                )
                return
            yield from (Row(left[n], "not run", note) for n, note in sorted(names.items()))
            left = [f for n, f in enumerate(left) if n not in names]


def source(part: Iterable[Function]) -> str:
    """A kernel that calls each function once per thread."""
    part = list(part)
    inputs = sorted({(kind, place) for f in part for place, kind in enumerate(f.parameters)})
    parameters = [f"{_TYPES[f.result][0]} *o{n}" for n, f in enumerate(part)]
    parameters += [f"const {kind} *{_input(kind, place)}" for kind, place in inputs]
    lines = (
        f"  o{n}[t] = {f.name}({', '.join(f'{_input(k, p)}[t]' for p, k in enumerate(f.parameters))});"
        for n, f in enumerate(part)
    )
    body = "\n".join(lines)
    return (
        "#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
        f"__global__ void functions({', '.join(parameters)}) {{\n  int t = blockIdx.x * blockDim.x + threadIdx.x;\n{body}\n}}\n"
    )


def _input(kind: str, place: int) -> str:
    return f"i_{kind.replace(' ', '_')}_{place}"


def _ported(path: Path) -> tuple[str, frozenset[int]]:
    """Writes the port; which functions are under another name there."""
    context = Context(
        Settings(),
        load_names(None, {}),
        load_support(None),
        all_rules(),
        parse=parser_for(Path("/nonexistent"), (), ()),
    )
    done = port(SourceFile("unit.cu", path.read_bytes()), context, "unit.hip")
    text = done.data.decode()
    path.with_suffix(".hip").write_text(text)
    return text, frozenset(int(n) for n in re.findall(r"o(\d+)\[t\] = porter::", text))


def _compared(part: list[Function], original: str, made: str, replaced: frozenset[int]) -> Iterator[Row]:
    inputs = sorted({(kind, place) for f in part for place, kind in enumerate(f.parameters)})
    arguments = [values(kind, place) for kind, place in inputs]
    outputs = [np.zeros(ROWS, _TYPES[f.result][1]) for f in part]
    results = []
    for device, text in ((virtual_cuda.open_device(), original), (gfx942.open_device(), made)):
        module = device if isinstance(device, NotRun) else device.compile(text)
        done = (
            module
            if isinstance(module, NotRun)
            else module.launch(
                module.kernels[0], ROWS // 64, 64, [*outputs, *arguments], options=Options(uninitialised=False)
            )
        )
        if not isinstance(done, Ran):
            if len(part) == 1:
                yield Row(part[0], "not run", re.sub(r": \S+, block .*", "", str(done).splitlines()[0]))
                return
            middle = len(part) // 2  # find the one that stops the others
            for half in (part[:middle], part[middle:]):
                yield from _unit(half)
            return
        results.append(done)
    for n, function in enumerate(part):
        status, note = difference(
            function,
            np.asarray(results[0].output(n)),
            np.asarray(results[1].output(n)),
            dict(zip(inputs, arguments, strict=True)),
        )
        yield Row(function, status, note, n in replaced)


def values(kind: str, place: int) -> npt.NDArray[Any]:
    """Edges of a type in all combinations of two places, then random bits and small numbers."""
    random = np.random.default_rng(sum(map(ord, kind)) * 7 + place)
    dtype = np.dtype(_TYPES[kind][1])
    edges = _edges(kind)
    if place == 0:
        first = np.repeat(edges, len(edges))
    elif place == 1:
        first = np.tile(edges, len(edges))
    else:
        first = np.roll(np.tile(edges, len(edges)), 5)
    first = first[: ROWS // 2]
    rest = ROWS - len(first)
    if dtype.kind == "f":
        wide = (random.standard_normal(rest) * 10.0 ** random.integers(-6, 7, rest)).astype(dtype)
    else:
        wide = (
            np.frombuffer(random.bytes(rest * dtype.itemsize), dtype)
            if dtype.kind != "b"
            else random.integers(0, 2, rest).astype(dtype)
        )
    return np.concatenate([first, wide]).astype(dtype)


def _edges(kind: str) -> npt.NDArray[Any]:
    dtype = np.dtype(_TYPES[kind][1])
    if dtype.kind == "f":
        return np.array(
            [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -2.5, 1.0, -1.0, 3.75, 1e9, -3e9, 1e-40, np.inf, -np.inf, np.nan], dtype
        )
    if kind in ("__half", "__half2"):
        words = [
            0,
            0x8000,
            0x3800,
            0x3E00,
            0x4100,
            0xB800,
            0xC100,
            0x3C00,
            0x7BFF,
            0xFBFF,
            0x7C00,
            0xFC00,
            0x7E00,
            1,
            0x77FF,
            0x5640,
        ]
    elif kind in ("__nv_bfloat16", "__nv_bfloat162"):
        words = [
            0,
            0x8000,
            0x3F00,
            0x3FC0,
            0x4020,
            0xBF00,
            0xC020,
            0x3F80,
            0x7F7F,
            0xFF7F,
            0x7F80,
            0xFF80,
            0x7FC0,
            1,
            0x4F00,
            0xDF00,
        ]
    else:
        info = np.iinfo(dtype) if dtype.kind != "b" else None
        if info is None:
            return np.array([False, True] * 8)
        return np.array(
            [0, 1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 100, info.max, info.max - 1, info.min, info.min + 1], dtype
        )
    return np.array([word | (word << 16 if dtype.itemsize == 4 else 0) for word in words], dtype)


def difference(
    function: Function, cuda: npt.NDArray[Any], hip: npt.NDArray[Any], inputs: dict[tuple[str, int], npt.NDArray[Any]]
) -> tuple[str, str]:
    """Bitwise, NaN like NaN; floats within a few units in the last place."""
    distance = _distance(function.result, cuda, hip)
    worst = int(distance.max())
    if worst == 0:
        return "agrees", ""
    place = int(distance.argmax())
    at = ", ".join(str(inputs[k, p][place]) for p, k in enumerate(function.parameters))
    example = f"{function.name}({at}) is {cuda[place]}, here {hip[place]}"
    if worst <= 4 and function.result in ("float", "double"):
        return "ulp", f"within {worst} ulp"
    return "differs", f"{np.count_nonzero(distance)} of {ROWS}: {example}"


def _distance(kind: str, cuda: npt.NDArray[Any], hip: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    if kind in ("__half2", "__nv_bfloat162"):
        cuda, hip = cuda.view(np.uint16), hip.view(np.uint16)
        both = _distance({"__half2": "__half"}.get(kind, "__nv_bfloat16"), cuda, hip).reshape(-1, 2)
        return both.max(axis=1)
    if kind in ("__half", "__nv_bfloat16"):
        infinite = 0x7C00 if kind == "__half" else 0x7F80
        nan = ((cuda & 0x7FFF) > infinite) & ((hip & 0x7FFF) > infinite)
        return np.where(nan | (cuda == hip), 0.0, 1.0)
    if np.dtype(cuda.dtype).kind != "f":
        return (cuda != hip).astype(np.float64)
    bits = np.int32 if cuda.dtype.itemsize == 4 else np.int64
    a, b = cuda.view(bits).astype(np.float64), hip.view(bits).astype(np.float64)
    apart = np.abs(a - b)
    return np.where(
        (cuda.view(bits) == hip.view(bits)) | (np.isnan(cuda) & np.isnan(hip)),
        0.0,
        np.where(np.isfinite(cuda) & np.isfinite(hip), np.maximum(apart, 1), 1e18),
    )


def _release() -> str:
    folder = find_headers()
    return "unknown" if isinstance(folder, Missing) else version_of(folder) or "unknown"


def document(found: list[Row]) -> str:
    """The table as Markdown."""
    count = Counter("replaced" if row.replaced and row.status in ("agrees", "ulp") else row.status for row in found)
    names = {
        "agrees": "HIP's agrees bitwise",
        "ulp": "HIP's agrees within 4 ulp",
        "replaced": "porter's own stands in its place, and agrees",
        "differs": "differs",
        "not run": "not run",
    }
    lines = [
        "# Device functions under CUDA's names",
        "",
        "Written by `python -m benchmarks.device_functions --write docs/device-functions.md`: each function that HIP declares under CUDA's name, or that porter",
        f"supplies, called {ROWS} times over edge values and random ones: the original on the virtual NVIDIA GPU, its port on the virtual gfx942. Functions with",
        f"pointers, warps or atomics are not in it. The headers are HIP's of ROCm {_release()}, the device libraries those of this machine.",
        "",
        "| outcome | overloads |",
        "|---|---|",
        *(f"| {names[status]} | {count[status]} |" for status in names),
        "",
        "## What differs or was not run",
        "",
        "| function | | why |",
        "|---|---|---|",
        *(
            f"| `{row.function.written}` | {row.note.replace('|', '/')} | {reason(row.function)} |"
            for row in found
            if row.status in ("differs", "not run")
        ),
        "",
        "## Replaced",
        "",
        ", ".join(f"`{row.function.written}`" for row in found if row.replaced and row.status in ("agrees", "ulp")),
        "",
        "## HIP's own, kept",
        "",
        ", ".join(
            f"`{row.function.written}`{f' ({row.note})' if row.note else ''}"
            for row in found
            if not row.replaced and row.status in ("agrees", "ulp")
        ),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Runs all that a pattern chooses."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    chosen = [f for f in functions(cuda_headers()) if re.search(arguments.only, f.name)]
    found = sorted(rows(chosen), key=lambda row: row.function.written)
    for row in found:
        if row.status in ("differs", "not run"):
            print(f"{row.status}{' (replaced)' if row.replaced else ''}: {row.function.written}: {row.note}")
    print(Counter(row.status for row in found))
    if arguments.write:
        arguments.write.write_text(document(found))


if __name__ == "__main__":
    main()
