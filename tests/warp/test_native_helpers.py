"""Native mode: helpers by reference, structures, functors, widths as template parameters, and parts of an item.

What is widened gives what the preserving port gives, on the virtual device; what would show the width is kept.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import NotRun, Ran

from porter.engine.file import port
from porter.model import PortedFile
from porter.source import SourceFile
from porter.warp.bodies import bodies_of
from porter.warp.flow.geometry import block_shape, launches_of
from tests.warp.execution import context, module

HEAD = "#define FULL 0xffffffffu\n#define WARP_SIZE 32\n"
KERNEL = """
__global__ void kN_(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
"""
THREADS = f"{KERNEL}  float v = i < n ? x[i] : 0.0f;\n@\n}}\n"
ROWS = f"""{KERNEL}  int row = i / 32;
  if (row >= n / 128) return;
  float v = 0;
  for (int j = lane; j < 128; j += 32) v += x[row * 128 + j];
@
  if (lane == 0) out[row] = v;
}}
"""
BY_THREAD = "void fN_(const float *x, float *out, int n) { kN_<<<(n + 255) / 256, 256>>>(x, out, n); }\n"
BY_1024 = BY_THREAD.replace("255", "1023").replace("256", "1024")
BY_ROW = "void fN_(const float *x, float *out, int n) { kN_<<<(n / 128 + 7) / 8, 256>>>(x, out, n); }\n"
_SHUFFLE = "__shfl_xor_sync(FULL, v, o)"
SHORT = {
    "$TREE": "for (int o = 16; o > 0; o /= 2)",
    "$SUM": f"for (int o = 16; o > 0; o /= 2) v += {_SHUFFLE};",
    "$MAX": f"for (int o = 16; o > 0; o /= 2) v = fmaxf(v, {_SHUFFLE});",
    "$X": _SHUFFLE,
    "$EACH": "for (int j = lane; j < 128; j += 32)",
    "$IN": "x[row * 128 + j]",
    "$ADD": "if (lane == 0) atomicAdd(out, v);",
    "$PARTS": "__shared__ float p[32]; $SUM if (lane == 0) p[warp] = v; __syncthreads();",
    "$FIRST": "if (threadIdx.x == 0)",
    "$WARPS": "blockDim.x / 32",
    "$A": "__shfl_xor_sync(FULL, a, o)",
    "$B": "__shfl_xor_sync(FULL, b, o)",
    "$S": "__shfl_xor_sync(FULL, s[k], o)",
    "$HALF": f"for (int o = W >> 1; o > 0; o >>= 1) v += {_SHUFFLE};",
    "$BY": "for (int o = W / 2; o > 0; o /= 2) v += __shfl_xor_sync(FULL, v, o);",
}
SUM = "__device__ float sumN_(float v) { $SUM return v; }\n"
OP = "template<class Op> __device__ float overN_(float v, Op op) { $TREE v = op(v, $X); return v; }\n"
BY_TYPE = "template<class Op> __device__ float overN_(float v) { $TREE v = Op()(v, $X); return v; }\n"


def _functor(body: str) -> str:
    return f"struct OpN_ {{ __device__ float operator()(float a, float b) const {{ {body} }} }};\n"


RIGHT = [
    ("__device__ void sN_(float &v) { $SUM }", "sN_(v); $ADD"),
    ("__device__ void sN_(float *v) { $TREE *v += __shfl_xor_sync(FULL, *v, o); }", "sN_(&v); $ADD"),
    ("template<typename T> __device__ void sN_(T &v) { $SUM }", "sN_<float>(v); $ADD"),
    ("struct RN_ { static __device__ float sum(float v) { $SUM return v; } };", "v = RN_::sum(v); $ADD"),
    ("template<int W = 32> __device__ float sN_(float v) { $BY return v; }", "v = sN_(v); $ADD"),
    ("template<int W> __device__ float sN_(float v) { $BY return v; }", "v = sN_<WARP_SIZE>(v); $ADD"),
    (
        "__device__ void sN_(float &a, float &b) { $TREE { a += $A; b += $B; } }",
        "float b = v > 3; sN_(v, b); $ADD if (lane == 0) atomicAdd(out + 1, b);",
    ),
    (
        "struct PN_ { float s, m; }; __device__ PN_ sN_(PN_ r) { $TREE { r.s += __shfl_xor_sync(FULL, r.s, o); "
        "r.m += __shfl_xor_sync(FULL, r.m, o); } return r; }",
        "PN_ r{v, v}; r = sN_(r); if (lane == 0) { atomicAdd(out, r.s); atomicAdd(out + 1, r.m); }",
    ),
    (SUM, "$PARTS $FIRST { float t = p[0]; for (int w = 1; w < $WARPS; ++w) t += p[w]; atomicAdd(out, t); }"),
    (SUM, "$PARTS $FIRST { float t = 7; for (int w = 0; w < $WARPS; ++w) t += p[w]; atomicAdd(out, t); }"),
    (SUM, "$PARTS if (warp == 0) { v = lane < $WARPS ? p[lane] : 0; v = sumN_(v); $FIRST atomicAdd(out, v); }"),
    (SUM, "$PARTS if (warp == 0) { v = 0; if (lane < $WARPS) v = p[lane]; v = sumN_(v); $FIRST atomicAdd(out, v); }"),
    (
        "",
        "__shared__ float p[32]; if (threadIdx.x < 32) p[threadIdx.x] = 0; __syncthreads(); $SUM "
        "if (lane == 0) p[warp] = v; __syncthreads(); "
        "if (warp == 0) { v = p[lane]; $SUM if (lane == 0) out[blockIdx.x] = v; }",
    ),
    (
        "",
        "$SUM __shared__ float p[8]; if (lane == 0) p[warp] = v; __syncthreads(); "
        "if (warp == 0) { v = lane < 8 ? p[lane] : 0; $SUM $ADD }",
    ),
    (
        SUM + "__device__ float bN_(float v, float *p) { int l = threadIdx.x % 32, w = threadIdx.x / 32; v = sumN_(v); "
        "if (l == 0) p[w] = v; __syncthreads(); v = threadIdx.x < $WARPS ? p[l] : 0; if (w == 0) v = sumN_(v); "
        "return v; }",
        "__shared__ float p[32]; v = bN_(v, p); $FIRST atomicAdd(out, v);",
    ),
    (
        SUM,
        "__shared__ float t; $FIRST t = 0; __syncthreads(); v = sumN_(v); if (lane == 0) atomicAdd(&t, v); "
        "__syncthreads(); if (i < n) out[i] = t;",
    ),
    (
        "struct AccN_ { float s; __device__ void add(float v) { s += v; } };",
        "AccN_ a{0}; a.add(v); v = a.s; $SUM $ADD",
    ),
    ("", "if (i >= n) v = 0; $SUM if (!lane) atomicAdd(out, v);"),
]
"""Over all threads of a block."""
RIGHT_ROWS = [
    ("", "$SUM"),
    (_functor("return a + b;") + OP, "v = overN_(v, OpN_());"),
    (_functor("return a + b;") + OP, "OpN_ op; v = overN_(v, op);"),
    (_functor("float c = a + b; return c;") + OP, "v = overN_(v, OpN_());"),
    (_functor("return b + a;") + BY_TYPE, "v = overN_<OpN_>(v);"),
    (
        "template<typename T> struct OpN_ { __device__ T operator()(T a, T b) const { return a + b; } };\n" + OP,
        "v = overN_(v, OpN_<float>());",
    ),
    (
        "struct OpN_ { static __device__ float apply(float a, float b) { return a + b; } };\n"
        "template<class Op> __device__ float overN_(float v) { $TREE v = Op::apply(v, $X); return v; }",
        "v = overN_<OpN_>(v);",
    ),
    (
        _functor("return a > b ? a : b;") + OP,
        "float m = -5; $EACH m = fmaxf(m, $IN); m = overN_(m, OpN_()); v = m;",
    ),
    ("", "v *= 0.5f; $SUM"),
    ("", "float w = v; $TREE { float u = $X; v += u; } v = v + w * 0;"),
    ("", "$SUM v = v * v;"),
    ("", "$SUM v = sqrtf(v / 128);"),
    ("", "float m = 0; $EACH m = $IN > m ? $IN : m; v = m; $MAX"),
    ("", "int c = 0; $EACH c += $IN > 4; v = c; $SUM"),
    ("", "float a = v; $EACH a += $IN * $IN; v = a; $SUM"),
    ("", "float a = 0, b = 0; $EACH { float q = $IN; a += q; b += q * q; } v = a + 2 * b; $SUM"),
    ("__device__ void stN_(float &v, int o) { v += $X; }", "$TREE stN_(v, o);"),
    ("__device__ float stN_(float v, int o) { return v + $X; }", "$TREE v = stN_(v, o);"),
    (
        "",
        "float a = v, b = v; $TREE { a += $A; b += $B; } v = a + 2 * b;",
    ),
]
"""One warp for each row of 128 values."""
WRONG = [
    # the first warp's value for the block
    *(
        ("", f"$SUM if ({first}) atomicAdd(out, v);")
        for first in (
            *("threadIdx.x == 0", "!threadIdx.x", "lane == 0 && warp == 0", "threadIdx.x < 32 && lane == 0", "i == 0"),
            *("threadIdx.x == 32", "threadIdx.x == 31", "warp < 2 && lane == 0", "threadIdx.x % 64 == 0"),
            "threadIdx.x == blockDim.x - 1",
        )
    ),
    ("", "if (threadIdx.x >= 32) return; $SUM $ADD"),
    (SUM, "v = sumN_(v); if (warp) return; $ADD"),
    (SUM + "__device__ void oneN_(float v, float *out) { $FIRST atomicAdd(out, v); }", "v = sumN_(v); oneN_(v, out);"),
    (
        SUM,
        "__shared__ float t; $FIRST t = 0; __syncthreads(); v = sumN_(v); $FIRST atomicAdd(&t, v); __syncthreads(); "
        "if (i < n) out[i] = t;",
    ),
    # the first warp's value twice, or never
    ("", "$PARTS $FIRST { float t = p[0]; for (int w = 0; w < $WARPS; ++w) t += p[w]; atomicAdd(out, t); }"),
    ("", "$PARTS $FIRST { float t = 0; for (int w = 1; w < $WARPS; ++w) t += p[w]; atomicAdd(out, t); }"),
    ("", "$PARTS $FIRST { float t = 0; for (int w = 0; w < $WARPS; w += 2) t += p[w]; atomicAdd(out, t); }"),
    ("", "$PARTS $FIRST { float t = 0; for (int w = 0; w < $WARPS; ++w) t = t * 2 + p[w]; atomicAdd(out, t); }"),
    # what fills the places without a warp
    ("", "$PARTS if (warp == 0) { v = lane < $WARPS ? p[lane] : 2; $SUM $ADD }"),
    ("#define ONE 1.0f", "$PARTS if (warp == 0) { v = lane < $WARPS ? p[lane] : ONE; $SUM $ADD }"),
    ("", "$PARTS const float one = 1; if (warp == 0) { v = lane < $WARPS ? p[lane] : one; $SUM $ADD }"),
    ("", "$PARTS if (warp == 0) { v = 1; if (lane < $WARPS) v = p[lane]; $SUM $ADD }"),
    ("", "$PARTS if (warp == 0) { if (lane < $WARPS) v = p[lane]; else v = 1; $SUM $ADD }"),
    (
        "",
        "__shared__ float p[32]; if (threadIdx.x < 32) p[threadIdx.x] = 5; __syncthreads(); $SUM "
        "if (lane == 0) p[warp] = v; __syncthreads(); if (warp == 0) { v = p[lane]; $SUM if (lane == 0) out[0] = v; }",
    ),
    # helpers that go on with the sum
    ("__device__ void sN_(float &v) { $SUM v *= v; }", "sN_(v); $ADD"),
    ("__device__ void sN_(float *v) { $TREE *v += __shfl_xor_sync(FULL, *v, o); *v *= *v; }", "sN_(&v); $ADD"),
    ("struct RN_ { static __device__ float sum(float v) { $SUM return v * v; } };", "v = RN_::sum(v); $ADD"),
    ("struct RN_ { __device__ float operator()(float v) const { $SUM return v * v; } };", "v = RN_()(v); $ADD"),
    ("template<int W = 32> __device__ float sN_(float v) { $BY return v / W; }", "v = sN_(v); $ADD"),
    (
        "struct PN_ { float s, m; }; __device__ PN_ sN_(PN_ r) { $TREE { r.s += __shfl_xor_sync(FULL, r.s, o); "
        "r.m += __shfl_xor_sync(FULL, r.m, o); } return r; }",
        "PN_ r{v, v}; r = sN_(r); if (lane == 0) atomicAdd(out, r.s * r.m);",
    ),
    (_functor("return (a + b) / 2;") + OP, "v = overN_(v, OpN_()); $ADD"),
    (
        _functor("return (a + b) / 2;") + OP,
        "v = overN_(v, OpN_()); __shared__ float p[32]; if (lane == 0) p[warp] = v; __syncthreads(); "
        "if (warp == 0) { v = lane < $WARPS ? p[lane] : 0; v = overN_(v, OpN_()); if (lane == 0) out[0] = v; }",
    ),
    (SUM, "float a = sumN_(v), b = sumN_(v > 3); if (lane == 0) atomicAdd(out, a * b);"),
]
_STEPS = [
    *("v = (v + $X) / 2;", "v = v + $X + 1;", "v -= $X;", "v = v * 0.5f + 0.5f * $X;", "v += 0.5f * $X;"),
    *("v += $X + 1;", "v += v * $X;", "v = fmaxf(v, $X) + 1;", "v = fmaxf(v, $X + 1);", "v += o * $X;"),
    *("{ float u = $X; v = (v + u) * 0.5f; }", "{ float u = $X; v += u; v *= 0.5f; }", "{ v += $X; v += 1; }"),
    *("{ float u = $X; v = v > u ? v + 1 : u; }", "{ float u = $X; if (u > v) v = u + 1; }", "v += sqrtf($X);"),
    *("{ v += $X; ++n; }", "v = fmaf(v, 0.5f, $X);", "v = v + sqrtf($X);", "{ v += $X; v -= o; }"),
]
_FUNCTORS = [
    *(
        "return a - b;",
        "return a + 2 * b;",
        "return (a + b) / 2;",
        "float c = a + b; return c / 2;",
        "return a * b + 1;",
    ),
    *(
        "a += b + 1; return a;",
        "return fmaf(a, 0.5f, b);",
        "return a + sqrtf(b);",
        "if (a > b) return a; return b + 1;",
    ),
]
_PARTS = [
    # what a lane gathered, changed before lanes meet
    *("v *= v;", "v += 1;", "v = rintf(v / 3);", "v = v > 12;", "v = fminf(v, 20.f);", "v = sqrtf(v);", "v += x[row];"),
    *("for (int j = 0; j < 4; ++j) v += x[row * 128 + j];", "int q = v / 3; v = q;", "v = v * v;", "v = 1 / (v + 1);"),
    # gathered in another way than lanes are
    "v = 0; $EACH v = fmaxf(v, $IN);",
    "v = 0; $EACH v = $IN > v ? $IN : v;",
    "float a = 1; $EACH a += $IN; v = a;",
    "float a = 0; $EACH a = a * 0.5f + $IN; v = a;",
    "float a = 0; int c = 0; $EACH { a += $IN; c++; } v = a / c;",
    "float a = 0; int c = 0; $EACH { if (c < 2) a += $IN; c++; } v = a;",
    "float a = -1; $EACH { if (a < 0) a = $IN; } v = a;",
    "float a = 0; $EACH { if (a < 9) a += $IN; } v = a;",
    "float a = 0, b = 0; $EACH { a += $IN; b += a; } v = b;",
    "float a = 0; $EACH a = $IN; v = a;",
]
WRONG_ROWS = [
    *(("", f"$TREE {step}") for step in _STEPS),
    *((_functor(body) + OP, "v = overN_(v, OpN_());") for body in _FUNCTORS),
    *((_functor(body) + BY_TYPE, "v = overN_<OpN_>(v);") for body in _FUNCTORS),
    *(("", f"{part} $SUM") for part in _PARTS),
    ("", "$MAX"),
    ("", "$TREE { float u = $X; if (u > v) v = u; }"),
    (
        "",
        "float s[1] = {v}; $TREE for (int k = 0; k < 1; ++k) s[k] = (s[k] + $S) / 2; v = s[0];",
    ),
    (
        "",
        "float a = v, b = v; $TREE { a += $A; b = (b + $B) / 2; } v = a + b;",
    ),
    ("#define MEAN(a, b) (((a) + (b)) / 2)", "$TREE v = MEAN(v, $X);"),
    ("__device__ float meanN_(float a, float b) { return (a + b) * 0.5f; }", "$TREE v = meanN_(v, $X);"),
    ("namespace nN_ { __device__ float f(float a, float b) { return (a + b) * 0.5f; } }", "$TREE v = nN_::f(v, $X);"),
    (
        "struct BN_ { static __device__ float f(float a, float b) { return (a + b) / 2; } };",
        "using ON_ = BN_; $TREE v = ON_::f(v, $X);",
    ),
    ("__device__ void stN_(float &v, int o) { v += $X; v *= 0.5f; }", "$TREE stN_(v, o);"),
    ("__device__ float stN_(float v, int o) { return (v + $X) / 2; }", "$TREE v = stN_(v, o);"),
    (
        "template<bool M> __device__ float opN_(float a, float b) { return M ? (a + b) / 2 : a + b; }",
        "$TREE v = opN_<true>(v, $X);",
    ),
    ("", "".join(f"v = (v + __shfl_xor_sync(FULL, v, {o})) / 2; " for o in (16, 8, 4, 2, 1))),
]
CAUTIOUS = [
    (_functor("return a + b;") + OP, "v = overN_(v, OpN_()); $ADD"),
    (_functor("return fmaxf(a, b);") + OP, "v = overN_(v, OpN_()); if (lane == 0) atomicMax((int *)out, (int)v);"),
    (OP, "v = overN_(v, [](float a, float b) { return a + b; }); $ADD"),
    ("", "auto s = [&](float v) { $SUM return v; }; v = s(v); $ADD"),
    ("struct RN_ { __device__ float operator()(float v) const { $SUM return v; } };", "v = RN_()(v); $ADD"),
    ("struct RN_ { float k; __device__ float sum(float v) { $SUM return v * k; } };", "RN_ s{2}; v = s.sum(v); $ADD"),
    (
        "__device__ void sN_(float &a, float &b) { $TREE { a += $A; b = fmaxf(b, $B); } }",
        "float b = v; sN_(v, b); $ADD if (lane == 0) atomicMax((int *)out + 1, (int)b);",
    ),
    ("", "int c = __popc(__ballot_sync(FULL, v > 3)); if (lane == 0) atomicAdd(out, (float)c);"),
    (
        "template<int W = WARP_SIZE> __device__ float sN_(float v) { $HALF return v; }",
        "v = sN_(v); $ADD",
    ),
]
"""Right on 64 lanes, and kept: what is not understood yet."""


def _source(helpers: str, kernel: str, body: str, launch: str, number: int = 0) -> str:
    text = HEAD + helpers + kernel.replace("@", body) + launch
    for _ in range(2):
        for short, written in sorted(SHORT.items(), reverse=True):
            text = text.replace(short, written)
    return text.replace("N_", str(number))


def _ported(text: str, warp: str = "native") -> PortedFile:
    return port(SourceFile("a.cu", text.encode()), context(warp), "a.cu")


def _is_widened(text: str) -> bool:
    messages = [finding.message for finding in _ported(text).findings if finding.code == "W120"]
    assert len(messages) == 1
    return "is widened" in messages[0]


@pytest.mark.parametrize(("helpers", "body"), RIGHT)
def test_blocks_that_are_widened(helpers: str, body: str) -> None:
    assert _is_widened(_source(helpers, THREADS, body, BY_THREAD))


@pytest.mark.parametrize(("helpers", "body"), RIGHT_ROWS)
def test_rows_that_are_widened(helpers: str, body: str) -> None:
    assert _is_widened(_source(helpers, ROWS, body, BY_ROW))


@pytest.mark.parametrize(("helpers", "body"), [*WRONG, *CAUTIOUS])
def test_blocks_that_are_kept(helpers: str, body: str) -> None:
    assert not _is_widened(_source(helpers, THREADS, body, BY_THREAD))


@pytest.mark.parametrize(("helpers", "body"), WRONG_ROWS)
def test_rows_that_are_kept(helpers: str, body: str) -> None:
    assert not _is_widened(_source(helpers, ROWS, body, BY_ROW))


@pytest.mark.parametrize(
    ("filler", "launch", "widened"),
    [("0.f", BY_1024, False), ("-1e20f", BY_1024, True), ("-INFINITY", BY_1024, True), ("0.f", BY_THREAD, True)],
)
def test_a_maximum_of_a_full_block_meets_no_zero(filler: str, launch: str, widened: bool) -> None:
    maxima = f"$MAX if (lane == 0) p[warp] = v; __syncthreads(); v = threadIdx.x < $WARPS ? p[lane] : {filler};"
    body = f"__shared__ float p[32]; {maxima} if (warp == 0) {{ $MAX }} $FIRST out[blockIdx.x] = v;"
    assert _is_widened(_source("", THREADS, body, launch)) is widened


@pytest.mark.parametrize(
    ("type_", "filler", "widened"),
    [("unsigned", "0u", True), ("uint64_t", "0ull", True), ("int", "0", False), ("int", "0u", False)],
)
@pytest.mark.parametrize("form", ["v = $LESS ? p[lane] : $ZERO;", "v = $ZERO; if ($LESS) v = p[lane];"])
def test_zero_is_the_least_of_numbers_without_sign(type_: str, filler: str, widened: bool, form: str) -> None:
    maximum = "for (int o = 16; o > 0; o /= 2) v = max(v, __shfl_xor_sync(FULL, v, o));"
    filled = form.replace("$LESS", "threadIdx.x < $WARPS").replace("$ZERO", filler)
    body = (
        f"__shared__ {type_} p[32]; {maximum} if (lane == 0) p[warp] = v; __syncthreads(); "
        f"{filled} if (warp == 0) {{ {maximum} }} $FIRST out[blockIdx.x] = v;"
    )
    threads = THREADS.replace("float v = i < n ? x[i] : 0.0f", f"{type_} v = i < n ? ({type_})x[i] : 0")
    assert _is_widened(_source("", threads, body, BY_1024)) is widened


def _results(text: str) -> np.ndarray:
    loaded, source = module(text), context("native").unit(SourceFile("a.cu", text.encode()))
    shape = block_shape(bodies_of(source), launches_of(source)[0])
    assert shape is not None and shape[0]
    given = np.random.default_rng(3).integers(0, 9, 777).astype(np.float32)
    arguments = [given, np.zeros(1024, np.float32), np.int32(len(given))]
    ran = loaded.launch(next(iter(loaded.kernels)), (4,), (shape[0],), arguments, 0, Options(uninitialised=False))
    if isinstance(ran, NotRun):
        pytest.skip(ran.reason)
    assert isinstance(ran, Ran), str(ran)
    assert ran.outputs[1] is not None
    return ran.outputs[1]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [False, True])
def test_what_is_widened_is_right(rows: bool) -> None:
    forms = zip(RIGHT_ROWS if rows else RIGHT, itertools.repeat((ROWS, BY_ROW) if rows else (THREADS, BY_THREAD)))
    for (helpers, body), (kernel, launch) in forms:
        text = _source(helpers, kernel, body, launch)
        preserved, widened = (_results(_ported(text, warp).data.decode()) for warp in ("preserve", "native"))
        np.testing.assert_array_equal(widened, preserved, err_msg=f"{helpers}\n{body}")
        assert widened.any()
