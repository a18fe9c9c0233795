"""Native mode: reductions, rows and scans in many spellings, widened and right, or kept with a reason."""

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
from porter.warp.bodies import bodies_of
from porter.warp.flow.geometry import block_shape, launches_of
from tests.warp.execution import context, module

Array = npt.NDArray[Any]
BEFORE = """
#define UNROLL _Pragma("unroll")
#define FULL 0xffffffffu
#define WARP 32
constexpr int kWarp = 32;
constexpr unsigned kMask = 0xffffffff;
"""
BLOCK = """
__global__ void kN_(const int *in, int *out, int n) {
  __shared__ int s[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
@
  if (lane == 0) s[warp] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0;
  if (warp == 0) {
@
  }
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}
void fN_(const int *in, int *out, int n) { kN_<<<n, 256>>>(in, out, n); }
"""
ROW = """
__global__ void kN_(const int *in, int *out, int n) { @ }
void fN_(const int *in, int *out, int n) { kN_<<<(n + 7) / 8, 256>>>(in, out, n); }
"""
WIDENED = [
    "#pragma unroll\nfor (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o);",
    "for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);",
    "for (int o = 16; o; o /= 2) v += __shfl_down_sync(-1, v, o);",
    "for (auto o = WARP / 2; o > 0; o >>= 1) v += __shfl_down_sync(kMask, v, o);",
    "for (int o = warpSize / 2; o > 0; o /= 2) v += __shfl_down_sync(FULL, v, o);",
    "UNROLL for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o);",
    "for (int o = 16; o > 0; o >>= 1) { int w = __shfl_down_sync(FULL, v, o); v += w; }",
    "for (int o = 16; o > 0; o >>= 1) { const auto w = __shfl_down_sync(FULL, v, o); v = v + w; }",
    "for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o, 32);",
    "for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o, warpSize);",
    "for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o);",
    "for (int o = 1; o < 32; o <<= 1) v += __shfl_xor_sync(FULL, v, o);",
    "for (int o = 1; o <= 16; o *= 2) v += __shfl_xor_sync(FULL, v, o);",
    (
        "v += __shfl_down_sync(FULL, v, 16); v += __shfl_down_sync(FULL, v, 8); v += __shfl_down_sync(FULL, "
        "v, 4); v += __shfl_down_sync(FULL, v, 2); v += __shfl_down_sync(FULL, v, 1);"
    ),
    "for (int o = 0x10; o > 0; o >>= 1) v += __shfl_down_sync(0xFFFFFFFF, v, o);",
    "for (int o = 16; o != 0; o >>= 1) v = v + __shfl_down_sync(FULL, v, o);",
    'asm volatile(""); for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o);',
]
KEPT = [
    "for (unsigned o = 16u; o > 0u; o = o >> 1) v += __shfl_down_sync(~0u, v, o);",
    "for (int o = kWarp >> 1; o >= 1; o >>= 1) v += __shfl_down_sync(FULL, v, o);",
    "for (int o = 0; o < 5; ++o) v += __shfl_xor_sync(FULL, v, 1 << o);",
    "for (int o = 4; o >= 0; --o) v += __shfl_xor_sync(FULL, v, 1 << o);",
    "int o = 16; while (o > 0) { v += __shfl_down_sync(FULL, v, o); o >>= 1; }",
    "{ int o = 16; do { v += __shfl_down_sync(FULL, v, o); o >>= 1; } while (o > 0); }",
    (
        "auto sum = [&](int x) { for (int o = 16; o > 0; o >>= 1) x += __shfl_down_sync(FULL, x, o); return "
        "x; }; v = sum(v);"
    ),
    "int &r = v; for (int o = 16; o > 0; o >>= 1) r += __shfl_down_sync(FULL, r, o);",
    "const unsigned m = FULL; for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(m, v, o);",
    "for (int o = 16, q = 0; o > 0; o >>= 1, ++q) v += __shfl_down_sync(FULL, v, o);",
    "for (int o : {16, 8, 4, 2, 1}) v += __shfl_down_sync(FULL, v, o);",
    "if (true) for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o);",
    "for (int o = 32 / 2; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o);",
    "for (int o = 1 << 4; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o);",
    "for (int o = 16; 0 < o; o >>= 1) v += __shfl_down_sync(FULL, v, o);",
    "for (int o = 32; o >>= 1;) v += __shfl_down_sync(FULL, v, o);",
    "for (int o = 31; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, (o + 1) / 2);",
    "for (int o = 16; o > 0; o >>= 1) v += __shfl_sync(FULL, v, (threadIdx.x & 31) ^ o);",
    "for (int o = 16; o > 0; o >>= 1) v += __shfl_sync(FULL, v, lane ^ o);",
    "for (int o = 8; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o); v += __shfl_down_sync(FULL, v, 16);",
]
SHORT = {
    "$1": "int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32; if (row >= n) return; ",
    "$2": "int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31; if (row >= n) return; ",
    "$SUM": "for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o);",
    "$EACH": "for (int i = lane; i < 128; i += 32)",
}
ROWS = [
    ("sum", "$1int v = 0; $EACH v += in[row * 128 + i]; $SUM if (lane == 0) out[row] = v;"),
    (
        "sum",
        "int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31; if (row < n) "
        "{ int v = 0; for (int i = lane; i < 128; i += warpSize) v += in[row * 128 + i]; $SUM if (lane "
        "== 0) out[row] = v; }",
    ),
    (
        "sum",
        "const int lane = threadIdx.x & (WARP - 1), row = blockIdx.x * (blockDim.x / WARP) + "
        "threadIdx.x / WARP; if (row >= n) return; int v = 0; UNROLL for (int i = lane; i < 128; i += "
        "WARP) v += in[row * 128 + i]; UNROLL for (int o = WARP / 2; o > 0; o >>= 1) v += "
        "__shfl_xor_sync(FULL, v, o); if (!lane) out[row] = v;",
    ),
    (
        "sum",
        "int warp = threadIdx.x >> 5, lane = threadIdx.x & 31; int row = blockIdx.x * 8 + warp; if (row "
        ">= n) return; int v = 0; $EACH v += in[row * 128 + i]; $SUM if (lane == 0) out[row] = v;",
    ),
    ("sum", "$1int v = 0; $EACH v += in[(row << 7) + i]; $SUM v = __shfl_sync(FULL, v, 0); out[row] = v;"),
    (
        "sum",
        "int lane = threadIdx.x % 32; for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; row "
        "< n; row += gridDim.x * blockDim.x / 32) { int v = 0; $EACH v += in[row * 128 + i]; $SUM if "
        "(lane == 0) out[row] = v; }",
    ),
    (
        "max",
        "$2int v = -1000; $EACH v = max(v, in[row * 128 + i]); for (int o = 16; o > 0; o >>= 1) v = "
        "max(v, __shfl_xor_sync(FULL, v, o)); if (lane == 31) out[row] = v;",
    ),
    (
        "above0",
        "$2int v = 0; $EACH v += in[row * 128 + i] > 0; v = __reduce_add_sync(FULL, v); if (lane == 0) out[row] = v;",
    ),
    (
        "above3",
        "$2int v = 0; $EACH v += __popc(__ballot_sync(FULL, in[row * 128 + i] > 3)); if (lane == 0) out[row] = v;",
    ),
]
KEPT_ROWS = [
    "$1int v = 0; for (int i = 0; i < 128; i += 32) v += in[row * 128 + i + lane]; $SUM if (lane == 0) out[row] = v;",
    "$1int v = 0; for (int i = 0; i < 4; ++i) v += in[row * 128 + i * 32 + lane]; $SUM if (lane == 0) out[row] = v;",
    (
        "$1const int4 *p = (const int4 *)(in + row * 128); int4 q = p[lane]; int v = q.x + q.y + q.z + q.w; "
        "$SUM if (lane == 0) out[row] = v;"
    ),
    (
        "int lane = threadIdx.x % 32; for (int row = blockIdx.x * 8 + (threadIdx.x >> 5); row < n; row += "
        "gridDim.x * 8) { int v = 0; $EACH v += in[row * 128 + i]; $SUM if (lane == 0) out[row] = v; }"
    ),
    "$2int v = 0; $EACH v |= __any_sync(FULL, in[row * 128 + i] == 7); if (lane == 0) out[row] = v;",
]


