"""The full mask handed to a helper, written in the ways that C++ has: a divergent call is found whatever they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from porter.engine.context import build_context
from porter.engine.file import port
from porter.settings import Choices
from porter.source import SourceFile

CONTEXT = build_context(Choices(), ["a.cu"], {})
HELPER = "__device__ int h(int v, unsigned m = {}) {{ return __shfl_sync(m, v, 0); }}\n"
TWO = "#if{}\n#define M {}\n#else\n#define M {}\n#endif\n"


def missed(*values: str) -> object:
    """A spelling that is not understood yet."""
    return pytest.param(*values, marks=pytest.mark.xfail(strict=True))


def _codes(before: str, call: str, declared: str = "") -> set[str]:
    body = f"int v = o[threadIdx.x]; {declared}\n if (o[threadIdx.x] > 3) v = {call}; o[threadIdx.x] = v;"
    kernel = f"__global__ void k(int *o) {{ {body} }}"
    ported = port(SourceFile("a.cu", f"{before}\n{kernel}\n".encode()), CONTEXT, "a.hip")
    return {finding.code for finding in ported.findings}


DEFAULTS = [
    *("0xffffffff", "0xFFFFFFFFu", "-1", "~0", "~0u", "(unsigned)-1", "unsigned(-1)", "static_cast<unsigned>(-1)"),
    *("UINT_MAX", "UINT32_MAX", "unsigned{0xffffffff}", "uint32_t{~0u}", "(1ull << 32) - 1", "0xffffffffffffffffull"),
    missed("std::numeric_limits<unsigned>::max()"),
    missed("static_cast<unsigned>(WIDE)"),
]


@pytest.mark.parametrize("value", DEFAULTS)
def test_default_value(value: str) -> None:
    wide = "#if A\n#define WIDE 0xffffffffffffffffull\n#else\n#define WIDE 0xffffffff\n#endif\n"
    assert "W102" in _codes(wide + HELPER.format(value), "h(v)")


NAMED = [
    "#define M 0xffffffff",
    TWO.format(" 1", "0xffffffff", "activemask()"),
    TWO.format("def OLD", "0xffffffffu", "0xffffffffull"),
    TWO.format("def __HIP__", "0xffffffffffffffffull", "0xffffffff"),
    TWO.format("def OLD", "0x0000ffff", "0xffffffff"),
    "constexpr uint32_t M{~0u};",
    "static const unsigned int M = 0xffffffff;",
    "__device__ constexpr unsigned M = 0xffffffff;",
    "enum : unsigned { M = 0xffffffff };",
    "#define WARP 32\n#define M (0xffffffffu >> (32 - WARP))",
    missed("__constant__ unsigned M = 0xffffffff;"),
    missed("#define FULL() 0xffffffff\n#define M FULL()"),
]


@pytest.mark.parametrize("definition", NAMED)
def test_named_mask(definition: str) -> None:
    assert "W102" in _codes(f"{definition}\n{HELPER.format('M')}", "h(v)")


CALLS = [
    (HELPER.format("0"), "h(v, 0xffffffff)", ""),
    (HELPER.format("0"), "h(v, (unsigned)0xFFFFFFFF)", ""),
    (HELPER.format("0"), "h(v, m)", "const unsigned m = 0xffffffff;"),
    (HELPER.format("0"), "h(v, m)", "unsigned m = 0xffffffff;"),
    (HELPER.format("0"), "h(v, m)", "auto m = ~0u;"),
    (f"__device__ int h(int v, unsigned m = 0xffffffff);\n{HELPER.replace(' = {}', '').format()}", "h(v)", ""),
    ("#define SHFL __shfl_sync", "SHFL(0xffffffff, v, 0)", ""),
    ("#define SHFL(v) __shfl_sync(0xffffffff, v, 0)", "SHFL(v)", ""),
    ("#define SHFL(m, v) __shfl_sync(m, v, 0)", "SHFL(0xffffffff, v)", ""),
    (
        TWO.replace("#define M", "#define SHFL(v)").format("def A", "__shfl(v, 0)", "__shfl_sync(-1, v, 0)"),
        "SHFL(v)",
        "",
    ),
    ("template<unsigned M> __device__ int h(int v) { return __shfl_sync(M, v, 0); }", "h<0xffffffff>(v)", ""),
    ("template<unsigned M = 0xffffffff> __device__ int h(int v) { return __shfl_sync(M, v, 0); }", "h(v)", ""),
    ("__device__ int h(int v) { unsigned m = 0xffffffff; return __shfl_sync(m, v, 0); }", "h(v)", ""),
    ("struct W { static __device__ int h(int v) { return __shfl_sync(0xffffffff, v, 0); } };", "W::h(v)", ""),
    (
        "__device__ int f(int v, unsigned m) { return __shfl_sync(m, v, 0); }\n"
        "__device__ int g(int v, unsigned m) { return f(v, m); }\n"
        "__device__ int h(int v, unsigned m = ~0u) { return g(v, m); }",
        "h(v)",
        "",
    ),
    ("struct W { __device__ int operator()(int v) { return __shfl_sync(-1, v, 0); } };", "w(v)", "W w;"),
    missed("__device__ int h(int v) { return __shfl_sync(-1, v, 0); }", "f(v)", "auto f = h;"),
    ("struct W { unsigned m = ~0u; __device__ int h(int v) { return __shfl_sync(m, v, 0); } };", "w.h(v)", "W w;"),
]


@pytest.mark.parametrize(("helper", "call", "declared"), CALLS)
def test_call(helper: str, call: str, declared: str) -> None:
    assert "W102" in _codes(helper, call, declared)


NEAR = [
    (HELPER.format("0x0000ffff"), "h(v)", ""),
    (HELPER.format("0"), "h(v, __activemask())", ""),
    (HELPER.format("0"), "h(v, m)", "unsigned m = 0xffffffff; m = __ballot_sync(m, v > 0);"),
    (HELPER.format("0"), "h(v, 0x00ff)", ""),
    (f"{TWO.format('def OLD', '0x0000ffff', '0x000000ff')}{HELPER.format('M')}", "h(v)", ""),
    (f"__device__ int h(int v, unsigned m = 1);\n{HELPER.replace(' = {}', '').format()}", "h(v)", ""),
    ("#define SHFL __shfl_sync", "SHFL(__activemask(), v, 0)", ""),
    ("__device__ int h(unsigned m, int v) { return __shfl_sync(m, v, 0); }", "h(0x1f, -1)", ""),
    ("__device__ int h(unsigned m, int v) { return __shfl_sync(m, v, 0); }", "h(0x1f, best)", "int best = -1;"),
]


@pytest.mark.parametrize(("helper", "call", "declared"), NEAR)
def test_other_masks_are_no_hazard(helper: str, call: str, declared: str) -> None:
    assert "W102" not in _codes(helper, call, declared)


VECTORS = "__device__ float dot(float2 a, float2 b) { return a.x * b.x; }\n"
MEMBER = "static __device__ float dot(float2 a, float2 b) { return __shfl_sync(-1, a.x * b.y, 0); }"


@pytest.mark.parametrize(
    ("helpers", "call", "found"),
    [
        (f"struct Q {{ {MEMBER} }};\n{VECTORS}", "dot(x, x)", False),
        (f"struct Q {{ {MEMBER} }};\n{VECTORS}", "Q::dot(x, x)", True),
        (f"struct Q {{ {MEMBER} }};\n", "dot(x, x)", True),
        (f"namespace q {{ {MEMBER} }}\nusing q::dot;", "dot(x, x)", True),
    ],
)
@pytest.mark.parametrize("in_header", [False, True])
def test_a_bare_name_is_no_member_of_another_class(helpers: str, call: str, found: bool, in_header: bool) -> None:
    body = f"float2 x = o[threadIdx.x]; if (x.x > 3) x.y = {call}; o[threadIdx.x] = x;"
    kernel = f"__global__ void k(float2 *o) {{ {body} }}"
    header = SourceFile("h.cuh", helpers.encode()) if in_header else None
    text = f'#include "h.cuh"\n{kernel}\n' if in_header else f"{helpers}\n{kernel}\n"
    context = replace(CONTEXT, included_file=lambda path, name: header)
    ported = port(SourceFile("a.cu", text.encode()), context, "a.hip")
    assert ("W102" in {finding.code for finding in ported.findings}) is found
