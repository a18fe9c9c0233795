"""A014: types that a CUDA library header brought along."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.syntax import Tokens
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, fixes

_HEADERS = {
    "fp16": ("hip/hip_fp16.h", frozenset({"cuda_fp16.h", "cuda_fp16.hpp"})),
    "bf16": ("hip/hip_bf16.h", frozenset({"cuda_bf16.h", "cuda_bf16.hpp"})),
    "fp8": ("hip/hip_fp8.h", frozenset({"cuda_fp8.h", "cuda_fp8.hpp"})),
    "complex": ("hip/hip_complex.h", frozenset({"cuComplex.h"})),
}
_HALVES = frozenset({"fp16", "bf16"})
_BRINGS = {
    "cublas.h": _HALVES | {"complex"},
    "cublas_api.h": _HALVES | {"complex"},
    "cublas_v2.h": _HALVES | {"complex"},
    "cublasLt.h": _HALVES | {"complex"},
    "cublasXt.h": _HALVES | {"complex"},
    "cuda_bf16.h": frozenset({"fp16"}),
    "cuda_fp8.h": _HALVES,
    "cufft.h": frozenset({"complex"}),
    "cufftXt.h": frozenset({"complex"}),
    "cusolverDn.h": _HALVES | {"complex"},
    "cusolverSp.h": _HALVES | {"complex"},
    "cusparse.h": frozenset({"fp16", "complex"}),
    "mma.h": _HALVES,
    "nccl.h": _HALVES | {"fp8"},
    "cooperative_groups.h": _HALVES,
    **{
        f"ATen/cuda/{name}": _HALVES | {"complex"}
        for name in ("CUDAContext.h", "CUDAContextLight.h", "CUDABlas.h", "Exceptions.h")
    },
}
"""CUDA header -> tables of the headers that it includes and that its counterpart in ROCm does not."""
_TEMPLATES = ("cub/", "thrust/")
_STRING_HEADERS = frozenset({"cstring", "string.h"})
_STRING = re.compile(r"mem(?:cpy|move|set|cmp|chr)|str(?:len|n?cmp|n?cpy|n?cat|r?chr|str)")
_OPERATORS = frozenset(
    {
        "ArgMax",
        "ArgMin",
        "CastOp",
        "Difference",
        "Division",
        "Equality",
        "Inequality",
        "Max",
        "Min",
        "Sum",
        "SwizzleScanOp",
    }
)
_OPERATORS_HEADER = "hipcub/thread/thread_operators.hpp"
_ALL_OF_CUB = frozenset({"cub/cub.cuh", "cub/thread/thread_operators.cuh", "hipcub/hipcub.hpp", _OPERATORS_HEADER})
_RUNTIME_HEADERS = frozenset({"cuda_runtime.h", "hip/hip_runtime.h", "cuda_runtime_api.h", "math_constants.h"})
_FLOAT_HEADERS = frozenset({"float.h", "cfloat"})
_FLOAT_LIMITS = frozenset(
    f"{kind}_{what}" for kind in ("FLT", "DBL") for what in ("MAX", "MIN", "EPSILON", "DIG", "MANT_DIG")
)


class TransitiveHeader(Rule):
    """Type whose header came with another one

    CUDA's library headers include the headers of half, bfloat16 and complex types: `cublas_v2.h` is enough to use
    `__nv_bfloat16`, and so is PyTorch's `ATen/cuda/CUDAContext.h`, which includes it. ROCm's library headers do not, so
    the header of the type is included where a file uses it and has only such a library header, itself or by a header of
    the project's own.
    """

    code = "A014"
    by_names = True
    examples = (
        fixes("#include <cublas_v2.h>\n__nv_bfloat16 *p;", "#include <cublas_v2.h>\n__nv_bfloat16 *p;", path="a.h"),
        fixes("#include <cub/cub.cuh>\n__half *p;", "#include <cub/cub.cuh>\n__half *p;", path="a.h"),
        fixes(
            "#include <ATen/cuda/CUDAContext.h>\n__nv_bfloat16 *p;",
            "#include <ATen/cuda/CUDAContext.h>\n__nv_bfloat16 *p;",
            path="a.cpp",
        ),
        fixes("#include <cuda_runtime.h>\nfloat f = FLT_MAX;", "#include <cuda_runtime.h>\nfloat f = FLT_MAX;"),
        fixes("float f = FLT_MAX;", "float f = FLT_MAX;"),
        fixes(
            "#include <cub/cub.cuh>\nvoid f(int *p) { std::memset(p, 0, 4); }",
            "#include <cub/cub.cuh>\nvoid f(int *p) { std::memset(p, 0, 4); }",
        ),
        fixes(
            "#include <cub/block/block_reduce.cuh>\nint f(int a, int b) { return cub::Max()(a, b); }",
            "#include <cub/block/block_reduce.cuh>\nint f(int a, int b) { return cub::Max()(a, b); }",
        ),
        clean("#include <cub/cub.cuh>\nint f(int a, int b) { return cub::Max()(a, b); }"),
        clean("#include <cub/block/block_reduce.cuh>\nint f(int a, int b) { return mine::cub::Max()(a, b); }"),
        clean("#include <cub/cub.cuh>\n#include <cstring>\nvoid f(int *p) { std::memset(p, 0, 4); }"),
        clean("#include <cub/cub.cuh>\nvoid f(int *p) { memset(p, 0, 4); my::memset(p); }"),
        clean("void f(int *p) { std::memset(p, 0, 4); }"),
        clean("float f = FLT_MAX;", path="a.cpp"),
        clean("#include <cuda_runtime.h>\n#include <cfloat>\nfloat f = FLT_MAX;"),
        clean("#include <cuda_runtime.h>\n#define FLT_MAX 1.0f\n"),
        clean("#include <cublas_v2.h>\n#include <cuda_bf16.h>\n__nv_bfloat16 *p;", path="a.h"),
        clean("#include <cuda_runtime.h>\n__nv_bfloat16 *p;", path="a.h"),
        clean("#include <cublas_v2.h>\ncublasHandle_t h;", path="a.h"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per header, at the first use of a name it declares."""
        missing = set(_missing(unit.included) | _missing_through_headers(unit))
        yield from _limits(self, unit)
        yield from _strings(self, unit)
        yield from _operators(self, unit)
        if not missing:
            return
        for name, indices in unit.tokens.names.items():
            row = unit.names.get(name)
            if row is None or row.library not in missing:
                continue
            index = next((i for i in indices if unit.is_cuda(i)), None)
            if index is not None:
                missing.discard(row.library)
                header = _HEADERS[row.library][0]
                message = f"{name} came with another CUDA header; <{header}> is included"
                yield self.finding(unit, unit.span(index), message, Effort.NONE, includes=(f"<{header}>",))