def _full(text: str) -> str:
    for name, long in SHORT.items():
        text = text.replace(name, long)
    return text


def _ported(kernels: list[str]) -> PortedFile:
    text = BEFORE + "".join(kernel.replace("N_", str(number)) for number, kernel in enumerate(kernels))
    return port(SourceFile("a.cu", text.encode()), context("native"), "a.cu")


def _is_widened(kernel: str) -> bool:
    """Whether all of it is; it is kept with a reason, or neither happens."""
    messages = [finding.message for finding in _ported([kernel]).findings if finding.code == "W120"]
    assert len(messages) == 1
    return "widened" in messages[0]


def _results(done: PortedFile, numbers: int, given: Array) -> list[Array]:
    """What each kernel leaves, launched as the port launches it."""
    loaded = module(done.data.decode())
    source = context("native").unit(SourceFile("a.cu", done.data))
    launches = launches_of(source)
    found: list[Array] = []
    for number in range(numbers):
        shape = block_shape(bodies_of(source), launches[number])
        assert shape is not None and shape[0]
        name = next(one for one in loaded.kernels if f"k{number}P" in one)
        rows = len(given)
        grid = rows if rows < 10 else rows * 64 // shape[0] if shape[0] > 256 else rows // 4
        arguments = [given.reshape(-1).copy(), np.zeros(rows, np.int32), np.int32(rows)]
        ran = loaded.launch(name, (grid,), (shape[0],), arguments, 0, Options(uninitialised=False))
        if isinstance(ran, NotRun):
            pytest.skip(ran.reason)
        assert isinstance(ran, Ran), str(ran)
        assert ran.outputs[1] is not None
        found.append(ran.outputs[1])
    return found


