"""Native mode: what becomes of a warp's sum, and what one lane of a warp does, or the width would show."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import NotRun, Ran

from porter.engine.file import port
from porter.model import PortedFile
from porter.source import SourceFile
from tests.warp.execution import context, module

Array = npt.NDArray[Any]
HEAD = """
#define FULL 0xffffffffu
__device__ float sq(float a) { return a * a; }
__device__ void square(float &a) { a *= a; }
__global__ void k(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  float v = i < n ? x[i] : 0.0f;
"""
TAIL = "\n}\nvoid f(const float *x, float *out, int n) { k<<<(n + 255) / 256, 256>>>(x, out, n); }\n"
SHORT = {
    "$SUM": "for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(FULL, v, o);",
    "$MAX": "for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(FULL, v, o));",
    "$ADD": "if (lane == 0) atomicAdd(out, v);",
    "$VOTE": "unsigned m = __ballot_sync(FULL, v > 1.0f);",
    "$PARTS": "__shared__ float p[32]; $SUM if (lane == 0) p[threadIdx.x / 32] = v; __syncthreads();",
    "$EACH": "for (int w = 0; w < blockDim.x / 32; ++w)",
    "$FIRST": "if (threadIdx.x == 0)",
    "$LANES": "lane < blockDim.x / 32",
}
SUMS = [
    ("$SUM $ADD", 1.0),
    ("$SUM v *= 0.5f; $ADD", 0.5),
    ("$SUM v /= 2; $ADD", 0.5),
    ("$SUM v = 2.0f * v; $ADD", 2.0),
    ("$SUM v = v / 4.0f * 3; $ADD", 0.75),
    ("$SUM float w = v; w += v; if (lane == 0) atomicAdd(out, w);", 2.0),
    ("$SUM float w = v; w -= 0.25f * v; if (lane == 0) atomicAdd(out, w);", 0.75),
    ("$SUM $ADD if (lane == 0) out[1] = 1.0f;", 1.0),
    ("$SUM if (lane == 0) atomicAdd(out, (float)v);", 1.0),
    ("v += threadIdx.x & 1; $SUM $ADD", None),
    ("$PARTS $FIRST { float t = 0; $EACH t += p[w]; atomicAdd(out, t); }", 1.0),
    ("$PARTS $FIRST { float t = 0; $EACH { float q = p[w]; t = t + q; } atomicAdd(out, t * 3); }", 3.0),
    ("$PARTS if (threadIdx.x < 32) { v = $LANES ? p[lane] : 0.f; $SUM $ADD }", 1.0),
    ("$PARTS if (threadIdx.x < 32) { v = $LANES ? p[lane] * 2 : 0.f; $SUM $ADD }", 2.0),
]
"""What is added up in the end, as a multiple of the sum of all; None: only that it is widened."""
KEPT = [
    # no sum any more
    *(
        f"$SUM {step} $ADD"
        for step in ("v *= v;", "v = v * v;", "v *= v + 0.0f;", "v += 1;", "v++;", "--v;", "v = -v;")
    ),
    *(
        f"$SUM {step} $ADD"
        for step in ("v = (v, v * v);", "v = n > 3 ? v * v : v;", "if (n > 3) v *= v;", "v = n / v;")
    ),
    *(
        f"$SUM {step} $ADD"
        for step in (
            "if (n > 3) v = v * v; else v = v;",
            "v = n / v;",
            "v = sq(v);",
            "square(v);",
            "v -= 2;",
            "v = -v;",
        )
    ),
    "$SUM float w = v * v; if (lane == 0) atomicAdd(out, w);",
    "$SUM float w = v; w *= v; if (lane == 0) atomicAdd(out, w);",
    "$SUM if (lane == 0) atomicAdd(out, v * v);",
    "$SUM if (lane == 0) atomicAdd(out, v + 1.0f);",
    "$MAX v *= -1.0f; if (lane == 0) atomicMax((int *)out, v);",
    "$VOTE int c = __popc(m); c *= c; if (lane == 0) atomicAdd(out, c);",
    "$VOTE if (lane == 0) atomicAdd(out, __popc(m) / 2);",
    "$VOTE int c = __popc(m); c /= 2; if (lane == 0) atomicAdd(out, c);",
    # no fraction any more
    "$SUM int q = v; if (lane == 0) atomicAdd(out, q);",
    "$SUM int q = (int)v; if (lane == 0) atomicAdd(out, (float)q);",
    "$SUM if (lane == 0) atomicAdd(out, static_cast<int>(v));",
    "$SUM bool q = v; if (lane == 0) atomicAdd(out, q);",
    "$SUM int q = (int)v; q <<= 1; if (lane == 0) atomicAdd(out, q);",
    # the values of the warps
    "$SUM v *= v; __shared__ float p[8]; if (lane == 0) p[threadIdx.x / 32] = v; __syncthreads(); "
    "$FIRST { float t = 0; $EACH t += p[w]; out[blockIdx.x] = t; }",
    "$PARTS $FIRST { float t = 0; $EACH t += p[w] * p[w]; out[blockIdx.x] = t; }",
    "$PARTS $FIRST { float t = 0; $EACH t = t + (p[w] + 1); out[blockIdx.x] = t; }",
    "$PARTS $FIRST { float t = 0; $EACH { t += p[w]; t += 1; } out[blockIdx.x] = t; }",
    "$PARTS if (threadIdx.x < 32) { v = $LANES ? p[lane] : 0.f; v *= v; $SUM $ADD }",
    "$PARTS if (threadIdx.x < 32) { v = $LANES ? p[lane] : 1.f; $SUM $ADD }",
    # one lane of a warp
    "$SUM $ADD if (lane == 0) out[i] = 1.0f;",
    "$SUM $ADD if (lane == 31 && i < n) out[i] = x[i];",
    "$SUM $ADD if (lane == 0 && i < n) atomicAdd(out, x[i]);",
    "$SUM $ADD if (lane == 0) atomicMax((int *)out, i);",
    *(f"if (lane == {lane}) {step} $SUM $ADD" for lane in (0, 31) for step in ("v = 0;", "v *= 2;", "v += 1;", "v++;")),
    "__shared__ float s[256]; s[threadIdx.x] = v; __syncthreads(); if (lane == 0) s[threadIdx.x] = 0; __syncthreads(); "
    "v = s[threadIdx.x]; $SUM $ADD",
    # the lane that a vote chose
    "$VOTE if (m && lane == __ffs(m) - 1) out[i % 7] = 1;",
    "$VOTE int l = __ffs(m) - 1; if (m && lane == l) out[i] = x[i];",
    "$VOTE int r = __popc(m & ((1u << lane) - 1)); if (r == 0) out[i % 7] = 1;",
    "$VOTE int r = __popc(m & ((1u << lane) - 1)); if (r == 0) atomicAdd(out, __popc(m));",
]


def _source(body: str) -> str:
    for short, text in SHORT.items():
        body = body.replace("$PARTS", SHORT["$PARTS"]).replace(short, text)
    return HEAD + body + TAIL


def _ported(body: str) -> PortedFile:
    return port(SourceFile("a.cu", _source(body).encode()), context("native"), "a.cu")


def _is_widened(done: PortedFile) -> bool:
    messages = [finding.message for finding in done.findings if finding.code == "W120"]
    assert len(messages) == 1
    return "is widened" in messages[0]


@pytest.mark.parametrize("body", [body for body, _ in SUMS])
def test_sums_that_are_widened(body: str) -> None:
    assert _is_widened(_ported(body))


@pytest.mark.parametrize("body", KEPT)
def test_what_shows_the_width_is_kept(body: str) -> None:
    assert not _is_widened(_ported(body))


@pytest.mark.slow
def test_widened_sums_are_right() -> None:
    given = np.random.default_rng(3).integers(0, 9, 777).astype(np.float32)
    for body, factor in SUMS:
        if factor is None:
            continue
        loaded = module(_ported(body).data.decode())
        out = np.zeros(2, np.float32)
        arguments = [given.copy(), out, np.int32(len(given))]
        ran = loaded.launch(next(iter(loaded.kernels)), (4,), (256,), arguments, 0, Options(uninitialised=False))
        if isinstance(ran, NotRun):
            pytest.skip(ran.reason)
        assert isinstance(ran, Ran), str(ran)
        assert ran.outputs[1] is not None
        assert ran.outputs[1][0] == pytest.approx(factor * given.sum(), rel=1e-5), body