def _missing(included: frozenset[str]) -> frozenset[str]:
    """The tables whose header came with one of these, and is not among them itself."""
    brought = frozenset().union(*map(_brought, included))
    return frozenset(table for table in brought if included.isdisjoint({_HEADERS[table][0], *_HEADERS[table][1]}))


def _missing_through_headers(unit: Unit) -> frozenset[str]:
    """Those of them that came with the project's own headers, and that none of these names, so as to get its own."""
    used = _named(unit, unit.tokens)
    if not used or not unit.program.headers:
        return frozenset()
    found = _missing(_included(unit)) & used
    return found.difference(*(_named(unit, tokens) for tokens in unit.program.header_tokens)) if found else found


def _included(unit: Unit) -> frozenset[str]:
    """What the file and the project's headers include."""
    return frozenset(include.name for tokens in unit.program.all_tokens for include in tokens.includes)


def _named(unit: Unit, tokens: Tokens) -> frozenset[str]:
    """The tables of the types that a file names."""
    rows = map(unit.names.get, unit.names.active.intersection(tokens.names))
    return frozenset(row.library for row in rows if row is not None and row.library in _HEADERS)


def _limits(rule: Rule, unit: Unit) -> Iterator[Finding]:
    """`FLT_MAX`: CUDA's runtime, which nvcc includes by itself, includes <float.h>."""
    brought = unit.source.path.lower().endswith(".cu") or not unit.included.isdisjoint(_RUNTIME_HEADERS)
    if not brought or not unit.included.isdisjoint(_FLOAT_HEADERS):
        return
    for name in sorted(_FLOAT_LIMITS & unit.identifiers):
        index = next((i for i in unit.tokens.names[name] if unit.is_free(i) and not unit.declares(i)), None)
        if index is not None and name not in unit.declared:
            message = f"{name} came with CUDA's runtime header; <float.h> is included"
            yield rule.finding(unit, unit.span(index), message, Effort.NONE, includes=("<float.h>",))
            return


def _strings(rule: Rule, unit: Unit) -> Iterator[Finding]:
    """`std::memcpy`: CUB's headers and Thrust's include <cstring>, hipCUB's do not."""
    texts = unit.tokens.texts
    for index in unit.tokens.names.get("std", ()):
        if texts[index + 1] == "::" and _STRING.fullmatch(texts[index + 2]):
            included = _included(unit)
            if not any(name.startswith(_TEMPLATES) for name in included) or not included.isdisjoint(_STRING_HEADERS):
                return
            message = f"std::{texts[index + 2]} came with CUB or Thrust; <cstring> is included"
            yield rule.finding(unit, unit.span(index, index + 2), message, Effort.NONE, includes=("<cstring>",))
            return


def _operators(rule: Rule, unit: Unit) -> Iterator[Finding]:
    """`cub::Max`: the headers of CUB's algorithms include its operators, hipCUB's do not."""
    texts = unit.tokens.texts
    for index in unit.occurrences("cub"):
        if texts[index + 1] == "::" and texts[index + 2] in _OPERATORS:
            included = _included(unit)
            if any(name.startswith("cub/") for name in included) and included.isdisjoint(_ALL_OF_CUB):
                message = f"cub::{texts[index + 2]} came with a header of CUB; <{_OPERATORS_HEADER}> is included"
                span = unit.span(index, index + 2)
                yield rule.finding(unit, span, message, Effort.NONE, includes=(f"<{_OPERATORS_HEADER}>",))
            return


def _brought(include: str) -> frozenset[str]:
    return _HALVES if include.startswith(_TEMPLATES) else _BRINGS.get(include, frozenset())