def _given(rows: int, columns: int) -> Array:
    return np.random.default_rng(7).integers(0, 12, (rows, columns)).astype(np.int32)


@pytest.mark.parametrize("text", WIDENED)
def test_reductions_that_are_widened(text: str) -> None:
    assert _is_widened(BLOCK.replace("@", text))


def test_a_kernel_whose_exchange_is_in_a_functor_is_kept_and_says_so() -> None:
    body = "for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o); return v;"
    functor = f"struct Sum {{ __device__ int operator()(int v) const {{ {body} }} }};\n"
    assert not _is_widened(functor + BLOCK.replace("@", "v = Sum()(v);"))


@pytest.mark.parametrize("text", KEPT)
def test_reductions_that_are_kept(text: str) -> None:
    assert not _is_widened(BLOCK.replace("@", text))


@pytest.mark.parametrize("text", [text for _, text in ROWS])
def test_rows_that_are_widened(text: str) -> None:
    assert _is_widened(ROW.replace("@", _full(text)))


@pytest.mark.parametrize("text", KEPT_ROWS)
def test_rows_that_are_kept(text: str) -> None:
    assert not _is_widened(ROW.replace("@", _full(text)))


@pytest.mark.slow
def test_reductions_are_right() -> None:
    given = _given(4, 256)
    found = _results(_ported([BLOCK.replace("@", text) for text in WIDENED]), len(WIDENED), given)
    wanted = given.sum(1)
    assert [text for text, one in zip(WIDENED, found, strict=True) if not np.array_equal(one, wanted)] == []


@pytest.mark.slow
def test_rows_are_right() -> None:
    given = _given(64, 128)
    wanted = {"sum": given.sum(1), "max": given.max(1), "above0": (given > 0).sum(1), "above3": (given > 3).sum(1)}
    found = _results(_ported([ROW.replace("@", _full(text)) for _, text in ROWS]), len(ROWS), given)
    wrong = [text for (kind, text), one in zip(ROWS, found, strict=True) if not np.array_equal(one, wanted[kind])]
    assert wrong == []
